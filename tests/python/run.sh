#!/bin/sh
# Installs the wheel of folder $1 with NumPy and pytest into a clean virtual environment and runs the suite
# on the test models of folder $2. What nanobind reports as leaked when the suite ends is a failure.
set -e
root=$(cd "$(dirname "$0")/../.." && pwd)
wheels=$(cd "$1" && pwd)
data=$(mkdir -p "$2" && cd "$2" && pwd)
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
${PYTHON:-python3} -m venv "$venv"
"$venv/bin/pip" install -q "$wheels"/tare-*.whl numpy ml_dtypes pytest
# From elsewhere, so that the package is the installed one.
cd "$venv"
TARE_TEST_DATA="$data" bin/python -m pytest -q -p no:cacheprovider "$root/python/tests" 2> stderr || failed=1
cat stderr >&2
if [ -n "$failed" ] || grep -q "nanobind: leaked" stderr; then exit 1; fi

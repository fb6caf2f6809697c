#!/bin/sh
# The report's loop on Tare, and on TensorFlow where $TENSORFLOW_PYTHON names an interpreter that has it; one
# picture of both. Usage: run.sh [MODEL]
set -e
root=$(cd "$(dirname "$0")/../.." && pwd)
model=${1:-$root/examples/demo/models/en}
out=${OUT:-$root/build/report_loop}
mkdir -p "$out"
${PYTHON:-python3} "$root/bench/report_loop.py" --with tare --model "$model" --out "$out/tare.json"
set -- "$out/tare.json"
if [ -n "$TENSORFLOW_PYTHON" ]; then
  "$TENSORFLOW_PYTHON" "$root/bench/report_loop.py" --with tensorflow --model "$model" --out "$out/tensorflow.json"
  set -- "$out/tensorflow.json" "$@"
fi
${PYTHON:-python3} "$root/bench/report_loop_plot.py" "$out/loop.svg" "$@"
echo "$out/loop.svg"

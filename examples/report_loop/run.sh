#!/bin/sh
# The report's loop on Tare and, where $TENSORFLOW_PYTHON names an interpreter that has it, on TensorFlow; one
# picture of all. The models are a two-layer Keras model, eight of them in turn, and a text classifier, written by
# that TensorFlow; without one, the demo's classifiers stand in. Usage: run.sh; CYCLES=200 by default.
set -e
root=$(cd "$(dirname "$0")/../.." && pwd)
out=${OUT:-$root/build/report_loop}
loop="$root/bench/report_loop.py"
mkdir -p "$out"
rm -rf "$out/models" "$out"/*.json
if [ -n "$TENSORFLOW_PYTHON" ]; then
  "$TENSORFLOW_PYTHON" "$loop" --with tensorflow --make "$out/models" --count 8
  "$TENSORFLOW_PYTHON" "$loop" --with tensorflow --make-text "$out/models/text"
else
  mkdir -p "$out/models"
  cp -r "$root/examples/demo/models/." "$out/models"
fi
# run INTERPRETER LIBRARY: each part that there are models of.
run() {
  part() {
    name=$1 title=$2
    shift 2
    "$interpreter" "$loop" --with "$library" --cycles "${CYCLES:-200}" --part "$title" --out "$out/$name-$library.json" "$@"
  }
  interpreter=$1 library=$2
  if [ -d "$out/models/text" ]; then
    part 1keras "two-layer Keras model" --model "$out/models/0"
    part 3text "text classifier" --model "$out/models/text"
  else
    part 3text "text classifier" --model "$out/models/en"
  fi
  set --
  for model in "$out"/models/*; do set -- "$@" --model "$model"; done
  part 2many "$(ls "$out/models" | wc -l) models in turn" "$@"
}
[ -z "$TENSORFLOW_PYTHON" ] || run "$TENSORFLOW_PYTHON" tensorflow
run "${PYTHON:-python3}" tare
${PYTHON:-python3} "$root/bench/report_loop_plot.py" "$out/loop.svg" "$out"/*.json
echo "$out/loop.svg"

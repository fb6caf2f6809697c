#!/usr/bin/env python3
"""Holds Tare's answers to TensorFlow's, within 1e-5, on SavedModels of any size.

    python3 bench/match_tensorflow.py --tf-python VENV/bin/python MODEL...

Records each model's serving_default with tools/record_golden.py (random inputs) and replays it with
`tare verify`. Models such as MobileNetV2, ResNet50 or a BERT encoder are made by keras.applications or
tests/data/gen/gen_bench.py.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parent.parent


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("models", nargs="+")
    p.add_argument("--tf-python", required=True, help="a Python that has TensorFlow")
    p.add_argument("--tare", default=str(ROOT / "build/bin/tare"))
    p.add_argument("--high", default="2", help="random integers are below this (default: %(default)s)")
    p.add_argument("--batch", default="2")
    args = p.parse_args()
    bad = 0
    for m in args.models:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([args.tf_python, str(ROOT / "tools/record_golden.py"), m, folder, "--signature",
                            "serving_default", "--high", args.high, "--batch", args.batch],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            bad += subprocess.run([args.tare, "verify", m, folder]).returncode != 0
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

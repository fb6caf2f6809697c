#!/usr/bin/env python3
"""Load, first run, unload and leak a cycle: Tare beside TensorFlow, in one run, model by model in turn.

    python3 bench/cycle.py --tf-python VENV/bin/python [MODEL...]

Without models it makes `toy` and `textcls` (bench/make_models.py) with that Python. Without --tf-python only
Tare is measured. Medians over the cycles; leaks over their second half.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent

TF = r"""
import gc, json, sys, time
import numpy as np, tensorflow as tf
path, n = sys.argv[1], int(sys.argv[2])
def anon():
    for line in open('/proc/self/smaps_rollup'):
        if line.startswith('Anonymous:'):
            return int(line.split()[1]) * 1024
def value(s):
    shape = [d or 1 for d in s.shape]
    return tf.constant(np.full(shape, 'one two', dtype=object)) if s.dtype == tf.string else tf.zeros(shape, s.dtype)
times, base = ([], [], []), 0
for i in range(n):
    if i == n // 2:
        base = anon()
    t0 = time.perf_counter()
    model = tf.saved_model.load(path)
    t1 = time.perf_counter()
    f = model.signatures['serving_default']
    x = {k: value(s) for k, s in f.structured_input_signature[1].items()}
    t2 = time.perf_counter()
    y = {k: v.numpy() for k, v in f(**x).items()}
    t3 = time.perf_counter()
    del model, f, x, y
    gc.collect()
    for kept, t in zip(times, (t1 - t0, t3 - t2, time.perf_counter() - t3)):
        kept.append(t * 1000)
med = [sorted(t)[len(t) // 2] for t in times]
print(json.dumps(dict(load=med[0], first=med[1], unload=med[2], pages_per_cycle=(anon() - base) / (n - n // 2))))
"""


def run(command, **kw):
    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **kw)
    return json.loads(out.stdout.strip().splitlines()[-1]) if out.returncode == 0 else None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("models", nargs="*")
    p.add_argument("--tare-cycle", default=str(HERE.parent / "build/bin/tare_cycle"))
    p.add_argument("--tare", help="ignored; the make target passes it")
    p.add_argument("--tf-python", help="a Python that has TensorFlow")
    p.add_argument("--cycles", type=int, default=30)
    args = p.parse_args()
    models = args.models
    if not models and args.tf_python:
        folder = tempfile.mkdtemp()
        subprocess.run([args.tf_python, str(HERE / "make_models.py"), folder], check=True)
        models = [f"{folder}/toy", f"{folder}/textcls"]
    if not models:
        models = sorted(str(d) for d in (HERE.parent / "examples/demo/models").iterdir())
        print("TensorFlow is not given (--tf-python): Tare alone, on the demo's models")
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
    print("| model | runtime | load ms | first run ms | unload ms | bytes kept a cycle |\n|---|---|---|---|---|---|")
    for m in models:
        name = pathlib.Path(m).name
        rows = [("Tare", run([args.tare_cycle, m, str(args.cycles)]))]
        if args.tf_python:
            rows.append(("TensorFlow", run([args.tf_python, "-c", TF, m, str(args.cycles)], env=env)))
        for who, r in rows:
            if r is None:
                print(f"| {name} | {who} | failed | | | |")
                continue
            kept = f"{r['pages_per_cycle']:,.0f}" + (f" (live {r['live_per_cycle']:,.0f})" if "live_per_cycle" in r else "")
            print(f"| {name} | {who} | {r['load']:.2f} | {r['first']:.2f} | {r['unload']:.2f} | {kept} |", flush=True)


if __name__ == "__main__":
    main()

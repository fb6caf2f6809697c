#!/usr/bin/env python3
"""The C API's cost and memory on our library and on TensorFlow's, by the same programs in one run.

usage: capi.py --ours build/lib [--theirs DIR_OF_TENSORFLOW] [--models DIR] [--cycles N] [--run MODEL ...]
               [--run-cycles N]
DIR_OF_TENSORFLOW is the folder of TensorFlow's Python package, which has libtensorflow_cc.so.2; without it only
ours is measured. Models of --models are loaded and closed; those of --run are run too, by serving_default with one
input, of batch 1 (the program `tare` beside our library tells of which name and shape). Ratios are taken in turn, so
a machine that others use spoils figures, not comparisons.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
MODELS = ["keras_dense_sm", "keras_lookup_sm", "tf1_ref", "table_tensor_str", "table_file_str", "table_mutable"]


class Library:
    def __init__(self, name, folder, link, scratch):
        self.name, self.folder, self.link, self.scratch = name, folder, link, scratch

    def build(self, program):
        out = f"{self.scratch}/{program}_{self.name}"
        subprocess.run(["cc", "-O2", f"-I{HERE.parent}/include", f"{HERE}/{program}.c", "-o", out, f"-L{self.folder}",
                        *self.link, "-lpthread", f"-Wl,-rpath,{self.folder}"], check=True)
        return out

    def run(self, *command):
        env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0")
        begin = time.perf_counter()
        out = subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout
        values = {"process_ms": (time.perf_counter() - begin) * 1e3}
        for line in out.splitlines():
            name, _, value = line.partition(" ")
            if name != "version":
                values[name] = float(value)
        return values


def feed_and_fetch(tare, model):
    """capi_cycle's arguments for the default signature's only input and first output."""
    out = subprocess.run([tare, "show", "--json", model], check=True, capture_output=True, text=True).stdout
    signature = json.loads(out)["signatures"]["serving_default"]
    [feed] = signature["inputs"].values()
    dims = "x".join(str(max(d, 1)) for d in feed["shape"])
    return feed["tensor"], dims, next(iter(signature["outputs"].values()))["tensor"]


def best(runs):
    return {k: min(r[k] for r in runs) for k in runs[0]}


def show(title, results):
    print(f"\n{title}")
    names = list(results)
    for key in results[names[0]]:
        values = [results[n][key] for n in names]
        ratio = f"{values[1] / values[0]:10.1f}x" if len(values) == 2 and values[0] > 0 else ""
        print(f"  {key:24}" + "".join(f"{v:14.2f}" for v in values) + ratio)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ours", type=pathlib.Path, required=True)
    parser.add_argument("--theirs", type=pathlib.Path)
    parser.add_argument("--models", type=pathlib.Path, default=HERE.parent / "build/test_data/cycle")
    parser.add_argument("--cycles", type=int, default=200)
    parser.add_argument("--run", type=pathlib.Path, nargs="*", default=[], metavar="MODEL")
    parser.add_argument("--run-cycles", type=int, default=40)
    parser.add_argument("--only-run", action="store_true", help="nothing but start-up and the models of --run")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        libraries = [Library("ours", args.ours.resolve(), ["-ltensorflow"], scratch)]
        if args.theirs:
            link = ["-l:libtensorflow_cc.so.2", "-l:libtensorflow_framework.so.2"]
            libraries.append(Library("theirs", args.theirs.resolve(), link, scratch))
        print("columns: " + ", ".join(l.name for l in libraries))
        cycles = {l.name: l.build("capi_cycle") for l in libraries}
        show("start-up", {l.name: best([l.run(cycles[l.name]) for _ in range(5)]) for l in libraries})
        for model in args.run:
            rest = [str(model), str(args.run_cycles), *feed_and_fetch(args.ours.parent / "bin/tare", model)]
            show(f"load, run, close, delete: {model.name}", {l.name: l.run(cycles[l.name], *rest) for l in libraries})
        if args.only_run:
            return
        dispatch = {l.name: l.build("capi_dispatch") for l in libraries}
        show("eager dispatch", {l.name: best([l.run(dispatch[l.name]) for _ in range(2)]) for l in libraries})
        for model in MODELS:
            path = str(args.models / model)
            show(f"load, close, delete: {model}",
                 {l.name: l.run(cycles[l.name], path, str(args.cycles)) for l in libraries})


if __name__ == "__main__":
    main()

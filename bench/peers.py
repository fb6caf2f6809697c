#!/usr/bin/env python3
"""Tare beside its peers, in one run and in turn, so that the ratios hold although the machine's speed moves.

    python3 bench/peers.py MODELS... [--peers tensorflow,openvino,onnxruntime,litert] [--batches 1,8] [--threads 1,2]

MODELS are SavedModels or folders of them (bench/make_models.py makes some). For each: the cold cycle (load, first
run with a batch of 1, unload; its median) and steady runs (their median) for each number of threads and batch.
Runtimes that need a converted file get it made once, by --tf-python, in OUT/converted; the conversion is not
timed. Tare is measured by `tare bench`, the peers by bench/peer_worker.py under --python. A peer that is not
installed, or cannot take a model, is left out, with a line that says so.

Writes OUT/peers.json, OUT/peers.md and OUT/peers.svg.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

from peers_report import write_report

HERE = pathlib.Path(__file__).parent
FORMATS = {"onnxruntime": ".onnx", "litert": ".tflite"}  # the others read SavedModels
DTYPES = {"float": "float32", "double": "float64", "half": "float16"}


def say(text):
    print(text, file=sys.stderr, flush=True)


class Peer:
    """A worker process. After an error it answers nothing more, and why is in `reason`."""

    def __init__(self, python, runtime, threads, path, inputs):
        self.reason = None
        environment = dict(os.environ, TF_ENABLE_ONEDNN_OPTS="1", OMP_NUM_THREADS=str(threads))
        self.process = subprocess.Popen(
            [python, str(HERE / "peer_worker.py"), runtime, str(threads), str(path), json.dumps(inputs)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
        self.read()

    def read(self):
        line = self.process.stdout.readline()
        answer = json.loads(line) if line else {"error": "the process ended"}
        self.reason = answer.get("error")
        return answer

    def ask(self, **command):
        if self.reason:
            return {}
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return self.read()

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


class Tare:
    """`tare bench`, a process a measurement."""

    def __init__(self, tare, threads, path):
        self.command = [tare, "bench", str(path), "--json", "--threads", str(threads)]
        self.reason = None

    def bench(self, *options):
        run = subprocess.run([*self.command, *options], capture_output=True, text=True)
        if run.returncode != 0:
            self.reason = run.stderr.strip()
            return None
        return json.loads(run.stdout)

    def ask(self, do, batch=1, seconds=0.0):
        if self.reason or do == "unload":
            return {}
        if do == "cold":
            report = self.bench("--cycles", "3", "--runs", "1")
            return report and {p: report["cold"][f"{k}_ms"]["median"]
                               for p, k in (("load", "load"), ("first", "first_run"), ("unload", "unload"))} or {}
        report = self.bench("--cycles", "1", "--batch", str(batch), "--seconds", str(seconds))
        return {"times": [report["steady"][0]["p50_ms"]]} if report else {}

    def close(self):
        pass


def signature_inputs(tare, model):
    shown = json.loads(subprocess.run([tare, "show", str(model), "--json"], check=True, capture_output=True,
                                      text=True).stdout)
    return {name: [DTYPES.get(port["dtype"], port["dtype"]), port["shape"]]
            for name, port in shown["signatures"]["serving_default"]["inputs"].items()}


def converted(args, model, suffix):
    """The model in another runtime's format; None when it cannot be had."""
    out = args.out / "converted" / (model.name + suffix)
    failed = out.with_suffix(suffix + ".failed")
    if out.exists():
        return out
    if failed.exists():
        return None
    out.parent.mkdir(parents=True, exist_ok=True)
    say(f"{model.name}: converting to {suffix}")
    run = subprocess.run([args.tf_python, str(HERE / "convert_peer.py"), str(model), str(out)], capture_output=True,
                         text=True, env=dict(os.environ, PEERS_PATH=args.peers_path))
    if run.returncode != 0 and "ModuleNotFoundError" not in run.stderr:
        failed.write_text(run.stderr)  # not tried again
    return out if run.returncode == 0 else None


def start(args, model, threads):
    """Tare and the peers that can take the model."""
    runtimes = {"tare": Tare(args.tare, threads, model)}
    inputs = signature_inputs(args.tare, model)
    for name in args.peers:
        path = converted(args, model, FORMATS[name]) if name in FORMATS else model
        if path is None:
            say(f"{model.name}: {name} skipped: the model could not be converted to {FORMATS[name]}")
            continue
        python = args.tf_python if name == "tensorflow" else args.python
        runtimes[name] = Peer(python, name, threads, path, inputs)
    return runtimes


def in_turn(runtimes, rounds, **command):
    """Answers by runtime, a list of one a round; a runtime whose first answer is an error is dropped."""
    answers = {name: [] for name in runtimes}
    for _ in range(rounds):
        for name, runtime in runtimes.items():
            answer = runtime.ask(**command)
            if not runtime.reason:
                answers[name].append(answer)
    return {name: found for name, found in answers.items() if found}


def measure(args, model):
    rows = []
    for threads in args.threads:
        runtimes = start(args, model, threads)
        if threads == args.threads[0] and args.cycles > 0:
            found = in_turn(runtimes, args.cycles, do="cold")
            rows.append({"model": model.name, "case": "cold", "threads": threads, "batch": 1,
                         "ms": {name: statistics.median(sum(a[p] for p in ("load", "first", "unload")) for a in all_)
                                for name, all_ in found.items()}})
        for batch in args.batches:
            found = in_turn(runtimes, args.rounds, do="steady", batch=batch, seconds=args.seconds / args.rounds)
            rows.append({"model": model.name, "case": "steady", "threads": threads, "batch": batch,
                         "ms": {name: min(statistics.median(a["times"]) for a in all_) for name, all_ in found.items()}})
            in_turn(runtimes, 1, do="unload")
        for name, runtime in runtimes.items():
            if runtime.reason:
                say(f"{model.name}: {name} skipped: {runtime.reason.splitlines()[0][:150]}")
            runtime.close()
    return rows


def find_models(paths, only):
    models = []
    for path in map(pathlib.Path, paths):
        models += [path] if (path / "saved_model.pb").exists() else sorted(p.parent for p in path.glob("*/saved_model.pb"))
    return [m for m in models if not only or m.name in only]


def main():
    names = lambda text: [x for x in text.split(",") if x]
    numbers = lambda text: [int(x) for x in names(text)]
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("models", nargs="+")
    p.add_argument("--only", type=names, default=[], help="names of models, of those found in folders")
    p.add_argument("--peers", type=names, default=["tensorflow", "openvino", "onnxruntime", "litert"])
    p.add_argument("--batches", type=numbers, default=[1, 8])
    p.add_argument("--threads", type=numbers, default=[1, 2])
    p.add_argument("--cycles", type=int, default=3, help="cold cycles of each; 0: none")
    p.add_argument("--rounds", type=int, default=3, help="turns; the best turn's median counts")
    p.add_argument("--seconds", type=float, default=0.9, help="of steady runs for each, over all turns")
    p.add_argument("--tare", default="build/bin/tare")
    p.add_argument("--python", default=os.environ.get("PEERS_PYTHON", sys.executable))
    p.add_argument("--tf-python", default=os.environ.get("TF_PYTHON", sys.executable))
    p.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/bench"))
    args = p.parse_args()
    found = subprocess.run([args.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
                           capture_output=True, text=True)
    args.peers_path = found.stdout.strip()
    args.out.mkdir(parents=True, exist_ok=True)
    models = find_models(args.models, args.only)
    if not models:
        sys.exit(f"no SavedModel in {', '.join(args.models)}: bench/make_models.py makes some")
    rows = []
    for model in models:
        say(f"{model.name} ...")
        rows += measure(args, model)
    print(write_report(rows, args.out))


if __name__ == "__main__":
    main()

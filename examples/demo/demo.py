#!/usr/bin/env python3
"""The scene Tare is for: documents in several languages, each with a classifier of its own.

Runs each model on a sentence, then loads, runs and unloads all of them in turn a few hundred times, and
prints one receipt and the verdict. Needs only Python.
"""
import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


def tare(args, *words, **kw):
    return subprocess.run([args.tare, *map(str, words)], text=True, **kw)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tare", default="build/bin/tare", help="the program (default: %(default)s)")
    p.add_argument("--cycles", type=int, default=300, help="rounds of all three models (default: %(default)s)")
    p.add_argument("--report", default="demo-report.html", help="where the page with the curves goes")
    args = p.parse_args()

    scene = json.loads((HERE / "sentences.json").read_text(encoding="utf-8"))
    models = [HERE / "models" / language for language in scene["examples"]]
    print("Three text classifiers, a sentence each:")
    for language, example in scene["examples"].items():
        value = json.dumps([example["sentence"]], ensure_ascii=False)
        run = tare(args, "run", HERE / "models" / language, "--input", f"text={value}", "--json",
                   stdout=subprocess.PIPE)
        if run.returncode != 0:
            return run.returncode
        scores = next(iter(json.loads(run.stdout).values()))["value"][0]
        best = max(range(len(scores)), key=scores.__getitem__)
        print(f"  {language}: {example['sentence']}\n      -> {scene['labels'][best]} ({scores[best]:.0%})")

    print("\nThe receipt of one unload:", flush=True)
    sentence = json.dumps([scene["examples"]["en"]["sentence"]])
    run = tare(args, "run", models[0], "--input", f"text={sentence}", "--receipt",
               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    print(run.stderr)

    print(f"All three loaded, run and unloaded in turn, {args.cycles} times:", flush=True)
    return tare(args, "soak", *models, "--cycles", args.cycles, "--html", args.report, "--quiet").returncode


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Replays every recorded answer by `tare verify --all` and holds the result to tests/models/passing.txt.

A model listed there must pass; one that passes without being listed is told, so that the list grows.
"""
import argparse
import json
import pathlib
import subprocess
import sys

LIST = pathlib.Path(__file__).with_name("passing.txt")


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--tare", required=True)
    p.add_argument("--models", required=True)
    p.add_argument("--golden", required=True)
    p.add_argument("--loader", default="auto")
    p.add_argument("--passes", default="all", help="which graph passes run (default: %(default)s)")
    p.add_argument("--threads", default="0")
    args = p.parse_args()
    run = subprocess.run([args.tare, "verify", "--all", args.models, args.golden, "--loader", args.loader,
                          "--passes", args.passes, "--threads", args.threads, "--json"],
                         stdout=subprocess.PIPE, text=True)
    if run.returncode not in (0, 1):
        return run.returncode
    results = {m["model"]: m for m in json.loads(run.stdout)["models"]}
    listed = {}
    for line in LIST.read_text().splitlines():
        name, *loaders = line.split("#")[0].split()[:3] or [None]
        if name:
            listed[name] = loaders
    wanted = {n for n, loaders in listed.items() if not loaders or args.loader in loaders} & results.keys()
    broken = [n for n in sorted(wanted) if results[n]["status"] != "pass"]
    for n in broken:
        print(f"{n}: {results[n]['status']}: {results[n]['detail'][:400]}")
    extra = sorted(n for n, m in results.items() if m["status"] == "pass" and n not in listed)
    if extra:
        print("pass, but are not in passing.txt:", *extra)
    passed = sum(m["status"] == "pass" for m in results.values())
    print(f"{passed} of {len(results)} models pass; {len(wanted)} must")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

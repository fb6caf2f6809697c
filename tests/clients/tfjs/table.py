#!/usr/bin/env python3
"""The table of a run of tfjs-core's suite: passed and failed by op. Fails when fewer pass than must, or when an op with
some types gives another status than on TensorFlow.

usage: table.py SPECS.tsv TABLE.md --min-passed N
Only specs that execute ops count. A spec that fails for an op Tare has no kernel for is counted as lacking; any
other failure is an error of ours.
"""
import argparse
import collections
import pathlib
import re
import sys


def read(path):
    for line in path.read_text(errors="replace").splitlines():
        status, name, ops, message = (line + "\t\t\t").split("\t")[:4]
        if status in ("passed", "failed") and ops:
            yield status, name, ops.split(), message


def differing_signatures(specs):
    """What ran here or on TensorFlow (signatures.txt), and not on both."""
    recorded = (pathlib.Path(__file__).parent / "signatures.txt").read_text().splitlines()
    on_tensorflow = {line for line in recorded if line and not line.startswith("#")}
    ours = set(pathlib.Path(f"{specs}.signatures").read_text().splitlines())
    print(f"{len(ours & on_tensorflow)} of {len(on_tensorflow)} signatures have TensorFlow's status.")
    return [f"only on TensorFlow: {s}" for s in sorted(on_tensorflow - ours)] + [
        f"only here: {s}" for s in sorted(ours - on_tensorflow)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("specs", type=pathlib.Path)
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("--min-passed", type=int, required=True)
    args = parser.parse_args()
    specs = list(read(args.specs))
    by_op = collections.defaultdict(lambda: [0, 0])
    lacking, wrong = collections.Counter(), []
    for status, name, ops, message in specs:
        failed = status == "failed"
        missing = re.search(r"no kernel for the op '(\w+)'", message) if failed else None
        if missing:
            lacking[missing.group(1)] += 1
        elif failed:
            wrong.append(f"{name}: {message}")
        # A failure is its last op's: the one that was running.
        for op in ops:
            by_op[op][failed and op == (missing.group(1) if missing else ops[-1])] += 1
    passed = sum(s[0] == "passed" for s in specs)
    lines = [f"{passed} of {len(specs)} specs that execute ops pass.", "", "| op | passed | failed |", "|---|---|---|"]
    lines += [f"| {op} | {n[0]} | {n[1]} |" for op, n in sorted(by_op.items())]
    args.table.write_text("\n".join(lines) + "\n")
    print(lines[0], f"The table is in {args.table}.")
    for op, n in lacking.most_common():
        print(f"  {n} specs need {op}, which Tare lacks")
    wrong += differing_signatures(args.specs)
    for w in wrong:
        print(f"  wrong: {w}")
    if passed < args.min_passed:
        print(f"  {args.min_passed} must pass")
    return bool(wrong) or passed < args.min_passed


if __name__ == "__main__":
    sys.exit(main())

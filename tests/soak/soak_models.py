#!/usr/bin/env python3
"""Cycles every model that verifies, every table and cycle model, and every damaged one (a load that fails must
leave nothing either) with `tare soak`; all must be flat. Models with recorded calls are fed those and must answer
as recorded in every cycle.

CYCLES (100) rounds of each, in a process of its own for a group of models, so that one that grows is named.
"""
import argparse
import os
import pathlib
import subprocess
import sys


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--tare", required=True)
    p.add_argument("--data", required=True, help="the unpacked test models")
    p.add_argument("--group", type=int, default=12, help="models a process (default: %(default)s)")
    args = p.parse_args()
    cycles = os.environ.get("CYCLES", "100")
    data = pathlib.Path(args.data)
    listed = pathlib.Path(__file__).parent.parent / "models" / "passing.txt"
    names = [line.split("#")[0].split()[0] for line in listed.read_text().splitlines() if line.split("#")[0].split()]
    models = [data / "corpus" / n for n in names if (data / "corpus" / n).exists()]
    models += sorted(d for d in (data / "cycle").iterdir() if (d / "saved_model.pb").exists())
    models += sorted(d for d in (data / "bad").iterdir() if (d / "saved_model.pb").is_file())
    recorded = pathlib.Path(__file__).parent.parent / "data" / "golden_cycle"
    failed = 0
    for i in range(0, len(models), args.group):
        group = models[i:i + args.group]
        run = subprocess.run([args.tare, "soak", *map(str, group), "--cycles", cycles, "--quiet", "--allow-errors",
                              "--golden", str(data / "golden"), "--golden", str(recorded)],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        lines = run.stdout.strip().splitlines()
        print(f"{group[0].name} .. {group[-1].name}: {lines[-1]}", flush=True)
        print("".join(f"  {line}\n" for line in lines if " refused " in line), end="", flush=True)
        if run.returncode != 0:
            failed += 1
            print(run.stdout)
    print(f"{len(models)} models, {cycles} cycles each: {failed} groups not flat")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

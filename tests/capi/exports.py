#!/usr/bin/env python3
"""Fails unless the library exports exactly what its headers declare, under the version node `tensorflow`.

usage: exports.py LIBRARY INCLUDE
"""
import pathlib
import re
import subprocess
import sys


def declared(include):
    for header in (include / "tensorflow/c").rglob("*.h"):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        yield from re.findall(r"TF_CAPI_EXPORT extern [^;]*?\b(TFE?_\w+)\(", text)


def exported(library):
    out = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        name, _, version = line.split()[-1].partition("@@")
        if name != "tensorflow":  # the node itself
            yield name, version


def main():
    library, include = sys.argv[1], pathlib.Path(sys.argv[2])
    functions = dict(exported(library))
    wanted = set(declared(include))
    problems = [f"{n} is declared and not exported" for n in sorted(wanted - functions.keys())]
    problems += [f"{n} is exported and not declared" for n in sorted(functions.keys() - wanted)]
    problems += [f"{n} has version '{v}'" for n, v in sorted(functions.items()) if v != "tensorflow"]
    print("\n".join(problems) or f"{len(wanted)} functions")
    return bool(problems) or not wanted


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Fails when a folder of src/ includes from one that is not below it, or is not in the order.

usage: check_layers.py SRC
A file whose name ends in _test may include anything: tests look at layers from above.
"""
import pathlib
import re
import sys

# Lowest first: a folder includes from itself and from those before it.
LAYERS = """status memory threads tensor op wire bundle resource math kernels cache graph passes plan
            context saved_model keras capi soak serve cli""".split()
RANK = {name: i for i, name in enumerate(LAYERS)}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([\w.]+)/[^"]+"')


def violations(src):
    for path in sorted(src.rglob("*")):
        if path.suffix not in (".h", ".cc", ".c", ".inc") or path.stem.endswith("_test"):
            continue
        folder = path.relative_to(src).parts[0]
        if folder not in RANK:
            yield f"{path}: {folder}/ has no place in the order of tests/layers"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            target = match.group(1)
            # Public headers (include/) are above no one: "tensorflow/c/..." and "tare/...".
            if target in RANK and RANK[target] > RANK[folder]:
                yield f"{path}:{number}: {folder}/ may not include {target}/"
            elif target not in RANK and target not in ("tensorflow", "tare"):
                yield f"{path}:{number}: {target}/ has no place in the order of tests/layers"


def main():
    found = list(violations(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "layers ok")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())

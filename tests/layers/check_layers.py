#!/usr/bin/env python3
"""Fails when a folder of src/ includes from one that is not below it, or is not in the order; and when two files
define types of one name in one namespace, of which a linker silently takes one for both.

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


TYPE = re.compile(r"(?:class|struct)(?: alignas\(\w+\))? (\w+)(?: final)?\s*(?::[^:]|\{)")


def types(path):
    """(namespace, name) of the types at the outermost level, those of unnamed namespaces apart."""
    open_namespaces = []
    for line in path.read_text().splitlines():
        if match := re.match(r"(?:inline )?namespace ([\w:]*) ?\{", line):
            if not line.rstrip().endswith("}"):
                open_namespaces.append(match.group(1))
        elif line.startswith("}  // namespace") and open_namespaces:
            open_namespaces.pop()
        elif (match := TYPE.match(line)) and "" not in open_namespaces:
            yield "::".join(open_namespaces), match.group(1)


def name_clashes(src):
    defined = {}
    for path in sorted(src.rglob("*")):
        if path.suffix in (".h", ".cc") and not path.stem.endswith("_test"):
            for name in types(path):
                if name in defined and defined[name] != path:
                    yield f"{path}: {'::'.join(name)} is defined in {defined[name]} too"
                defined[name] = path


def main():
    src = pathlib.Path(sys.argv[1])
    found = [*violations(src), *name_clashes(src)]
    print("\n".join(found) or "layers ok")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())

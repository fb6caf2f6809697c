#!/usr/bin/env python3
"""Records what TensorFlow answers for a SavedModel, so that Tare's answers can be compared with it.

Writes OUT/SIGNATURE.I.npz for each signature and case I, in order, from one load of the model. Keys are
"in/ARG" and "out/KEY": plain arrays, and for what NumPy has no type for, strings as KEY#bytes (uint8,
concatenated), KEY#offsets (int64, one more than there are strings) and KEY#shape, bfloat16 as KEY#bf16
(uint16, the bits). No pickle. Needs TensorFlow; oneDNN is off unless TF_ENABLE_ONEDNN_OPTS says
otherwise.
"""
import argparse
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np

WORDS = ["the", "quick", "brown", "fox", "jumps", "über", "den", "faulen", "Hund", "日本", "2024", ""]


class Mistake(Exception):
    """Something the user can mend; its text tells what."""


# --- the file format ---


def encode(arrays):
    out = {}
    for key, value in arrays.items():
        value = np.asarray(value)
        if value.dtype.name == "bfloat16":
            out[key + "#bf16"] = value.view(np.uint16)
        elif value.dtype.kind in "OSU":
            flat = [v if isinstance(v, bytes) else str(v).encode() for v in value.reshape(-1).tolist()]
            out[key + "#bytes"] = np.frombuffer(b"".join(flat), np.uint8)
            out[key + "#offsets"] = np.cumsum([0] + [len(v) for v in flat], dtype=np.int64)
            out[key + "#shape"] = np.asarray(value.shape, np.int64)
        elif value.dtype.kind in "biufc":
            out[key] = value
        else:
            raise Mistake(f"{key} has type {value.dtype}, which the format cannot hold")
    return out


def decode(file):
    """The arrays of an open .npz, with strings and bfloat16 put together again."""
    out = {}
    for name in file.files:
        key, _, part = name.partition("#")
        if part == "bf16":
            import ml_dtypes
            out[key] = file[name].view(ml_dtypes.bfloat16)
        elif part == "bytes":
            text, offsets = file[name].tobytes(), file[key + "#offsets"]
            array = np.empty(len(offsets) - 1, dtype=object)
            array[:] = [text[a:b] for a, b in zip(offsets, offsets[1:])]
            out[key] = array.reshape(file[key + "#shape"])
        elif not part:
            out[key] = file[name]
    return out


# --- inputs ---


def random_input(spec, rng, batch, size, high):
    import tensorflow as tf
    if spec.shape.rank is None:
        raise Mistake(f"input '{spec.name}' has no known rank: give --inputs")
    shape = [d if d is not None else batch if i == 0 else size for i, d in enumerate(spec.shape)]
    if spec.dtype == tf.string:
        return rng.choice(np.array(WORDS, dtype=object), shape)
    if spec.dtype == tf.bool:
        return rng.integers(0, 2, shape).astype(bool)
    if spec.dtype.is_integer:
        return rng.integers(0, high, shape).astype(spec.dtype.as_numpy_dtype)
    if spec.dtype.is_complex:
        value = rng.normal(size=shape) + 1j * rng.normal(size=shape)
        return np.asarray(value, spec.dtype.as_numpy_dtype)
    if spec.dtype.is_floating:
        return np.asarray(rng.normal(size=shape), spec.dtype.as_numpy_dtype)
    raise Mistake(f"input '{spec.name}' is {spec.dtype.name}: give --inputs")


def read_inputs(path):
    """A case from a .npz: keys ARG or in/ARG."""
    try:
        with np.load(path) as file:
            arrays = decode(file)
    except (OSError, ValueError, KeyError) as e:
        raise Mistake(f"{path}: cannot be read: {e}") from e
    recorded = {k[3:]: v for k, v in arrays.items() if k.startswith("in/")}
    return recorded or arrays


# --- recording ---


def load(path, tags=None):
    import tensorflow as tf
    if not any((pathlib.Path(path) / f).is_file() for f in ("saved_model.pb", "saved_model.pbtxt")):
        raise Mistake(f"{path}: no SavedModel there (no saved_model.pb)")
    try:
        return tf.saved_model.load(str(path), tags=tags)
    except Exception as e:  # pylint: disable=broad-except
        raise Mistake(f"{path}: TensorFlow cannot load it: {e}") from e


def run(function, name, case):
    """One case's inputs, typed as the signature says, and TensorFlow's outputs."""
    import tensorflow as tf
    specs = function.structured_input_signature[1]
    if set(specs) != set(case):
        raise Mistake(f"signature {name} takes {sorted(specs)}, not {sorted(case)}")
    try:
        inputs = {k: tf.constant(v, dtype=specs[k].dtype) for k, v in case.items()}
        outputs = function(**inputs)
    except Exception as e:  # pylint: disable=broad-except
        raise Mistake(f"signature {name}: TensorFlow cannot run it: {e}") from e
    return ({k: v.numpy() for k, v in inputs.items()}, {k: v.numpy() for k, v in outputs.items()})


def write_case(path, inputs, outputs):
    arrays = {f"in/{k}": v for k, v in inputs.items()} | {f"out/{k}": v for k, v in outputs.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **encode(arrays))


def record(model_path, signature, cases, out):
    """Records the cases, dictionaries of arrays by argument; returns the outputs of each."""
    function = load(model_path).signatures[signature]
    answers = []
    for i, case in enumerate(cases):
        inputs, outputs = run(function, signature, case)
        write_case(pathlib.Path(out) / f"{signature}.{i}.npz", inputs, outputs)
        answers.append(outputs)
    return answers


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path, help="the SavedModel's folder")
    parser.add_argument("out", type=pathlib.Path, help="where the .npz files go")
    parser.add_argument("--signature", action="append", help="only this one (may be given again)")
    parser.add_argument("--tags", help="the graph's tags, by commas (default: the only graph's)")
    parser.add_argument("--inputs", action="append", type=pathlib.Path, metavar="FILE.npz",
                        help="a case's inputs, keys ARG or in/ARG, instead of random ones")
    parser.add_argument("--cases", type=int, default=1, help="random cases a signature (default 1)")
    parser.add_argument("--seed", type=int, default=0, help="of the random inputs (default 0)")
    parser.add_argument("--batch", type=int, default=2, help="size of an unknown first dimension")
    parser.add_argument("--size", type=int, default=8, help="size of other unknown dimensions")
    parser.add_argument("--high", type=int, default=10, help="random integers are 0 up to this, less 1")
    return parser.parse_args()


def main():
    args = parse_arguments()
    model = load(args.model, args.tags.split(",") if args.tags else None)
    names = args.signature or sorted(model.signatures)
    if not names:
        raise Mistake(f"{args.model}: it has no signatures")
    for name in names:
        if name not in model.signatures:
            raise Mistake(f"{args.model}: no signature {name}; it has {sorted(model.signatures)}")
    for name in names:
        function = model.signatures[name]
        rng = np.random.default_rng(args.seed)
        if args.inputs:
            cases = [read_inputs(path) for path in args.inputs]
        else:
            specs = function.structured_input_signature[1]
            cases = [{k: random_input(s, rng, args.batch, args.size, args.high) for k, s in specs.items()}
                     for _ in range(args.cases)]
        for i, case in enumerate(cases):
            path = args.out / f"{name}.{i}.npz"
            write_case(path, *run(function, name, case))
            print(path)


if __name__ == "__main__":
    try:
        main()
    except Mistake as e:
        sys.exit(f"record_golden: {e}")
    except ImportError as e:
        sys.exit(f"record_golden: {e}; TensorFlow is needed: pip install tensorflow")

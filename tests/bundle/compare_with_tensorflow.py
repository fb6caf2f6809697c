"""Compares every tensor of checkpoints, as bundle_dump reads them, with TensorFlow's own reader.

    python compare_with_tensorflow.py BUNDLE_DUMP MODELS_DIR...
"""
import pathlib
import struct
import subprocess
import sys

import numpy as np
import tensorflow as tf

NAMES = {"float16": "half", "float32": "float", "float64": "double"}


def dumped(tool, prefix, *options):
    run = subprocess.run([tool, *options, str(prefix)], capture_output=True)
    data, at, tensors = run.stdout, 0, {}
    while at < len(data):
        end = data.index(b"\n", at)
        key, dtype, shape, size = data[at:end].decode().rsplit(" ", 3)
        tensors[key] = (dtype, shape, data[end + 1:end + 1 + int(size)])
        at = end + 1 + int(size)
    return tensors, run.stderr.decode()


def as_bytes(value):
    if value.dtype != object:
        return np.ascontiguousarray(value).tobytes()
    return b"".join(struct.pack("<Q", len(s)) + s for s in value.reshape(-1))


def differences(tool, prefix):
    reader = tf.train.load_checkpoint(str(prefix))
    shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    for options in ([], ["--read"]):
        tensors, errors = dumped(tool, prefix, *options)
        if errors:
            yield errors
        if tensors.keys() != shapes.keys():
            yield f"keys differ: {sorted(tensors.keys() ^ shapes.keys())}"
        for key in tensors.keys() & shapes.keys():
            dtype, shape, data = tensors[key]
            value = reader.get_tensor(key)
            value = np.array([value], object) if isinstance(value, bytes) else np.asarray(value)
            if shape != str(list(shapes[key])).replace(" ", ""):
                yield f"{key}: shape {shape} for {shapes[key]}"
            if dtype != NAMES.get(dtypes[key].name, dtypes[key].name):
                yield f"{key}: dtype {dtype} for {dtypes[key].name}"
            if data != as_bytes(value):
                yield f"{key}: bytes differ"


def main():
    tool, failed, count = sys.argv[1], 0, 0
    for root in sys.argv[2:]:
        for index in sorted(pathlib.Path(root).rglob("*.index")):
            count += 1
            for problem in differences(tool, index.with_suffix("")):
                failed += 1
                print(f"{index}: {problem}")
    print(f"{count} checkpoints compared, {failed} differences")
    return failed > 0


sys.exit(main())

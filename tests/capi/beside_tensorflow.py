#!/usr/bin/env python3
"""Our library in one process with TensorFlow's Python package, loaded before it and after it: each does its own work.

usage: beside_tensorflow.py LIBRARY MODEL (before|after); exit status 77 where there is no TensorFlow
"""
import ctypes
import importlib.util
import os
import sys

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0")


def pointer(library, name, *args):
    function = getattr(library, name)
    function.restype = ctypes.c_void_p
    return function(*[ctypes.c_void_p(a) if isinstance(a, int) or a is None else a for a in args])


def run_ours(path, model):
    library = ctypes.CDLL(path)
    status, graph = pointer(library, "TF_NewStatus"), pointer(library, "TF_NewGraph")
    options = pointer(library, "TF_NewSessionOptions")
    tags = (ctypes.c_char_p * 1)(b"serve")
    session = pointer(library, "TF_LoadSessionFromSavedModel", options, None, ctypes.c_char_p(model.encode()), tags,
                      ctypes.c_int(1), graph, None, status)
    code = library.TF_GetCode(ctypes.c_void_p(status))
    assert session and code == 0, code
    pointer(library, "TF_DeleteSession", session, status)
    pointer(library, "TF_DeleteGraph", graph)
    pointer(library, "TF_DeleteSessionOptions", options)
    pointer(library, "TF_DeleteStatus", status)


def run_theirs(model):
    import tensorflow as tf
    assert float(tf.reduce_sum(tf.constant([1.0, 2.0]))) == 3
    assert tf.strings.regex_replace("abc", "b", "x").numpy() == b"axc"
    tf.saved_model.load(model)


def main():
    library, model, order = sys.argv[1:]
    if importlib.util.find_spec("tensorflow") is None:
        print("SKIPPED: there is no TensorFlow")
        return 77
    if order == "before":
        run_ours(library, model)
    run_theirs(model)
    run_ours(library, model)
    run_theirs(model)
    print(f"both work, ours loaded {order}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

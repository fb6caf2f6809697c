#!/usr/bin/env python3
"""Converts a SavedModel to what another runtime reads: `convert_peer.py SAVED_MODEL OUT`, OUT ending in .onnx
(needs TensorFlow and tf2onnx) or .tflite (needs TensorFlow). PEERS_PATH may name a folder of packages to add.
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

model, out = sys.argv[1:]
if os.environ.get("PEERS_PATH"):
    sys.path.append(os.environ["PEERS_PATH"])  # last: TensorFlow keeps its own versions of what both need
if out.endswith(".tflite"):
    data = tf.lite.TFLiteConverter.from_saved_model(model, signature_keys=["serving_default"]).convert()
    with open(out + ".part", "wb") as f:
        f.write(data)
else:
    import tf2onnx
    loaded = tf.saved_model.load(model)
    function = loaded.signatures["serving_default"]
    spec = [tf.TensorSpec(s.shape, s.dtype, name=name) for name, s in function.structured_input_signature[1].items()]
    named = tf.function(lambda *args: function(**{s.name: a for s, a in zip(spec, args)}))
    tf2onnx.convert.from_function(named, input_signature=spec, opset=17, output_path=out + ".part")
os.rename(out + ".part", out)

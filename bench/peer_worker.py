#!/usr/bin/env python3
"""One runtime that bench/peers.py drives: reads commands from standard input, a JSON object a line, and answers
each with one.

    peer_worker.py RUNTIME THREADS MODEL INPUTS

RUNTIME is tensorflow, openvino, onnxruntime or litert; MODEL what it reads (a SavedModel, .onnx or .tflite);
INPUTS a JSON object {name: [dtype, dims]} in which -1 stands for the batch. Everything is fed zeros ("one two"
for strings), as `tare bench` does. Commands:
    {"do": "cold"}                               one load, first run and unload, in milliseconds
    {"do": "steady", "batch": 8, "seconds": 1}   the times of single runs
    {"do": "unload"}                             forgets what steady runs keep loaded
"""
import gc
import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
THREADS = int(sys.argv[2]) if len(sys.argv) > 2 else 1


class TensorFlow:
    def __init__(self):
        import tensorflow as tf
        self.tf = tf
        tf.config.threading.set_intra_op_parallelism_threads(THREADS)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        tf.constant(0)  # starts the runtime

    def load(self, path, batch, inputs):
        model = self.tf.saved_model.load(path)
        return model, model.signatures["serving_default"]

    def bind(self, handle, feeds):
        fed = {name: self.tf.constant(value) for name, value in feeds.items()}
        return lambda: [value.numpy() for value in handle[1](**fed).values()]


class OpenVino:
    def __init__(self):
        import openvino
        self.ov, self.core = openvino, openvino.Core()
        self.core.get_property("CPU", "FULL_DEVICE_NAME")  # loads the plug-in
        # Its own default may be bfloat16.
        self.config = {"INFERENCE_NUM_THREADS": THREADS, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}

    def load(self, path, batch, inputs):
        model = self.core.read_model(path)
        shapes = {}
        for port in model.inputs:
            _, dims = match(" ".join(port.get_names()), inputs)
            shapes[port.get_any_name()] = [batch if d < 0 else d for d in dims]
        model.reshape(shapes)
        return self.core.compile_model(model, "CPU", self.config)

    def bind(self, handle, feeds):
        request = handle.create_infer_request()
        for port in handle.inputs:
            request.set_tensor(port, self.ov.Tensor(match(" ".join(port.get_names()), feeds)))

        def run():
            request.infer()
            return [request.get_output_tensor(i).data for i in range(len(handle.outputs))]
        return run


class OnnxRuntime:
    def __init__(self):
        import onnxruntime
        self.ort = onnxruntime

    def load(self, path, batch, inputs):
        options = self.ort.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = THREADS, 1
        options.log_severity_level = 3
        return self.ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def bind(self, handle, feeds):
        fed = {port.name: match(port.name, feeds) for port in handle.get_inputs()}
        return lambda: handle.run(None, fed)


class LiteRt:
    def __init__(self):
        from ai_edge_litert.interpreter import Interpreter
        self.interpreter = Interpreter

    def load(self, path, batch, inputs):
        handle = self.interpreter(model_path=path, num_threads=THREADS)
        handle.allocate_tensors()
        return handle

    def bind(self, handle, feeds):
        ports = handle.get_input_details()
        for port in ports:
            value = match(port["name"], feeds)
            if tuple(port["shape"]) != value.shape:
                handle.resize_tensor_input(port["index"], value.shape)
        handle.allocate_tensors()
        for port in ports:
            handle.set_tensor(port["index"], match(port["name"], feeds))
        outputs = [port["index"] for port in handle.get_output_details()]

        def run():
            handle.invoke()
            return [handle.get_tensor(i) for i in outputs]
        return run


RUNTIMES = {"tensorflow": TensorFlow, "openvino": OpenVino, "onnxruntime": OnnxRuntime, "litert": LiteRt}


def match(port, by_name):
    """The entry a port means: runtimes decorate the signature's names."""
    if len(by_name) == 1:
        return next(iter(by_name.values()))
    found = [value for name, value in by_name.items() if name in port]
    if len(found) != 1:
        raise ValueError(f"no input of {list(by_name)} for {port}")
    return found[0]


def make_feeds(inputs, batch):
    import numpy as np
    feeds = {}
    for name, (dtype, dims) in inputs.items():
        shape = [batch if d < 0 else d for d in dims]
        feeds[name] = np.full(shape, "one two", object) if dtype == "string" else np.zeros(shape, dtype)
    return feeds


def milliseconds(function):
    start = time.perf_counter()
    result = function()
    return (time.perf_counter() - start) * 1e3, result


class Worker:
    def __init__(self, runtime, path, inputs):
        self.runtime, self.path, self.inputs = RUNTIMES[runtime](), path, inputs
        self.loaded = {}  # batch -> a function that runs it
        gc.collect()
        gc.freeze()  # a collection looks at the model's objects, not at every module's

    def cold(self, _):
        feeds = make_feeds(self.inputs, 1)
        load, handle = milliseconds(lambda: self.runtime.load(self.path, 1, self.inputs))

        def first_run():
            self.runtime.bind(handle, feeds)()
        first, _ = milliseconds(first_run)
        start = time.perf_counter()
        del handle, first_run
        gc.collect()
        return {"load": load, "first": first, "unload": (time.perf_counter() - start) * 1e3}

    def steady(self, command):
        batch = command["batch"]
        if batch not in self.loaded:
            handle = self.runtime.load(self.path, batch, self.inputs)
            self.loaded[batch] = self.runtime.bind(handle, make_feeds(self.inputs, batch))
        run, times = self.loaded[batch], []
        for _ in range(2):
            run()
        end = time.perf_counter() + command["seconds"]
        while time.perf_counter() < end or len(times) < 3:
            times.append(milliseconds(run)[0])
        return {"times": times}

    def unload(self, _):
        self.loaded.clear()
        gc.collect()
        return {}


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not end up among the answers

    def answer(value):
        print(json.dumps(value), file=answers, flush=True)

    try:
        worker = Worker(sys.argv[1], sys.argv[3], json.loads(sys.argv[4]))
        answer({"ready": True})
    except Exception as e:  # not installed, or not this version
        return answer({"error": f"{type(e).__name__}: {e}"})
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer(getattr(worker, command["do"])(command))
        except Exception as e:
            answer({"error": f"{type(e).__name__}: {e}"})


if __name__ == "__main__":
    main()

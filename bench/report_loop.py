#!/usr/bin/env python3
"""The report's loop: load a SavedModel, run it, delete it, collect garbage, N times; meters every cycle.

    python bench/report_loop.py --with tensorflow --model DIR --out tf.json        # import tensorflow as tf
    python bench/report_loop.py --with tare --model DIR --out tare.json            # import tare.tf_compat as tf
    python bench/report_loop.py --with tensorflow --make DIR --count 8             # writes two-layer models
    python bench/report_loop.py --with tensorflow --make-text DIR                  # writes a text classifier

Only the import differs. Several --model are taken in turn, one a cycle. --clear-caches adds the report's
workaround. Writes JSON: a series for each meter and the growth a cycle in the second half; `alive` is Tare's
own ledger. Runs on Python 3.8 and later with any TensorFlow 2. examples/report_loop/run.sh runs all of it.
"""
import argparse
import array
import ctypes
import gc
import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")


class MallInfo2(ctypes.Structure):
    _fields_ = [(n, ctypes.c_size_t) for n in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks",
                                               "fsmblks", "uordblks", "fordblks", "keepcost")]


def malloc_reader():
    try:
        call = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError):
        return lambda: 0
    call.restype = MallInfo2

    def read():
        info = call()
        return info.uordblks + info.hblkhd
    return read


def private_dirty():
    with open("/proc/self/smaps_rollup", "rb") as f:
        for line in f:
            if line.startswith(b"Private_Dirty:"):
                return int(line.split()[1]) * 1024
    return 0


def make_model(tf, directory, width, inputs=16, trained=False):
    model = tf.keras.Sequential([tf.keras.layers.Dense(width, activation="relu", input_shape=(inputs,)),
                                 tf.keras.layers.Dense(4)])
    if trained:
        model.compile("adam", "mse")
        model.fit(tf.ones((8, inputs)), tf.ones((8, 4)), verbose=0)
    if hasattr(model, "export"):
        model.export(directory)
    else:
        tf.saved_model.save(model, directory)


def make_text_model(tf, directory):
    """A text classifier with what such models have: split strings, a vocabulary table, embeddings, a dense layer."""
    words = "heavy rain strong wind match goal team race soup bread rice salad".split()

    class Classifier(tf.Module):
        def __init__(self):
            super().__init__()
            self.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
                tf.constant(words), tf.range(1, len(words) + 1, dtype=tf.int64)), 0)
            self.embeddings = tf.Variable(tf.random.stateless_uniform((len(words) + 1, 64), (1, 2)))
            self.weights = tf.Variable(tf.random.stateless_uniform((64, 3), (3, 4)))

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def classify(self, text):
            tokens = tf.strings.split(tf.strings.lower(text)).to_tensor("")
            ids = self.table.lookup(tokens)
            vectors = tf.reduce_mean(tf.gather(self.embeddings, ids), axis=1)
            return {"scores": tf.nn.softmax(tf.matmul(vectors, self.weights))}

    model = Classifier()
    tf.saved_model.save(model, directory, signatures={"serving_default": model.classify})


def make_input(tf, signature):
    """Inputs of ones (or a sentence) for a signature of either library."""
    specs = signature.structured_input_signature[1]
    inputs = {}
    for name, spec in specs.items():
        shape = [1 if d is None else d for d in (spec.shape or [])]
        if spec.dtype.name == "string":
            value, dtype = "heavy rain and strong wind", tf.string
        else:
            value, dtype = 1, getattr(tf, spec.dtype.name)
        for d in reversed(shape):
            value = [value] * d
        inputs[name] = tf.constant(value, dtype=dtype)
    return inputs


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--with", dest="library", choices=["tensorflow", "tare"], required=True)
    p.add_argument("--model", action="append", default=[])
    p.add_argument("--make", metavar="DIR", help="write the two-layer Keras model and stop (TensorFlow only)")
    p.add_argument("--count", type=int, default=1, help="as many, of different widths, in DIR/0, DIR/1 ...")
    p.add_argument("--wide", action="store_true", help="with --make: 784 inputs, 512 units, trained a step")
    p.add_argument("--make-text", metavar="DIR", help="write the text classifier and stop (TensorFlow only)")
    p.add_argument("--cycles", type=int, default=200)
    p.add_argument("--clear-caches", action="store_true", help="the report's workaround, after each cycle")
    p.add_argument("--fail-midway", action="store_true", help="an exception in the middle of every cycle")
    p.add_argument("--unload", action="store_true", help="model.unload() where del is the default (Tare only)")
    p.add_argument("--part", help="what the run is of, for the plot")
    p.add_argument("--label")
    p.add_argument("--out")
    args = p.parse_args()

    started = time.time()
    if args.library == "tensorflow":
        import tensorflow as tf
        from tensorflow.python.eager import context
    else:
        import tare.tf_compat as tf
        from tare.tf_compat.python.eager import context
    import_seconds = time.time() - started
    if args.make and args.wide:
        return make_model(tf, args.make, 512, 784, trained=True)
    if args.make:
        for i in range(args.count):
            make_model(tf, os.path.join(args.make, str(i)) if args.count > 1 else args.make, 32 + 8 * i)
        return
    if args.make_text:
        return make_text_model(tf, args.make_text)
    if args.clear_caches:
        if args.library == "tensorflow":
            from tensorflow.python import pywrap_tfe
        else:
            from tare.tf_compat.python import pywrap_tfe

    def visit(path):
        model = tf.saved_model.load(path)
        signature = model.signatures["serving_default"]
        outputs = signature(**make_input(tf, signature))
        for t in outputs.values():
            t.numpy()
        if args.fail_midway:
            raise RuntimeError("midway")
        if args.unload:
            model.unload()
        del model

    malloc = malloc_reader()
    # A figure in an array is no block of Python's, so that the script does not measure itself.
    series = {k: array.array("q", bytes(8 * args.cycles)) for k in ("malloc", "private_dirty", "python_blocks", "alive")}
    if args.library == "tare":
        from tare._tare import meters
    else:
        series.pop("alive")
    started = time.time()
    for cycle in range(args.cycles):
        try:
            visit(args.model[cycle % len(args.model)])
        except RuntimeError as e:
            if str(e) != "midway":
                raise
        tf.keras.backend.clear_session()
        if args.clear_caches:
            pywrap_tfe.TFE_ContextClearCaches(context.context()._handle)
        gc.collect()
        if "alive" in series:
            series["alive"][cycle] = meters()[0]
        series["malloc"][cycle] = malloc()
        series["private_dirty"][cycle] = private_dirty()
        series["python_blocks"][cycle] = sys.getallocatedblocks()
    half = args.cycles // 2
    growth = {k: (v[-1] - v[half]) / max(1, args.cycles - 1 - half) for k, v in series.items()}
    series = {k: list(v) for k, v in series.items()}
    result = {"label": args.label or f"{args.library} {tf.__version__}", "python": sys.version.split()[0],
              "part": args.part, "models": len(args.model), "cycles": args.cycles, "import_seconds": round(import_seconds, 3),
              "seconds": round(time.time() - started, 2), "growth_per_cycle": growth, "series": series}
    if args.out:
        with open(args.out, "w") as f:
            json.dump(result, f)
    print("{label}: {cycles} cycles in {seconds} s; a cycle: ".format(**result) +
          ", ".join("{} {:+,.1f}".format(k, v) for k, v in growth.items()))


if __name__ == "__main__":
    main()

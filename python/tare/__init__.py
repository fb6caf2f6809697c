"""Tare: loads TensorFlow SavedModels, runs them, unloads them, and gives every byte back.

    import tare
    with tare.load("examples/demo/models/en") as m:
        print(m.signatures["serving_default"](text=["Heavy rain and strong wind"]))

Importing it starts no thread, reads no model and imports no NumPy.
"""
from ._tare import Model, Receipt, Signature, Tensor, load, set_memory_limit, set_seed, set_threads, tensor
from . import _tare
from .dtypes import DType, TensorSpec
from .errors import OpError

__version__ = "0.1.0"

# What is imported when it is first asked for: name -> module that has it (None: the module itself).
_LAZY = {
    "memory": "report", "kernel_cache": "report",
    "soak": "flat", "assert_flat": "flat",
    "ops": None, "saved_model": None, "tf_compat": None, "heap": None, "errors": None, "dtypes": None,
}
__all__ = ["load", "tensor", "Model", "Signature", "Tensor", "Receipt", "DType", "TensorSpec", "OpError",
           "set_memory_limit", "set_seed", "set_threads", *_LAZY]


def __getattr__(name):
    if name not in _LAZY:
        raise AttributeError(f"module 'tare' has no attribute '{name}'")
    import importlib
    home = _LAZY[name]
    module = importlib.import_module(f".{home or name}", __name__)
    value = module if home is None else getattr(module, name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(set(globals()) | set(__all__))


def _register_exit():
    import atexit
    atexit.register(_tare.shut_down)


_register_exit()
del _register_exit

"""The names of TensorFlow that loading and serving code uses: `import tare.tf_compat as tf`.

What is here behaves as there; what is not raises AttributeError that says so. tf.raw_ops has every op that
Tare runs. docs/python.md has the list.
"""
from .. import saved_model, errors, __version__ as tare_version
from .._tare import Tensor, set_seed as _set_seed, tensor as _tensor
from ..dtypes import (DType, TensorSpec, bfloat16, bool, complex64, complex128, double, float16, float32,  # noqa: A004
                      float64, half, int8, int16, int32, int64, qint8, quint8, resource, string, uint8, uint16,
                      uint32, uint64, variant)
from .. import dtypes
from .. import ops as raw_ops
from . import keras, python

__version__ = "2.21.0-tare"


def constant(value, dtype=None, shape=None, name=None):
    """A tensor of the value; `shape` reshapes it, or repeats a single number."""
    t = _tensor(value, dtype)
    if shape is None:
        return t
    shape = list(shape)
    return raw_ops.fill(shape, t) if t.ndim == 0 else raw_ops.reshape(t, shape)


def convert_to_tensor(value, dtype=None, dtype_hint=None, name=None):
    return _tensor(value, dtype)


def is_tensor(x):
    return isinstance(x, Tensor)


def cast(x, dtype, name=None):
    x = _tensor(x)
    return raw_ops.Cast(x, DstT=dtype)


def executing_eagerly():
    return True


class _Namespace:
    def __init__(self, **names):
        self.__dict__.update(names)


class _Gpu:
    """There is none."""


def _list_devices(kind=None):
    return [] if kind in ("GPU", "TPU") else [_Namespace(name="/physical_device:CPU:0", device_type="CPU")]


def _ignore(*args, **kwargs):
    return None


random = _Namespace(set_seed=_set_seed)
config = _Namespace(
    list_physical_devices=_list_devices,
    experimental=_Namespace(list_physical_devices=_list_devices, set_memory_growth=_ignore),
    threading=_Namespace(set_intra_op_parallelism_threads=lambda n: _threads(n),
                         set_inter_op_parallelism_threads=_ignore),
)
compat = _Namespace(as_bytes=lambda s: s if isinstance(s, bytes) else s.encode(),
                    as_str=lambda s: s if isinstance(s, str) else s.decode())


def _threads(n):
    from .. import set_threads
    set_threads(n)


def __getattr__(name):
    raise AttributeError(f"tare.tf_compat has no '{name}': it holds what loading and serving SavedModels needs; "
                         "see docs/python.md, and tf.raw_ops for ops")

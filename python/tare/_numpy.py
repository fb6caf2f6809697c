"""Tensors as NumPy arrays; imported when the first is asked for."""
import numpy as np

try:
    from ml_dtypes import bfloat16 as _bfloat16
except ImportError:
    _bfloat16 = None


def as_array(t, name, dtype=None, copy=None):
    if name == "string":
        array = np.empty(t.size, object)
        array[:] = t._flat()
        array = array.reshape(t.shape)
    elif name in ("resource", "variant"):
        raise TypeError(f"a tensor of {name} has no NumPy array")
    else:
        array = np.asarray(memoryview(t))
        if name == "bfloat16" and _bfloat16 is not None:
            array = array.view(_bfloat16)
        if copy:
            array = array.copy()
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError("another dtype needs a copy")
        array = array.astype(dtype)
    return array


def from_tensor(t, name):
    array = as_array(t, name)
    return array[()] if array.ndim == 0 else array

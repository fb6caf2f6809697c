"""StructuredValue: how a SavedModel writes the arguments and results of its functions.

`parse` reads the bytes into Python values: None, numbers, str, list, tuple, dict, named tuples, and
TensorSpec where a tensor goes. Bytes come from files: every length is checked, depth is bounded.
"""
import struct
from collections import namedtuple
from functools import lru_cache
from keyword import iskeyword

from .dtypes import TensorSpec, of_enum

_MAX_DEPTH = 64


class Unsupported:
    """A value that has no Python form here (a ragged or sparse spec, a constant); `what` names it."""

    def __init__(self, what):
        self.what = what

    def __repr__(self):
        return f"<{self.what}>"


def _varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("a saved structure is malformed")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def fields(data):
    """(tag, value) of a message: int for a varint, bytes for the rest."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        wire = key & 7
        if wire == 0:
            value, at = _varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(wire)
            if wire == 2:
                size, at = _varint(data, at)
            if size is None or at + size > len(data):
                raise ValueError("a saved structure is malformed")
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def _signed(v):
    return v - (1 << 64) if v >= 1 << 63 else v


def _shape(data):
    dims = []
    for tag, value in fields(data):
        if tag == 3 and value:
            return None
        if tag == 2:
            size = 0
            for inner, v in fields(value):
                if inner == 1:
                    size = _signed(v)
            dims.append(None if size < 0 else size)
    return tuple(dims)


def _spec(data):
    name, shape, dtype = None, (), 0
    for tag, value in fields(data):
        if tag == 1:
            name = value.decode()
        elif tag == 2:
            shape = _shape(value)
        elif tag == 3:
            dtype = value
    return TensorSpec(shape, of_enum(dtype), name)


def _values(data, depth):
    return [parse(value, depth) for tag, value in fields(data) if tag == 1]


def _pair(data, depth):
    key, value = "", None
    for tag, v in fields(data):
        if tag == 1:
            key = v.decode()
        elif tag == 2:
            value = parse(v, depth)
    return key, value


@lru_cache(maxsize=64)
def _tuple_class(name, keys):
    return namedtuple(name if name.isidentifier() and not iskeyword(name) else "Tuple", keys, rename=True)


def _named_tuple(data, depth):
    name, pairs = "Tuple", []
    for tag, value in fields(data):
        if tag == 1:
            name = value.decode()
        elif tag == 2:
            pairs.append(_pair(value, depth))
    return _tuple_class(name, tuple(k for k, _ in pairs))(*(v for _, v in pairs))


def parse(data, depth=0):
    """The value of StructuredValue bytes; None for an empty message."""
    if depth > _MAX_DEPTH:
        raise ValueError("a saved structure is nested too deeply")
    for tag, v in fields(data):
        if tag == 1:
            return None
        if tag == 11:
            return struct.unpack("<d", v)[0]
        if tag == 12:
            return (v >> 1) ^ -(v & 1)
        if tag == 13:
            return v.decode()
        if tag == 14:
            return bool(v)
        if tag == 31:
            return _shape(v)
        if tag == 32:
            return of_enum(v)
        if tag in (33, 35):
            return _spec(v)
        if tag == 51:
            return _values(v, depth + 1)
        if tag == 52:
            return tuple(_values(v, depth + 1))
        if tag == 53:
            return dict(_pair(value, depth + 1) for inner, value in fields(v) if inner == 1)
        if tag == 54:
            return _named_tuple(v, depth + 1)
        return Unsupported({34: "a ragged, sparse or other composite tensor", 55: "a constant",
                            56: "an array"}.get(tag, "an unknown value"))
    return None


def pack(structure, flat):
    """`structure` with each TensorSpec, in TensorFlow's order (dicts by sorted keys), taken from the iterator."""
    if isinstance(structure, TensorSpec):
        return next(flat)
    if isinstance(structure, dict):
        packed = {k: pack(structure[k], flat) for k in sorted(structure)}
        return {k: packed[k] for k in structure}
    if isinstance(structure, (list, tuple)):
        items = [pack(s, flat) for s in structure]
        return type(structure)(*items) if hasattr(structure, "_fields") else type(structure)(items)
    if isinstance(structure, Unsupported):
        raise NotImplementedError(f"{structure.what} in a function's results")
    return structure


def flatten(structure, value, where, exact, out):
    """Appends (spec, value, where) for each tensor that `structure` asks for. Returns why `value` does not fit, or
    None. With `exact`, values that bring a dtype or shape must have the spec's."""
    if isinstance(structure, TensorSpec):
        if value is None or isinstance(value, (str, bytes)) and structure.dtype != "string":
            return f"{where} is {value!r}, expected {_text(structure)}"
        why = _misfit(structure, value, exact)
        if why:
            return f"{where} is {why}, expected {_text(structure)}"
        out.append((structure, value, where))
        return None
    if isinstance(structure, dict):
        if not isinstance(value, dict) or set(value) != set(structure):
            return f"{where} is {_brief(value)}, expected a dict with keys {sorted(structure)}"
        for k in sorted(structure):
            why = flatten(structure[k], value[k], f"{where}[{k!r}]", exact, out)
            if why:
                return why
        return None
    if isinstance(structure, (list, tuple)):
        if not isinstance(value, (list, tuple)) or len(value) != len(structure):
            return f"{where} is {_brief(value)}, expected {len(structure)} values"
        for i, (s, v) in enumerate(zip(structure, value)):
            why = flatten(s, v, f"{where}[{i}]", exact, out)
            if why:
                return why
        return None
    if isinstance(structure, Unsupported):
        return f"{where}: {structure.what} cannot be passed"
    # A Python value that the function was traced with.
    if type(value) is type(structure) and value == structure:
        return None
    return f"{where} is {_brief(value)}, expected {structure!r}"


def _misfit(spec, value, exact):
    shape = getattr(value, "shape", None)
    if shape is not None and spec.shape is not None:
        if len(shape) != len(spec.shape) or any(w is not None and w != h for w, h in zip(spec.shape, shape)):
            return f"of shape {tuple(shape)}"
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        return _brief(value) if exact and not isinstance(value, (bool, int, float, complex, str, bytes, list, tuple)) else None
    # NumPy's dtype.name is computed by Python code whose strings stay in the interpreter's method cache.
    kind = getattr(dtype, "type", None)
    name = kind.__name__.rstrip("_") if kind else getattr(dtype, "name", None) or str(dtype)
    text = spec.dtype == "string" and (name == "object" or name.startswith(("str", "bytes")))
    return None if text or spec.dtype == name or not exact else f"of dtype {name}"


def _text(spec):
    return f"a tensor of {spec.dtype.name} {'of any rank' if spec.shape is None else list(spec.shape)}"


def _brief(value):
    text = repr(value)
    return text if len(text) < 60 else f"a {type(value).__name__}"

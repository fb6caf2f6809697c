"""Element types, named as NumPy and tf.dtypes name them."""
from collections import namedtuple

_ENUMS = {
    1: "float32", 2: "float64", 3: "int32", 4: "uint8", 5: "int16", 6: "int8", 7: "string", 8: "complex64",
    9: "int64", 10: "bool", 11: "qint8", 12: "quint8", 13: "qint32", 14: "bfloat16", 15: "qint16", 16: "quint16",
    17: "uint16", 18: "complex128", 19: "float16", 20: "resource", 21: "variant", 22: "uint32", 23: "uint64",
}
_NUMPY = {"string": "object", "qint8": "int8", "quint8": "uint8", "qint32": "int32", "qint16": "int16",
          "quint16": "uint16"}


class DType:
    """One element type; there is one object of each. Equal to its name and to NumPy's dtype."""

    __slots__ = ("enum", "name")

    def __init__(self, enum, name):
        self.enum = enum
        self.name = name

    @property
    def as_datatype_enum(self):
        return self.enum

    @property
    def as_numpy_dtype(self):
        """NumPy's scalar type; object for strings. bfloat16 needs ml_dtypes."""
        import numpy as np
        if self.name == "bfloat16":
            import ml_dtypes
            return ml_dtypes.bfloat16
        return np.dtype(_NUMPY.get(self.name, self.name)).type

    is_floating = property(lambda self: self.name in ("float16", "bfloat16", "float32", "float64"))
    is_integer = property(lambda self: self.name.lstrip("u").startswith("int"))
    is_bool = property(lambda self: self.name == "bool")
    is_complex = property(lambda self: self.name.startswith("complex"))

    def __eq__(self, other):
        if self is other:
            return True
        name = other if isinstance(other, str) else getattr(other, "name", None) or getattr(other, "__name__", None)
        return self.name == name

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return f"tare.{self.name}"


_BY_ENUM = {enum: DType(enum, name) for enum, name in _ENUMS.items()}
globals().update({d.name: d for d in _BY_ENUM.values()})
half, double = _BY_ENUM[19], _BY_ENUM[2]


def of_enum(enum):
    d = _BY_ENUM.get(enum)
    if d is None:
        d = _BY_ENUM[enum] = DType(enum, f"dtype{enum}")
    return d


TensorSpec = namedtuple("TensorSpec", "shape dtype name", defaults=(None,))
TensorSpec.__doc__ = "A tensor to come: shape (None where unknown), dtype, name."

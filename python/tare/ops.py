"""Eager ops: tare.ops.add_v2(x, y), one function an op definition, made when it is first asked for.

Inputs come first, in the definition's order and by its names, then attributes by keyword. Inputs are
tensors, arrays, numbers or nested lists; an attribute that inputs decide (dtypes, counts) need not be given.
Returns a tare.Tensor, a named tuple of them, a list for a list output, or None.
"""
import re

from . import _tare

_names = {}


def _snake(name):
    text = re.sub(r"(?<=[^_])([A-Z][a-z])", r"_\1", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", text).lower()


def _find(name):
    if not _names:
        for op in _tare.op_names():
            _names.setdefault(_snake(op), op)
            _names.setdefault(op, op)
    return _names.get(name)


def _document(op, inputs, attrs, outputs, runs):
    def part(title, rows):
        return [title] + [f"  {row}" for row in rows] if rows else []
    lines = [f"The op {op}." + ("" if runs else " Tare has no kernel for it: calls raise UnimplementedError."), ""]
    lines += part("Inputs:", [f"{n}: {t}" for n, t in inputs])
    lines += part("Attributes:", [f"{n}: {k}" + (f" = {d}" if d is not None else " (from the inputs)" if deduced else "")
                                  for n, k, d, deduced in attrs])
    lines += part("Returns:", [f"{n}: {t}" for n, t in outputs])
    return "\n".join(lines)


def _make(name, op):
    inputs, attrs, outputs, runs = _tare.describe_op(op)
    arguments = [n for n, _ in inputs]
    positions = {n: i for i, n in enumerate(arguments)}
    count, execute = len(arguments), _tare.execute
    if len(outputs) > 1:
        from collections import namedtuple
        pack = namedtuple(op.lstrip("_"), [n for n, _ in outputs], rename=True)._make
    else:
        def pack(values):
            return values[0] if values else None

    def call(*args, **kwargs):
        if len(args) == count and not kwargs:
            return pack(execute(op, list(args), {}))
        if len(args) > count:
            raise TypeError(f"{name}() takes {count} inputs, got {len(args)}")
        kwargs.pop("name", None)
        values, missing = list(args) + [None] * (count - len(args)), set(arguments[len(args):])
        for key in [k for k in kwargs if k in positions]:
            if key not in missing:
                raise TypeError(f"{name}() got '{key}' twice")
            missing.remove(key)
            values[positions[key]] = kwargs.pop(key)
        if missing:
            raise TypeError(f"{name}() lacks the inputs {', '.join(sorted(missing))}")
        return pack(execute(op, values, kwargs))

    call.__name__ = call.__qualname__ = name
    call.__module__ = __name__
    call.__doc__ = _document(op, inputs, attrs, outputs, runs)
    call.__text_signature__ = "(" + ", ".join(arguments + (["*"] if attrs else []) +
                                              [f"{n}=None" for n, *_ in attrs]) + ")"
    return call


def __getattr__(name):
    op = _find(name) if not name.startswith("__") else None
    if op is None:
        raise AttributeError(f"module 'tare.ops' has no op '{name}'")
    value = globals()[name] = _make(name, op)
    return value


def __dir__():
    _find("")
    return sorted(k for k in _names if k[0].islower())

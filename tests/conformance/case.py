"""How conformance cases are declared.

A file cases_FAMILY.py has a function `cases(rng)` that yields what `case` and `case_steps` return:

    yield case("AddV2", {"x": np.array([1, 2], np.float32), "y": 3})
    yield case("ConcatV2", {"values": [a, b], "axis": 0})
    yield case("Reshape", {"tensor": a, "shape": [7]}, error=True)
    yield case_steps([
        step("VarHandleOp", {}, {"dtype": np.float32, "shape": [2]}, name="h"),
        step("AssignVariableOp", {"resource": ref("h"), "value": a}),
        step("ReadVariableOp", {"resource": ref("h")}, {"dtype": np.float32}),
    ])

Inputs go by the argument's name; a list argument takes a list or tuple of tensors. What is not a
NumPy array takes the type the argument has by definition, by attribute, or by another array of the
same type attribute, else float32, int32, bool or string. Types in attributes are NumPy or TensorFlow
dtypes or their names ("bfloat16"). Attributes left out keep their defaults; types and counts follow
from inputs.
"""
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Ref:
    """An output of an earlier step of the same case."""
    name: str
    output: int = 0


@dataclass
class Step:
    op: str
    inputs: dict
    attrs: dict
    name: str = None
    check: bool = False  # record the outputs of this step too
    error: bool = False  # TensorFlow is expected to refuse this step


@dataclass
class Case:
    steps: list
    options: dict = field(default_factory=dict)
    graph: bool = False  # run as one TF1 session step: ops that eager execution does not take


def ref(name, output=0):
    return Ref(name, output)


def step(op, inputs=None, attrs=None, name=None, check=False, error=False):
    return Step(op, inputs or {}, attrs or {}, name, check, error)


def case_steps(steps, error=False, graph=False, **options):
    """Steps run in order; the last one's outputs are recorded, and those of steps with check=True.

    `error` expects the last step to fail. `graph` runs all steps in one TF1 session run (chosen by
    itself where an op takes references). Options: rtol, atol (defaults by dtype), nondeterministic
    (only dtypes and shapes are compared).
    """
    unknown = set(options) - {"rtol", "atol", "nondeterministic"}
    assert not unknown, f"unknown options {unknown}"
    steps[-1].check = True
    steps[-1].error = steps[-1].error or error
    return Case(steps, options, graph)


def case(op, inputs=None, attrs=None, error=False, graph=False, **options):
    return case_steps([step(op, inputs, attrs)], error, graph, **options)


def array(values, dtype):
    """An array of a dtype by name, "bfloat16" and "string" included."""
    if dtype == "bfloat16":
        import ml_dtypes
        return np.asarray(values).astype(ml_dtypes.bfloat16)
    if dtype == "string":
        return np.array(values, dtype=object)
    numpy_name = {"half": "float16", "float": "float32", "double": "float64"}.get(dtype, dtype)
    return np.asarray(values).astype(numpy_name)

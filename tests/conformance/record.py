#!/usr/bin/env python3
"""Runs conformance cases on TensorFlow and records what it answers.

    python tests/conformance/record.py [FAMILY ...]      (all families when none is named)

Reads cases_FAMILY.py (see case.py) and writes data/FAMILY.jsonl.gz, one case a line:

    {"steps": [{"op": NAME, "attrs": {NAME: {"kind": K, "value": V}}, "inputs": [ARG, ...],
                "expect": [TENSOR, ...] or {"error": CODE}}],
     "rtol": R, "atol": A, "nondeterministic": true}

`expect` is absent from steps that are not compared. ARG is a TENSOR, {"ref": STEP, "output": INDEX},
or {"list": [ARG, ...]} for a list argument, in the order of the op's definition. TENSOR is {"dtype",
"shape", "data"}: little-endian bytes in base64; strings as a list of base64; resources and variants
have no data. K is string int float bool type shape tensor, or list(K). Needs TensorFlow and NumPy.
"""
import base64
import gzip
import importlib
import json
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2, types_pb2
from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import context
from tensorflow.python.framework import op_def_registry

from case import Ref

HERE = pathlib.Path(__file__).resolve().parent
INVALID_ARGUMENT = 3
DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


class Mistake(Exception):
    """A case that is not well formed."""


def to_dtype(value):
    if isinstance(value, str):
        value = {"half": "float16", "float": "float32", "double": "float64"}.get(value, value)
    return tf.as_dtype(value)


def dtype_name(dtype):
    return types_pb2.DataType.Name(tf.as_dtype(dtype).base_dtype.as_datatype_enum)[3:].lower()


def b64(data):
    return base64.b64encode(data).decode()


def tensor_json(value, dtype):
    """The JSON form of a NumPy array of TensorFlow's type `dtype`."""
    out = {"dtype": dtype_name(dtype), "shape": list(value.shape)}
    if dtype == tf.string:
        flat = value.reshape(-1).tolist()
        out["data"] = [b64(s if isinstance(s, bytes) else str(s).encode()) for s in flat]
    elif dtype not in (tf.resource, tf.variant):
        out["data"] = b64(np.ascontiguousarray(value).tobytes())
    return out


# --- one op's arguments and attributes ---


def natural_dtype(value):
    """The type a literal has when nothing else decides."""
    array = np.asarray(value)
    if array.dtype.kind in "SUO":
        return tf.string
    return {"f": tf.float32, "i": tf.int32, "b": tf.bool, "c": tf.complex64}[array.dtype.kind]


def make_array(value, dtype):
    if dtype == tf.string:
        # Trailing NULs matter, so no NumPy bytes type.
        array = np.empty(np.shape(value), dtype=object)
        array[...] = value
        return array
    return np.asarray(value, dtype=dtype.as_numpy_dtype)


class Arguments:
    """A step's flat inputs and full attributes, with types and counts worked out from the definition."""

    def __init__(self, step, lookup):
        self.op_def = op_def_registry.get(step.op)
        if self.op_def is None:
            raise Mistake(f"no op {step.op}")
        self.attr_defs = {a.name: a for a in self.op_def.attr}
        for name in step.attrs:
            if name not in self.attr_defs:
                raise Mistake(f"{step.op} has no attribute {name}")
        self.given = {k: self.normal(k, v) for k, v in step.attrs.items()}
        self.inferred = {}
        names = [a.name for a in self.op_def.input_arg]
        if set(names) != set(step.inputs):
            raise Mistake(f"{step.op} takes {names}, not {list(step.inputs)}")
        self.groups = [self.group(arg, step.inputs[arg.name]) for arg in self.op_def.input_arg]
        for arg, group in zip(self.op_def.input_arg, self.groups):
            self.infer_from_typed(arg, group, lookup)
        self.inputs = []  # per argument: (is list, [Ref or (array, dtype)])
        for arg, (is_list, values) in zip(self.op_def.input_arg, self.groups):
            self.inputs.append((is_list, self.resolve(arg, values, lookup)))

    def group(self, arg, value):
        is_list = bool(arg.number_attr or arg.type_list_attr)
        if is_list and not isinstance(value, (list, tuple)):
            raise Mistake(f"{self.op_def.name}: {arg.name} is a list of tensors")
        return is_list, list(value) if is_list else [value]

    @staticmethod
    def known_dtype(value, lookup):
        if isinstance(value, Ref):
            return lookup(value)
        if isinstance(value, (np.ndarray, np.generic)):
            return tf.string if value.dtype.kind in "SUO" else tf.as_dtype(value.dtype)
        return None

    def infer_from_typed(self, arg, group, lookup):
        is_list, values = group
        if arg.number_attr:
            self.inferred[arg.number_attr] = len(values)
        if arg.type_attr:
            for value in values:
                dtype = self.known_dtype(value, lookup)
                if dtype is not None:
                    self.inferred.setdefault(arg.type_attr, dtype)

    def resolve(self, arg, values, lookup):
        out, types = [], []
        for i, value in enumerate(values):
            dtype = self.known_dtype(value, lookup)
            if dtype is None:
                dtype = self.dtype_of(arg, i) or natural_dtype(value)
            if arg.type_attr:
                self.inferred.setdefault(arg.type_attr, dtype)
            types.append(dtype)
            out.append(value if isinstance(value, Ref) else (make_array(value, dtype), dtype))
        if arg.type_list_attr:
            self.inferred[arg.type_list_attr] = types
        return out

    def dtype_of(self, arg, index):
        if arg.type:
            return tf.as_dtype(arg.type).base_dtype
        name = arg.type_attr or arg.type_list_attr
        known = self.given.get(name, self.inferred.get(name))
        if known is None and arg.type_attr and self.attr_defs[name].HasField("default_value"):
            return tf.as_dtype(self.attr_defs[name].default_value.type)
        return known[index] if isinstance(known, list) else known

    def normal(self, name, value):
        """The attribute's value as plain Python: dtypes, shapes as lists or None, bytes."""
        kind = self.attr_defs[name].type
        if kind.startswith("list("):
            return [self.normal_scalar(kind[5:-1], v) for v in value]
        return self.normal_scalar(kind, value)

    @staticmethod
    def normal_scalar(kind, value):
        if kind == "string":
            return value if isinstance(value, bytes) else value.encode()
        if kind == "type":
            return to_dtype(value)
        if kind == "shape":
            return None if value is None else [-1 if d is None else int(d) for d in value]
        if kind == "tensor":
            return np.asarray(value) if not isinstance(value, np.ndarray) else value
        if kind == "func":
            raise Mistake("function attributes cannot be replayed")
        return {"int": int, "float": float, "bool": bool}[kind](value)

    def tensors(self, made):
        flat = [v for _, values in self.inputs for v in values]
        return [output_of(made, v) if isinstance(v, Ref) else tf.constant(*v) for v in flat]

    def all_attrs(self):
        """What TensorFlow is given: eager execution looks kernels up before it fills in default types."""
        defaults = {name: tf.as_dtype(a.default_value.type) for name, a in self.attr_defs.items()
                    if a.type == "type" and a.HasField("default_value")}
        return {**defaults, **self.inferred, **self.given}

    def value_or_default(self, name):
        value = self.all_attrs().get(name)
        if value is not None:
            return value
        default = self.attr_defs[name].default_value
        if self.attr_defs[name].type == "list(type)":
            return list(default.list.type)
        return default.i

    def output_count(self):
        n = 0
        for arg in self.op_def.output_arg:
            if arg.number_attr:
                n += self.value_or_default(arg.number_attr)
            elif arg.type_list_attr:
                n += len(self.value_or_default(arg.type_list_attr))
            else:
                n += 1
        return n


def attr_json(kind, value):
    if kind.startswith("list("):
        return {"kind": kind, "value": [attr_json(kind[5:-1], v)["value"] for v in value]}
    if kind == "string":
        try:
            value = value.decode()
        except UnicodeDecodeError:
            value = {"base64": b64(value)}
    elif kind == "type":
        value = dtype_name(value)
    elif kind == "float" and not np.isfinite(value):
        value = str(value)
    elif kind == "tensor":
        value = tensor_json(value, Arguments.known_dtype(value, None))
    return {"kind": kind, "value": value}


def tensor_proto(value):
    return tf.make_tensor_proto(value, dtype=Arguments.known_dtype(value, None))


# --- running ---


def eager_attr(kind, value):
    if kind.startswith("list("):
        return [eager_attr(kind[5:-1], v) for v in value]
    if kind == "type":
        return value.as_datatype_enum
    if kind == "shape":
        return None if value is None else [None if d == -1 else d for d in value]
    return tensor_proto(value) if kind == "tensor" else value


def output_of(made, reference):
    if reference.name not in made or reference.output >= len(made[reference.name]):
        raise Mistake(f"no output {reference.output} of step {reference.name}")
    return made[reference.name][reference.output]


def run_eager(case):
    """Per step: (arguments, outputs or an error code)."""
    context.ensure_initialized()
    # Seeded random ops start their sequence again with each case.
    pywrap_tfe.TFE_ContextClearCaches(context.context()._handle)
    made = {}
    results = []
    for step in case.steps:
        args = Arguments(step, lambda r: output_of(made, r).dtype)
        try:
            flat = args.tensors(made)
            attrs = []
            for name, value in args.all_attrs().items():
                attrs += [name, eager_attr(args.attr_defs[name].type, value)]
            handle = context.context()._handle
            outputs = pywrap_tfe.TFE_Py_Execute(handle, DEVICE, step.op, flat, tuple(attrs),
                                                args.output_count())
        except Mistake:
            raise
        except Exception as e:  # pylint: disable=broad-except
            results.append((args, error_code(e), str(e)))
            if not step.error:
                break
            continue
        made[step.name] = outputs
        results.append((args, [expected(t, t.dtype) for t in outputs], None))
    # Resources without a name of their own must not meet the next case's.
    for tensor in [t for outputs in made.values() for t in outputs if t.dtype == tf.resource]:
        tf.raw_ops.DestroyResourceOp(resource=tensor, ignore_lookup_error=True)
    return results


def error_code(e):
    code = getattr(e, "error_code", None) or getattr(e, "code", None)
    if isinstance(code, int):
        return code
    if isinstance(e, (TypeError, ValueError)):
        return INVALID_ARGUMENT
    raise e


def expected(tensor, dtype):
    if dtype in (tf.resource, tf.variant):
        return {"dtype": dtype_name(dtype), "shape": tensor.shape.as_list()}
    return tensor_json(np.asarray(tensor.numpy(), dtype=object if dtype == tf.string else None), dtype)


def attr_proto(kind, value):
    proto = attr_value_pb2.AttrValue()
    is_list = kind.startswith("list(")
    kind = kind[5:-1] if is_list else kind
    if is_list:
        proto.list.SetInParent()
    for v in value if is_list else [value]:
        if kind == "shape":
            v = tf.TensorShape(v and [None if d == -1 else d for d in v]).as_proto()
        elif kind == "type":
            v = v.as_datatype_enum
        elif kind == "tensor":
            v = tensor_proto(v)
        field = {"string": "s", "int": "i", "float": "f", "bool": "b"}.get(kind, kind)
        if is_list:
            getattr(proto.list, field).append(v)
        elif kind in ("shape", "tensor"):
            getattr(proto, field).CopyFrom(v)
        else:
            setattr(proto, field, v)
    return proto


def copied(tensor):
    """A reference's buffer changes under later steps: a copy of now."""
    if not tensor.dtype._is_ref_dtype or tensor.dtype.base_dtype == tf.string:
        return tensor
    return tf.raw_ops.DeepCopy(x=tensor)


def plain_session():
    """Nothing folded or rewritten: the kernels themselves are asked."""
    config = tf.compat.v1.ConfigProto()
    config.graph_options.optimizer_options.opt_level = -1
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return config


def run_graph(case):
    """The same, in one session run. A failure counts as the last step's."""
    made = {}
    results, fetches = [], []
    graph = tf.Graph()
    try:
        with graph.as_default():
            previous = []
            for step in case.steps:
                args = Arguments(step, lambda r: output_of(made, r).dtype.base_dtype)
                flat = args.tensors(made)
                attrs = {k: attr_proto(args.attr_defs[k].type, v) for k, v in args.all_attrs().items()}
                results.append([args, [], None])
                with graph.control_dependencies(previous):
                    op = graph.create_op(step.op, flat, attrs=attrs)
                made[step.name] = op.outputs
                with graph.control_dependencies([op]):
                    copies = [copied(t) for t in op.outputs] if step.check else []
                previous = [op] + [c.op for c in copies]
                fetches.append(copies)
        opaque = (tf.resource, tf.variant)
        plain = [[t for t in row if t.dtype.base_dtype not in opaque] for row in fetches]
        with tf.compat.v1.Session(graph=graph, config=plain_session()) as session:
            values = session.run([plain, previous[0]])[0]
    except Mistake:
        raise
    except Exception as e:  # pylint: disable=broad-except
        if len(results) < len(case.steps):
            raise
        for row in results[:-1]:
            row[1] = None
        results[-1][1:] = [error_code(e), str(e)]
        return results
    for row, tensors, got in zip(results, fetches, values):
        got = iter(got)
        for t in tensors:
            base = t.dtype.base_dtype
            if base in opaque:
                row[1].append({"dtype": dtype_name(base), "shape": t.shape.as_list()})
            else:
                value = np.asarray(next(got), object if base == tf.string else None)
                row[1].append(tensor_json(value, base))
    return results


def needs_graph(case):
    """References, and attributes that are tensors, are not for eager execution."""
    for s in case.steps:
        op_def = op_def_registry.get(s.op)
        if op_def and (any(a.is_ref for a in [*op_def.input_arg, *op_def.output_arg]) or
                       any(a.type == "tensor" and a.name in s.attrs for a in op_def.attr)):
            return True
    return case.graph


# --- recording ---


def arg_json(value, index):
    if isinstance(value, Ref):
        return {"ref": index[value.name], "output": value.output}
    return tensor_json(*value)


def record_case(case):
    """The case's JSON and the messages of failures nobody expected."""
    for i, step in enumerate(case.steps):
        step.name = step.name or f"step{i}"
    results = run_graph(case) if needs_graph(case) else run_eager(case)
    steps, surprises = [], []
    index = {}  # of a name's latest step
    for i, (step, (args, outcome, message)) in enumerate(zip(case.steps, results)):
        entry = {"op": step.op}
        if args.given:
            entry["attrs"] = {k: attr_json(args.attr_defs[k].type, v) for k, v in args.given.items()}
        inputs = []
        for is_list, values in args.inputs:
            row = [arg_json(v, index) for v in values]
            inputs.append({"list": row} if is_list else row[0])
        if inputs:
            entry["inputs"] = inputs
        if isinstance(outcome, int):
            entry["expect"] = {"error": outcome}
            if not step.error:
                surprises.append(f"{step.op}: unexpected error {outcome}: {message}")
        else:
            if step.check and outcome is not None:
                entry["expect"] = outcome
            if step.error:
                surprises.append(f"{step.op}: expected an error, but it ran")
        steps.append(entry)
        index[step.name] = i
    return {"steps": steps, **case.options}, surprises


def record(family):
    module = importlib.import_module(f"cases_{family}")
    lines, surprises = [], 0
    for number, case in enumerate(module.cases(np.random.default_rng(7)), 1):
        try:
            out, notes = record_case(case)
        except Mistake as e:
            sys.exit(f"{family}: case {number}: {e}")
        except Exception:
            print(f"{family}: case {number}: {[s.op for s in case.steps]}", file=sys.stderr)
            raise
        for note in notes:
            print(f"{family}: case {number}: {note[:400]}")
        surprises += len(notes)
        lines.append(json.dumps(out, separators=(",", ":")))
    path = HERE / "data" / f"{family}.jsonl.gz"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress("".join(line + "\n" for line in lines).encode(), 9, mtime=0))
    print(f"{family}: {len(lines)} cases, {surprises} surprises, {path.stat().st_size} bytes")


def main():
    if set(sys.argv) & {"-h", "--help"}:
        sys.exit(__doc__)
    families = sys.argv[1:] or sorted(p.stem[len("cases_"):] for p in HERE.glob("cases_*.py"))
    for family in families:
        record(family)


if __name__ == "__main__":
    main()

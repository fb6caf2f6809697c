"""Variables: handles, assignments, updates in place, optimiser steps."""
import numpy as np
import tensorflow as tf
from case import case_steps, ref, step

F = np.float32
# Begins the steps of a case whose last step TensorFlow refuses.
FAIL = object()
FAILS = [FAIL]
NUMBERS = (tf.float32, tf.float64, tf.float16, tf.bfloat16, tf.int8, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.uint32,
           tf.uint64, tf.complex64, tf.complex128)


def variable(dtype=tf.float32, shape=None, name="v", shared="v"):
  return step("VarHandleOp", {}, {"dtype": dtype, "shape": shape, "shared_name": "state_" + shared}, name=name)


def assign(value, name="v", **attrs):
  return step("AssignVariableOp", {"resource": ref(name), "value": value}, attrs)


def update(op, value, name="v"):
  return step(op, {"resource": ref(name), "value": value})


def read(dtype=tf.float32, name="v"):
  return step("ReadVariableOp", {"resource": ref(name)}, {"dtype": dtype})


def destroy(name="v", ignore=True):
  return step("DestroyResourceOp", {"resource": ref(name)}, {"ignore_lookup_error": ignore})


def values(dtype, *v):
  return np.array([str(x) for x in v], object) if dtype == tf.string else np.array(v, dtype.as_numpy_dtype)


def started(value, shared, dtype=None, name="v"):
  dtype = dtype or tf.as_dtype(value.dtype)
  return [variable(dtype, None, name, shared), assign(value, name)]


def assigning():
  for dtype in NUMBERS + (tf.bool, tf.string):
    yield started(values(dtype, 1, 0, 1), "a" + dtype.name, dtype) + [read(dtype)]
  for dtype in NUMBERS:
    for op in ("AssignAddVariableOp", "AssignSubVariableOp"):
      yield started(values(dtype, 5, 6, 7), op + dtype.name) + [update(op, values(dtype, 1, 2, 3)), read(dtype)]
  one = np.ones(2, F)
  yield [variable(shape=[2], shared="b0"), assign(one, validate_shape=True), read()]
  yield FAILS + [variable(shape=[2], shared="b1"), assign(one), assign(np.ones(3, F), validate_shape=True)]
  yield [variable(shape=[2], shared="b2"), assign(one), assign(np.ones(3, F)), read()]
  yield [variable(shape=[2], shared="b3"), assign(np.ones(3, F)), read()]
  yield FAILS + [variable(shape=[2], shared="b5"), read()]
  yield FAILS + [variable(shape=[2], shared="b6"), assign(one), read(tf.int32)]
  yield FAILS + started(one, "b7") + [update("AssignAddVariableOp", np.ones(3, F))]
  yield FAILS + started(one, "b8") + [update("AssignAddVariableOp", np.array(1, F))]
  yield FAILS + started(one, "b9") + [update("AssignAddVariableOp", np.ones(2, np.int32))]
  yield FAILS + [variable(shared="b10"), update("AssignAddVariableOp", one)]
  yield FAILS + [variable(shared="b11"), update("AssignSubVariableOp", one)]
  yield started(np.zeros((0, 2), F), "b12") + [update("AssignAddVariableOp", np.zeros((0, 2), F)), read()]
  # What was read before does not change.
  yield started(one, "b13") + [step("ReadVariableOp", {"resource": ref("v")}, {"dtype": tf.float32}, name="r"),
                               update("AssignAddVariableOp", one), step("Identity", {"input": ref("r")})]
  yield started(one, "b14") + [variable(tf.float32, None, "w", "b14"), read(name="w")]


def asking():
  one = np.ones((2, 3), F)
  is_initialized = step("VarIsInitializedOp", {"resource": ref("v")})
  yield [variable(shared="c0"), is_initialized]
  yield started(one, "c1") + [is_initialized]
  yield started(one, "c2") + [destroy(), is_initialized]
  yield FAILS + started(one, "c3") + [destroy(), read()]
  yield started(one, "c4") + [destroy(), destroy()]
  yield FAILS + started(one, "c5") + [destroy(), destroy(ignore=False)]
  for dtype in (tf.int32, tf.int64):
    yield started(one, "d" + dtype.name) + [step("VariableShape", {"input": ref("v")}, {"out_type": dtype})]
  yield started(np.array(1, F), "c6") + [step("VariableShape", {"input": ref("v")}, {"out_type": tf.int32})]
  yield FAILS + [variable(shape=[2], shared="c7"), step("VariableShape", {"input": ref("v")}, {"out_type": tf.int32})]


def optimising():
  for dtype in (tf.float32, tf.float64, tf.float16):
    v = lambda *x: values(dtype, *x)
    s = lambda x: np.array(x, dtype.as_numpy_dtype)
    yield started(v(1, 2), "e" + dtype.name) + [
        step("ResourceApplyGradientDescent", {"var": ref("v"), "alpha": s(.5), "delta": v(1, 3)}), read(dtype)]
    for op in ("ResourceApplyMomentum", "ResourceApplyKerasMomentum"):
      for nesterov in (False, True):
        for r in ("v", "m"):
          yield started(v(1, 2), "f" + op + dtype.name) + started(v(.5, -1), "g" + op + dtype.name, name="m") + [
              step(op, {"var": ref("v"), "accum": ref("m"), "lr": s(.25), "grad": v(1, 3), "momentum": s(.5)},
                   {"use_nesterov": nesterov}), read(dtype, r)]
    for nesterov in (False, True):
      for r in ("v", "m", "w"):
        name = "%s%s%s" % (dtype.name, nesterov, r)
        yield started(v(1, 2), "h" + name) + started(v(.5, -1), "i" + name, name="m") + started(
            v(.25, .5), "j" + name, name="w") + [
                step("ResourceApplyAdam", {
                    "var": ref("v"), "m": ref("m"), "v": ref("w"), "beta1_power": s(.9), "beta2_power": s(.99),
                    "lr": s(.25), "beta1": s(.9), "beta2": s(.99), "epsilon": s(1e-3), "grad": v(1, 3)},
                     {"use_nesterov": nesterov}), read(dtype, r)]
  yield FAILS + started(np.ones(2, F), "k") + [
      step("ResourceApplyGradientDescent", {"var": ref("v"), "alpha": np.ones(1, F), "delta": np.ones(2, F)})]
  yield FAILS + started(np.ones(2, F), "l") + [
      step("ResourceApplyGradientDescent", {"var": ref("v"), "alpha": np.array(1, F), "delta": np.ones(3, F)})]
  yield FAILS + [variable(shared="m"),
         step("ResourceApplyGradientDescent", {"var": ref("v"), "alpha": np.array(1, F), "delta": np.ones(3, F)})]


def scatter(op, indices, updates):
  return step(op, {"resource": ref("v"), "indices": indices, "updates": updates})


def scatter_nd(op, indices, updates):
  return step(op, {"ref": ref("v"), "indices": indices, "updates": updates})


def scattering():
  i32 = lambda *v: np.array(v, np.int32)
  for dtype in NUMBERS:
    start = np.arange(1, 7).astype(dtype.as_numpy_dtype).reshape(3, 2)
    rows = np.arange(4, 8).astype(dtype.as_numpy_dtype).reshape(2, 2)
    for op in ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max"):
      if dtype.is_complex and op in ("Min", "Max") or op == "Div" and not dtype.is_floating:
        continue
      yield started(start, "n" + op + dtype.name) + [scatter("ResourceScatter" + op, i32(2, 0), rows), read(dtype)]
    for op in ("Update", "Add", "Sub", "Min", "Max"):
      if dtype.is_complex and op in ("Min", "Max"):
        continue
      yield started(start, "o" + op + dtype.name) + [scatter_nd("ResourceScatterNd" + op, np.array([[2], [0]]), rows),
                                                     read(dtype)]
  one = np.ones((3, 2), F)
  add = lambda i, u: scatter("ResourceScatterAdd", i, u)
  yield started(one, "p0") + [add(i32(1, 1, 1), np.ones((3, 2), F)), read()]
  yield started(one, "p1") + [add(np.array([[0, 1], [2, 2]]), np.ones((2, 2, 2), F)), read()]
  yield started(one, "p2") + [add(np.int32(1), np.ones(2, F)), read()]
  yield started(one, "p3") + [add(i32(1, 2), np.array(5, F)), read()]
  yield started(one, "p4") + [add(i32(), np.zeros((0, 2), F)), read()]
  yield FAILS + started(one, "p5") + [add(i32(3), np.ones((1, 2), F))]
  yield FAILS + started(one, "p6") + [add(i32(-1), np.ones((1, 2), F))]
  yield FAILS + started(one, "p8") + [add(i32(1, 0), np.ones((1, 2), F))]
  yield FAILS + started(np.array(1, F), "p9") + [add(i32(0), np.ones((1,), F))]
  yield FAILS + [variable(shared="p10"), add(i32(0), np.ones((1, 2), F))]
  yield started(one, "p11") + [scatter("ResourceScatterUpdate", i32(1, 2), np.array(5, F)), read()]
  yield started(values(tf.string, "a", "b"), "p12", tf.string) + [
      scatter("ResourceScatterUpdate", i32(1), values(tf.string, "longer than twenty-two bytes")), read(tf.string)]
  yield started(np.array([6, 7], np.int32), "p13") + [scatter("ResourceScatterDiv", i32(0, 1), i32(4, -2)), read(tf.int32)]
  nd = lambda i, u: scatter_nd("ResourceScatterNdAdd", i, u)
  yield started(one, "q0") + [nd(np.array([[0, 1], [2, 0]]), np.array([5, 6], F)), read()]
  yield FAILS + started(one, "q2") + [nd(np.array([[0, 2]]), np.array([5], F))]
  yield FAILS + started(one, "q3") + [nd(np.array([[3]]), np.ones((1, 2), F))]
  yield FAILS + started(one, "q4") + [nd(np.array([[-1]]), np.ones((1, 2), F))]
  yield FAILS + started(one, "q5") + [nd(np.array([[0, 0, 0]]), np.ones(1, F))]
  yield FAILS + started(one, "q6") + [nd(np.array([[0], [1]]), np.ones((1, 2), F))]
  yield FAILS + started(one, "q7") + [nd(np.array([[0], [1]]), np.ones((2, 3), F))]
  yield started(one, "q8") + [nd(np.zeros((0, 1), np.int32), np.zeros((0, 2), F)), read()]
  yield started(values(tf.bool, 1, 0, 1), "q9") + [scatter_nd("ResourceScatterNdUpdate", np.array([[0]]), values(tf.bool, 0)),
                                                  read(tf.bool)]


def cases(rng):
  for group in GROUPS:
    for steps in group():
      error = steps[0] is FAIL
      yield case_steps(steps[1:] if error else steps, error=error)


GROUPS = (assigning, asking, optimising, scattering)

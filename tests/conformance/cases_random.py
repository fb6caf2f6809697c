"""Random ops with seeds: sequences are to be TensorFlow's, number for number.

A stateful op goes on where it left off for as long as a process lives, so each case has seeds of its own.
"""
import itertools

import numpy as np
import tensorflow as tf
from case import case_steps, ref, step

F = np.float32
FAIL = object()
# Begins the steps of a case whose last step TensorFlow refuses.
FAILS = [FAIL]
FLOATS = (tf.float32, tf.float64, tf.float16, tf.bfloat16)
SHAPES = ([], [1], [3], [4], [7], [2, 3], [0], [3, 0], [65])
_seeds = itertools.count(1)


def seeds():
  s = next(_seeds)
  return {"seed": s * 7919, "seed2": s * 104729 + 1}


def i32(*v):
  return np.array(v, np.int32)


def i64(*v):
  return np.array(v, np.int64)


def u64(*v):
  return np.array(v, np.uint64)


def draw(op, shape, dtype, **attrs):
  return step(op, {"shape": np.array(shape, np.int32)}, {"dtype": dtype, **attrs})


def stateful():
  for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
    for dtype in FLOATS:
      for shape in SHAPES:
        yield [draw(op, shape, dtype, **seeds())]
    s = seeds()
    yield [draw(op, [3], tf.float32, **s), draw(op, [5], tf.float32, **s)]
    s = seeds()
    yield [draw(op, [2], tf.float64, **s), draw(op, [1], tf.float64, **s), draw(op, [3], tf.float64, **s)]
    yield [step(op, {"shape": i64(3)}, {"dtype": tf.float32, **seeds()})]
    yield [draw(op, [3], tf.float32, seed=2**40 + 5, seed2=-9)]
    yield [draw(op, [3], tf.float32, seed=0, seed2=77)]
    yield FAILS + [draw(op, [-1], tf.float32, **seeds())]
    yield FAILS + [draw(op, [[2]], tf.float32, **seeds())]
    yield FAILS + [draw(op, 2, tf.float32, **seeds())]
  for dtype in (np.int32, np.int64):
    ints = lambda shape, low, high, **a: step("RandomUniformInt", {
        "shape": np.array(shape, np.int32), "minval": np.array(low, dtype), "maxval": np.array(high, dtype)}, {**seeds(), **a})
    for shape in SHAPES:
      yield [ints(shape, -5, 100)]
    yield [ints([5], np.iinfo(dtype).min, np.iinfo(dtype).max)]
    yield [ints([5], 7, 8)]
    yield FAILS + [ints([5], 7, 7)]
    yield FAILS + [ints([5], 8, 7)]
    yield FAILS + [ints([5], [7], 8)]
    yield [ints([0], 7, 7)]


def stateless():
  for op in ("RandomUniform", "RandomNormal", "TruncatedNormal"):
    for dtype in FLOATS:
      for shape in SHAPES:
        yield [step("Stateless" + op, {"shape": np.array(shape, np.int32), "seed": i64(5, len(shape))}, {"dtype": dtype})]
        yield [step("Stateless" + op + "V2", {"shape": np.array(shape, np.int32), "key": u64(2**63 + 9),
                                             "counter": u64(4, 2**64 - 1), "alg": np.int32(1)}, {"dtype": dtype})]
    yield [step("Stateless" + op, {"shape": i64(3), "seed": i32(-5, 7)}, {"dtype": tf.float32})]
    yield FAILS + [step("Stateless" + op, {"shape": i64(3), "seed": i64(1, 2, 3)}, {"dtype": tf.float32})]
    yield FAILS + [step("Stateless" + op, {"shape": i64(-3), "seed": i64(1, 2)}, {"dtype": tf.float32})]
    yield FAILS + [step("Stateless" + op, {"shape": i64(3), "seed": np.int64(1)}, {"dtype": tf.float32})]
    v2 = lambda key, counter, alg: step("Stateless" + op + "V2", {"shape": i32(5), "key": key, "counter": counter,
                                                                  "alg": np.int32(alg)}, {"dtype": tf.float32})
    yield [v2(u64(1), u64(2**64 - 1, 5), 1)]
    yield [v2(u64(1), u64(2, 5), 3)]
    yield FAILS + [v2(u64(1), u64(2, 5), 2)]
    yield FAILS + [v2(u64(1), u64(2, 5), 9)]
    yield FAILS + [v2(u64(1, 2), u64(2, 5), 1)]
    yield FAILS + [v2(np.uint64(1), u64(2, 5), 1)]
  for dtype in (np.int32, np.int64, np.uint32, np.uint64):
    for shape in ([], [5], [2, 3], [0]):
      yield [step("StatelessRandomUniformFullInt", {"shape": np.array(shape, np.int32), "seed": i64(5, 6)},
                  {"dtype": dtype})]
      yield [step("StatelessRandomUniformFullIntV2", {"shape": np.array(shape, np.int32), "key": u64(7),
                                                      "counter": u64(1, 2), "alg": np.int32(1)}, {"dtype": dtype})]
      if dtype in (np.int32, np.int64):
        yield [step("StatelessRandomUniformIntV2", {
            "shape": np.array(shape, np.int32), "key": u64(7), "counter": u64(1, 2), "alg": np.int32(1),
            "minval": np.array(3, dtype), "maxval": np.array(1000, dtype)})]
  for dtype in (np.int32, np.int64):
    bounded = lambda low, high: step("StatelessRandomUniformInt", {
        "shape": i32(6), "seed": i64(5, 6), "minval": np.array(low, dtype), "maxval": np.array(high, dtype)})
    yield [bounded(-9, 9)]
    yield [bounded(0, 1)]
    yield FAILS + [bounded(3, 3)]
    yield FAILS + [bounded(4, 3)]
  for seed in (i64(0, 0), i64(1, 2), i64(-1, 2**62), i32(3, -4)):
    yield [step("StatelessRandomGetKeyCounter", {"seed": seed})]
    yield [step("StatelessRandomGetKeyCounterAlg", {"seed": seed})]
  yield FAILS + [step("StatelessRandomGetKeyCounter", {"seed": i64(1)})]
  yield [step("StatelessRandomGetAlg")]


def state(name, value):
  return [step("VarHandleOp", {}, {"dtype": tf.as_dtype(value.dtype), "shape": None, "shared_name": "random_" + name}, name="v"),
          step("AssignVariableOp", {"resource": ref("v"), "value": value})]


def read(dtype=tf.int64):
  return step("ReadVariableOp", {"resource": ref("v")}, {"dtype": dtype})


def on_variables():
  rng = lambda op, shape, alg=1, **attrs: step(op, {"resource": ref("v"), "algorithm": np.int64(alg),
                                                   "shape": np.array(shape, np.int64)}, attrs)
  for op in ("StatefulUniform", "StatefulStandardNormalV2", "StatefulTruncatedNormal"):
    for dtype in FLOATS[:2] if op != "StatefulUniform" else FLOATS[:2]:
      for shape in ([], [5], [2, 3]):
        name = "a%s%s%d" % (op, dtype.name, len(shape))
        yield state(name, i64(5, 7, 9)) + [rng(op, shape, dtype=dtype)]
        yield state(name + "r", i64(5, 7, 9)) + [rng(op, shape, dtype=dtype), read()]
    yield state("b" + op, i64(-1, 7, 9)) + [rng(op, [3], dtype=tf.float32), read()]
    yield FAILS + state("c" + op, i64(-1, 7, 9)) + [rng(op, [3], 2, dtype=tf.float32)]
    yield FAILS + state("d" + op, i64(-1, 7)) + [rng(op, [3], dtype=tf.float32)]
    yield FAILS + state("e" + op, np.zeros(3, F)) + [rng(op, [3], dtype=tf.float32)]
  for dtype in (np.int32, np.int64, np.uint32, np.uint64):
    yield state("f" + dtype.__name__, i64(5, 7, 9)) + [rng("StatefulUniformFullInt", [5], dtype=dtype)]
    if dtype in (np.int32, np.int64):
      yield state("g" + dtype.__name__, i64(5, 7, 9)) + [
          step("StatefulUniformInt", {"resource": ref("v"), "algorithm": np.int64(1), "shape": i64(5),
                                      "minval": np.array(2, dtype), "maxval": np.array(90, dtype)})]
  yield state("h", i64(5, 7, 9)) + [step("RngSkip", {"resource": ref("v"), "algorithm": np.int64(1), "delta": np.int64(3)}),
                                    read()]
  skip = lambda alg, delta: step("RngReadAndSkip", {"resource": ref("v"), "alg": np.int32(alg), "delta": np.uint64(delta)})
  yield state("i", i64(5, 7, 9)) + [skip(1, 3)]
  yield state("j", i64(5, 7, 9)) + [skip(3, 3), read()]
  yield state("k", i64(-10, -1, 9)) + [skip(1, 100), read()]
  yield FAILS + state("l", i64(5, 7, 9)) + [skip(5, 3)]
  yield FAILS + state("m", i64(5, 7)) + [skip(1, 3)]


def choosing():
  for value in (np.arange(10), np.arange(6, dtype=F).reshape(3, 2), np.array(["a", "b", "c", "d"], object),
                np.zeros((0, 2), F), np.array(3, F), np.arange(1), np.arange(50) % 2 == 0):
    yield [step("RandomShuffle", {"value": value}, seeds())]
    yield [step("StatelessShuffle", {"value": value, "key": u64(3), "counter": u64(1, 2), "alg": np.int32(1)})]
  s = seeds()
  yield [step("RandomShuffle", {"value": np.arange(5)}, s), step("RandomShuffle", {"value": np.arange(5)}, s)]
  logits = np.array([[.1, .2, .3], [1, 2, 1]], F)
  for out in (tf.int32, tf.int64):
    for n in (0, 1, 5, 8):
      yield [step("Multinomial", {"logits": logits, "num_samples": np.int32(n)}, {"output_dtype": out, **seeds()})]
      yield [step("StatelessMultinomial", {"logits": logits, "num_samples": np.int32(n), "seed": i64(1, 2)},
                  {"output_dtype": out})]
  for dtype in (np.float64, np.float16):
    yield [step("StatelessMultinomial", {"logits": (logits * 3).astype(dtype), "num_samples": np.int32(7), "seed": i64(3, 4)}, {"output_dtype": tf.int64})]
  yield [step("StatelessMultinomial", {"logits": np.array([[0, -np.inf, 0]], F), "num_samples": np.int32(9),
                                       "seed": i64(3, 4)}, {"output_dtype": tf.int64})]
  yield FAILS + [step("StatelessMultinomial", {"logits": logits[0], "num_samples": np.int32(9), "seed": i64(3, 4)}, {"output_dtype": tf.int64})]
  yield FAILS + [step("StatelessMultinomial", {"logits": logits, "num_samples": np.int32(-1), "seed": i64(3, 4)}, {"output_dtype": tf.int64})]
  yield FAILS + [step("StatelessMultinomial", {"logits": logits[:, :0], "num_samples": np.int32(2), "seed": i64(3, 4)}, {"output_dtype": tf.int64})]
  s = seeds()
  yield [step("Multinomial", {"logits": logits, "num_samples": np.int32(3)}, {"output_dtype": tf.int64, **s})]


def sampling():
  for dtype in (F, np.float64, np.float16):
    alpha = np.array([.25, 1, 3, 30], dtype)
    for shape in ([], [3], [2, 2]):
      yield [step("RandomGamma", {"shape": np.array(shape, np.int32), "alpha": alpha}, seeds())]
      yield [step("StatelessRandomGammaV2", {"shape": np.array(shape + [4], np.int32), "seed": i64(1, 2), "alpha": alpha})]
      yield [step("StatelessRandomGammaV3", {"shape": np.array(shape + [4], np.int32), "key": u64(1), "counter": u64(3, 2),
                                             "alg": np.int32(1), "alpha": alpha})]
      rate = np.array([.5, 4, 15, 300], dtype)
      for out in (tf.float32, tf.int64):
        yield [step("RandomPoissonV2", {"shape": np.array(shape, np.int32), "rate": rate}, {"dtype": out, **seeds()})]
        yield [step("StatelessRandomPoisson", {"shape": np.array(shape + [4], np.int32), "seed": i64(1, 2), "lam": rate},
                    {"dtype": out})]
  yield [step("RandomGamma", {"shape": i32(2), "alpha": np.zeros((0,), F)}, seeds())]
  yield FAILS + [step("StatelessRandomGammaV2", {"shape": i32(2, 3), "seed": i64(1, 2), "alpha": np.ones(2, F)})]
  yield [step("StatelessRandomGammaV2", {"shape": i32(3), "seed": i64(1, 2), "alpha": F(2)})]


GROUPS = (stateful, stateless, on_variables, choosing, sampling)


def cases(rng):
  for group in GROUPS:
    for steps in group():
      error = steps[0] is FAIL
      # Sines and logarithms may differ in the last place.
      yield case_steps(steps[1:] if error else steps, error=error, rtol=3e-7, atol=1e-7)

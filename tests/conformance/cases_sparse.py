"""Sparse tensors as three dense ones: indices, values, shape."""
import itertools

import numpy as np
import tensorflow as tf
from case import case_steps, step

F = np.float32
FAIL = object()
# Begins the steps of a case that TensorFlow refuses.
FAILS = [FAIL]
REALS = (tf.float32, tf.float64, tf.float16, tf.bfloat16, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16)
ALL = REALS + (tf.uint32, tf.uint64, tf.complex64, tf.complex128)


def values(dtype, *v):
  return np.array([str(x) for x in v], object) if dtype == tf.string else np.array(v).astype(dtype.as_numpy_dtype)


def i64(*v):
  return np.array(v, np.int64)


# A 3 by 4 matrix with an empty middle row: [0 1 0 2; 0 0 0 0; 3 0 0 4].
INDICES = np.array([[0, 1], [0, 3], [2, 0], [2, 3]])
SHAPE = i64(3, 4)


def to_dense():
  op = lambda i, s, v, d, **a: [step("SparseToDense", {"sparse_indices": i, "output_shape": s, "sparse_values": v,
                                                       "default_value": d}, a)]
  for dtype in ALL + (tf.bool, tf.string):
    yield op(INDICES, SHAPE, values(dtype, 1, 2, 3, 4), values(dtype, 0)[0:1].reshape(()))
  for itype in (np.int32, np.int64):
    yield op(np.array([1, 3], itype), np.array([5], itype), np.array([5, 6], F), F(-1))
    yield op(np.array(3, itype), np.array([5], itype), F(7), F(0))
    yield op(np.array([[1], [3]], itype), np.array([5], itype), F(7), F(0))
  v = np.array([1, 2, 3, 4], F)
  yield op(INDICES, SHAPE, F(9), F(1))
  yield op(np.zeros((0, 2), np.int64), SHAPE, np.zeros(0, F), F(2))
  yield op(np.zeros((0, 2), np.int64), i64(0, 3), np.zeros(0, F), F(2))
  yield FAILS + op(INDICES[::-1], SHAPE, v, F(0))
  yield op(INDICES[::-1], SHAPE, v, F(0), validate_indices=False)
  yield FAILS + op(INDICES[[0, 0, 1, 2]], SHAPE, v, F(0))
  yield op(INDICES[[0, 0, 1, 2]], SHAPE, v, F(0), validate_indices=False)
  yield FAILS + op(np.array([[0, 4]]), SHAPE, v[:1], F(0))
  yield FAILS + op(np.array([[0, 4]]), SHAPE, v[:1], F(0), validate_indices=False)
  yield FAILS + op(np.array([[-1, 0]]), SHAPE, v[:1], F(0))
  yield FAILS + op(np.array([[-1, 0]]), SHAPE, v[:1], F(0), validate_indices=False)
  yield FAILS + op(INDICES, SHAPE, v[:3], F(0))
  yield FAILS + op(INDICES, i64(3, 4, 5), v, F(0))
  yield FAILS + op(INDICES, i64(3, -4), v, F(0))
  yield FAILS + op(INDICES, np.array([[3, 4]]), v, F(0))
  yield FAILS + op(INDICES, SHAPE, v, np.zeros(1, F))
  yield FAILS + op(INDICES, SHAPE, v, np.zeros(2, F))
  yield FAILS + op(INDICES.reshape(2, 2, 2), SHAPE, v, F(0))
  yield FAILS + op(INDICES, SHAPE, v.reshape(4, 1), F(0))
  yield FAILS + op(np.array(3), i64(), F(7), F(0))
  yield op(np.array([[0, 1, 2]]), i64(1, 2, 3), v[:1], F(0))


def reordering():
  op = lambda i, v, s: [step("SparseReorder", {"input_indices": i, "input_values": v, "input_shape": s})]
  for dtype in (tf.float32, tf.int64, tf.string, tf.bool):
    yield op(INDICES[[3, 1, 0, 2]], values(dtype, 1, 2, 3, 4), SHAPE)
  v = np.array([1, 2, 3, 4], F)
  yield op(INDICES, v, SHAPE)
  yield op(INDICES[[1, 0, 1, 0]], v, SHAPE)
  yield op(np.zeros((0, 2), np.int64), v[:0], SHAPE)
  yield op(np.array([[0, 9], [0, 1]]), v[:2], SHAPE)
  yield op(np.array([[0, -1], [0, 1]]), v[:2], SHAPE)
  yield FAILS + op(INDICES, v[:3], SHAPE)
  yield FAILS + op(INDICES, v, i64(3))
  yield FAILS + op(np.array([1, 2]), v[:2], SHAPE)
  yield op(np.array([[2], [0]]), v[:2], i64(3))


def reshaping():
  op = lambda i, s, n: [step("SparseReshape", {"input_indices": i, "input_shape": s, "new_shape": n})]
  for n in (i64(4, 3), i64(12), i64(2, 2, 3), i64(-1, 2), i64(3, 4), i64(1, 3, -1, 1)):
    yield op(INDICES, SHAPE, n)
  for n in (i64(5, 2), i64(-1, 5), i64(-1, -1), i64(-2, 6), np.array([[3, 4]])):
    yield FAILS + op(INDICES, SHAPE, n)
  yield op(np.zeros((0, 2), np.int64), SHAPE, i64(12))
  yield op(np.zeros((0, 2), np.int64), i64(0, 4), i64(2, 0))
  yield op(np.zeros((0, 2), np.int64), i64(0, 4), i64(-1, 2))
  yield FAILS + op(np.zeros((0, 2), np.int64), i64(0, 4), i64(-1, 0))
  yield FAILS + op(np.array([1, 2]), SHAPE, i64(12))
  yield FAILS + op(INDICES, i64(3), i64(3))
  yield op(np.array([[5, 0]]), SHAPE, i64(12))
  yield op(np.array([[-1, 0]]), SHAPE, i64(12))
  yield FAILS + op(INDICES, i64(2**40, 2**40), i64(-1))
  yield FAILS + op(INDICES, i64(-3, 4), i64(12))


def filling():
  op = lambda i, v, s, d: [step("SparseFillEmptyRows", {"indices": i, "values": v, "dense_shape": s,
                                                        "default_value": d})]
  for dtype in ALL + (tf.string, tf.bool):
    yield op(INDICES, values(dtype, 1, 2, 3, 4), SHAPE, values(dtype, 9).reshape(()))
  v = np.array([1, 2, 3, 4], F)
  yield op(INDICES[:2], v[:2], SHAPE, F(9))
  yield op(INDICES[[2, 0, 3, 1]], v, SHAPE, F(9))
  yield op(np.zeros((0, 2), np.int64), v[:0], SHAPE, F(9))
  yield op(np.zeros((0, 2), np.int64), v[:0], i64(0, 4), F(9))
  yield FAILS + op(INDICES, v, i64(0, 4), F(9))
  yield op(np.array([[0], [2]]), v[:2], i64(4), F(9))
  yield op(np.array([[0, 1, 2], [2, 1, 0]]), v[:2], i64(3, 2, 3), F(9))
  yield FAILS + op(np.array([[3, 0]]), v[:1], SHAPE, F(9))
  yield FAILS + op(np.array([[-1, 0]]), v[:1], SHAPE, F(9))
  yield FAILS + op(INDICES, v[:3], SHAPE, F(9))
  yield FAILS + op(INDICES, v, i64(3), F(9))
  yield FAILS + op(INDICES, v, SHAPE, np.array([9], F))
  yield FAILS + op(np.array([0, 1]), v[:2], SHAPE, F(9))
  yield FAILS + op(INDICES, v, np.array([[3, 4]]), F(9))
  yield op(np.array([[0, 9]]), v[:1], SHAPE, F(9))


def slicing():
  op = lambda start, size, v=values(tf.float32, 1, 2, 3, 4), i=INDICES, s=SHAPE: [
      step("SparseSlice", {"indices": i, "values": v, "shape": s, "start": start, "size": size})]
  for start, size in (((0, 0), (3, 4)), ((0, 1), (1, 2)), ((2, 0), (1, 4)), ((2, 3), (5, 5)), ((1, 0), (1, 4)),
                      ((3, 0), (1, 1)), ((0, 0), (0, 4)), ((4, 0), (1, 1)), ((-1, 0), (2, 4))):
    yield op(i64(*start), i64(*size))
  for start, size in (((0, 0), (-1, 4)), ((0,), (1,))):
    yield FAILS + op(i64(*start), i64(*size))
  yield op(i64(0, 0), i64(2**62, 2**62))
  yield op(i64(0, 0), i64(2, 4), values(tf.string, 1, 2, 3, 4))
  yield op(i64(0, 0), i64(2, 4), values(tf.int8, 1, 2, 3, 4))
  yield FAILS + op(i64(0, 0), i64(2, 4), values(tf.float32, 1, 2, 3))
  split = lambda d, n, v=values(tf.float32, 1, 2, 3, 4): [
      step("SparseSplit", {"split_dim": np.int64(d), "indices": INDICES, "values": v, "shape": SHAPE}, {"num_split": n})]
  for d, n in ((0, 1), (0, 3), (0, 2), (1, 2), (1, 3), (1, 4), (-1, 2)):
    yield split(d, n)
  for d, n in ((2, 1), (0, 4), (-3, 1)):
    yield FAILS + split(d, n)
  yield split(1, 2, values(tf.string, 1, 2, 3, 4))


def concatenating():
  other = np.array([[0, 0], [1, 2]])
  def op(d, indices, vals, shapes):
    return [step("SparseConcat", {"indices": indices, "values": vals, "shapes": shapes}, {"concat_dim": d})]
  v, w = values(tf.float32, 1, 2, 3, 4), values(tf.float32, 5, 6)
  for d in (0, -2):
    yield op(d, [INDICES, other], [v, w], [SHAPE, i64(2, 4)])
  for d in (1, -1):
    yield op(d, [INDICES, other], [v, w], [SHAPE, i64(3, 3)])
  yield op(1, [INDICES, other, INDICES], [v, w, v], [SHAPE, i64(3, 3), SHAPE])
  yield op(1, [INDICES, other], [values(tf.string, 1, 2, 3, 4), values(tf.string, 5, 6)], [SHAPE, i64(3, 3)])
  yield op(0, [INDICES, np.zeros((0, 2), np.int64)], [v, w[:0]], [SHAPE, i64(2, 4)])
  yield FAILS + op(0, [INDICES, other], [v, w], [SHAPE, i64(2, 5)])
  yield FAILS + op(2, [INDICES, other], [v, w], [SHAPE, i64(2, 4)])
  yield FAILS + op(-3, [INDICES, other], [v, w], [SHAPE, i64(2, 4)])
  yield FAILS + op(0, [INDICES, np.array([[1], [2]])], [v, w], [SHAPE, i64(3)])
  yield FAILS + op(0, [INDICES, other], [v, w[:1]], [SHAPE, i64(2, 4)])
  yield op(1, [INDICES[[1, 0]], other], [v[:2], w], [SHAPE, i64(3, 3)])


def multiplying():
  def op(a, b, i=INDICES, s=SHAPE, **attrs):
    return [step("SparseTensorDenseMatMul", {"a_indices": i, "a_values": a, "a_shape": s, "b": b}, attrs)]
  for dtype in (tf.float32, tf.float64, tf.float16, tf.bfloat16, tf.int32, tf.complex64, tf.complex128):
    a = values(dtype, 1, 2, 3, 4)
    b = np.arange(8).astype(dtype.as_numpy_dtype).reshape(4, 2)
    if dtype.is_complex:
      a, b = a * (1 + 2j), b * (1 - 1j)
      a, b = a.astype(dtype.as_numpy_dtype), b.astype(dtype.as_numpy_dtype)
    for adjoint_b in (False, True):
      yield op(a, b.T if adjoint_b else b, adjoint_b=adjoint_b)
      yield op(a, b[:3].T if adjoint_b else b[:3], adjoint_a=True, adjoint_b=adjoint_b)
  v, b = values(tf.float32, 1, 2, 3, 4), np.arange(8, dtype=F).reshape(4, 2)
  yield op(v, b, INDICES.astype(np.int32))
  yield FAILS + op(v, b[:3])
  yield FAILS + op(v, b, s=i64(3))
  yield FAILS + op(v, b[0])
  yield FAILS + op(v[:3], b)
  yield FAILS + op(v, b, np.array([[0, 1], [0, 9], [0, 0], [0, 0]]))
  yield FAILS + op(v, b, np.array([[0, 1], [-1, 0], [0, 0], [0, 0]]))
  yield FAILS + op(v, b, np.array([[0, 1], [3, 0], [0, 0], [0, 0]]))
  yield op(v, b, np.array([[1, 1], [1, 1], [0, 0], [1, 1]]))
  yield op(v[:0], b, np.zeros((0, 2), np.int64))
  yield op(v, np.zeros((4, 0), F))
  yield op(v[:0], np.zeros((0, 2), F), np.zeros((0, 2), np.int64), i64(3, 0))


def cwise():
  op = lambda name, v, d, i=INDICES, s=SHAPE: [step("SparseDenseCwise" + name, {"sp_indices": i, "sp_values": v,
                                                                               "sp_shape": s, "dense": d})]
  v = values(tf.float32, 1, 2, 3, 4)
  dense = np.arange(1, 13, dtype=F).reshape(3, 4)
  for name in ("Mul", "Add", "Div"):
    for dtype in (tf.float32, tf.float64, tf.int32, tf.int64, tf.float16, tf.uint8):
      yield op(name, values(dtype, 8, 6, 9, 4), dense.astype(dtype.as_numpy_dtype))
    yield op(name, v, dense[:, :1])
    yield op(name, v, dense[0])
    yield op(name, v, F(2))
    yield op(name, v, np.array([2], F))
    yield FAILS + op(name, v, dense[:2])
    yield FAILS + op(name, v, dense[None])
    yield op(name, v[:0], dense, np.zeros((0, 2), np.int64))
  yield FAILS + op("Mul", v[:1], dense, np.array([[5, 0]]))
  yield FAILS + op("Mul", v[:1], dense, np.array([[-1, 0]]))
  yield FAILS + op("Mul", v[:3], dense)
  yield FAILS + op("Mul", v, dense, s=i64(3))


def adding():
  other, oshape = np.array([[0, 1], [1, 2], [2, 3]]), SHAPE
  def op(a, b, thresh, i=INDICES, j=other, s=SHAPE, t=oshape):
    return [step("SparseAdd", {"a_indices": i, "a_values": a, "a_shape": s, "b_indices": j, "b_values": b, "b_shape": t,
                               "thresh": thresh})]
  for dtype in (tf.float32, tf.float64, tf.int8, tf.int32, tf.int64, tf.complex64):
    real = dtype.real_dtype.as_numpy_dtype
    yield op(values(dtype, 1, 2, 3, 4), values(dtype, -1, 5, 6), np.array(0, real))
    yield op(values(dtype, 1, 2, 3, 4), values(dtype, -1, 5, 6), np.array(3, real))
  v, w = values(tf.float32, 1, 2, 3, 4), values(tf.float32, 5, 6, 7)
  yield op(v, w[:0], F(0), j=np.zeros((0, 2), np.int64))
  yield op(v[:0], w[:0], F(0), np.zeros((0, 2), np.int64), np.zeros((0, 2), np.int64))
  yield FAILS + op(v, w, F(0), t=i64(3, 5))
  yield FAILS + op(v, w, F(0), t=i64(3))
  yield FAILS + op(v, w[:2], F(0))
  yield FAILS + op(v, w, np.zeros(1, F))
  yield op(v, w, F(0), np.array([[0, 9], [0, 3], [2, 0], [2, 3]]))
  for name in ("SparseSparseMaximum", "SparseSparseMinimum"):
    mm = lambda a, b, i=INDICES, j=other, s=SHAPE, t=oshape: [step(name, {
        "a_indices": i, "a_values": a, "a_shape": s, "b_indices": j, "b_values": b, "b_shape": t})]
    for dtype in (tf.float32, tf.float64, tf.int8, tf.int32, tf.int64, tf.float16, tf.bfloat16, tf.uint16):
      yield mm(values(dtype, 1, 2, 3, 4), values(dtype, 0, 5, 6))
    yield mm(v - 3, w[:0], j=np.zeros((0, 2), np.int64))
    yield FAILS + mm(v, w, t=i64(3, 5))
    yield FAILS + mm(v, w[:2])
    yield FAILS + mm(v, w, s=i64(12), t=i64(12))
  dense = np.arange(12, dtype=F).reshape(3, 4)
  for itype in (np.int32, np.int64):
    da = lambda v, d, i=INDICES, s=SHAPE: [step("SparseTensorDenseAdd", {
        "a_indices": i.astype(itype), "a_values": v, "a_shape": s.astype(itype), "b": d})]
    yield da(v, dense)
    yield FAILS + da(v, dense.astype(F)[:2])
    yield FAILS + da(v[:1], dense, np.array([[3, 0]]))
    yield FAILS + da(v[:1], dense, np.array([[-1, 0]]))
    yield da(values(tf.int64, 1, 2, 3, 4), dense.astype(np.int64))
    yield FAILS + da(v[:3], dense)


def reducing():
  def op(name, v, axes, keep=False, i=INDICES, s=SHAPE):
    return [step("SparseReduce" + name, {"input_indices": i, "input_values": v, "input_shape": s,
                                         "reduction_axes": np.array(axes, np.int32)}, {"keep_dims": keep})]
  v = values(tf.float32, 1, 2, 3, 4)
  for name, axes, keep in itertools.product(("Sum", "Max"), ((0,), (1,), (-1,), (0, 1), (), 1), (False, True)):
    yield op(name, v, axes, keep)
  for name in ("Sum", "Max"):
    for dtype in REALS:
      yield op(name, values(dtype, 1, 2, 3, 4), (1,))
    yield FAILS + op(name, v, (2,))
    yield FAILS + op(name, v, (-3,))
    yield op(name, v, (1, 1))
    yield op(name, v[:0], (1,), i=np.zeros((0, 2), np.int64))
    yield op(name, -v, (1,))
    yield op(name, v, (0, 2), i=np.array([[0, 0, 0], [0, 1, 1], [1, 0, 0], [1, 1, 1]]), s=i64(2, 2, 2))
    yield op(name, v, (1,), i=np.array([[0, 0, 0], [0, 1, 1], [1, 0, 0], [1, 1, 1]]), s=i64(2, 2, 2))
    yield FAILS + op(name, v[:3], (1,))
    yield op(name, v, (1,), i=np.array([[0, 1], [0, 9], [2, 0], [2, 3]]))
    yield op(name + "Sparse", v, (1,))
    yield op(name + "Sparse", v, (0,))
    yield op(name + "Sparse", v, (0,), True)
    yield op(name + "Sparse", v, (0, 1))
    yield op(name + "Sparse", v, (0, 1), True)
    yield op(name + "Sparse", v, ())
  yield op("Sum", values(tf.complex64, 1, 2, 3, 4), (1,))


def softmax():
  op = lambda v, i=INDICES, s=SHAPE: [step("SparseSoftmax", {"sp_indices": i, "sp_values": v, "sp_shape": s})]
  for dtype in (tf.float32, tf.float64, tf.float16):
    yield op(values(dtype, 1, 2, 3, 4))
  v = values(tf.float32, 1, 2, 3, 4)
  yield op(v * 300)
  yield op(v, np.array([[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 1, 1]]), i64(2, 2, 2))
  yield op(v[:0], np.zeros((0, 2), np.int64))
  yield FAILS + op(v, np.array([[0], [1], [2], [3]]), i64(4))
  yield FAILS + op(v[:3])
  yield FAILS + op(v, INDICES, i64(3, 4, 5))


GROUPS = (to_dense, reordering, reshaping, filling, slicing, concatenating, multiplying, cwise, adding, reducing, softmax)


def cases(rng):
  for group in GROUPS:
    for steps in group():
      error = steps[0] is FAIL
      yield case_steps(steps[1:] if error else steps, error=error)

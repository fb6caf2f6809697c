"""Feature crosses, as strings and hashed."""
import itertools

import numpy as np
from case import case_steps, step

FAIL = object()
# Begins the steps of a case that TensorFlow refuses.
FAILS = [FAIL]


def i64(*v):
  return np.array(v, np.int64)


def s(*v):
  return np.array(list(v) + [None], object)[:-1]


A, B = np.array([[0, 0], [1, 0], [1, 1]]), np.array([[0, 0], [1, 0]])
SPARSE = {
    "none": ([], [], []),
    "strings": ([A, B], [s("a", "b", "c"), s("x", "y")], [i64(2, 2), i64(2, 1)]),
    "numbers": ([A, B], [i64(5, -6, 2**40), i64(8, 9)], [i64(2, 2), i64(2, 1)]),
    "both": ([A, B], [s("a", "b", "c"), i64(8, 9)], [i64(2, 2), i64(2, 1)]),
    "one": ([A], [s("a", "b", "c")], [i64(2, 2)]),
}
DENSE = {
    "none": [],
    "strings": [np.array([["p", "q"], ["r", ""]], object)],
    "numbers": [i64(1, 2, 3, 4).reshape(2, 2)],
    "both": [np.array([["p"], ["r"]], object), i64(1, 2, 3, 4).reshape(2, 2)],
    "empty": [np.zeros((2, 0), np.int64)],
}


def cross(sparse, dense, op="SparseCross", inputs=None, **attrs):
  indices, values, shapes = sparse
  return [step(op, {"indices": indices, "values": values, "shapes": shapes, "dense_inputs": dense, **(inputs or {})},
               {"N": len(indices), **attrs})]


def v2(sparse, dense, sep="_"):
  return cross(sparse, dense, "SparseCrossV2", {"sep": np.array(sep, object)})


def hashed(sparse, dense, buckets=0, strong=False, salt=i64(1, 2)):
  return cross(sparse, dense, "SparseCrossHashed", {"num_buckets": np.int64(buckets), "strong_hash": np.array(strong),
                                                    "salt": salt})


def crossing():
  for sparse, dense in itertools.product(SPARSE.values(), DENSE.values()):
    if not sparse[0] and not dense:
      continue
    yield v2(sparse, dense)
    yield hashed(sparse, dense)
    yield hashed(sparse, dense, 100)
    if not any(d.dtype == np.int64 for d in dense):  # TensorFlow crashes
      yield hashed(sparse, dense, 100, True)
      yield hashed(sparse, dense, 0, True, i64(-3, 4))
    numbers = any(v.dtype == np.int64 for v in [*sparse[1], *dense])
    for internal in ("int64",) if numbers else ("string", "int64"):
      yield cross(sparse, dense, hashed_output=True, num_buckets=100, hash_key=956888297470, out_type="int64",
                  internal_type=internal)
      yield cross(sparse, dense, hashed_output=True, num_buckets=0, hash_key=7, out_type="int64", internal_type=internal)
    if not numbers:
      yield cross(sparse, dense, hashed_output=False, num_buckets=0, hash_key=7, out_type="string", internal_type="string")


def refusing():
  three = np.zeros((3, 1), np.int64)
  indices, values, shapes = SPARSE["strings"]
  yield v2((indices, values, [i64(2, 2), i64(3, 1)]), [])
  yield v2(SPARSE["strings"], [three])
  yield v2(SPARSE["strings"], [i64(1, 2)])
  yield v2((indices, [s("a", "b"), s("x", "y")], shapes), [])
  yield v2((indices, values, [i64(2), i64(2, 1)]), [])
  yield cross(SPARSE["numbers"], [], hashed_output=True, num_buckets=9, hash_key=7, out_type="int64", internal_type="string")
  yield hashed(SPARSE["strings"], [], salt=i64(1))
  yield hashed(SPARSE["strings"], [], salt=i64())


def odd():
  _, values, shapes = SPARSE["strings"]
  for first in ([[0, 0], [1, 0], [5, 1]], [[1, 0], [0, 0], [1, 1]], [[-1, 0], [1, 0], [1, 1]], [[0, 0], [1, 1], [1, 0]]):
    yield v2(([np.array(first), B], values, shapes), [])
  yield v2(([A, B[:1]], [values[0], s("x")], shapes), [])
  yield v2(SPARSE["strings"], [], "")
  yield hashed(SPARSE["strings"], [], -1)
  yield v2(([A, B], values, [i64(3, 2), i64(3, 1)]), [])


GROUPS = (crossing, refusing, odd)


def cases(rng):
  for group in GROUPS:
    for steps in group():
      yield case_steps(steps, error=group is refusing)

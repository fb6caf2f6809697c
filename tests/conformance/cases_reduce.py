"""Reductions, positions of extremes, running sums."""
import numpy as np

from case import array, case

NAN, INF = np.nan, np.inf
FLOATS = ["float", "double", "half", "bfloat16"]
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
COMPLEXES = ["complex64", "complex128"]
REALS = FLOATS + SIGNED + UNSIGNED
NUMERIC = ["Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm"]


def reduce(op, x, axes, keep_dims=False, **options):
    attrs = {"keep_dims": keep_dims} if keep_dims else {}
    return case(op, {"input": x, "reduction_indices": axes}, attrs, **options)


def cases(rng):
    yield from reductions(rng)
    yield from reduction_edges()
    yield from arg_extremes(rng)
    yield from scans(rng)


def reductions(rng):
    for op in NUMERIC:
        for dtype in REALS + (COMPLEXES if op not in ("Max", "Min") else []):
            x = array(rng.integers(0 if dtype in UNSIGNED else -3, 4, [3, 4]), dtype)
            if op == "EuclideanNorm" and dtype in SIGNED + UNSIGNED:
                x = array([[3, 0, 4, 0], [1, 2, 2, 4]], dtype)
            for axes in ([0], [1], [0, 1]):
                yield reduce(op, x, axes)
        x = rng.normal(size=[2, 3, 4, 2]).astype(np.float32)
        for axes in ([0], [1], [2], [3], [-1], [0, 1], [1, 2], [0, 2], [1, 3], [0, 3], [-1, -3], [0, 1, 2, 3], [0, 2, 3]):
            for keep in (False, True):
                yield reduce(op, x, axes, keep)
        yield reduce(op, x, np.array([1, -1], np.int64), True)
        yield reduce(op, x, np.zeros([0], np.int32))
        yield reduce(op, x, np.int32(2))
        yield reduce(op, np.float32(-3), np.zeros([0], np.int32))
        yield reduce(op, np.float32([[-5]]), [0, 1])
        yield reduce(op, np.float32([[-5, 2]]), [0], True)
        for shape, axes in [([0], [0]), ([0, 2], [0]), ([0, 2], [1]), ([2, 0, 3], [1]), ([2, 0, 3], [0, 2])]:
            yield reduce(op, np.zeros(shape, np.float32), axes)
        yield reduce(op, np.zeros([0, 2], np.int32), [0])
        long = rng.uniform(.9, 1.1, [3, 131]).astype(np.float32)
        for axes in ([0], [1], [0, 1]):
            yield reduce(op, long, axes)
            yield reduce(op, array(long, "half"), axes, rtol=2e-2, atol=1e-2)
    for op in ["All", "Any"]:
        x = rng.integers(0, 2, [3, 4, 2]).astype(bool)
        for axes in ([0], [1], [2], [0, 2], [1, 2], [0, 1, 2], np.zeros([0], np.int32)):
            yield reduce(op, x, axes)
        yield reduce(op, np.ones([40], bool), [0])
        yield reduce(op, np.zeros([2, 33], bool), [1], True)
        yield reduce(op, np.zeros([0, 2], bool), [0])
        yield reduce(op, np.bool_(True), np.zeros([0], np.int32))
    for dtype in FLOATS:
        yield case("L2Loss", {"t": array([[1, 2], [-3, .5]], dtype)})
    yield case("L2Loss", {"t": np.zeros([0], np.float32)})
    yield case("L2Loss", {"t": np.float32(3)})


def reduction_edges():
    for op in NUMERIC:
        yield reduce(op, np.float32([1, NAN, 2]), [0])
        yield reduce(op, np.float32([[1, NAN, 2], [3, 4, 5]]), [0])
        yield reduce(op, np.float32([1, 2] * 20 + [NAN] + [3] * 7), [0])
        yield reduce(op, np.float32([1, INF, 2]), [0])
        yield reduce(op, np.float32([-INF, INF]), [0])
        x = np.float32([[1, 2], [3, 4]])
        yield reduce(op, x, [2], error=True)
        yield reduce(op, x, [-3], error=True)
        yield reduce(op, x, [0, 0], error=True)
        yield reduce(op, x, [1, -1], error=True)
        yield reduce(op, np.float32(1), [0], error=True)
    for dtype in SIGNED:
        top = np.iinfo(dtype).max
        yield reduce("Sum", array([top, 1], dtype), [0])
        yield reduce("Prod", array([top, 2], dtype), [0])
        yield reduce("Mean", array([-7, 2], dtype), [0])
        yield reduce("Mean", array([[-7, 2], [-6, -1]], dtype), [0])
    for dtype in ["int8", "int16", "int32", "uint8", "uint16", "uint32"]:
        top = np.iinfo(dtype).max
        yield reduce("Mean", array([top, top - 1, top], dtype), [0])
    for dtype in REALS:
        for op in ["Max", "Min", "Sum", "Prod"]:
            yield reduce(op, array(np.zeros([0]), dtype), [0])


def arg_extremes(rng):
    def arg(op, x, dimension, dtype="int64", **options):
        return case(op, {"input": x, "dimension": dimension}, {"output_type": dtype}, **options)

    for op in ["ArgMax", "ArgMin"]:
        for dtype in REALS + ["bool"]:
            x = array(rng.integers(0, 2 if dtype == "bool" else 5, [3, 4]), dtype)
            yield arg(op, x, 0)
            yield arg(op, x, 1, "int32")
        x = rng.integers(0, 5, [2, 3, 4]).astype(np.float32)
        for dimension in [0, 1, 2, -1, -2, -3]:
            yield arg(op, x, dimension)
        yield arg(op, x, np.int64(1))
        for values in [[NAN, 1, 3, 3], [NAN, NAN], [-INF, NAN, -INF], [INF, INF, NAN], [2, 2, 2], [1, NAN, 3]]:
            yield arg(op, np.float32(values), 0)
        yield arg(op, array(np.zeros([2, 0]), "float"), 0)
        yield arg(op, np.zeros([0, 2], np.float32), 0, error=True)
        yield arg(op, np.float32([1]), 1, error=True)
        yield arg(op, np.float32([1]), -2, error=True)
        yield arg(op, np.float32(1), 0, error=True)
        yield arg(op, np.float32([1, 2]), [0], error=True)
    yield arg("ArgMax", np.float32([1, 3, 2]), 0, "int16")
    yield arg("ArgMax", np.float32([1, 3, 2]), 0, "uint16")


def scans(rng):
    def scan(op, x, axis, exclusive=False, reverse=False, **options):
        return case(op, {"x": x, "axis": axis}, {"exclusive": exclusive, "reverse": reverse}, **options)

    for op in ["Cumsum", "Cumprod", "CumulativeLogsumexp"]:
        dtypes = FLOATS if op == "CumulativeLogsumexp" else REALS + COMPLEXES
        for dtype in dtypes:
            loose = {"rtol": 3e-2, "atol": 2e-2} if dtype in ("half", "bfloat16") else {}
            yield scan(op, array(rng.integers(0, 4, [2, 4]), dtype), 1, **loose)
        x = rng.normal(size=[2, 3, 4]).astype(np.float32)
        for axis in [0, 1, 2, -1, -3]:
            for exclusive in (False, True):
                for reverse in (False, True):
                    yield scan(op, x, axis, exclusive, reverse, rtol=2e-5, atol=1e-6)
        yield scan(op, x, np.int64(1))
        for shape in [[0], [2, 0], [0, 3]]:
            yield scan(op, np.zeros(shape, np.float32), 0, True)
        for values in [[1, 2, 3, -INF], [-INF, -INF], [-INF, 2, 3], [NAN, 1], [1, NAN, 2]]:
            if op != "CumulativeLogsumexp" or values[0] == values[0]:  # NaN comes late in TensorFlow
                yield scan(op, np.float32(values), 0)
            yield scan(op, np.float32(values), 0, True, True)
        for bad in [1, -2]:
            yield scan(op, np.float32([1, 2]), bad, error=True)
        yield scan(op, np.float32([1, 2]), [0, 0], error=True)
        yield scan(op, np.float32(1), 0, error=True)
    yield scan("Cumsum", np.int8([100, 100, 100]), 0)

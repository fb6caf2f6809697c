"""Softmax and its losses, the greatest elements, counting, and small checks."""
import numpy as np

from case import array, case

NAN, INF = np.nan, np.inf
FLOATS = ["float", "double", "half", "bfloat16"]
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
REALS = FLOATS + INTS
LOOSE = {"half": dict(rtol=4e-3, atol=2e-3), "bfloat16": dict(rtol=3e-2, atol=2e-2)}
f32, i32, i64 = np.float32, np.int32, np.int64


def cases(rng):
    yield from softmax(rng)
    yield from losses(rng)
    yield from top(rng)
    yield from counting(rng)
    yield from checks(rng)


def softmax(rng):
    for op in ["Softmax", "LogSoftmax"]:
        for dtype in FLOATS:
            for shape in ([5], [3, 4], [2, 3, 17], [2, 40], [1, 1], [2, 0], [0, 3]):
                yield case(op, {"logits": array(rng.normal(size=shape) * 3, dtype)}, **LOOSE.get(dtype, {}))
        for values in ([1000, 1000], [1, INF], [-INF, -INF], [1, NAN], [1, -INF, 2], [-1e30, 0], [88, -88, 0],
                       [NAN] + [1] * 20, [3] * 33):
            yield case(op, {"logits": f32(values)})
        yield case(op, {"logits": f32(1)}, error=True)


def losses(rng):
    dense, sparse = "SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"
    for dtype in FLOATS:
        x = array(rng.normal(size=[3, 4]), dtype)
        labels = array([[0, 1, 0, 0], [.5, 0, .5, 0], [0, 0, 0, 1]], dtype)
        yield case(dense, {"features": x, "labels": labels}, **LOOSE.get(dtype, {}))
        yield case(dense, {"features": x, "labels": labels[:1]}, **LOOSE.get(dtype, {}))
        for label_type in (i32, i64):
            yield case(sparse, {"features": x, "labels": label_type([0, 3, 2])}, **LOOSE.get(dtype, {}))
    x = f32([[1, 2, 3], [1, 1, 1]])
    yield case(dense, {"features": x[:1], "labels": f32([[0, 1, 0], [1, 0, 0]])})
    yield case(dense, {"features": np.zeros([0, 3], f32), "labels": np.zeros([0, 3], f32)})
    yield case(dense, {"features": f32([1, 2]), "labels": f32([0, 1])}, error=True)
    yield case(dense, {"features": x, "labels": np.zeros([3, 3], f32)}, error=True)
    yield case(sparse, {"features": np.zeros([0, 3], f32), "labels": np.zeros([0], i32)})
    for labels in ([0, 3], [0, -1], [0], [[0], [1]]):
        yield case(sparse, {"features": x, "labels": i32(labels)}, error=True)
    yield case(sparse, {"features": x[0], "labels": i32([0])}, error=True)
    yield case(sparse, {"features": np.zeros([2, 0], f32), "labels": i32([0, 0])}, error=True)


def top(rng):
    def topk(x, k, error=False, **attrs):
        return case("TopKV2", {"input": x, "k": k}, {"index_type": "int32", **attrs}, error=error)

    for dtype in REALS:
        x = array(rng.integers(0, 6, [3, 7]), dtype)
        for k in (1, 3, 7):
            yield topk(x, k)
        for n in (0, 3, 6):
            for reverse in (False, True):
                yield case("NthElement", {"input": x, "n": n}, {"reverse": reverse})
    x = rng.normal(size=[2, 2, 50]).astype(f32)
    for k in (0, 1, 5, 50):
        yield topk(x, k)
    yield topk(x, np.int16(2), index_type="int16")
    yield topk(x, i64(2), index_type="int64")
    yield topk(f32([3, 1, 3, 3]), 3)
    yield topk(f32([-INF, INF, 0]), 3)
    yield topk(np.zeros([0, 3], f32), 2)
    yield topk(f32([[1, 2], [4, 3]]), 1, sorted=False)
    for bad in (-1, 3):
        yield topk(f32([1, 2]), bad, error=True)
    yield topk(f32([1, 2]), [1, 2], error=True)
    yield topk(f32(1), 1, error=True)
    x = f32([[1, 2, 3], [3, 2, 1], [1, 1, 1], [NAN, 1, 2], [3, INF, 1], [3, -INF, 1], [1, 2, 3]])
    targets = [2, 2, 0, 1, 1, 1, 5]
    for k in (0, 1, 2, 3, 5):
        for kind in (i32, i64):
            yield case("InTopKV2", {"predictions": x, "targets": kind(targets), "k": kind(k)})
        yield case("InTopK", {"predictions": x, "targets": i32(targets)}, {"k": k})
    yield case("InTopKV2", {"predictions": x, "targets": i32([-1] * 7), "k": 2})
    yield case("InTopKV2", {"predictions": x, "targets": i32([1]), "k": 2}, error=True)
    yield case("InTopKV2", {"predictions": x[0], "targets": i32([1]), "k": 2}, error=True)
    yield case("InTopKV2", {"predictions": x, "targets": i32([[1]]), "k": 2}, error=True)
    yield case("NthElement", {"input": x, "n": 3}, error=True)
    yield case("NthElement", {"input": x, "n": -1}, error=True)
    yield case("NthElement", {"input": f32(1), "n": 0}, error=True)
    yield case("NthElement", {"input": x, "n": [0]}, error=True)


def counting(rng):
    def bincount(values, size, weights, error=False):
        return case("Bincount", {"arr": values, "size": size, "weights": weights}, error=error)

    def dense(values, size, weights, binary=False, error=False):
        return case("DenseBincount", {"input": values, "size": size, "weights": weights},
                    {"binary_output": binary}, error=error)

    for dtype in ["int32", "int64", "float", "double"]:
        none = array([], dtype)
        flat, table = i32([1, 1, 2, 5, 0]), i32([[1, 1, 2], [0, 9, 0]])
        yield bincount(flat, 4, none)
        yield bincount(flat, 6, array([1, 2, 3, 4, 5], dtype))
        for kind in (i32, i64):
            for binary in (False, True):
                yield dense(kind(flat), kind(4), none, binary)
                yield dense(kind(table), kind(4), none, binary)
                yield dense(kind(table), kind(4), array([[1, 2, 3], [4, 5, 6]], dtype), binary)
                yield dense(kind(flat), kind(4), array([1, 2, 3, 4, 5], dtype), binary)
        yield bincount(i32([]), 3, none)
        yield dense(i32([]), i32(3), none)
        yield dense(np.zeros([2, 0], i32), i32(3), none)
        yield dense(i32(1), i32(3), none)
        yield dense(flat, i32(0), none)
    none = f32([])
    yield bincount(i32([1, -1]), 4, none, error=True)
    yield bincount(i32([1]), -1, none, error=True)
    yield bincount(i32([1]), 4, f32([1, 2]), error=True)
    yield dense(i32([1, -1]), i32(4), none, error=True)
    yield dense(i32([[1, -1]]), i32(4), none, error=True)
    yield dense(i32([1]), i32(-4), none, error=True)
    yield dense(i32([[[1]]]), i32(4), none, error=True)
    yield dense(i32([1, 2]), i32(4), f32([1, 2, 3]), error=True)
    yield dense(i32([1, 2]), i32([4, 1]), none, error=True)
    for dtype in ["int32", "int64", "float", "double"]:
        x = array([[-1, 0, 5], [6, 7, 10]], dtype)
        for boundaries in ([0, 5, 7], [0, 5.5, 7], [], [5]):
            yield case("Bucketize", {"input": x}, {"boundaries": boundaries})
        for kind in ("int32", "int64"):
            yield case("HistogramFixedWidth", {"values": x, "value_range": array([0, 9], dtype), "nbins": 4},
                       {"dtype": kind})
    yield case("Bucketize", {"input": f32([NAN, INF, -INF])}, {"boundaries": [0, 1]})
    yield case("Bucketize", {"input": f32([1])}, {"boundaries": [5, 1]}, error=True)
    edges = {"values": f32([-1, 0, 1.5, 2, 5, 15]), "value_range": f32([0, 5]), "nbins": 5}
    yield case("HistogramFixedWidth", edges, {"dtype": "int32"})
    for change in ({"values": f32([NAN])}, {"value_range": f32([5, 5])}, {"nbins": 0}, {"value_range": f32([0, 1, 2])},
                   {"value_range": f32([[0, 1]])}):
        yield case("HistogramFixedWidth", {**edges, **change}, {"dtype": "int32"}, error=True)


def checks(rng):
    for dtype in FLOATS:
        for op in ["CheckNumerics", "CheckNumericsV2"]:
            yield case(op, {"tensor": array([1, 2], dtype)}, {"message": "m"})
            for bad in ([1, NAN], [INF], [-INF, INF, NAN]):
                yield case(op, {"tensor": array(bad, dtype)}, {"message": "m"}, error=True)
    for dtype in REALS:
        a, b = (array(rng.integers(0, 5, [2, 3]), dtype) for _ in "ab")
        yield case("Cross", {"a": a, "b": b})
    yield case("Cross", {"a": f32([1, 0, 0]), "b": f32([0, 1, 0])})
    yield case("Cross", {"a": f32([1, 0]), "b": f32([0, 1])}, error=True)
    yield case("Cross", {"a": f32([1, 0, 0]), "b": f32([[0, 1, 0]])}, error=True)
    yield case("Cross", {"a": f32(1), "b": f32(1)}, error=True)
    for kind in (i32, i64):
        yield case("InvertPermutation", {"x": kind([2, 0, 1, 3])})
        for bad in ([2, 2, 1], [3, 0, 1], [-1, 0, 1], [[0]]):
            yield case("InvertPermutation", {"x": kind(bad)}, error=True)
        for a, b in [([2, 3, 5], [1]), ([2, 3, 5], [3, 1]), ([2, 3], [2, 3]), ([1, 1], [1, 1]), ([1, 3], [1, 1]),
                     ([], [3]), ([], []), ([1, 3], [3]), ([3], [1, 3]), ([2, 1, 4], [3, 1]), ([0, 3], [1, 3]),
                     ([4], [4, 1]), ([1], [])]:
            yield case("BroadcastGradientArgs", {"s0": kind(a), "s1": kind(b)})
    yield case("BroadcastGradientArgs", {"s0": i32([2]), "s1": i32([3])}, error=True)
    yield case("BroadcastGradientArgs", {"s0": i32([[2]]), "s1": i32([3])}, error=True)
    yield case("InvertPermutation", {"x": i32([])})

"""Constants, sequences, one-hot rows, diagonals, searches and sets."""
import numpy as np

from case import array, case
from cases_array import MOVED, filled
from cases_gather import FLOATS, REALS

NAN, INF = float("nan"), float("inf")


def fills():
    for dtype in MOVED:
        yield case("Fill", {"dims": [2, 3], "value": filled(dtype, 4)[3]})
        yield case("ZerosLike", {"x": filled(dtype, 2, 2)})
        if dtype != "string":
            yield case("OnesLike", {"x": filled(dtype, 2, 2)})
    for dims in ([], [0], [2, 0], [1, 1, 3], 2):
        for dtype in (np.int32, np.int64):
            yield case("Fill", {"dims": np.array(dims, dtype), "value": 7})
    yield case("Fill", {"dims": [2], "value": [7]})
    for dims, value in (([-1], 1), ([[2]], 1), ([2], [1, 2])):
        yield case("Fill", {"dims": np.array(dims, np.int32), "value": np.array(value, np.int32)}, error=True)
    for dtype in ("float", "int32", "int64", "half", "complex64"):
        yield case("Empty", {"shape": [2, 2]}, {"dtype": dtype, "init": True})
        yield case("DeepCopy", {"x": filled(dtype, 3)})
    yield case("Empty", {"shape": [2]}, {"dtype": "string"})
    yield case("Empty", {"shape": [-2]}, {"dtype": "float"}, error=True)


def sequences():
    for dtype in FLOATS + ["int32", "int64"]:
        for start, limit, delta in ((0, 5, 1), (1, 10, 3), (5, 0, -2), (3, 3, 1), (0, 1, 7)):
            yield case("Range", {k: array(v, dtype) for k, v in zip(("start", "limit", "delta"), (start, limit, delta))})
    for dtype in FLOATS:
        for start, limit, delta in ((0, 1, .1), (0, 10, .3), (-1.5, 2, .25), (2, -1, -.4)):
            yield case("Range", {k: array(v, dtype) for k, v in zip(("start", "limit", "delta"), (start, limit, delta))})
    for start, limit, delta in ((0., INF, 1.), (0., NAN, 1.), (0., 1., 0.), (0., 1., -1.), (1., 0., 1.)):
        yield case("Range", {"start": np.float32(start), "limit": np.float32(limit), "delta": np.float32(delta)}, error=True)
    for start, limit, delta in ((0, 5, 0), (0, 5, -1), (5, 0, 1), ([0, 1], 5, 1)):
        yield case("Range", {"start": np.array(start, np.int32), "limit": limit, "delta": delta}, error=True)
    yield case("Range", {"start": [1], "limit": 3, "delta": 1})
    yield case("Range", {"start": np.array(2**62), "limit": np.array(2**62 + 3), "delta": np.array(1)})
    for dtype in (np.float32, np.float64):
        for start, stop, num in ((0, 1, 5), (1, 2, 7), (3, 3, 4), (5, -5, 1), (5, -5, 2), (0, 10, 11)):
            yield case("LinSpace", {"start": dtype(start), "stop": dtype(stop), "num": np.int64(num)})
    for num in (0, -2, [3, 4]):
        yield case("LinSpace", {"start": 1.0, "stop": 2.0, "num": np.array(num, np.int32)}, error=True)


def one_hots():
    for dtype in MOVED:
        yield case("OneHot", {"indices": [0, 2, -1, 5], "depth": 3, "on_value": filled(dtype, 4)[3],
                              "off_value": filled(dtype, 1)[0]})
    for dtype in (np.uint8, np.int8, np.int32, np.int64):
        yield case("OneHot", {"indices": np.array([[1, 0], [2, 1]], dtype), "depth": 3, "on_value": 5.0, "off_value": -1.0})
    for axis in (0, 1, 2, -1):
        yield case("OneHot", {"indices": [[1, 0, 2], [2, 1, 9]], "depth": 4, "on_value": 1, "off_value": 0}, {"axis": axis})
    yield case("OneHot", {"indices": np.int64(1), "depth": 3, "on_value": 1.0, "off_value": 0.0})
    yield case("OneHot", {"indices": [1], "depth": 0, "on_value": 1.0, "off_value": 0.0})
    yield case("OneHot", {"indices": np.zeros([0], np.int32), "depth": 3, "on_value": 1.0, "off_value": 0.0})
    for depth, axis, on in ((-3, 0, 1.0), (3, 2, 1.0), (3, -2, 1.0), ([3], 0, 1.0), (3, 0, [1.0])):
        yield case("OneHot", {"indices": [0], "depth": np.array(depth, np.int32), "on_value": np.array(on, np.float32),
                              "off_value": 0.0}, {"axis": axis}, error=True)


def diagonals():
    for dtype in ("float", "double", "half", "int32", "int64", "complex64", "complex128"):
        yield case("Diag", {"diagonal": filled(dtype, 3)})
        yield case("DiagPart", {"input": filled(dtype, 2, 2)})
    yield case("Diag", {"diagonal": filled("float", 2, 3)})
    yield case("DiagPart", {"input": filled("float", 2, 3, 2, 3)})
    yield case("Diag", {"diagonal": 1.0}, error=True)
    for shape in ((3,), (2, 3), (2, 3, 2)):
        yield case("DiagPart", {"input": filled("float", *shape)}, error=True)
    for dtype in [d for d in MOVED if d != "string"]:
        yield case("MatrixDiag", {"diagonal": filled(dtype, 2, 2)})
        yield case("MatrixDiagPart", {"input": filled(dtype, 2, 3)})
        yield case("MatrixSetDiag", {"input": filled(dtype, 2, 2, 3), "diagonal": filled(dtype, 2, 2)})
        yield case("MatrixBandPart", {"input": filled(dtype, 3, 3), "num_lower": np.int64(1), "num_upper": np.int64(0)})
    aligns = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")
    x = filled("float", 2, 3, 4) + 1
    for k in (0, 1, -1, 3, -2, [0, 0], [-1, 1], [0, 2], [-2, 0], [-2, 3], [1, 2], [-2, -1]):
        k = np.array(k, np.int32)
        low, high = k.min(), k.max()
        length = min(3 + min(high, 0), 4 - max(low, 0))
        band = filled("float", *((2, length) if low == high else (2, high - low + 1, length))) + 50
        size = {"num_rows": 3, "num_cols": 4, "padding_value": -1.0}
        free = {"num_rows": -1, "num_cols": -1, "padding_value": 0.0}
        for align in aligns if low != high else aligns[:1]:
            attrs = {"align": align}
            yield case("MatrixDiagPartV3", {"input": x, "k": k, "padding_value": -1.0}, attrs)
            yield case("MatrixSetDiagV3", {"input": x, "diagonal": band, "k": k}, attrs)
            yield case("MatrixDiagV3", {"diagonal": band, "k": k, **size}, attrs)
            yield case("MatrixDiagV3", {"diagonal": band, "k": k, **free}, attrs)
        yield case("MatrixDiagPartV2", {"input": x, "k": k, "padding_value": -1.0})
        yield case("MatrixSetDiagV2", {"input": x, "diagonal": band, "k": k})
        yield case("MatrixDiagV2", {"diagonal": band, "k": k, **size})
    for rows, cols in ((5, -1), (-1, 5), (3, 5), (2, -1), (-1, 2), (5, 5), (3, 3)):
        good = (rows, cols) not in ((2, -1), (-1, 2), (5, 5))
        yield case("MatrixDiagV3", {"diagonal": filled("float", 3), "k": 0, "num_rows": rows, "num_cols": cols,
                                    "padding_value": 9.0}, error=not good)
    for k in (4, -3, [1, 0], [0, 5], [[0]], [0, 1, 2]):
        yield case("MatrixDiagPartV3", {"input": x, "k": np.array(k, np.int32), "padding_value": 0.0}, error=True)
        yield case("MatrixSetDiagV3", {"input": x, "diagonal": x[:, 0], "k": np.array(k, np.int32)}, error=True)
    yield case("MatrixSetDiag", {"input": x, "diagonal": x[:, 0]}, error=True)
    yield case("MatrixDiagPart", {"input": x[0, 0]}, error=True)
    yield case("MatrixDiag", {"diagonal": 1.0}, error=True)
    yield case("MatrixDiagV3", {"diagonal": x[0], "k": [0, 1], "num_rows": -1, "num_cols": -1, "padding_value": 0.0},
               error=True)
    for lower, upper in ((0, 0), (-1, 0), (0, -1), (1, 2), (-1, -1), (3, 4)):
        yield case("MatrixBandPart", {"input": x, "num_lower": lower, "num_upper": upper})
    for lower, upper in ((5, 0), (0, 5), ([0], 0)):
        yield case("MatrixBandPart", {"input": x, "num_lower": np.array(lower, np.int32), "num_upper": upper}, error=True)
    yield case("MatrixBandPart", {"input": x[0, 0], "num_lower": 0, "num_upper": 0}, error=True)
    yield case("MatrixBandPart", {"input": x[:0], "num_lower": 0, "num_upper": 0})


def searches():
    for dtype in [d for d in MOVED if d != "string"]:
        if dtype != "half":
            yield case("Where", {"input": array([[0, 1, 2], [0, 0, 1]], dtype)})
    for shape in ((5,), (2, 3), (2, 1, 3), (2, 2, 2, 2), (0, 3), (3, 0)):
        yield case("Where", {"input": filled("bool", *shape)})
    yield case("Where", {"input": [NAN, 0.0, -0.0, 1.0]})
    yield case("Where", {"input": np.zeros([4], bool)})
    yield case("Where", {"input": True}, error=True)
    for dtype in REALS + ["bool", "string"]:
        x = filled(dtype, 5)[[1, 0, 1, 4, 0]]
        yield case("Unique", {"x": x})
        yield case("UniqueWithCounts", {"x": x}, {"out_idx": "int64"})
        yield case("UniqueV2", {"x": np.stack([x, x]), "axis": np.array([1], np.int64)})
        if dtype != "bool":
            yield case("ListDiff", {"x": x, "y": x[3:4]})
    x = np.array([[[1, 2], [1, 2]], [[3, 4], [1, 2]], [[1, 2], [1, 2]]], np.int32)
    for op in ("UniqueV2", "UniqueWithCountsV2"):
        for axis in (0, 1, 2, -1):
            yield case(op, {"x": x, "axis": np.array([axis], np.int32)}, {"out_idx": "int64"})
        yield case(op, {"x": x[0, 0], "axis": np.array([], np.int64)})
        yield case(op, {"x": x, "axis": np.array([], np.int64)}, error=True)
        for axis in ([3], [-4], [0, 1], 0):
            yield case(op, {"x": x, "axis": np.array(axis, np.int64)}, error=True)
    yield case("Unique", {"x": [NAN, NAN, 0.0, -0.0, INF, INF]})
    yield case("Unique", {"x": np.array([], np.int64)})
    yield case("UniqueV2", {"x": np.zeros([3, 0], np.float32), "axis": np.array([0])})
    yield case("UniqueV2", {"x": np.zeros([0, 3], np.float32), "axis": np.array([0])})
    yield case("UniqueV2", {"x": np.zeros([0, 3], np.float32), "axis": np.array([1])})
    yield case("Unique", {"x": x[0]}, error=True)
    yield case("Unique", {"x": np.arange(300, dtype=np.int64) * 4096 % 7919 // 50})
    for x, y in (([1, 2, 3, 2], [3]), ([1, 2], []), ([], [1]), ([1, 2], [2, 1, 1])):
        for out in ("int32", "int64"):
            yield case("ListDiff", {"x": np.array(x, np.int64), "y": np.array(y, np.int64)}, {"out_idx": out})
    yield case("ListDiff", {"x": [[1]], "y": [1]}, error=True)
    yield case("ListDiff", {"x": [1], "y": 1}, error=True)
    for op in ("LowerBound", "UpperBound"):
        for dtype in ["float", "double", "int32", "int64", "int8", "uint8", "int16", "half", "bfloat16"]:
            yield case(op, {"sorted_inputs": array([[1, 2, 2, 3]], dtype), "values": array([[0, 2, 3, 9]], dtype)})
        yield case(op, {"sorted_inputs": [[1., 2., 3.], [4., 4., 4.]], "values": [[2., 9.], [4., 1.]]}, {"out_type": "int64"})
        yield case(op, {"sorted_inputs": np.zeros([2, 0], np.float32), "values": [[2.], [4.]]})
        yield case(op, {"sorted_inputs": [[1.]], "values": [[2.], [4.]]}, error=True)
        yield case(op, {"sorted_inputs": [1.], "values": [2.]}, error=True)
    for dtype in (np.int32, np.int64):
        for indices, dims in ((5, [3, 4]), ([5, 11, 0], [3, 4]), ([22], [2, 3, 4]), (-5, [3, 4]), (0, [1])):
            yield case("UnravelIndex", {"indices": np.array(indices, dtype), "dims": np.array(dims, dtype)})
        for indices, dims in ((12, [3, 4]), (5, [3, 0]), ([[5]], [3, 4]), (5, 7), (5, [-3, -4]), ([], [2, 2])):
            yield case("UnravelIndex", {"indices": np.array(indices, dtype), "dims": np.array(dims, dtype)}, error=True)
    yield case("UnravelIndex", {"indices": 5, "dims": [1 << 16, 1 << 16]}, error=True)


def sets():
    for operation in ("a-b", "b-a", "intersection", "union", "UNION"):
        attrs = {"set_operation": operation}
        for dtype in ("int32", "int64", "int8", "int16", "uint8", "uint16", "string"):
            yield case("DenseToDenseSetOperation", {"set1": filled(dtype, 5)[[[3, 1, 1], [2, 2, 4]]],
                                                    "set2": filled(dtype, 5)[[[1, 0], [4, 2]]]}, attrs)
        yield case("DenseToDenseSetOperation", {"set1": np.arange(12).reshape(2, 2, 3) % 4,
                                                "set2": np.arange(8).reshape(2, 2, 2) % 3}, attrs)
        yield case("DenseToDenseSetOperation", {"set1": np.zeros([2, 0], np.int32), "set2": [[1], [2]]}, attrs)
    for a, b, operation in (([[1]], [[1]], "foo"), ([1], [1], "a-b"), ([[1]], [1], "a-b"), ([[1]], [[1], [2]], "a-b"),
                            (1, 1, "union")):
        yield case("DenseToDenseSetOperation", {"set1": np.array(a, np.int32), "set2": np.array(b, np.int32)},
                   {"set_operation": operation}, error=True)
    for dtype in ("int32", "int64", "string", "uint8"):
        yield case("SetSize", {"set_indices": [[0, 0], [0, 1], [2, 0]], "set_values": filled(dtype, 3)[[1, 1, 2]],
                               "set_shape": [3, 2]})
    yield case("SetSize", {"set_indices": [[0, 0, 0], [0, 1, 1], [1, 0, 0]], "set_values": [1, 2, 3], "set_shape": [2, 2, 2]})
    yield case("SetSize", {"set_indices": np.zeros([0, 2], np.int64), "set_values": np.zeros([0], np.int32), "set_shape": [3, 2]})
    for indices, shape in (([[0, 1], [0, 0]], [3, 2]), ([[0, 5], [1, 0]], [3, 2]), ([[0], [1]], [3]), ([[0, 0], [0, 0]], [3, 2]),
                           ([0, 1], [3, 2]), ([[0, 0], [0, 1]], [[3, 2]])):
        yield case("SetSize", {"set_indices": np.array(indices, np.int64), "set_values": [1, 2],
                               "set_shape": np.array(shape, np.int64)}, error=True)
    yield case("SetSize", {"set_indices": [[0, 0]], "set_values": [1, 2], "set_shape": [3, 2]}, error=True)


def cases(rng):
    yield from fills()
    yield from sequences()
    yield from one_hots()
    yield from diagonals()
    yield from searches()
    yield from sets()

"""Gathers, scatters, segment reductions, stitches."""
import numpy as np

from case import array, case, case_steps, ref, step
from cases_array import MOVED, filled

FLOATS = ["float", "double", "half", "bfloat16"]
REALS = FLOATS + ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NUMBERS = REALS + ["complex64", "complex128"]


def gathers():
    x = filled("float", 3, 4, 2)
    for dtype in MOVED:
        yield case("GatherV2", {"params": filled(dtype, 3, 2), "indices": [2, 0, 2], "axis": 0})
        yield case("GatherV2", {"params": filled(dtype, 3, 2), "indices": [[1], [0]], "axis": 1})
        yield case("GatherNd", {"params": filled(dtype, 3, 2), "indices": [[2, 1], [0, 0]]})
    for axis in (0, 1, 2, -1, -3):
        for indices in (1, [0, 1], [[1, 0], [0, 1]], np.zeros([0], np.int32)):
            yield case("GatherV2", {"params": x, "indices": np.array(indices, np.int32), "axis": axis})
    for dtype in (np.int16, np.int32, np.int64):
        yield case("GatherV2", {"params": x, "indices": np.array([1, 0], dtype), "axis": np.int64(1)})
        yield case("GatherNd", {"params": x, "indices": np.array([[1, 0], [2, 3]], dtype)})
    for indices, axis, batch in (([[0, 1], [2, 3], [1, 0]], 1, 1), ([[0, 1], [1, 0], [1, 1]], 2, 1), ([[0], [1], [2]], 1, -1),
                                 ([0, 1, 1], 2, 1), (np.ones([3, 4, 2]), 2, 2), ([0, 1], 1, 0)):
        yield case("GatherV2", {"params": x, "indices": np.array(indices, np.int32), "axis": axis}, {"batch_dims": batch})
    yield case("GatherV2", {"params": filled("float", 3, 0), "indices": [5], "axis": 0})
    yield case("GatherV2", {"params": filled("float", 0, 3), "indices": np.array([], np.int32), "axis": 0})
    yield case("Gather", {"params": x, "indices": [[2], [0]]})
    yield case("Gather", {"params": filled("string", 4), "indices": np.int64(3)})
    for indices, axis, attrs in (([0, 3], 0, {}), (-1, 0, {}), ([[0, 1], [1, 7]], 1, {}), ([0], 3, {}), ([0], [0], {}), ([0], -4, {}),
                                 ([[0], [1]], 1, {"batch_dims": 1}), ([0, 0, 0], 0, {"batch_dims": 1}),
                                 ([0], 1, {"batch_dims": 2}), ([[0], [1], [4]], 1, {"batch_dims": 1})):
        yield case("GatherV2", {"params": x, "indices": np.array(indices, np.int32), "axis": np.array(axis, np.int32)},
                   attrs, error=True)
    yield case("GatherV2", {"params": 1.0, "indices": [0], "axis": 0}, error=True)
    yield case("GatherV2", {"params": filled("float", 0, 3), "indices": [0], "axis": 0}, error=True)
    yield case("Gather", {"params": x, "indices": [3]}, error=True)
    for indices in ([[0]], [2], [[[1, 2, 1]], [[0, 0, 0]]], np.zeros([2, 0]), np.zeros([0, 2]), [[[0, 1], [2, 3]]]):
        yield case("GatherNd", {"params": x, "indices": np.array(indices, np.int32)})
    yield case("GatherNd", {"params": x, "indices": [[0, 1], [5, 0]]}, {"bad_indices_policy": "IGNORE"})
    for indices in ([[3]], [[0, -1]], [[0, 0, 0, 0]], 0):
        yield case("GatherNd", {"params": x, "indices": np.array(indices, np.int32)}, error=True)
    yield case("GatherNd", {"params": filled("float", 0, 3), "indices": [[0]]}, error=True)


def with_variable(value, *steps):
    dtype = value.dtype
    return [step("VarHandleOp", {}, {"dtype": dtype, "shape": list(value.shape)}, name="h"),
            step("AssignVariableOp", {"resource": ref("h"), "value": value}), *steps]


def changed(value, op, inputs, argument="resource", attrs=None):
    return case_steps(with_variable(
        value, step(op, {argument: ref("h"), **inputs}, attrs),
        step("ReadVariableOp", {"resource": ref("h")}, {"dtype": value.dtype})))


def variables():
    x = filled("float", 3, 2)
    for indices in (1, [0, 2], [[2], [1]], np.array([1], np.int64)):
        yield case_steps(with_variable(x, step("ResourceGather", {"resource": ref("h"), "indices": indices},
                                               {"dtype": "float"})))
    yield case_steps(with_variable(x, step("ResourceGather", {"resource": ref("h"), "indices": [[0], [1], [1]]},
                                           {"dtype": "float", "batch_dims": 1})))
    yield case_steps(with_variable(x, step("ResourceGatherNd", {"resource": ref("h"), "indices": [[0, 1], [2, 0]]},
                                           {"dtype": "float"})))
    for indices in ([3], [-1], [[0, 9]]):
        yield case_steps(with_variable(x, step("ResourceGather", {"resource": ref("h"), "indices": indices},
                                               {"dtype": "float"})), error=True)
    yield case_steps(with_variable(x, step("ResourceGatherNd", {"resource": ref("h"), "indices": [[0, 2]]},
                                           {"dtype": "float"})), error=True)
    for kind in ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max"):
        op = f"ResourceScatter{kind}"
        for dtype in ("float", "double", "half", "int32", "int64", "uint8"):
            yield changed(filled(dtype, 3, 2), op, {"indices": [2, 0], "updates": array([[3, 1], [2, 4]], dtype)})
        yield changed(x, op, {"indices": [0, 0, 2], "updates": 2.5})
        yield changed(x, op, {"indices": np.array([[1], [1]], np.int64), "updates": np.full([2, 1, 2], 3, np.float32)})
        yield changed(x, op, {"indices": np.zeros([0], np.int32), "updates": np.zeros([0, 2], np.float32)})
        yield case_steps(with_variable(x, step(op, {"resource": ref("h"), "indices": [3], "updates": 1.0})), error=True)
        yield case_steps(with_variable(x, step(op, {"resource": ref("h"), "indices": [1], "updates": [1.0, 2.0]})),
                         error=True)
    for kind in ("Update", "Add", "Sub", "Min", "Max"):
        op = f"ResourceScatterNd{kind}"
        for dtype in ("float", "int32", "int64"):
            yield changed(filled(dtype, 3, 2), op, {"indices": [[2, 0], [0, 1]], "updates": array([3, 1], dtype)}, "ref")
        yield changed(x, op, {"indices": np.array([[1], [1]], np.int64), "updates": filled("float", 2, 2)}, "ref")
        yield case_steps(with_variable(x, step(op, {"ref": ref("h"), "indices": [[3]], "updates": x[:1]})), error=True)
        yield case_steps(with_variable(x, step(op, {"ref": ref("h"), "indices": [[0]], "updates": [1.0]})), error=True)
    yield changed(filled("string", 3), "ResourceScatterUpdate", {"indices": [1], "updates": ["new"]})
    yield changed(filled("bool", 3), "ResourceScatterUpdate", {"indices": [1], "updates": [True]})
    yield changed(filled("string", 3), "ResourceScatterNdUpdate", {"indices": [[1]], "updates": ["new"]}, "ref")
    # A reader's value stays as it was.
    yield case_steps(with_variable(
        x, step("ReadVariableOp", {"resource": ref("h")}, {"dtype": "float"}, name="old"),
        step("ResourceScatterAdd", {"resource": ref("h"), "indices": [0], "updates": 5.0}),
        step("Identity", {"input": ref("old")}, check=True),
        step("ReadVariableOp", {"resource": ref("h")}, {"dtype": "float"})))


def scatters():
    for dtype in MOVED:
        yield case("ScatterNd", {"indices": [[2], [0], [2]], "updates": filled(dtype, 3, 2), "shape": [4, 2]})
        yield case("TensorScatterUpdate", {"tensor": filled(dtype, 3, 2), "indices": [[2, 1], [0, 0]],
                                           "updates": filled(dtype, 2)})
    for kind, dtypes in (("Add", NUMBERS), ("Sub", NUMBERS), ("Min", REALS), ("Max", REALS)):
        for dtype in dtypes:
            yield case(f"TensorScatter{kind}", {"tensor": filled(dtype, 4), "indices": [[1], [1], [3]],
                                                "updates": array([1, 2, 2], dtype)})
    x = filled("float", 3, 2)
    for op in ("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterMax"):
        yield case(op, {"tensor": x, "indices": np.array([[[0], [2]]], np.int64), "updates": np.full([1, 2, 2], 2.5, np.float32)})
        yield case(op, {"tensor": x, "indices": np.zeros([1, 0], np.int32), "updates": np.full([1, 3, 2], 2.5, np.float32)},
                   error=True)
        yield case(op, {"tensor": x, "indices": np.zeros([0, 1], np.int32), "updates": np.zeros([0, 2], np.float32)})
        for indices, updates in (([[3]], [[1.0, 2.0]]), ([[-1, 0]], [1.0]), ([[0]], [1.0]), (0, [1.0, 2.0]),
                                 ([[0, 0, 0]], [1.0]), ([[0], [1]], [[1.0, 2.0]])):
            yield case(op, {"tensor": x, "indices": np.array(indices, np.int32), "updates": np.array(updates, np.float32)},
                       error=True)
        yield case(op, {"tensor": x, "indices": [[3], [0]], "updates": np.ones([2, 2], np.float32)},
                   {"bad_indices_policy": "IGNORE"})
    for indices, updates, shape in (([[1, 0], [0, 1]], [1.0, 2.0], [2, 2]), ([[[1], [2]]], np.ones([1, 2, 3]), [4, 3]),
                                    (np.zeros([0, 1]), np.zeros([0]), [3])):
        for dtype in (np.int32, np.int64):
            yield case("ScatterNd", {"indices": np.array(indices, dtype), "updates": np.array(updates, np.float32),
                                     "shape": np.array(shape, dtype)})
    yield case("ScatterNd", {"indices": [[1], [7]], "updates": [1.0, 2.0], "shape": [3]}, {"bad_indices_policy": "IGNORE"})
    for indices, updates, shape in (([[1], [7]], [1.0, 2.0], [3]), ([[1], [2]], [1.0, 2.0, 3.0], [3]),
                                    ([[1]], [1.0], [[3]]), ([[0]], [1.0], [0]), (1, 1.0, [3]), ([[1]], [1.0], [-3]),
                                    ([[0, 0]], [1.0], [3]), (np.zeros([2, 0]), np.ones([2, 3]), [3])):
        yield case("ScatterNd", {"indices": np.array(indices, np.int32), "updates": np.array(updates, np.float32),
                                 "shape": np.array(shape, np.int32)}, error=True)
    yield case("ScatterNdNonAliasingAdd", {"input": x, "indices": [[1], [1]], "updates": np.ones([2, 2], np.float32)})


def segments():
    ids = [0, 0, 2, 2, 2]
    for kind, dtypes in (("Sum", NUMBERS), ("Prod", NUMBERS), ("Mean", NUMBERS), ("Min", REALS), ("Max", REALS)):
        for dtype in dtypes:
            yield case(f"Segment{kind}", {"data": array(np.array([[1, 2], [2, 3], [4, 1], [3, 2], [1, 1]]), dtype),
                                          "segment_ids": ids})
        if kind != "Mean":
            for dtype in dtypes:
                yield case(f"UnsortedSegment{kind}", {"data": array([1, 2, 2, 3, 1], dtype), "segment_ids": [3, 0, -1, 3, 1],
                                                      "num_segments": 5})
        op = f"Segment{kind}"
        yield case(op, {"data": filled("float", 3, 2, 2), "segment_ids": np.array([1, 1, 3], np.int64)})
        yield case(op, {"data": filled("float", 0, 2), "segment_ids": np.array([], np.int32)})
        yield case(op, {"data": filled("float", 3, 0), "segment_ids": [0, 1, 1]})
        for bad in ([1, 0, 2], [-1, 0, 1], [0, 1], [[0, 1, 1]], [0, 2, 1]):
            yield case(op, {"data": filled("float", 3), "segment_ids": np.array(bad, np.int32)}, error=True)
        yield case(op, {"data": 1.0, "segment_ids": [0]}, error=True)
    for kind in ("Sum", "Prod", "Min", "Max"):
        op = f"UnsortedSegment{kind}"
        x = filled("float", 2, 3, 2)
        yield case(op, {"data": x, "segment_ids": [[0, 1, 0], [2, 1, 3]], "num_segments": np.int64(4)})
        yield case(op, {"data": x, "segment_ids": np.array([1, 0], np.int64), "num_segments": 2})
        yield case(op, {"data": 3.0, "segment_ids": 1, "num_segments": 3})
        yield case(op, {"data": x[0:0], "segment_ids": np.array([], np.int32), "num_segments": 2})
        for ids_, num in (([0, 5], 5), ([0], 5), ([0, 1], -3), ([0, 1], [3]), ([[0, 1], [0, 1]], 2)):
            yield case(op, {"data": x, "segment_ids": np.array(ids_, np.int32), "num_segments": np.array(num, np.int32)},
                       error=True)


def sparse_segments():
    x = filled("float", 4, 3)
    for kind in ("Sum", "Mean", "SqrtN"):
        op = f"SparseSegment{kind}"
        for dtype in (REALS if kind == "Sum" else FLOATS):
            yield case(op, {"data": filled(dtype, 4, 2), "indices": [3, 0, 1, 1], "segment_ids": [0, 0, 2, 2]})
        for a, b in ((np.int32, np.int64), (np.int64, np.int32), (np.int64, np.int64)):
            yield case(op, {"data": x, "indices": np.array([1, 3, 2], a), "segment_ids": np.array([0, 1, 1], b)})
        yield case(op, {"data": x, "indices": np.array([], np.int32), "segment_ids": np.array([], np.int32)})
        yield case(f"{op}WithNumSegments", {"data": x, "indices": [1, 3, 2], "segment_ids": [0, 1, 1], "num_segments": 4})
        yield case(f"{op}WithNumSegments", {"data": x, "indices": [1], "segment_ids": [0], "num_segments": np.int64(1)})
        for indices, ids in (([0, 1, 5], [0, 0, 3]), ([0, 1, -1], [0, 0, 3]), ([0, 1, 2], [0, 2, 1]), ([0, 1, 2], [-1, 0, 1]),
                             ([0, 1], [0]), ([[0]], [[0]])):
            yield case(op, {"data": x, "indices": np.array(indices, np.int32), "segment_ids": np.array(ids, np.int32)},
                       error=True)
        yield case(op, {"data": 1.0, "indices": [0], "segment_ids": [0]}, error=True)
        for num in (2, -1, [4]):
            yield case(f"{op}WithNumSegments", {"data": x, "indices": [0, 1], "segment_ids": [0, 2],
                                                "num_segments": np.array(num, np.int32)}, error=True)


def stitches():
    for dtype in MOVED:
        for op in ("DynamicStitch", "ParallelDynamicStitch"):
            yield case(op, {"indices": [[0, 3], [[2], [1]]], "data": [filled(dtype, 2, 2), filled(dtype, 2, 1, 2)]})
        yield case("DynamicPartition", {"data": filled(dtype, 4, 2), "partitions": [1, 0, 1, 2]}, {"num_partitions": 4})
    yield case("DynamicStitch", {"indices": [1, [0, 1]], "data": [filled("float", 2), filled("float", 2, 2)]})
    yield case("DynamicStitch", {"indices": [np.array([], np.int32)], "data": [filled("float", 0, 2)]})
    for op in ("DynamicStitch", "ParallelDynamicStitch"):
        yield case(op, {"indices": [[0, -3]], "data": [[1.0, 2.0]]}, error=True)
        yield case(op, {"indices": [[0, 1]], "data": [[1.0, 2.0, 3.0]]}, error=True)
        yield case(op, {"indices": [[0], [1]], "data": [[[1.0, 2.0]], [[1.0, 2.0, 3.0]]]}, error=True)
    x = filled("float", 2, 3)
    yield case("DynamicPartition", {"data": x, "partitions": [[0, 1, 1], [0, 0, 1]]}, {"num_partitions": 2})
    yield case("DynamicPartition", {"data": x, "partitions": 1}, {"num_partitions": 2})
    yield case("DynamicPartition", {"data": x[0:0], "partitions": np.array([], np.int32)}, {"num_partitions": 2})
    for bad in ([0, 2], [0, -1], [0], [[0], [1]]):
        yield case("DynamicPartition", {"data": x, "partitions": np.array(bad, np.int32)}, {"num_partitions": 2}, error=True)


def cases(rng):
    yield from gathers()
    yield from variables()
    yield from scatters()
    yield from segments()
    yield from sparse_segments()
    yield from stitches()

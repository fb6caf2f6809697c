"""Shapes, joining and splitting, slices, reversals, transposes, padding and block permutations."""
import numpy as np

from case import array, case, case_steps, ref, step

MOVED = ["float", "double", "half", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16",
         "uint32", "uint64", "bool", "complex64", "complex128", "string"]


def filled(dtype, *shape):
    """Distinct values as far as the dtype has them."""
    n = int(np.prod(shape, dtype=np.int64))
    if dtype == "string":
        return np.array([b"s%d" % i * (1 + i % 3 * 5) for i in range(n)], dtype=object).reshape(shape)
    if dtype == "bool":
        return (np.arange(n) * 7 % 3 == 0).reshape(shape)
    values = np.arange(n) % 100
    if dtype.startswith("complex"):
        values = values + 1j * (values % 7)
    return array(values.reshape(shape), dtype)


def shapes():
    x = filled("float", 2, 3, 4)
    for dtype in ("int32", "int64"):
        for t in (x, filled("string", 0, 2), filled("bool")):
            yield case("Shape", {"input": t}, {"out_type": dtype})
            yield case("Size", {"input": t}, {"out_type": dtype})
        yield case("ShapeN", {"input": [x, filled("float", 5)]}, {"out_type": dtype})
    for dtype in MOVED:
        yield case("Rank", {"input": filled(dtype, 2, 1)})
        yield case("Reshape", {"tensor": filled(dtype, 2, 3), "shape": [3, -1]})
    for shape in ([24], [-1], [4, 6], [2, -1, 4], [1, 24, 1], [-1, 1, 1, 24]):
        yield case("Reshape", {"tensor": x, "shape": np.array(shape, np.int64)})
    yield case("Reshape", {"tensor": filled("int32", 1), "shape": np.array([], np.int32)})
    yield case("Reshape", {"tensor": filled("int32"), "shape": [1, 1]})
    yield case("Reshape", {"tensor": filled("int32"), "shape": [-1]})
    yield case("Reshape", {"tensor": x, "shape": -1})
    yield case("Reshape", {"tensor": x, "shape": 24})
    for old, new in (([0, 3], [-1, 0]), ([0, 2], [-1, 0, 0]), ([0], [-1, 2]), ([0, 4], [0, -1]), ([0], [0]),
                     ([0, 3], [3, 0]), ([2, 0], [-1])):
        yield case("Reshape", {"tensor": filled("float", *old), "shape": np.array(new, np.int32)})
    for bad in ([5, 5], [-1, 5], [-1, -1], [-2, 12], [24, 0], [-1, 0], [[24]], 23):
        yield case("Reshape", {"tensor": x, "shape": np.array(bad, np.int32)}, error=True)
    yield case("Reshape", {"tensor": filled("float", 0), "shape": [3]}, error=True)
    yield case("Reshape", {"tensor": x, "shape": np.array([1 << 40, 1 << 40], np.int64)}, error=True)
    for dim in (0, 1, 3, -1, -4, np.int64(2)):
        yield case("ExpandDims", {"input": x, "dim": dim})
    yield case("ExpandDims", {"input": filled("string"), "dim": [0]})
    for dim in (4, -5, [0, 1]):
        yield case("ExpandDims", {"input": x, "dim": np.array(dim, np.int32)}, error=True)
    one = filled("float", 1, 2, 1, 3, 1)
    for axes in ([], [0], [2], [-1], [0, 2], [4, 0, -3], [0, 0]):
        yield case("Squeeze", {"input": one}, {"squeeze_dims": axes})
    for axes in ([1], [5], [-6], [0, 3]):
        yield case("Squeeze", {"input": one}, {"squeeze_dims": axes}, error=True)
    yield case("Squeeze", {"input": filled("string", 1, 1)})
    yield case("Squeeze", {"input": filled("int32", 1, 0)})
    for shape in ([2, 3, 4], [2, None, 4], [None, None, None]):
        yield case("EnsureShape", {"input": x}, {"shape": shape})
    for shape in ([2, 3], [2, 3, 5], []):
        yield case("EnsureShape", {"input": x}, {"shape": shape}, error=True)
    for a, b in (([2, 3], [3]), ([2, 1], [1, 5]), ([], [4]), ([1], [0]), ([7], [7]), ([3, 1], [2, 3, 4])):
        for dtype in (np.int32, np.int64):
            yield case("BroadcastArgs", {"s0": np.array(a, dtype), "s1": np.array(b, dtype)})
            yield case("BroadcastGradientArgs", {"s0": np.array(a, dtype), "s1": np.array(b, dtype)})
    yield case("BroadcastGradientArgs", {"s0": [1, 1], "s1": [1]})
    for op in ("BroadcastArgs", "BroadcastGradientArgs"):
        yield case(op, {"s0": [2, 3], "s1": [4]}, error=True)
        yield case(op, {"s0": [[2, 3]], "s1": [4]}, error=True)
    for dtype in MOVED:
        yield case("Const", {}, {"value": filled(dtype, 3), "dtype": dtype})
    yield case("PlaceholderWithDefault", {"input": x}, {"shape": [2, 3, 4]})
    yield case("PlaceholderWithDefault", {"input": filled("string", 2)}, {"shape": [2]})


def joining():
    for dtype in MOVED:
        a, b = filled(dtype, 2, 3), filled(dtype, 2, 2)
        yield case("ConcatV2", {"values": [a, b], "axis": 1})
        yield case("Pack", {"values": [a, a[::-1].copy()]}, {"axis": 1})
        yield case("Split", {"split_dim": 1, "value": filled(dtype, 2, 4)}, {"num_split": 2})
        yield case("Unpack", {"value": a}, {"axis": 1, "num": 3})
    x = filled("float", 2, 3, 4)
    for axis in (0, 1, 2, -1, -3):
        shape = [2, 3, 4]
        shape[axis] = 5
        y = filled("float", *shape)
        yield case("ConcatV2", {"values": [x, y, x], "axis": axis})
        yield case("ConcatV2", {"values": [x, y], "axis": np.int64(axis)})
        yield case("Concat", {"concat_dim": axis, "values": [y, x]})
        yield case("Pack", {"values": [x, x + 1, x + 2]}, {"axis": axis})
        yield case("Unpack", {"value": x}, {"axis": axis, "num": x.shape[axis]})
    yield case("ConcatV2", {"values": [filled("int32", 0), filled("int32", 3)], "axis": 0})
    yield case("ConcatV2", {"values": [filled("int32", 0, 2), filled("int32", 0, 2)], "axis": 1})
    yield case("ConcatV2", {"values": [filled("int32", 1)] * 5, "axis": 0})
    yield case("ConcatV2", {"values": [x, x], "axis": [1]})
    yield case("ConcatV2", {"values": [filled("float", 40, 300)] * 2, "axis": 1})
    for values, axis in (([x, x[0]], 0), ([x, x[:, :2]], 2), ([x, x], 3), ([x, x], -4), ([1.0, 2.0], 0),
                         ([x, x], [0, 1])):
        yield case("ConcatV2", {"values": values, "axis": np.array(axis, np.int32)}, error=True)
    shapes_of = [np.array(s, np.int32) for s in ([2, 2, 7], [2, 3, 7], [2, 9, 7])]
    yield case("ConcatOffset", {"concat_dim": 1, "shape": shapes_of})
    yield case("ConcatOffset", {"concat_dim": -2, "shape": [s.astype(np.int64) for s in shapes_of]})
    for dim, bad in ((1, [[2, 3], [3, 3]]), (2, [[2, 3], [2, 3]]), (0, [[2], [2, 3]]), (0, [[[2]], [[3]]])):
        yield case("ConcatOffset", {"concat_dim": dim, "shape": [np.array(s, np.int32) for s in bad]}, error=True)
    for values in ([3, 4, 5], [np.int64(3), np.int64(4)], [True, False], ["a", "b"], [1.5]):
        yield case("Pack", {"values": values})
        yield case("Pack", {"values": values}, {"axis": -1})
    yield case("Pack", {"values": [filled("float", 0, 2)] * 2}, {"axis": 2})
    yield case("Pack", {"values": [x, x]}, {"axis": 4}, error=True)
    yield case("Pack", {"values": [x, x]}, {"axis": -5}, error=True)
    yield case("Pack", {"values": [x, x[0]]}, error=True)
    yield case("Unpack", {"value": filled("float", 0, 2)}, {"num": 0})
    yield case("Unpack", {"value": filled("float", 0, 2)}, {"num": 2, "axis": 1})
    yield case("Unpack", {"value": x}, {"num": 3}, error=True)
    yield case("Unpack", {"value": x}, {"num": 3, "axis": 3}, error=True)
    yield case("Unpack", {"value": 1.0}, {"num": 1}, error=True)
    for axis, num in ((0, 2), (1, 3), (2, 2), (-1, 4), (1, 1)):
        yield case("Split", {"split_dim": axis, "value": x}, {"num_split": num})
    yield case("Split", {"split_dim": [2], "value": x}, {"num_split": 2}, error=True)
    yield case("Split", {"split_dim": 0, "value": filled("float", 0, 2)}, {"num_split": 2})
    for axis, num in ((1, 2), (3, 1), (-4, 1)):
        yield case("Split", {"split_dim": axis, "value": x}, {"num_split": num}, error=True)
    for sizes, axis in (([1, 3], 2), ([1, -1], 2), ([0, 2], 0), ([3], 1), ([2, 0, 1], -2), ([4, -1], 2)):
        for dtype in (np.int32, np.int64):
            yield case("SplitV", {"value": x, "size_splits": np.array(sizes, dtype), "split_dim": axis},
                       {"num_split": len(sizes)})
    for sizes, axis in (([1, 2], 2), ([-1, -1], 2), ([5, -1], 2), ([-2, 6], 2), ([2, 2], 3), ([-1], 1), ([2], 1)):
        yield case("SplitV", {"value": x, "size_splits": np.array(sizes, np.int64), "split_dim": axis},
                   {"num_split": len(sizes)}, error=True)
    yield case("SplitV", {"value": x, "size_splits": [1, 1, 2], "split_dim": 2}, {"num_split": 2}, error=True)
    for dtype in ("float", "int32", "string"):
        yield case("ParallelConcat", {"values": [filled(dtype, 1, 2), filled(dtype, 1, 2)]}, {"shape": [2, 2]})


def slices():
    x = filled("float", 3, 4, 5)
    for dtype in MOVED:
        t = filled(dtype, 3, 4)
        yield case("Slice", {"input": t, "begin": [0, 1], "size": [-1, 2]})
        yield case("StridedSlice", {"input": t, "begin": [2, 0], "end": [0, 4], "strides": [-1, 2]})
    for begin, size in (([0, 0, 0], [3, 4, 5]), ([1, 0, 0], [1, 4, 5]), ([1, 2, 0], [1, 1, -1]),
                        ([2, 1, 3], [-1, -1, -1]), ([3, 0, 0], [0, 4, 5]), ([3, 4, 5], [-1, -1, -1]),
                        ([0, 1, 1], [2, 2, 3]), ([0, 0, 2], [3, 4, 1])):
        for dtype in (np.int32, np.int64):
            yield case("Slice", {"input": x, "begin": np.array(begin, dtype), "size": np.array(size, dtype)})
    yield case("Slice", {"input": 7, "begin": np.array([], np.int32), "size": np.array([], np.int32)})
    for begin, size in (([0, 0], [1, 1]), ([4, 0, 0], [0, 1, 1]), ([0, 0, 0], [4, 1, 1]), ([-1, 0, 0], [1, 1, 1]),
                        ([0, 0, 0], [-2, 1, 1]), ([[0, 0, 0]], [[1, 1, 1]]), ([2, 0, 0], [2, 1, 1])):
        yield case("Slice", {"input": x, "begin": np.array(begin, np.int32), "size": np.array(size, np.int32)},
                   error=True)
    good = [
        ([0], [2], [1], {}), ([1], [3], [1], {}), ([-1], [-3], [-1], {}), ([0], [0], [1], {}),
        ([1, 1, 1], [3, 3, 3], [1, 1, 1], {}), ([0, 0, 0], [3, 4, 5], [2, 3, 4], {}),
        ([2, 3, 4], [-9, -9, -9], [-1, -2, -3], {}), ([-100], [100], [1], {}), ([100], [-100], [-1], {}),
        ([1], [2], [1], {"shrink_axis_mask": 1}), ([-1], [0], [1], {"shrink_axis_mask": 1}),
        ([1], [2], [2], {"shrink_axis_mask": 1}), ([1], [6], [1], {"shrink_axis_mask": 1, "begin_mask": 1}),
        ([1, 2], [2, 3], [1, 1], {"shrink_axis_mask": 3}), ([1, 2, 3], [2, 3, 4], [1, 1, 1], {"shrink_axis_mask": 7}),
        ([0, 1], [0, 2], [1, 1], {"begin_mask": 1, "end_mask": 1, "shrink_axis_mask": 2}),
        ([0, 1], [0, 3], [1, 1], {"ellipsis_mask": 1}), ([0, 0, 1], [1, 0, 3], [1, 1, 1], {"ellipsis_mask": 2}),
        ([0, 0, 1], [0, 0, 3], [1, 1, 1], {"ellipsis_mask": 1, "new_axis_mask": 2}),
        ([0, 1], [0, 3], [1, 1], {"new_axis_mask": 1}), ([0, 0, 0], [1, 1, 1], [1, 1, 1], {"new_axis_mask": 7}),
        ([0, 0], [0, 0], [1, 1], {"ellipsis_mask": 1, "new_axis_mask": 2}),
        ([1, 1], [6, 2], [1, 1], {"shrink_axis_mask": 1, "new_axis_mask": 1}),
        ([1], [2], [1], {"begin_mask": 1}), ([1], [2], [1], {"end_mask": 1}), ([1], [2], [-1], {"begin_mask": 1}),
        ([1], [2], [-1], {"end_mask": 1}), ([1], [2], [-2], {"begin_mask": 1, "end_mask": 1}),
        ([0, 0, 0, 1], [0, 0, 0, 3], [1, 1, 1, 1], {"begin_mask": 7, "end_mask": 7, "ellipsis_mask": 8}),
        ([0, 0, 0, 1], [1, 1, 0, 2], [1, 1, 1, 1], {"ellipsis_mask": 4, "shrink_axis_mask": 11}),
        ([3], [9], [1], {}), ([2], [1], [1], {}), ([0], [3], [1 << 30], {}), ([2], [-9], [-(1 << 30)], {}),
        ([1, 0], [2, 4], [1, 1], {}), ([1, 1], [2, 3], [1, 1], {}),
    ]
    for begin, end, strides, masks in good:
        for dtype in (np.int32, np.int64):
            yield case("StridedSlice", {"input": x, "begin": np.array(begin, dtype), "end": np.array(end, dtype),
                                        "strides": np.array(strides, dtype)}, masks)
    empty = np.array([], np.int32)
    yield case("StridedSlice", {"input": x, "begin": empty, "end": empty, "strides": empty})
    yield case("StridedSlice", {"input": 5, "begin": empty, "end": empty, "strides": empty})
    yield case("StridedSlice", {"input": 5, "begin": [0], "end": [1], "strides": [1]}, {"new_axis_mask": 1})
    yield case("StridedSlice", {"input": filled("int32", 0, 3), "begin": [0, 1], "end": [9, 3], "strides": [1, 1]})
    yield case("StridedSlice", {"input": x, "begin": np.array([1], np.int16), "end": np.array([2], np.int16),
                                "strides": np.array([1], np.int16)})
    yield case("StridedSlice", {"input": x, "begin": np.array([-(1 << 63)], np.int64),
                                "end": np.array([(1 << 63) - 1], np.int64), "strides": np.array([1], np.int64)})
    bad = [
        ([0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1], {}), ([0], [1], [0], {}), ([5], [6], [1], {"shrink_axis_mask": 1}),
        ([-4], [6], [1], {"shrink_axis_mask": 1}), ([1], [0], [-1], {"shrink_axis_mask": 1}),
        ([0, 0], [1, 1], [1, 1], {"ellipsis_mask": 3}), ([0, 0], [1], [1, 1], {}), ([[0]], [[1]], [[1]], {}),
    ]
    for begin, end, strides, masks in bad:
        yield case("StridedSlice", {"input": x, "begin": np.array(begin, np.int32), "end": np.array(end, np.int32),
                                    "strides": np.array(strides, np.int32)}, masks, error=True)


def slice_updates():
    x = filled("float", 3, 4)
    for begin, end, strides, masks, value in (
            ([0, 0], [2, 4], [1, 2], {}, [[7, 8], [9, 10]]), ([0, 0], [2, 4], [1, 2], {}, [7, 8]),
            ([0, 0], [2, 4], [1, 2], {}, 7), ([0], [1], [1], {"shrink_axis_mask": 1}, [1, 2, 3, 4]),
            ([2, 3], [-9, -9], [-1, -2], {}, np.arange(6).reshape(3, 2)), ([1], [1], [1], {}, 3),
            ([0, 0], [2, 4], [1, 2], {}, [[[7, 8], [9, 10]]]),
            ([0, 0], [0, 3], [1, 1], {"new_axis_mask": 1}, np.arange(12).reshape(1, 3, 4))):
        value = np.array(value, np.float32)
        spec = {"begin": begin, "end": end, "strides": strides}
        yield case("TensorStridedSliceUpdate", {"input": x, **spec, "value": value}, masks)
        if value.ndim == 2:
            yield case("StridedSliceGrad", {"shape": [3, 4], **spec, "dy": value}, masks)
        yield case_steps([
            step("VarHandleOp", {}, {"dtype": np.float32, "shape": [3, 4]}, name="h"),
            step("AssignVariableOp", {"resource": ref("h"), "value": x}),
            step("ResourceStridedSliceAssign", {"ref": ref("h"), **spec, "value": value}, masks),
            step("ReadVariableOp", {"resource": ref("h")}, {"dtype": np.float32}),
        ])
    one = {"begin": [0], "end": [2], "strides": [1]}
    for dtype in MOVED:
        if dtype not in ("string",):
            yield case("StridedSliceGrad", {"shape": [3], **one, "dy": filled(dtype, 2)})
        yield case("TensorStridedSliceUpdate", {"input": filled(dtype, 3), **one, "value": filled(dtype, 5)[3:]})
    yield case("TensorStridedSliceUpdate", {"input": x, **one, "value": np.ones([3, 4], np.float32)}, error=True)
    yield case("StridedSliceGrad", {"shape": [3], **one, "dy": [1.0]}, error=True)


def reversals():
    x = filled("float", 2, 3, 4)
    for dtype in MOVED:
        t = filled(dtype, 2, 3)
        yield case("ReverseV2", {"tensor": t, "axis": [1]})
        yield case("Reverse", {"tensor": t, "dims": [True, True]})
        yield case("ReverseSequence", {"input": t, "seq_lengths": [2, 3]}, {"seq_dim": 1})
        yield case("Roll", {"input": t, "shift": [1], "axis": [1]})
    for axes in ([0], [1], [-1], [0, 2], [2, 1, 0], []):
        yield case("ReverseV2", {"tensor": x, "axis": np.array(axes, np.int32)})
    yield case("ReverseV2", {"tensor": x, "axis": np.array([-2], np.int64)})
    yield case("ReverseV2", {"tensor": 4, "axis": np.array([], np.int32)})
    yield case("ReverseV2", {"tensor": filled("float", 0, 3), "axis": [1]})
    for axes in ([3], [-4], [1, 1], [1, -2], [[0]]):
        yield case("ReverseV2", {"tensor": x, "axis": np.array(axes, np.int32)}, error=True)
    yield case("Reverse", {"tensor": x, "dims": [True, False]}, error=True)
    for lengths, attrs in (([2, 4], {"seq_dim": 2}), ([0, 1], {"seq_dim": 1}),
                           ([2, 0, 1], {"seq_dim": 0, "batch_dim": 1}), ([1, 2, 0, 2], {"seq_dim": 0, "batch_dim": 2})):
        for dtype in (np.int32, np.int64):
            yield case("ReverseSequence", {"input": x, "seq_lengths": np.array(lengths, dtype)}, attrs)
    for lengths, attrs in (([5, 1], {"seq_dim": 2}), ([-1, 1], {"seq_dim": 2}), ([1], {"seq_dim": 2}),
                           ([1, 1], {"seq_dim": 0}), ([1, 1], {"seq_dim": 3}), ([1, 1], {"seq_dim": 1, "batch_dim": 4}),
                           ([[1, 1]], {"seq_dim": 1})):
        yield case("ReverseSequence", {"input": x, "seq_lengths": np.array(lengths, np.int64)}, attrs, error=True)
    for shift, axis in (([1], [0]), ([-1], [2]), ([5, -3], [1, 2]), ([1, 1], [1, 1]), ([1, 2, 3], [0, 1, -1]),
                        ([0], [0]), ([100], [-2]), (2, 2)):
        yield case("Roll", {"input": x, "shift": np.array(shift, np.int32), "axis": np.array(axis, np.int64)})
    yield case("Roll", {"input": filled("float", 0, 2), "shift": [1], "axis": [0]})
    for shift, axis in (([1], [3]), ([1], [-4]), ([1, 2], [0]), (1, [0]), ([[1]], [[0]])):
        yield case("Roll", {"input": x, "shift": np.array(shift, np.int32), "axis": np.array(axis, np.int32)},
                   error=True)
    yield case("Roll", {"input": 1.0, "shift": 1, "axis": 0}, error=True)


def transposes():
    for dtype in MOVED:
        yield case("Transpose", {"x": filled(dtype, 3, 5), "perm": [1, 0]})
        yield case("Transpose", {"x": filled(dtype, 2, 3, 4), "perm": [2, 0, 1]})
    for dtype in ("complex64", "complex128", "float"):
        yield case("ConjugateTranspose", {"x": filled(dtype, 2, 3), "perm": [1, 0]})
        yield case("ConjugateTranspose", {"x": filled(dtype, 2, 3), "perm": [0, 1]})
    x = filled("float", 2, 3, 4, 5)
    for perm in ([0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2], [0, 2, 3, 1], [3, 2, 1, 0], [1, 0, 3, 2], [2, 3, 0, 1],
                 [-1, 0, 1, -2]):
        yield case("Transpose", {"x": x, "perm": perm})
        yield case("Transpose", {"x": x.astype(np.int8), "perm": np.array(perm, np.int64)})
    yield case("Transpose", {"x": filled("float", 1, 3, 1, 2), "perm": [2, 1, 0, 3]})
    yield case("Transpose", {"x": filled("float", 2, 1, 3, 2, 2, 2), "perm": [5, 4, 3, 2, 1, 0]})
    yield case("Transpose", {"x": filled("float", 0, 3), "perm": [1, 0]})
    yield case("Transpose", {"x": 3.0, "perm": np.array([], np.int32)})
    yield case("Transpose", {"x": filled("float", 37, 53), "perm": [1, 0]})
    yield case("Transpose", {"x": filled("float", 5, 130, 70), "perm": [0, 2, 1]})
    yield case("Transpose", {"x": filled("int16", 2, 33, 3, 17), "perm": [3, 0, 2, 1]})
    for perm in ([0, 0, 1, 2], [0, 1, 2, 4], [0, 1, 2], [[0, 1, 2, 3]], [-5, 1, 2, 3]):
        yield case("Transpose", {"x": x, "perm": np.array(perm, np.int32)}, error=True)


def spaces():
    x = filled("float", 2, 4, 6, 3)
    for block, pads in (([2, 2], [[0, 0], [0, 0]]), ([2, 3], [[1, 1], [0, 3]]), ([1, 1], [[0, 0], [0, 0]]), ([4], [[2, 2]]),
                        ([3, 2, 3], [[1, 1], [2, 0], [0, 0]])):
        yield case("SpaceToBatchND", {"input": x, "block_shape": np.array(block, np.int32),
                                      "paddings": np.array(pads, np.int32)})
    for block, crops in (([2, 2], [[0, 0], [0, 0]]), ([2, 3], [[1, 0], [2, 3]]), ([6], [[3, 3]]), ([2, 1, 3], [[1, 1], [0, 2], [4, 0]]),
                         ([2, 2], [[4, 4], [0, 0]])):
        y = filled("float", 12, 4, 3, 2)
        yield case("BatchToSpaceND", {"input": y, "block_shape": np.array(block, np.int64),
                                      "crops": np.array(crops, np.int64)})
    for dtype in ("half", "int32", "uint8", "double", "int64", "bfloat16"):
        yield case("SpaceToBatchND", {"input": filled(dtype, 1, 4, 2), "block_shape": [2], "paddings": [[1, 1]]})
        yield case("BatchToSpaceND", {"input": filled(dtype, 4, 2, 2), "block_shape": [2], "crops": [[1, 0]]})
        yield case("SpaceToDepth", {"input": filled(dtype, 1, 2, 4, 2)}, {"block_size": 2})
        yield case("DepthToSpace", {"input": filled(dtype, 1, 2, 1, 8)}, {"block_size": 2})
    for block, pads in (([2, 2], [[0, 0], [0, 1]]), ([0, 2], [[0, 0], [0, 0]]), ([2, 2], [[-1, 1], [0, 0]]),
                        ([2, 2], [[0, 0]]), ([2, 2, 2, 2], [[0, 0]] * 4), ([[2]], [[0, 0]])):
        yield case("SpaceToBatchND", {"input": x, "block_shape": np.array(block, np.int32),
                                      "paddings": np.array(pads, np.int32)}, error=True)
    for block, crops in (([2, 3], [[0, 0], [0, 0]]), ([2], [[9, 0]]), ([2], [[-1, 0]])):
        yield case("BatchToSpaceND", {"input": x, "block_shape": np.array(block, np.int32),
                                      "crops": np.array(crops, np.int32)}, error=True)
    yield case("SpaceToBatch", {"input": x, "paddings": [[1, 1], [0, 0]]}, {"block_size": 2})
    yield case("BatchToSpace", {"input": filled("float", 8, 1, 3, 2), "crops": [[0, 1], [1, 0]]}, {"block_size": 2})
    yield case("SpaceToBatch", {"input": x, "paddings": [[1, 0], [0, 0]]}, {"block_size": 2}, error=True)
    yield case("BatchToSpace", {"input": x, "crops": [[0, 0], [0, 0]]}, {"block_size": 2}, error=True)
    yield case("SpaceToDepth", {"input": x}, {"block_size": 2})
    yield case("SpaceToDepth", {"input": filled("float", 1, 3, 6, 1)}, {"block_size": 3})
    yield case("DepthToSpace", {"input": filled("float", 2, 2, 3, 18)}, {"block_size": 3})
    yield case("SpaceToDepth", {"input": x}, {"block_size": 4}, error=True)
    yield case("DepthToSpace", {"input": x}, {"block_size": 2}, error=True)
    yield case("DepthToSpace", {"input": x[0]}, {"block_size": 2}, error=True)


def pads():
    x = filled("float", 2, 3)
    for dtype in MOVED:
        t = filled(dtype, 2, 3)
        yield case("Pad", {"input": t, "paddings": [[1, 0], [0, 2]]})
        yield case("PadV2", {"input": t, "paddings": [[0, 1], [2, 1]], "constant_values": filled(dtype, 4)[3]})
        if dtype not in ("bool", "string"):
            yield case("MirrorPad", {"input": t, "paddings": [[1, 1], [2, 1]]}, {"mode": "REFLECT"})
        if not dtype.startswith("uint") or dtype == "uint8":
            yield case("Tile", {"input": t, "multiples": [2, 3]})
        yield case("BroadcastTo", {"input": t[:, :1], "shape": [3, 2, 4]})
    big = filled("float", 2, 3, 2, 4)
    for p in ([[0, 0]] * 4, [[0, 0], [1, 2], [3, 4], [0, 0]], [[1, 0], [0, 0], [0, 1], [0, 0]],
              [[0, 0], [0, 0], [0, 0], [2, 1]], [[1, 1]] * 4):
        yield case("Pad", {"input": big, "paddings": np.array(p, np.int32)})
        yield case("PadV2", {"input": big, "paddings": np.array(p, np.int64), "constant_values": -1.5})
    yield case("Pad", {"input": filled("float", 0, 2), "paddings": [[1, 1], [0, 1]]})
    yield case("Pad", {"input": 3.0, "paddings": np.zeros([0, 2], np.int32)})
    for p in ([[-1, 1], [0, 0]], [[1, 1]], [[1, 1, 1], [1, 1, 1]], [1, 1]):
        yield case("Pad", {"input": x, "paddings": np.array(p, np.int32)}, error=True)
    yield case("PadV2", {"input": x, "paddings": [[0, 0], [0, 0]], "constant_values": [1.0]}, error=True)
    for mode, most in (("REFLECT", 1), ("SYMMETRIC", 0)):
        for p in ([[0, 0]] * 4, [[1, 1], [2, 0], [0, 1], [3, 3]], [[0, 0], [2, 2], [1, 1], [0, 0]]):
            yield case("MirrorPad", {"input": big, "paddings": np.array(p, np.int64)}, {"mode": mode})
        yield case("MirrorPad", {"input": x, "paddings": [[2 - most, 2 - most], [3 - most, 3 - most]]}, {"mode": mode})
        yield case("MirrorPad", {"input": x, "paddings": [[3 - most, 0], [0, 0]]}, {"mode": mode}, error=True)
        yield case("MirrorPad", {"input": x, "paddings": [[-1, 0], [0, 0]]}, {"mode": mode}, error=True)
    for times in ([1, 1], [2, 1], [1, 4], [0, 2], [3, 3]):
        yield case("Tile", {"input": x, "multiples": np.array(times, np.int64)})
    yield case("Tile", {"input": 3, "multiples": np.array([], np.int32)})
    yield case("Tile", {"input": filled("int32", 2, 1, 3), "multiples": [2, 3, 2]})
    for times in ([1], [1, -1], [[1, 1]]):
        yield case("Tile", {"input": x, "multiples": np.array(times, np.int32)}, error=True)
    for old, new in (((), [2, 3]), ((3,), [2, 3]), ((2, 1), [2, 3]), ((2, 3), [2, 3]), ((1, 1, 2), [4, 3, 2]),
                     ((1,), [0]), ((2, 1, 3), [2, 2, 4, 3]), ((1,), [1, 1])):
        yield case("BroadcastTo", {"input": filled("float", *old), "shape": np.array(new, np.int64)})
    for new in ([3, 3], [3], [-1, 3], 6):
        yield case("BroadcastTo", {"input": x, "shape": np.array(new, np.int32)}, error=True)


def xla_slices():
    x = filled("float", 3, 4)
    for dtype in ("float", "int32", "int64", "half", "bool"):
        for start in ([0, 1], [2, 3], [-1, 3], [-9, 9]):
            yield case("XlaDynamicUpdateSlice", {"input": filled(dtype, 3, 4), "update": filled(dtype, 2, 2),
                                                 "indices": start})
    yield case("XlaDynamicUpdateSlice", {"input": x, "update": x[:, :1] + 50, "indices": np.array([5, 2])})
    for start in ([0, 1], [2, 3], [-1, 3]):
        yield case("XlaDynamicSlice", {"input": x, "start_indices": start, "size_indices": [2, 2]})
    for update, start in ((np.zeros([4, 4]), [0, 0]), (np.zeros([2, 2]), [0]), (np.zeros([2]), [0, 0]),
                          (np.zeros([2, 2]), [[0, 0]])):
        yield case("XlaDynamicUpdateSlice", {"input": x, "update": np.array(update, np.float32),
                                             "indices": np.array(start, np.int32)}, error=True)


def handles():
    """Elements that refer to something else move like any others."""
    for move in (lambda a, b: step("Pack", {"values": [a, b]}, {"axis": 0}, name="m"),
                 lambda a, b: step("Pack", {"values": [b, a]}, {"axis": 0}, name="m")):
        yield case_steps([
            *(step("TensorListReserve", {"element_shape": [2], "num_elements": n}, {"element_dtype": "float"}, name=f"l{n}")
              for n in (3, 5)),
            move(ref("l3"), ref("l5")),
            step("GatherV2", {"params": ref("m"), "indices": [1, 0], "axis": 0}, name="g"),
            step("Unpack", {"value": ref("g")}, {"num": 2}, name="u"),
            step("TensorListLength", {"input_handle": ref("u", 0)}, check=True),
            step("TensorListLength", {"input_handle": ref("u", 1)}),
        ])
    yield case_steps([
        *(s for n in ("a", "b") for s in (
            step("VarHandleOp", {}, {"dtype": np.int32, "shape": [], "shared_name": n}, name=n),
            step("AssignVariableOp", {"resource": ref(n), "value": np.int32(ord(n))}))),
        step("Pack", {"values": [ref("a"), ref("b")]}, name="p"),
        step("StridedSlice", {"input": ref("p"), "begin": [1], "end": [2], "strides": [1]}, {"shrink_axis_mask": 1},
             name="s"),
        step("Reshape", {"tensor": ref("s"), "shape": np.array([], np.int32)}, name="r"),
        step("ReadVariableOp", {"resource": ref("r")}, {"dtype": np.int32}),
    ])


def cases(rng):
    yield from shapes()
    yield from joining()
    yield from slices()
    yield from slice_updates()
    yield from reversals()
    yield from transposes()
    yield from spaces()
    yield from pads()
    yield from xla_slices()
    yield from handles()

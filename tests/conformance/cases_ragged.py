"""Ragged tensors: dense, sparse and variant forms, ranges, gathering, counts and crosses."""
import itertools

import numpy as np

from case import array, case, case_steps, ref, step

I64, F32 = np.int64, np.float32
NINE = np.arange(1, 10)
ONE, TWO = [[0, 3, 3, 7, 9]], [[0, 2, 2, 3], [0, 3, 5, 9]]
GRID = np.arange(1, 9).reshape(4, 2)


def strings(*values):
    return np.array(values, dtype=object)


def ints(*values):
    return np.array(values, I64)


def nested(splits, dtype=I64):
    return [np.array(s, dtype) for s in splits]


def to_tensor():
    splits, rowids = ["ROW_SPLITS"], ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]
    def make(shape, values, default, parts, types, index=I64, shape_type=I64, error=False):
        return case("RaggedTensorToTensor",
                    {"shape": np.array(shape, shape_type), "values": values, "default_value": default,
                     "row_partition_tensors": nested(parts, index)}, {"row_partition_types": types}, error=error)
    zero = NINE.dtype.type(0)
    for shape in ([-1, -1], [4, 3], [2, 5], [6, 2], -1, [0, 0], [-1, 0], [5, -1], [-1, 6]):
        yield make(shape, NINE, zero, ONE, splits)
        yield make(shape, NINE, zero, [[4], [0, 0, 0, 2, 2, 2, 2, 3, 3]], rowids)
    for dtype in ("float", "double", "half", "bfloat16", "int8", "uint16", "int32", "uint64", "bool", "complex64", "string"):
        values = strings(*"abcdefghi") if dtype == "string" else array(NINE, dtype)
        yield make([-1, 4], values, array("z" if dtype == "string" else 3, dtype), ONE, splits)
    for index, shape_type in itertools.product((np.int32, I64), repeat=2):
        yield make([-1, -1, -1], NINE, zero, TWO, splits * 2, index, shape_type)
        yield make([3, -1], NINE, zero, [[4], [0, 0, 0, 2, 2, 2, 2, 3, 3]], rowids, index, shape_type)
    for shape in ([-1, -1, 2], [3, 1, 5], [2, 2, 2], [4, 3, 5], -1):
        yield make(shape, NINE, zero, TWO, splits * 2)
        yield make(shape, NINE, zero, [[3], [0, 0, 2], [0, 0, 0, 1, 1, 2, 2, 2, 2]], rowids + ["VALUE_ROWIDS"])
        yield make(shape, NINE, zero, [[0, 2, 2, 3], [0, 0, 0, 1, 1, 2, 2, 2, 2]], ["ROW_SPLITS", "VALUE_ROWIDS"])
    yield make([-1, -1], NINE, zero, [[5], [0, 0, 0, 2, 2, 2, 2, 3, 3]], rowids)
    yield make([-1, -1], NINE, zero, [4, [0, 0, 0, 2, 2, 2, 2, 3, 3]], rowids)
    yield make([-1, -1], NINE, zero, [[2], [0, 0]], rowids)
    rows = [[0, 3, 3, 4]]
    for default in (I64(0), ints(7, 8), ints(7)):
        yield make([-1, -1, -1], GRID, default, rows, splits)
        yield make([-1, 4, 2], GRID, default, rows, splits)
        yield make([-1, 2, -1], GRID, default, rows, splits)
    cubes = np.arange(8).reshape(2, 2, 2)
    for default in (I64(9), ints(7, 8), ints(7, 8).reshape(2, 1), ints(1, 2, 3, 4).reshape(2, 2)):
        if default.ndim < 3:
            yield make([-1, 3, -1, -1], cubes, default, [[0, 1, 2, 2]], splits)
    yield make([-1, -1], NINE, zero, [[0, 3, 3, 7]], splits)
    yield make([-1, -1], NINE, zero, [[0]], splits)
    yield make([-1, -1], ints(), zero, [[0]], splits)
    yield make([-1, -1], ints(), zero, [[0, 0]], splits)
    yield make([2, 2], ints(), zero, [[0, 0]], splits)
    deep = [[0, 1, 2], [0, 2, 3], [0, 2, 2, 4]]
    yield make([-1] * 4, np.arange(4), zero, deep, splits * 3)
    yield make([-1, 1, 3, 1], np.arange(4), zero, deep, splits * 3)
    bad = [
        ([-1], NINE, zero, ONE, splits), ([-1, -1, -1], NINE, zero, ONE, splits),
        ([-1, -1], NINE, zero, [[3], [0, 0, 0, 2, 2, 2, 2, 3, 3]], rowids), ([-1, -1, 3], GRID, zero, rows, splits),
        ([-1, -1], GRID, zero, rows, splits), ([-1, -1], NINE, zero, [[0, 3, 2, 9]], splits),
        ([-1, -1], NINE, zero, [[1, 3, 9]], splits), ([-1, -1], NINE, zero, [[]], splits),
        ([-1, -1], NINE, ints(1, 2), [[0, 3, 9]], splits), ([-1, -1], NINE, zero, [[0, 3, 9]], ["X"]),
        ([-1, -1], NINE, zero, [[0, 3, 9]], ["ROW_LENGTHS"]), ([-1, -1], NINE, zero, [[3]], ["FIRST_DIM_SIZE"]),
        ([-1, -1], NINE, zero, [[0] * 9], ["VALUE_ROWIDS"]), ([-1, -1], NINE, zero, [[0, 9]], []),
        ([-1, -1], NINE, zero, [[2], [0, 0, 0, 2, 2, 2, 1, 1, 1]], rowids), ([-1, -1], NINE, zero, [[-2], [0, 0]], rowids),
        ([-1, -1], NINE, zero, [[2], [-1] * 9], rowids), ([-2, -1], NINE, zero, [[0, 9]], splits),
        ([[-1, -1]], NINE, zero, [[0, 9]], splits), ([-1, -1], NINE, zero, [[0, 3, 3, 7, 9], [0, 9]], splits * 2),
    ]
    for arguments in bad:
        yield make(*arguments, error=True)


def to_sparse():
    def make(splits, values, dtype=I64, error=False):
        return case("RaggedTensorToSparse", {"rt_nested_splits": nested(splits, dtype), "rt_dense_values": values},
                    error=error)
    for dtype in (np.int32, I64):
        yield make(ONE, NINE, dtype)
        yield make(TWO, NINE, dtype)
    yield make([[0, 3, 3, 4]], GRID)
    yield make([[0, 1, 2], [0, 0, 2]], np.arange(12).reshape(2, 3, 2))
    yield make(ONE, strings(*"abcdefghi"))
    yield make([[0]], ints())
    yield make([[0, 0]], ints())
    for splits in ([[0, 3]], [[0, 10]], [[1, 9]], [[0, 5, 3, 9]], [[]], [[0, 2, 2, 4], [0, 3, 5, 9]]):
        yield make(splits, NINE, error=True)
    yield make([[0, 9]], I64(3), error=True)


def ranges():
    def make(starts, limits, deltas, dtype="int64", error=False, **attrs):
        attrs.setdefault("Tsplits", I64)
        return case("RaggedRange", {"starts": array(starts, dtype), "limits": array(limits, dtype),
                                    "deltas": array(deltas, dtype)}, attrs, error=error)
    for dtype in ("int32", "int64", "float", "double"):
        for splits in (np.int32, I64):
            yield make([0, 5, 8], [3, 5, 12], [1, 1, 2], dtype, Tsplits=splits)
        yield make(0, [3, 0, -1], 1, dtype)
        yield make([5, 7], 0, -2, dtype)
        yield make(0, 3, 1, dtype)
        yield make([], [], [], dtype)
        yield make(0, 5, 0, dtype, error=True)
    yield make([0, 1], [1, 0], [0.3, -0.25], "float")
    yield make(0, 1, 0.1, "double")
    yield make(-2**63, 2**63 - 1, 2**62)
    yield make(np.iinfo(np.int32).min, np.iinfo(np.int32).max, 2**30, "int32")
    for starts, limits, deltas in (([0, 1], [5, 6, 7], 1), ([[0]], 5, 1), (0, [3, 4], [1, 2, 3])):
        yield make(starts, limits, deltas, error=True)
    for limit in (np.inf, np.nan):
        yield make(0, limit, 1, "float", error=True)


def gather():
    def make(splits, values, indices, rank=None, dtype=I64, error=False):
        rank = np.ndim(indices) - 1 + len(splits) if rank is None else rank
        return case("RaggedGather", {"params_nested_splits": nested(splits, dtype), "params_dense_values": values,
                                     "indices": indices}, {"OUTPUT_RAGGED_RANK": rank}, error=error)
    for dtype, itype in itertools.product((np.int32, I64), repeat=2):
        yield make(ONE, NINE, np.array([2, 0, 2], itype), dtype=dtype)
    for splits in (ONE, TWO):
        for indices in (ints(2), ints(), ints(1, 1), ints(2, 0, 1, 0).reshape(2, 2), ints(2, 0).reshape(2, 1, 1), I64(2),
                        np.zeros([2, 0], I64)):
            yield make(splits, NINE, indices)
    for dtype in ("float", "half", "bool", "int8", "string"):
        values = strings(*"abcdefghi") if dtype == "string" else array(NINE, dtype)
        yield make(ONE, values, ints(2, 3))
    yield make([[0, 3, 3, 4]], GRID, ints(2, 0))
    yield make([[0, 3, 7]], NINE, ints(1))
    yield make([[0]], NINE, ints())
    for splits, indices in ((ONE, 4), (ONE, -1), ([[0, 3, 10]], 1), ([[0, 3, 2, 9]], 1), ([[]], 0),
                            ([[0, 2, 5], [0, 3, 5, 9]], 1)):
        yield make(splits, NINE, ints(indices), error=True)


def fill_empty_rows():
    def make(ids, values, rows, default, error=False):
        return case("RaggedFillEmptyRows", {"value_rowids": ids, "values": values, "nrows": rows,
                                            "default_value": default}, error=error)
    minus = I64(-1)
    yield make(ints(0, 0, 2), ints(5, 6, 7), 4, minus)
    yield make(ints(0, 1), ints(5, 6), 2, minus)
    yield make(ints(2, 0, 2), ints(5, 6, 7), 4, minus)
    yield make(ints(), ints(), 3, minus)
    yield make(ints(), ints(), 0, minus)
    yield make(ints(0), strings("x"), 2, strings("d")[0])
    for dtype in ("float", "bool", "int32"):
        yield make(ints(1), array([1], dtype), 3, array(0, dtype))
    for ids, values, rows, default in ((ints(0, 3), ints(5, 6), 3, minus), (ints(0, -1), ints(5, 6), 3, minus),
                                       (ints(0, 1), ints(5), 3, minus), (ints(0), ints(5), 3, ints(-1)),
                                       (ints(0), ints(5), 0, minus)):
        yield make(ids, values, rows, default, error=True)
    def grad(index, values, error=False):
        return case("RaggedFillEmptyRowsGrad", {"reverse_index_map": index, "grad_values": values}, error=error)
    for dtype in ("float", "double", "int32"):
        yield grad(ints(0, 1, 3), array([1, 2, 3, 4, 5], dtype))
    yield grad(ints(), F32([1, 2]))
    for bad in (ints(5), ints(-1)):
        yield grad(bad, F32([1, 2]), error=True)


def variants():
    def encode(splits, values, batched, name="e", dtype=I64, error=False):
        return step("RaggedTensorToVariant", {"rt_nested_splits": nested(splits, dtype), "rt_dense_values": values},
                    {"batched_input": batched, "Tsplits": dtype, "RAGGED_RANK": len(splits)}, name=name, error=error)
    def decode(rank, out_rank, dtype="int64", name="e", error=False, splits=I64):
        return step("RaggedTensorFromVariant", {"encoded_ragged": ref(name)},
                    {"input_ragged_rank": rank, "output_ragged_rank": out_rank, "Tvalues": dtype, "Tsplits": splits},
                    error=error)
    three = NINE.reshape(3, 3)
    for splits, values, batched, rank, out_rank in (
            (ONE, NINE, False, 1, 1), (ONE, NINE, True, 0, 1), (ONE, NINE, True, -1, 1), (TWO, NINE, True, 1, 2),
            (TWO, NINE, True, -1, 2), (TWO, NINE, False, 2, 2), ([], NINE, False, 0, 0), ([], three, False, 0, 0),
            ([], three, True, 0, 1), ([[0, 3, 3, 4]], GRID, True, 0, 1), ([[0]], ints(), True, 0, 1),
            ([[0, 0]], ints(), True, 0, 1)):
        yield case_steps([encode(splits, values, batched), decode(rank, out_rank)])
    yield case_steps([encode([], NINE, True)])
    yield case_steps([encode(ONE, NINE, True, dtype=np.int32), decode(0, 1, splits=np.int32)])
    for dtype in ("float", "int32", "bool", "string"):
        values = strings(*"abcdefghi") if dtype == "string" else array(NINE, dtype)
        yield case_steps([encode(ONE, values, True), decode(0, 1, dtype)])
    for splits, values, batched, rank, out_rank in (
            (TWO, NINE, False, 1, 2), (ONE, NINE, True, 0, 2), (ONE, NINE, False, 0, 1), (ONE, NINE, False, 0, 0),
            (ONE, NINE, True, 1, 1)):
        yield case_steps([encode(splits, values, batched), decode(rank, out_rank, error=True)])
    yield case_steps([encode(ONE, NINE, True), decode(0, 1, "int32", error=True)])
    for splits in ([[0, 10]], [[1, 9]], [[0, 5, 3, 9]], [[]], [[0, 5]], [[0, 2, 2, 4], [0, 3, 5, 9]]):
        yield case_steps([encode(splits, NINE, True, error=True)])
    pack = lambda axis_names, name: step("Pack", {"values": [ref(n) for n in axis_names]}, name=name)
    first, second = encode([[0, 1, 3]], np.arange(3), False, "a"), encode([[0, 2]], np.arange(2) + 10, False, "b")
    yield case_steps([first, second, pack("ab", "p"), decode(1, 2, name="p")])
    again = [encode([[0, 1, 3]], np.arange(3), False, "a"), encode([[0, 2]], np.arange(2) + 10, False, "b")]
    for rank in (1, -1):
        yield case_steps([*again, pack("ab", "p"), pack("ba", "q"), pack("pq", "r"), decode(rank, 3, name="r")])
    rows = [encode([], np.arange(n), False, name) for n, name in ((2, "a"), (0, "b"), (3, "c"))]
    yield case_steps([*rows, pack("abc", "p"), decode(0, 1, name="p")])
    rows = [encode([], np.zeros(s, I64), False, name) for s, name in (([2, 2], "a"), ([1, 3], "b"))]
    yield case_steps([*rows, pack("ab", "p"), decode(0, 1, name="p", error=True)])


def counts():
    def bincount(splits, values, size, weights, error=False, **attrs):
        return case("RaggedBincount", {"splits": splits, "values": values, "size": size, "weights": weights}, attrs,
                    error=error)
    values = ints(1, 2, 1, 0, 9)
    for dtype, binary in itertools.product(("int32", "int64", "float", "double"), (False, True)):
        for itype in (np.int32, I64):
            yield bincount([0, 3, 3, 5], values.astype(itype), itype(4), array([], dtype), binary_output=binary)
        yield bincount([0, 3, 3, 5], values, I64(10), array([2, 1, 2, 3, 4], dtype), binary_output=binary)
    yield bincount([0, 5], values, I64(0), ints())
    yield bincount([0, 0], ints(), I64(4), ints())
    yield bincount([0], ints(), I64(4), ints())
    for splits, size in (([0, 3], 4), ([0, 6], 4), ([1, 5], 4), (np.array([], I64), 4), ([0, 5], -4), ([0, 5], [4])):
        yield bincount(splits, values, np.array(size, I64), ints(), error=True)
    yield bincount([0, 5], ints(1, 2, -1, 0, 9), I64(4), ints(), error=True)

    def count(op, inputs, weights=ints(), error=False, **attrs):
        attrs = {"binary_output": False, "minlength": -1, "maxlength": -1, **attrs}
        return case(op, {**inputs, "weights": weights}, {"output_type": np.asarray(weights).dtype, **attrs}, error=error)
    five, grid = ints(1, 5, 1, 0, 7), ints(1, 2, 1, 0, 0, 5).reshape(2, 3)
    limits = ({}, {"minlength": 3}, {"minlength": 10}, {"maxlength": 5}, {"maxlength": 0},
              {"maxlength": 6, "minlength": 10}, {"binary_output": True})
    weights = F32([0.5, 1, 2, 3, 4])
    sparse = lambda indices, values, shape: {"indices": np.array(indices, I64), "values": values,
                                             "dense_shape": np.array(shape, I64)}
    some = sparse([[0, 0], [0, 2], [2, 1], [2, 2]], ints(1, 1, 7, 4), [3, 3])
    for attrs in limits:
        for itype in (np.int32, I64):
            yield count("DenseCountSparseOutput", {"values": five.astype(itype)}, **attrs)
        yield count("DenseCountSparseOutput", {"values": five}, weights, **attrs)
        yield count("DenseCountSparseOutput", {"values": grid}, grid * 2.5, **attrs)
        yield count("SparseCountSparseOutput", some, **attrs)
        yield count("SparseCountSparseOutput", some, np.int32([1, 2, 3, 4]), **attrs)
        yield count("RaggedCountSparseOutput", {"splits": [0, 3, 3, 5], "values": five}, **attrs)
        yield count("RaggedCountSparseOutput", {"splits": [0, 3, 3, 5], "values": five}, weights, **attrs)
    yield count("DenseCountSparseOutput", {"values": ints()})
    yield count("DenseCountSparseOutput", {"values": np.zeros([2, 0], I64)})
    for values in (ints(1, -1), I64(3), np.zeros([1, 1, 1], I64), np.zeros([0, 3], I64)):
        yield count("DenseCountSparseOutput", {"values": values}, error=True)
    yield count("DenseCountSparseOutput", {"values": five}, F32([1]), error=True)
    for arguments in ((([[0], [2]]), ints(1, 4), [3]), ([[2, 0], [0, 2]], ints(1, 1), [3, 3]),
                      (np.zeros([0, 2]), ints(), [3, 3]), (np.zeros([0, 1]), ints(), [3]),
                      ([[0, 0, 0]], ints(1), [3, 3, 3])):
        yield count("SparseCountSparseOutput", sparse(*arguments))
    for arguments in (([[0, 0], [5, 2]], ints(1, 1), [3, 3]), ([[0, 0], [-1, 2]], ints(1, 1), [3, 3]),
                      ([[0, 0]], ints(1, 2), [3, 3]), ([[0, 0]], ints(1), [3]), ([[0, 0]], ints(1), [[3, 3]]),
                      ([[0, 0]], ints(1), [0, 3]), ([0, 0], ints(1), [3, 3]), ([[0, 0]], ints(-1), [3, 3]),
                      ([[0, 9]], ints(1), [3, 3]), ([[0, 0]], ints(1), []), ([[0, 0]], ints(1), [-1, 3])):
        yield count("SparseCountSparseOutput", sparse(*arguments), error=True)
    yield count("SparseCountSparseOutput", some, F32([1, 2]), error=True)
    yield count("RaggedCountSparseOutput", {"splits": [0, 0, 0], "values": ints()})
    for splits in ([0, 3], [1, 5], [0, 6], np.array([], I64)):
        yield count("RaggedCountSparseOutput", {"splits": splits, "values": five}, error=True)
    yield count("RaggedCountSparseOutput", {"splits": [0], "values": ints()}, error=True)
    yield count("RaggedCountSparseOutput", {"splits": [0, 5], "values": -five}, error=True)
    yield count("RaggedCountSparseOutput", {"splits": [0, 5], "values": five}, F32([1]), error=True)


def crosses():
    def values(v):
        return strings(*v) if v and isinstance(v[0], str) else ints(*v)
    def make(order, ragged=(), splits=(), sparse=(), dense=(), hashed=False, buckets=0, key=956888297470, error=False,
             splits_type=I64, row_splits=I64):
        return case("RaggedCross", {
            "ragged_values": [values(v) for v in ragged], "ragged_row_splits": nested(splits, splits_type),
            "sparse_indices": [np.array(s[0], I64).reshape(-1, 2) for s in sparse],
            "sparse_values": [values(s[1]) for s in sparse],
            "sparse_shape": [ints(*s[2]) for s in sparse],
            "dense_inputs": [np.array(d, object if isinstance(d[0][0], str) else I64) for d in dense]},
            {"input_order": order, "hashed_output": hashed, "num_buckets": buckets, "hash_key": key,
             "out_values_type": "int64" if hashed else "string", "out_row_splits_type": row_splits}, error=error)
    letters, numbers = ["a", "b", "c"], [1, -2, 3]
    two = ([0, 2, 3], [0, 1, 3])
    sparse = ([[0, 0], [1, 1], [1, 2]], ["p", "q", "r"], [2, 3])
    dense = [["p", "q"], ["r", "s"]]
    for hashed, buckets, key in ((False, 0, 1), (True, 0, 956888297470), (True, 100, 956888297470), (True, 0, 0), (True, 7, -5)):
        options = {"hashed": hashed, "buckets": buckets, "key": key}
        yield make("RR", [letters, ["x", "y", "z"]], two, **options)
        yield make("RR", [letters, numbers], two, **options)
        yield make("R", [numbers], two[:1], **options)
        yield make("RD", [letters], two[:1], dense=[dense], **options)
        yield make("DD", dense=[dense, [[1], [2]]], **options)
        yield make("RS", [letters], two[:1], [sparse], **options)
        yield make("SR", [letters], two[:1], [sparse], **options)
        yield make("DSR", [letters], two[:1], [sparse], [dense], **options)
        yield make("SS", sparse=[sparse, ([[0, 0], [1, 0]], [3, 4], [2, 1])], **options)
    yield make("RR", [letters, ["x", "y", "z"]], two, splits_type=np.int32, row_splits=np.int32)
    yield make("RDR", [["a", "b"], ["x", "y"]], [[0, 1, 2], [0, 0, 2]], dense=[[["p"], ["q"]]])
    yield make("RR", [letters, letters], [[0, 2, 3], [0, 3]], error=True)
    yield make("RR", [letters, letters], [[0, 2, 5], [0, 1, 3]], error=True)
    yield make("RX", [["a"]], [[0, 1]], error=True)
    for splits in ([1, 1], [0, 2, 1], []):
        yield make("R", [["a"]], [splits], error=True)


def cases(rng):
    for topic in (to_tensor, to_sparse, ranges, gather, fill_empty_rows, variants, counts, crosses):
        yield from topic()

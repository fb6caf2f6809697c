"""Conversions between dtypes, and choosing by condition."""
import numpy as np

from case import array, case

NAN, INF = np.nan, np.inf
FLOATS = ["float", "double", "half", "bfloat16"]
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
COMPLEXES = ["complex64", "complex128"]
ALL = FLOATS + SIGNED + UNSIGNED + ["bool"] + COMPLEXES


def cast(x, to, truncate=None, **options):
    attrs = {"DstT": to} if truncate is None else {"DstT": to, "Truncate": truncate}
    return case("Cast", {"x": x}, attrs, **options)


def cases(rng):
    yield from casts()
    yield from bitcasts()
    yield from selects(rng)


def casts():
    for source in ALL:
        if source in FLOATS:
            values = [0, -0., 1, 1.5, 2.5, 100.75, 3]
        elif source in COMPLEXES:
            values = [0, 1 + 2j, 1j, 2.75, 100]
        elif source == "bool":
            values = [True, False]
        else:
            values = [0, 1, 2, 100, 127] + ([-1, -128] if source in SIGNED else [255])
        x = array(values, source)
        for to in ALL:
            yield cast(x, to)
        yield cast(x[:0], "float")
        yield cast(x[1], "int32")
    # What x86 makes of values out of range; few, since TensorFlow's vector code saturates some.
    extreme = [NAN, INF, -INF, 3e9, -3e9, 1e20, -1.7, -1, 70000]
    for source in ["float", "double"]:
        for to in SIGNED[:3]:
            yield cast(array(extreme[:1], source), to)
            yield cast(array(extreme[3:4], source), to)
        for to in ["int64", "uint32", "uint64", "half", "bool", "complex64"]:
            for v in extreme:
                yield cast(array([v], source), to)
    for source in ["half", "bfloat16"]:
        for v in [NAN, INF, -INF, -1.75, 300, -1]:
            yield cast(array([v], source), "int32")
            yield cast(array([v], source), "bool")
    yield cast(np.array([-1, 300, 256, 65536]), "uint8")
    yield cast(np.array([-1, 300, 2**33]), "bool")
    yield cast(np.array([2**64 - 1, 2**63, 2**53 + 1], np.uint64), "float")
    yield cast(np.array([2**64 - 1, 2**63, 2**53 + 1], np.uint64), "double")
    yield cast(np.array([2**31 - 1, 16777217], np.int32), "float")
    values = [1.0009, 1.9999, 1e-8, 65519, 65520, 1e9, -1.9999]
    for source in ["float", "double"]:
        for to in ["half", "bfloat16", "float"]:
            for truncate in (False, True):
                yield cast(array(values, source), to, truncate)
    yield cast(array([1.0009, 1.99], "bfloat16"), "half", True)
    yield cast(array([1.0009, 1.999], "half"), "bfloat16", True)
    yield cast(array(["a", "b"], "string"), "string")
    yield cast(array(["a"], "string"), "float", error=True)
    yield cast(np.float32([1]), "string", error=True)
    yield cast(np.int32([-9, 3, 100]), "qint8")


def bitcasts():
    def bitcast(x, to, **options):
        return case("Bitcast", {"input": x}, {"type": to}, **options)

    yield bitcast(np.float32([1, -2]), "int32")
    yield bitcast(np.float32([1, -2]), "uint8")
    yield bitcast(np.float32(1), "int16")
    yield bitcast(np.arange(8, dtype=np.uint8).reshape(2, 4), "float")
    yield bitcast(np.arange(8, dtype=np.uint8), "int64")
    yield bitcast(np.arange(16, dtype=np.uint8).reshape(2, 8), "double")
    yield bitcast(np.array([1 + 2j], np.complex64), "float")
    yield bitcast(np.array([[1, 2]], np.float32), "complex64")
    yield bitcast(array([1, 2], "bfloat16"), "uint16")
    yield bitcast(array([1, 2], "half"), "bfloat16")
    yield bitcast(np.array([1.5, 2]), "int64")
    yield bitcast(np.float32([1, 2]), "float")
    yield bitcast(np.zeros([0], np.float32), "uint8")
    yield bitcast(np.zeros([0, 4], np.uint8), "float")
    yield bitcast(np.zeros([2, 3], np.uint8), "float", error=True)
    yield bitcast(np.uint8(1), "float", error=True)


def selects(rng):
    def select(op, condition, t, e, **options):
        return case(op, {"condition": np.array(condition, bool), "t": t, "e": e}, **options)

    pairs = [(array(rng.integers(0, 9, [2, 3]), d), array(rng.integers(0, 9, [2, 3]), d)) for d in ALL]
    pairs.append((array([["a", "b", "c"], ["d", "e", "f"]], "string"), array([["x"] * 3, ["y"] * 3], "string")))
    for t, e in pairs:
        mixed = [[True, False, True], [False, False, True]]
        for op in ["Select", "SelectV2"]:
            yield select(op, mixed, t, e)
            yield select(op, True, t, e)
        yield select("Select", [True, False], t, e)
        yield select("SelectV2", [False, True, True], t, e)
        yield select("SelectV2", [[False], [True]], t, e[0])
    f = np.float32
    yield select("Select", False, f(1), f(2))
    yield select("Select", np.zeros([0]), np.zeros([0, 2], f), np.zeros([0, 2], f))
    yield select("Select", [False, True], f([[[1, 2]], [[3, 4]]]), f([[[5, 6]], [[7, 8]]]))
    yield select("Select", [True], f([1, 2]), f([3, 4]), error=True)
    yield select("Select", [True, False, True], f([[1, 2], [3, 4]]), f([[5, 6], [7, 8]]), error=True)
    yield select("Select", [[True, False]], f([[1, 2], [3, 4]]), f([[5, 6], [7, 8]]), error=True)
    yield select("Select", [True], f(1), f(2), error=True)
    yield select("Select", True, f([1, 2]), f([[3, 4]]), error=True)
    yield select("Select", [True, False], f([1, 2]), f([3]), error=True)
    yield select("SelectV2", [True, False], f([[1], [2]]), f(3))
    yield select("SelectV2", True, f([1, 2]), f([[3], [4]]))
    yield select("SelectV2", [[[True]], [[False]]], f([1, 2]), f([[3], [4]]))
    yield select("SelectV2", rng.integers(0, 2, [3, 200]), rng.normal(size=[200]).astype(f), f(0))
    yield select("SelectV2", rng.integers(0, 2, [3, 1]), rng.normal(size=[3, 150]).astype(f), f([[1], [2], [3]]))
    yield select("SelectV2", np.zeros([0]), f([1]), f(3))
    yield select("SelectV2", [True, False], f([1, 2, 3]), f(3), error=True)
    yield select("SelectV2", [True, False], array(["a", "b"], "string"), array("c", "string"))

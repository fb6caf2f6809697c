"""Arithmetic, comparisons and logic of two operands with broadcasting; gradients; sums, biases, bounds."""
import numpy as np

from case import array, case

NAN, INF = np.nan, np.inf
FLOATS = ["float", "double", "half", "bfloat16"]
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
COMPLEXES = ["complex64", "complex128"]
INTS = SIGNED + UNSIGNED
REALS = FLOATS + INTS
STEPPED = {"half": dict(rtol=4e-3, atol=2e-3), "bfloat16": dict(rtol=3e-2, atol=1e-2)}
GRID = [-7.5, -7, -3, -2.5, -1, -.5, 0, .5, 1, 2.5, 3, 7]
# Shapes that exercise every way operands walk together.
SHAPES = [([], []), ([3], []), ([], [2, 3]), ([2, 3], [3]), ([2, 1], [1, 3]), ([4, 1, 3], [2, 1]), ([0, 3], [3]),
          ([2, 0], [1]), ([1], [1, 1]), ([2, 3, 2], [2, 3, 2]), ([1, 3, 1, 2], [2, 1, 2, 1]), ([5, 130], [130]),
          ([3, 200], [3, 1]), ([2, 3, 4], [4]), ([2, 3, 4], [3, 1])]


def two(op, x, y, **options):
    names = {"Atan2": ("y", "x"), "NextAfter": ("x1", "x2"), "Complex": ("real", "imag"), "Igamma": ("a", "x"),
             "Igammac": ("a", "x"), "Polygamma": ("a", "x"), "Zeta": ("x", "q")}.get(op, ("x", "y"))
    attrs = options.pop("attrs", None)
    return case(op, dict(zip(names, (x, y))), attrs, **options)


def grid(dtype, values=GRID, nonzero=False):
    """All pairs of the values."""
    values = [v for v in values if v or not nonzero]
    if dtype in UNSIGNED:
        values = sorted({abs(int(v)) for v in values} - ({0} if nonzero else set()))
    elif dtype in SIGNED:
        values = sorted({int(v) for v in values} - ({0} if nonzero else set()))
    x, y = np.meshgrid(values, values)
    return array(x.ravel(), dtype), array(y.ravel(), dtype)


def cases(rng):
    yield from arithmetic(rng)
    yield from edges()
    yield from comparisons(rng)
    yield from gradients(rng)
    yield from sums(rng)


def arithmetic(rng):
    for op in ["AddV2", "Mul", "Maximum", "Less", "SquaredDifference"]:
        for a, b in SHAPES:
            x, y = (rng.integers(-9, 9, s).astype(np.float32) for s in (a, b))
            yield two(op, x, y)
    for a, b in SHAPES:
        x, y = (array(rng.integers(-9, 9, s), "half") for s in (a, b))
        yield two("Sub", x, y)
        yield two("Add", array(rng.integers(-9, 9, a), "complex128"), array(rng.integers(-9, 9, b), "complex128"))
    for op in ["AddV2", "Sub", "Mul"]:
        for dtype in REALS + COMPLEXES:
            yield two(op, *grid(dtype))
    for op in ["Maximum", "Minimum"]:
        for dtype in REALS:
            yield two(op, *grid(dtype))
    for op in ["FloorDiv", "FloorMod"]:
        for dtype in REALS:
            yield two(op, *grid(dtype, nonzero=True))
    for dtype in REALS + COMPLEXES:
        yield two("Div", *grid(dtype, nonzero=True))
    for dtype in REALS:
        yield two("TruncateDiv", *grid(dtype, nonzero=True))
    for op in ["Mod", "TruncateMod"]:
        for dtype in ["float", "double", "int32", "int64"]:
            yield two(op, *grid(dtype, nonzero=True))
    for op in ["RealDiv", "DivNoNan", "MulNoNan", "Xdivy"]:
        for dtype in FLOATS + COMPLEXES:
            yield two(op, *grid(dtype, nonzero=op == "RealDiv" or dtype in COMPLEXES))
    for op in ["Xlogy", "Xlog1py", "Pow"]:
        for dtype in FLOATS + COMPLEXES:
            x, y = grid(dtype, [0, .1, .5, 1, 2.5, 3])
            if op == "Pow" and dtype in COMPLEXES:
                x, y = grid(dtype, [.1, .5, 1, 2.5, 3])
            keep = (y != 0) | (op != "Xlogy")
            yield two(op, x[keep], y[keep], **STEPPED.get(dtype, {}))
    for dtype in SIGNED:
        yield two("Pow", array([2, 3, -2, 0, 1, -1, 5], dtype), array([6, 2, 3, 0, 100, 7, 1], dtype))
    for dtype in FLOATS:
        yield two("Atan2", *grid(dtype), **STEPPED.get(dtype, {}))
    for dtype in ["float", "double", "int32", "int64"]:
        yield two("SquaredDifference", *grid(dtype))
    for op in ["BitwiseAnd", "BitwiseOr", "BitwiseXor"]:
        for dtype in INTS:
            yield two(op, *grid(dtype))
    for op in ["LeftShift", "RightShift"]:
        for dtype in INTS:
            width = np.dtype(dtype).itemsize * 8
            x = array([1, 5, 100, 1, 127, 3] + ([-8, -1] if dtype in SIGNED else [255, 128]), dtype)
            n = array([0, 1, 2, width - 1, width, 60, 1, 3], dtype)
            yield two(op, x, n)
    for dtype in ["float", "double"]:
        yield two("NextAfter", array([0, 1, 1, -1, 5, NAN, 1], dtype), array([1, 2, 0, -2, 5, 1, NAN], dtype))
        yield case("Complex", {"real": array([[1, 2], [3, 4]], dtype), "imag": array([5, -6], dtype)},
                   {"Tout": "complex64" if dtype == "float" else "complex128"})
    words = array(["a", "", "longer than twenty-two bytes"], "string")
    yield two("Add", words, array("z", "string"))
    yield two("Add", words.reshape(3, 1), array(["x", "yy"], "string"))
    yield two("Add", array([], "string"), words[:1])


def edges():
    special = [NAN, INF, -INF, 0., -0., 1., -2.]
    x, y = (v.ravel().astype(np.float32) for v in np.meshgrid(special, special))
    for op in ["AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "DivNoNan", "MulNoNan", "FloorDiv", "FloorMod",
               "SquaredDifference", "Pow", "Atan2", "Xdivy", "Xlogy", "Less", "GreaterEqual", "Equal", "NotEqual",
               "Mod", "TruncateDiv"]:
        yield two(op, x, y)
    for op in ["Div", "FloorDiv", "FloorMod", "Mod", "TruncateMod", "TruncateDiv"]:
        yield two(op, np.int32([1, 2]), np.int32([1, 0]), error=True)
        yield two(op, np.zeros([0], np.int32), np.int32(0))
    for op in ["FloorDiv", "Div", "FloorMod"]:
        for dtype in SIGNED:
            yield two(op, array([np.iinfo(dtype).min], dtype), array([-1], dtype))
        yield two(op, np.zeros([0, 3], np.int32), np.int32([1, 2, 0]))
        yield two(op, np.int32([1, 2, 3]), np.int32([1, 0]), error=True)
    yield two("Pow", np.int32([2, 3]), np.int32([1, -1]), error=True)
    yield two("AddV2", np.ones([2, 3], np.float32), np.ones([4], np.float32), error=True)
    yield two("Mul", np.ones([2, 3], np.float32), np.ones([3, 2], np.float32), error=True)
    yield two("Add", array(["a", "b"], "string"), array(["a", "b", "c"], "string"), error=True)
    yield two("AddV2", np.int32([2**31 - 1]), np.int32([1]))
    yield two("Mul", np.int8([100, -128]), np.int8([3, -1]))
    yield two("Mul", np.uint16([65535]), np.uint16([65535]))
    yield two("Mul", np.float32([1e-38]), np.float32([1e-3]))
    yield two("AddV2", array([60000, 65504], "half"), array([60000, 8], "half"))


def comparisons(rng):
    for op in ["Less", "LessEqual", "Greater", "GreaterEqual"]:
        for dtype in REALS:
            yield two(op, *grid(dtype, GRID[2:9]))
    for op in ["Equal", "NotEqual"]:
        for dtype in REALS + COMPLEXES:
            yield two(op, *grid(dtype, GRID[2:9]))
        yield two(op, np.array([True, False]), np.array([[True], [False]]))
        yield two(op, array(["a", "b", ""], "string"), array("a", "string"))
        yield two(op, array(["a", "b"], "string"), array([["b"], ["a"]], "string"))
        for a, b in SHAPES[:9]:
            yield two(op, rng.integers(0, 2, a).astype(np.int64), rng.integers(0, 2, b).astype(np.int64))
        bad = np.float32([1, 2]), np.float32([1, 2, 3])
        yield two(op, *bad, error=True)
        yield two(op, *bad, attrs={"incompatible_shape_error": False})
        yield two(op, *(v[:1] for v in bad), attrs={"incompatible_shape_error": False})
    yield two("Less", np.float32([1, 2]), np.float32([1, 2, 3]), error=True)
    for op in ["LogicalAnd", "LogicalOr"]:
        yield two(op, np.array([True, True, False, False]), np.array([True, False, True, False]))
        yield two(op, np.array([[True], [False]]), np.array([True, False]))
        yield two(op, np.array(True), np.zeros([0], bool))
    for dtype in ["float", "double"]:
        x, y = array([1, 2, 3, NAN, 0], dtype), array([1 + 1e-6, 2.1, 3, NAN, 1e-6], dtype)
        yield two("ApproximateEqual", x, y)
        yield two("ApproximateEqual", x, y, attrs={"tolerance": .5})
    yield two("ApproximateEqual", np.float32([1, 2]), np.float32([1]), error=True)


def gradients(rng):
    activations = {"EluGrad": "outputs", "LeakyReluGrad": "features", "Relu6Grad": "features", "ReluGrad": "features",
                   "SeluGrad": "outputs", "SoftplusGrad": "features", "SoftsignGrad": "features"}
    for op, second in activations.items():
        dtypes = REALS if op in ("ReluGrad", "Relu6Grad") else FLOATS
        for dtype in dtypes:
            dy, x = grid(dtype, [-2.5, -1, 0, .5, 3, 6, 7])
            yield case(op, {"gradients": dy, second: x}, **STEPPED.get(dtype, {}))
        yield case(op, {"gradients": np.float32([1, NAN, 2]), second: np.float32([NAN, -1, INF])})
        yield case(op, {"gradients": np.zeros([0, 2], np.float32), second: np.zeros([0, 2], np.float32)})
        yield case(op, {"gradients": np.float32([1, 2]), second: np.float32([1])}, error=True)
    yield case("LeakyReluGrad", {"gradients": np.float32([1, 2]), "features": np.float32([-1, 1])}, {"alpha": .5})
    for op in ["InvGrad", "ReciprocalGrad", "RsqrtGrad", "SigmoidGrad", "SqrtGrad", "TanhGrad"]:
        for dtype in FLOATS + COMPLEXES:
            y, dy = grid(dtype, [-2.5, -1, .5, 3])
            if dtype in COMPLEXES:
                y, dy = y + np.dtype(dtype).type(.5j), dy - np.dtype(dtype).type(2j)
            yield case(op, {"y": y, "dy": dy}, **STEPPED.get(dtype, {}))
        yield case(op, {"y": np.float32([1, 2]), "dy": np.float32([1, 2, 3])}, error=True)


def sums(rng):
    for dtype in REALS + COMPLEXES:
        parts = [array(rng.integers(0, 9, [2, 3]), dtype) for _ in range(3)]
        yield case("AddN", {"inputs": parts})
        yield case("BiasAdd", {"value": parts[0], "bias": parts[1][0]})
    yield case("AddN", {"inputs": [np.float32([1, 2])]})
    yield case("AddN", {"inputs": [np.float32(1), np.float32(2)]})
    yield case("AddN", {"inputs": [np.float32([1, 2]), np.float32([1])]}, error=True)
    for shape in [[2, 3], [2, 2, 3], [2, 3, 2, 3], [1, 2, 2, 2, 3], [0, 3], [2, 1, 1, 3]]:
        x = rng.normal(size=shape).astype(np.float32)
        yield case("BiasAdd", {"value": x, "bias": np.float32([1, 2, 3])})
        first = np.moveaxis(x, -1, 1).copy()
        yield case("BiasAdd", {"value": first, "bias": np.float32([1, 2, 3])}, {"data_format": "NCHW"})
        yield case("BiasAddV1", {"value": x, "bias": np.float32([1, 2, 3])})
        yield case("BiasAddGrad", {"out_backprop": x})
        yield case("BiasAddGrad", {"out_backprop": first}, {"data_format": "NCHW"})
    yield case("BiasAdd", {"value": np.float32([1, 2]), "bias": np.float32([1, 2])}, error=True)
    yield case("BiasAdd", {"value": np.float32([[1, 2]]), "bias": np.float32([1, 2, 3])}, error=True)
    yield case("BiasAdd", {"value": np.float32([[1, 2]]), "bias": np.float32([[1, 2]])}, error=True)
    yield case("BiasAdd", {"value": np.float32([[[1, 2], [3, 4]]]), "bias": np.float32([1])}, {"data_format": "NCHW"},
               error=True)
    yield case("BiasAddGrad", {"out_backprop": np.float32([1, 2])}, error=True)
    for dtype in FLOATS + SIGNED + ["uint8", "uint16"]:
        yield clip(array([0, 1, 5, 9, 3], dtype), array(2, dtype), array(6, dtype))
    yield clip(np.float32([1, 5, NAN, -INF]), np.float32(0), np.float32(3))
    yield clip(np.float32([1, 5, 2]), np.float32(NAN), np.float32(3))
    yield clip(np.float32([1, 5, 2]), np.float32(4), np.float32(3))
    yield clip(np.float32([1, 5, 2]), np.float32([0, 1, 3]), np.float32([1, 2, 4]))
    yield clip(np.float32([1, 5, 2]), np.float32([0, 1, 3]), np.float32(2))
    yield clip(np.zeros([0, 2], np.float32), np.float32(0), np.float32(1))
    yield clip(np.float32(3), np.float32(0), np.float32(1))
    yield clip(np.float32([1, 5, 2]), np.float32([0]), np.float32(3), error=True)
    yield clip(np.float32(1), np.float32([0, 1]), np.float32(3), error=True)


def clip(t, low, high, **options):
    return case("ClipByValue", {"t": t, "clip_value_min": low, "clip_value_max": high}, **options)

"""Element-wise ops of one operand: every dtype, edge values, and domains with their borders."""
import numpy as np

from case import array, case

NAN, INF = np.nan, np.inf
FLOATS = ["float", "double", "half", "bfloat16"]
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
COMPLEXES = ["complex64", "complex128"]

EVERYWHERE = [-40, -8.5, -3, -2.5, -1.5, -1, -.75, -.5, -.1, -1e-3, 0, 1e-3, .1, .5, .75, 1, 1.5, 2.5, 3, 8.5, 40]
EDGES = [NAN, INF, -INF, 0., -0.]
POSITIVE = [1e-3, .1, .3, .5, .75, 1, 1.5, 2, 3, 10, 100, 12345]
UNIT = [-1, -.99, -.75, -.5, -.1, 0, .1, .5, .75, .99, 1]

# op: values inside its domain
FLOAT_OPS = {
    "Abs": EVERYWHERE, "Acos": UNIT, "Acosh": [1, 1.001, 1.5, 3, 10, 100], "Asin": UNIT, "Asinh": EVERYWHERE,
    "Atan": EVERYWHERE, "Atanh": UNIT[1:-1], "Ceil": EVERYWHERE, "Cos": EVERYWHERE, "Cosh": EVERYWHERE[1:-1],
    "Erf": EVERYWHERE, "Erfc": EVERYWHERE[1:-1], "Exp": EVERYWHERE, "Expm1": EVERYWHERE,
    "Floor": EVERYWHERE, "Inv": POSITIVE, "IsFinite": EVERYWHERE, "IsInf": EVERYWHERE, "IsNan": EVERYWHERE,
    "Log": POSITIVE, "Log1p": [-.9, -.5, -1e-3] + POSITIVE, "Neg": EVERYWHERE, "Reciprocal": POSITIVE,
    "Relu": EVERYWHERE, "Relu6": EVERYWHERE, "Round": EVERYWHERE, "Rsqrt": POSITIVE, "Elu": EVERYWHERE,
    "Selu": EVERYWHERE, "Sigmoid": EVERYWHERE, "Sign": EVERYWHERE, "Sin": EVERYWHERE, "Sinh": EVERYWHERE[1:-1],
    "Softplus": EVERYWHERE, "Softsign": EVERYWHERE, "Sqrt": POSITIVE, "Square": EVERYWHERE,
    "Tan": EVERYWHERE[1:-1], "Tanh": EVERYWHERE, "LeakyRelu": EVERYWHERE,
}
COMPLEX_OPS = ["Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh", "Exp", "Expm1", "Inv", "Log", "Log1p",
               "Neg", "Reciprocal", "Rsqrt", "Sigmoid", "Sign", "Sin", "Sinh", "Sqrt", "Square", "Tan", "Tanh"]
FEATURES = {"Relu", "Relu6", "Elu", "Selu", "Softplus", "Softsign", "LeakyRelu"}
# TensorFlow's own approximations are coarser than the default tolerance: (rtol, atol) by op.
COARSE = {"Elu": (1e-4, 1e-6), "Selu": (1e-4, 1e-6), "Softplus": (1e-4, 1e-6), "Expm1": (1e-5, 1e-6),
          "Acosh": (2e-5, 1e-6), "Atanh": (2e-5, 1e-6)}
# Rounded after each of their steps in half and bfloat16.
STEPPED = {"half": dict(rtol=4e-3, atol=2e-3), "bfloat16": dict(rtol=3e-2, atol=1e-2)}


def one(op, values, dtype, **options):
    x = values if isinstance(values, np.ndarray) else array(values, dtype)
    return case(op, {"features" if op in FEATURES else "x": x}, **options)


def tolerance(op, dtype):
    if dtype in STEPPED:
        return STEPPED[dtype]
    return dict(zip(("rtol", "atol"), COARSE[op])) if op in COARSE and dtype == "float" else {}


def cases(rng):
    for op, values in FLOAT_OPS.items():
        for dtype in FLOATS:
            yield one(op, values, dtype, **tolerance(op, dtype))
        yield one(op, EDGES, "float", **tolerance(op, "float"))
        yield one(op, np.float32(.5 if op != "Acosh" else 1.5), "float", **tolerance(op, "float"))
        yield one(op, np.zeros([2, 0], np.float32), "float")
        wide = rng.choice(values, [3, 7, 2]).astype(np.float32)
        yield one(op, wide, "float", **tolerance(op, "float"))
    for op in COMPLEX_OPS:
        for dtype in COMPLEXES:
            loose = dict(rtol=2e-5, atol=1e-5) if dtype == "complex64" else dict(rtol=1e-11, atol=1e-11)
            yield one(op, [.5 + .25j, 2 - 1j, -.3 + .7j, 1.5 + 2j, -2 - .5j], dtype, **loose)
    for dtype in SIGNED:
        low = np.iinfo(dtype).min
        for op in ["Abs", "Neg", "Sign", "Square"]:
            yield one(op, [low, -100, -3, -1, 0, 1, 7, 127], dtype)
    for dtype in SIGNED + UNSIGNED:
        values = [0, 1, 5, 6, 7, 127] + ([-1, -128] if dtype in SIGNED else [128, 255])
        for op in ["Relu", "Relu6", "Invert", "PopulationCount", "Square"]:
            yield one(op, values, dtype)
    for alpha in [0., .01, 1.5, -1.]:
        yield case("LeakyRelu", {"features": array(EVERYWHERE + EDGES, "float")}, {"alpha": alpha})
    yield case("LogicalNot", {"x": np.array([[True, False], [False, True]])})
    yield case("LogicalNot", {"x": np.array(True)})
    yield from complex_parts()
    yield from float_details()
    yield from special(rng)


def complex_parts():
    for dtype, real in [("complex64", "float"), ("complex128", "double")]:
        z = array([[3 + 4j, -1j, 0], [-2, 1e-3 - 5j, -3 - 4j]], dtype)
        for op in ["Real", "Imag", "Angle"]:
            yield case(op, {"input": z}, {"Tout": real})
        yield case("ComplexAbs", {"x": z}, {"Tout": real})
        yield case("Conj", {"input": z})
        yield case("Imag", {"input": z[:0]}, {"Tout": real})


def float_details():
    yield one("Rint", [.5, 1.5, 2.5, -.5, -1.5, 3.2], "float")
    yield one("Rint", [.5, 1.5, 2.5, -.5, -1.5, 3.2], "double")
    yield one("Round", [.5, 1.5, 2.5, 3.5, -.5, -1.5, -2.5, 8388609, 1e20], "float")
    yield one("Exp", [88, 88.7, 89, -80, -87, -88, 1e4, -1e4], "float")
    yield one("Sigmoid", [88, -80, -87, 100, -100, 16, 17, 18], "float")
    yield one("Tanh", [.6249, .625, .6251, 5, 9, 10, -9.1, 1e-6, 1e-20], "float")
    yield one("Log", [1e-30, 1e30, .9999, 1.0001, .7071, 1.4143, 3e38], "float")
    yield one("Log1p", [1e-7, -1e-7, 1e-20, -1, 1e10, -.99999], "float", rtol=2e-5, atol=1e-7)
    yield one("Expm1", [1e-7, -1e-7, 1e-20, 1e-3, 88, -100], "float", rtol=2e-5, atol=1e-7)
    yield one("Erf", [.84375, .99, 1, 1.01, 2, 2.5, 3, 3.5, 3.9, 4, 5], "float")
    yield one("Sqrt", [-1, 1e-30, 1e30], "float")
    yield one("Rsqrt", [0, -1, 1e-30, 1e30], "float")
    yield one("Reciprocal", [0, -2, 1e30], "float")
    yield one("Acos", [1.5, -1.5], "float")
    yield one("Softplus", [13.9, 14, 20, 30, -13.9, -14, -20, -30, 100, -100], "float", rtol=2e-5, atol=1e-7)
    for dtype in FLOATS:
        yield one("IsNan", EDGES, dtype)
        yield one("IsInf", EDGES, dtype)
        yield one("IsFinite", EDGES, dtype)
        yield one("Relu", EDGES, dtype)
        yield one("Sign", EDGES, dtype)


def special(rng):
    loose = dict(rtol=5e-5, atol=1e-6)
    exact = dict(rtol=1e-10, atol=1e-11)
    half = dict(rtol=5e-3, atol=2e-3)
    domains = {
        "Erfinv": UNIT[1:-1], "Ndtri": [.001, .1, .3, .5, .7, .9, .999],
        "Lgamma": [-2.5, -.5, .1, .5, 1, 1.5, 2, 3, 10, 100], "Digamma": [-2.5, -.5, .1, .5, 1, 1.5, 2, 3, 10, 100],
        "BesselI0e": EVERYWHERE, "BesselI1e": EVERYWHERE, "BesselI0": EVERYWHERE[1:-1], "BesselI1": EVERYWHERE[1:-1],
        "BesselJ0": EVERYWHERE, "BesselJ1": EVERYWHERE, "BesselY0": POSITIVE[:-1], "BesselY1": POSITIVE[:-1],
        "BesselK0": POSITIVE[:-2], "BesselK1": POSITIVE[:-2], "BesselK0e": POSITIVE[:-1], "BesselK1e": POSITIVE[:-1],
    }
    for op, values in domains.items():
        yield one(op, values, "float", **loose)
        yield one(op, values, "double", **exact)
        if op not in ("Erfinv", "Ndtri"):
            yield one(op, values[2:6], "half", **half)
    rare = {"Dawsn": EVERYWHERE, "Expint": POSITIVE[:-2], "FresnelCos": EVERYWHERE, "FresnelSin": EVERYWHERE,
            "Spence": POSITIVE}
    for op, values in rare.items():
        yield one(op, values, "float", rtol=1e-4, atol=1e-5)
        yield one(op, values, "double", rtol=1e-9, atol=1e-10)
    yield from special_of_two(loose, exact)
    yield one("Erfinv", [-1, 1, 0, 1.5, NAN], "float")
    yield one("Ndtri", [0, 1, -.5, NAN], "float")
    yield one("Lgamma", [0, -1, INF, NAN], "float")
    yield one("Digamma", [0, INF, NAN], "float")


def special_of_two(loose, exact):
    a, x = (v.ravel() for v in np.meshgrid([.1, .5, 1, 2.5, 10], [.01, .5, 1, 2, 5, 20]))
    n, y = (v.ravel() for v in np.meshgrid([0, 1, 2, 3, 5], [.1, .5, 1, 2.5, 10]))
    s, q = (v.ravel() for v in np.meshgrid([1.1, 2, 3.5, 7], [.1, .5, 1, 2.5, 20]))
    b, p = (v.ravel() for v in np.meshgrid([.1, .5, 1, 2.5, 10], [0, .1, .5, .9, 1]))
    for dtype, options in (("float", loose), ("double", exact)):
        for op in ["Igamma", "Igammac"]:
            yield case(op, {"a": array(a, dtype), "x": array(x, dtype)}, **options)
        yield case("Polygamma", {"a": array(n, dtype), "x": array(y, dtype)}, **options)
        yield case("Zeta", {"x": array(s, dtype), "q": array(q, dtype)}, **options)
        for other in (.5, 3.):
            yield case("Betainc", {"a": array(b, dtype), "b": array(other, dtype), "x": array(p, dtype)}, **options)
    f32 = np.float32
    for op in ["Igamma", "Igammac"]:
        yield case(op, {"a": f32([-1, 0, 1, INF, 2, 1]), "x": f32([1, 1, -1, 2, 0, INF])})
    yield case("Zeta", {"x": f32([1, .5, 2, 2]), "q": f32([1, 1, 0, -1])})
    yield case("Polygamma", {"a": f32([-1, .5, 1]), "x": f32([1, 1, 0])})
    yield case("Betainc", {"a": f32([1, 2]), "b": f32([1]), "x": f32([.5, .5])}, error=True)
    yield case("Igamma", {"a": f32([[1], [2]]), "x": f32([1, 2])})

"""Neural-network and matrix ops: products, convolutions, pooling, normalisation, resizing, linear algebra."""
import itertools

import numpy as np

from case import array, case, case_steps, ref, step

FLOATS = ["float", "double", "half", "bfloat16"]
# TensorFlow sums half and bfloat16 products in its own order and width.
LOOSE = {"half": dict(rtol=4e-3, atol=4e-3), "bfloat16": dict(rtol=3e-2, atol=3e-2)}
CLOSE = dict(rtol=1e-5, atol=1e-5)


def tolerance(dtype):
    return LOOSE.get(dtype, CLOSE)


class Maker:
    """Small random arrays of any type."""

    def __init__(self, rng):
        self.rng = rng

    def __call__(self, shape, dtype="float"):
        if "complex" in dtype:
            values = self.rng.integers(-4, 5, shape) + 1j * self.rng.integers(-4, 5, shape)
        elif "int" in dtype:
            values = self.rng.integers(0 if dtype.startswith("u") else -9, 10, shape)
        else:
            values = self.rng.integers(-16, 17, shape) / 8
        return array(values, dtype)


def matmul_cases(make):
    shapes = [(2, 3, 4), (1, 5, 3), (4, 1, 1), (3, 0, 2), (0, 2, 2), (2, 2, 0), (15, 33, 17), (1, 40, 150)]
    for m, k, n in shapes:
        yield case("MatMul", {"a": make((m, k)), "b": make((k, n))}, **CLOSE)
    for ta, tb in itertools.product([False, True], repeat=2):
        for m, k, n in [(3, 5, 4), (1, 9, 20), (17, 12, 9), (30, 7, 1)]:
            yield case("MatMul", {"a": make((k, m) if ta else (m, k)), "b": make((n, k) if tb else (k, n))},
                       {"transpose_a": ta, "transpose_b": tb}, **CLOSE)
    for dtype in ["double", "half", "bfloat16", "int32", "int64", "complex64", "complex128"]:
        for ta, tb in [(False, False), (True, False), (False, True)]:
            a, b = make((4, 3) if ta else (3, 4), dtype), make((5, 4) if tb else (4, 5), dtype)
            yield case("MatMul", {"a": a, "b": b}, {"transpose_a": ta, "transpose_b": tb}, **tolerance(dtype))
    yield case("MatMul", {"a": array([[2**31 - 1, 2**30]], "int32"), "b": array([[2], [7]], "int32")})
    for a, b in [((2, 5), (4, 8)), ((2, 5), (2, 4, 8)), ((2,), (2,)), ((2, 2, 2), (2, 2, 2))]:
        yield case("MatMul", {"a": make(a), "b": make(b)}, error=True)
    yield case("MatMul", {"a": make((2, 5)), "b": make((5, 3))}, {"transpose_a": True}, error=True)


def batch_matmul_cases(make):
    pairs = [((2, 3), (3, 2)), ((2, 3, 4), (2, 4, 5)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)),
             ((2, 1, 3, 4), (3, 4, 2)), ((1, 2, 2), (5, 2, 2)), ((0, 2, 3), (3, 4)), ((2, 3, 0), (2, 0, 4)),
             ((5, 1, 6), (5, 6, 1)), ((2, 3, 1, 4), (2, 1, 4, 1))]
    for op in ["BatchMatMulV2", "BatchMatMulV3"]:
        for x, y in pairs:
            attrs = {"Tout": "float"} if op.endswith("V3") else {}
            yield case(op, {"x": make(x), "y": make(y)}, attrs, **CLOSE)
    for ax, ay in itertools.product([False, True], repeat=2):
        for dtype in ["float", "double", "half", "bfloat16", "complex64", "complex128", "int16", "int32", "int64"]:
            x, y = make((2, 4, 3) if ax else (2, 3, 4), dtype), make((2, 5, 4) if ay else (2, 4, 5), dtype)
            yield case("BatchMatMulV2", {"x": x, "y": y}, {"adj_x": ax, "adj_y": ay}, **tolerance(dtype))
    yield case("BatchMatMul", {"x": make((2, 3, 4)), "y": make((2, 4, 5))}, **CLOSE)
    yield case("BatchMatMul", {"x": make((2, 4, 3)), "y": make((2, 5, 4))}, {"adj_x": True, "adj_y": True}, **CLOSE)
    for a, b in [("int8", "int8"), ("uint8", "int8"), ("int8", "uint8"), ("uint8", "uint8")]:
        yield case("BatchMatMulV3", {"x": make((2, 3, 4), a), "y": make((4, 2), b)}, {"Tout": "int32"})
    yield case("BatchMatMulV3", {"x": make((2, 3), "bfloat16"), "y": make((3, 2), "int8")}, {"Tout": "bfloat16"})
    for op, x, y in [("BatchMatMulV2", (2, 5), (4, 8)), ("BatchMatMulV2", (2, 3, 5), (3, 5, 8)),
                     ("BatchMatMulV2", (5,), (5, 8)), ("BatchMatMul", (2, 3, 5), (5, 8)),
                     ("BatchMatMul", (2, 3, 5), (1, 5, 8))]:
        yield case(op, {"x": make(x), "y": make(y)}, error=True)


def conv_cases(make):
    def conv(x, f, s=(1, 1), d=(1, 1), dtype="float", op="Conv2D", **attrs):
        attrs.setdefault("padding", "SAME")
        return case(op, {"input": make(x, dtype), "filter": make(f, dtype)},
                    {"strides": [1, *s, 1], "dilations": [1, *d, 1], **attrs}, **tolerance(dtype))

    for padding in ["SAME", "VALID"]:
        for stride in [(1, 1), (2, 2), (1, 2), (3, 2)]:
            yield conv((2, 5, 6, 3), (3, 3, 3, 4), stride, padding=padding)
            yield conv((1, 6, 5, 2), (2, 3, 2, 3), stride, padding=padding)
        yield conv((1, 7, 6, 2), (3, 2, 2, 3), (1, 1), (2, 2), padding=padding)
        yield conv((1, 7, 9, 2), (3, 3, 2, 3), (1, 1), (1, 3), padding=padding)
        yield conv((1, 4, 4, 3), (1, 1, 3, 5), padding=padding)
        yield conv((1, 4, 5, 3), (1, 1, 3, 5), (2, 2), padding=padding)
        yield conv((1, 5, 5, 4), (3, 3, 2, 6), padding=padding)
        yield conv((1, 5, 5, 6), (3, 3, 1, 6), padding=padding)
        yield conv((1, 5, 5, 6), (2, 2, 1, 12), (2, 2), padding=padding)
        yield conv((1, 9, 9, 1), (7, 7, 1, 3), (2, 2), padding=padding)
        yield conv((0, 4, 4, 3), (2, 2, 3, 5), padding=padding)
        yield conv((1, 3, 3, 3), (2, 2, 3, 0), padding=padding)
    for dtype in ["double", "half", "bfloat16", "int32"]:
        yield conv((1, 4, 5, 2), (3, 3, 2, 3), dtype=dtype)
        yield conv((1, 4, 5, 2), (2, 2, 2, 3), (2, 2), dtype=dtype, padding="VALID")
    yield conv((1, 4, 5, 4), (2, 2, 2, 4), dtype="double")
    yield conv((1, 4, 5, 3), (3, 3, 3, 2), padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0])
    yield conv((1, 4, 5, 3), (3, 3, 3, 2), (2, 2), padding="EXPLICIT", explicit_paddings=[0, 0, 3, 3, 2, 2, 0, 0])
    yield conv((1, 4, 4, 2), (5, 5, 2, 2), padding="VALID")
    bad = [((1, 4, 4, 3), (2, 2, 2, 5), {}), ((4, 4, 3), (2, 2, 3, 5), {}), ((1, 4, 4, 3), (2, 3, 5), {}),
           ((1, 4, 4, 3), (2, 2, 3, 5), {"strides": [1, 1, 1]}),
           ((1, 4, 4, 3), (2, 2, 3, 5), {"strides": [2, 1, 1, 1]}),
           ((1, 4, 4, 3), (2, 2, 3, 5), {"strides": [1, 0, 1, 1]}),
           ((1, 4, 4, 3), (2, 2, 3, 5), {"dilations": [1, 0, 1, 1]}),
           ((1, 4, 4, 3), (2, 2, 3, 5), {"dilations": [2, 1, 1, 1]}),
           ((1, 4, 4, 3), (2, 2, 3, 5), {"dilations": [1, 1, 1]}),
           ((1, 4, 4, 3), (2, 2, 3, 5), {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 1]}),
           ((1, 4, 4, 3), (2, 2, 3, 5), {"padding": "EXPLICIT", "explicit_paddings": [1, 0, 1, 1, 0, 0, 0, 0]}),
           ((1, 4, 4, 3), (2, 2, 3, 5), {"padding": "EXPLICIT", "explicit_paddings": [0, 0, -1, 1, 0, 0, 0, 0]}),
           ((1, 4, 4, 3), (2, 2, 3, 5), {"explicit_paddings": [0, 0, 1, 1, 0, 0, 0, 0]}),
           ((1, 4, 4, 0), (2, 2, 0, 5), {}), ((1, 4, 4, 3), (0, 2, 3, 5), {}), ((1, 4, 4, 4), (2, 2, 2, 5), {}),
           ((1, 2, 2, 3), (7, 7, 3, 2), {"padding": "VALID"})]
    for x, f, attrs in bad:
        yield case("Conv2D", {"input": make(x), "filter": make(f)},
                   {"strides": [1, 1, 1, 1], "padding": "SAME", **attrs}, error=True)


def depthwise_cases(make):
    def conv(x, f, s=1, dtype="float", **attrs):
        attrs.setdefault("padding", "SAME")
        return case("DepthwiseConv2dNative", {"input": make(x, dtype), "filter": make(f, dtype)},
                    {"strides": [1, s, s, 1], **attrs}, **tolerance(dtype))

    for padding, stride in itertools.product(["SAME", "VALID"], [1, 2, 3]):
        for x, f in [((2, 5, 6, 3), (3, 3, 3, 1)), ((1, 6, 5, 2), (2, 3, 2, 2)), ((1, 9, 12, 1), (3, 3, 1, 3)),
                     ((1, 7, 14, 5), (5, 5, 5, 1))]:
            yield conv(x, f, stride, padding=padding)
    yield conv((1, 12, 13, 20), (3, 3, 20, 1))
    yield conv((1, 12, 13, 20), (3, 3, 20, 1), 2)
    for dtype in ["double", "half", "bfloat16"]:
        yield conv((1, 4, 5, 2), (3, 3, 2, 2), dtype=dtype)
        yield conv((1, 4, 5, 3), (2, 2, 3, 1), 2, dtype=dtype, padding="VALID")
    yield conv((1, 4, 4, 3), (2, 2, 3, 1), padding="EXPLICIT", explicit_paddings=[0, 0, 1, 1, 0, 2, 0, 0])
    yield conv((0, 4, 4, 3), (2, 2, 3, 1))
    yield conv((1, 4, 4, 3), (5, 5, 3, 1), padding="VALID")
    for x, f, attrs in [((1, 4, 4, 3), (2, 2, 2, 5), {}), ((1, 4, 4, 3), (2, 2, 3, 5), {"strides": [1, 1, 2, 1]}),
                        ((1, 4, 4, 3), (2, 2, 3), {}), ((4, 4, 3), (2, 2, 3, 1), {})]:
        yield case("DepthwiseConv2dNative", {"input": make(x), "filter": make(f)},
                   {"strides": [1, 1, 1, 1], "padding": "SAME", **attrs}, error=True)


def conv3d_cases(make):
    def conv(x, f, s=(1, 1, 1), dtype="float", padding="SAME"):
        return case("Conv3D", {"input": make(x, dtype), "filter": make(f, dtype)},
                    {"strides": [1, *s, 1], "padding": padding}, **tolerance(dtype))

    for padding in ["SAME", "VALID"]:
        yield conv((1, 3, 4, 3, 2), (2, 2, 2, 2, 3), padding=padding)
        yield conv((2, 3, 3, 4, 1), (3, 2, 1, 1, 2), (2, 1, 2), padding=padding)
        yield conv((1, 2, 2, 2, 3), (1, 1, 1, 3, 2), padding=padding)
        for dtype in ["double", "half"]:
            yield conv((1, 3, 3, 3, 2), (2, 2, 2, 2, 2), dtype=dtype, padding=padding)
    for x, f, attrs in [((1, 3, 3, 3, 2), (2, 2, 2, 3, 3), {}), ((1, 3, 3, 3, 2), (2, 2, 2, 2), {}),
                        ((3, 3, 3, 2), (2, 2, 2, 2, 2), {}), ((1, 3, 3, 3, 2), (2, 2, 2, 2, 3), {"strides": [1, 0, 1, 1, 1]}),
                        ((1, 3, 3, 3, 2), (2, 2, 2, 2, 3), {"strides": [2, 1, 1, 1, 1]})]:
        yield case("Conv3D", {"input": make(x), "filter": make(f)},
                   {"strides": [1, 1, 1, 1, 1], "padding": "SAME", **attrs}, error=True)


def pool_cases(make):
    def pool(op, x, k, s, dtype="float", **attrs):
        attrs.setdefault("padding", "SAME")
        if op == "MaxPoolWithArgmax":
            attrs.setdefault("Targmax", "int64")
        name = "value" if op == "AvgPool" else "input"
        return case(op, {name: make(x, dtype)}, {"ksize": [1, *k, 1], "strides": [1, *s, 1], **attrs},
                    **(tolerance(dtype) if op.startswith("Avg") else {}))

    for op, padding in itertools.product(["MaxPool", "AvgPool", "MaxPoolWithArgmax"], ["SAME", "VALID"]):
        for x, k, s in [((2, 4, 5, 3), (2, 2), (2, 2)), ((1, 5, 5, 2), (3, 3), (1, 1)), ((1, 6, 5, 17), (3, 2), (2, 3)),
                        ((1, 3, 3, 2), (1, 1), (2, 2)), ((1, 3, 4, 2), (3, 4), (1, 1)), ((1, 9, 9, 1), (9, 9), (1, 1))]:
            yield pool(op, x, k, s, padding=padding)
        for dtype in ["double", "half", "bfloat16"]:
            yield pool(op, (1, 4, 4, 2), (3, 3), (2, 2), dtype, padding=padding)
        yield pool(op, (1, 4, 4, 2), (5, 5), (1, 1), padding="VALID")
    for dtype in ["int32", "int64", "uint8", "int16", "int8", "uint16"]:
        yield pool("MaxPool", (1, 4, 5, 2), (2, 2), (2, 2), dtype)
        yield pool("MaxPoolWithArgmax", (1, 4, 5, 2), (2, 2), (2, 2), dtype)
    for op in ["MaxPool", "AvgPool"]:
        for x in [(0, 4, 4, 2), (1, 0, 4, 2), (1, 4, 4, 0)]:
            yield pool(op, x, (2, 2), (2, 2))
    yield pool("MaxPool", (1, 4, 4, 2), (2, 2), (2, 2), padding="EXPLICIT", explicit_paddings=[0, 0, 1, 1, 1, 0, 0, 0])
    yield pool("MaxPool", (1, 4, 5, 2), (3, 3), (1, 2), padding="EXPLICIT", explicit_paddings=[0, 0, 2, 1, 0, 2, 0, 0])
    yield pool("MaxPoolWithArgmax", (2, 4, 4, 2), (2, 2), (2, 2), include_batch_in_index=True)
    yield pool("MaxPoolWithArgmax", (2, 4, 4, 2), (2, 2), (2, 2), Targmax="int32")
    yield case("MaxPool", {"input": make((1, 2, 2, 4))}, {"ksize": [1, 1, 1, 2], "strides": [1, 1, 1, 2], "padding": "SAME"})
    special = np.ones((1, 2, 4, 4), np.float32)
    special[0, 0, 0] = np.nan
    special[0, 1, 1, 2] = np.nan
    special[0, :, 2:, 0] = -np.inf
    special[0, :, 2:, 1] = np.nan
    attrs = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
    for op, name in [("MaxPool", "input"), ("AvgPool", "value"), ("MaxPoolWithArgmax", "input")]:
        yield case(op, {name: special}, {**attrs, "Targmax": "int64"} if "Argmax" in op else attrs)
    special[np.isnan(special)] = 2  # MaxPool3D lets a NaN through only as a window's last element
    yield case("MaxPool3D", {"input": special[None]}, {"ksize": [1, 1, 2, 2, 1], "strides": [1, 1, 2, 2, 1], "padding": "SAME"})
    for padding in ["SAME", "VALID"]:
        yield case("MaxPoolV2", {"input": make((1, 5, 4, 2)), "ksize": [1, 2, 3, 1], "strides": [1, 2, 1, 1]}, {"padding": padding})
        for op in ["MaxPool3D", "AvgPool3D"]:
            for dtype in ["float", "bfloat16"]:
                yield case(op, {"input": make((2, 3, 4, 5, 2), dtype)},
                           {"ksize": [1, 2, 2, 3, 1], "strides": [1, 2, 1, 2, 1], "padding": padding}, **tolerance(dtype))
    bad = [((4, 4, 2), {}), ((1, 4, 4, 2), {"ksize": [1, 2, 2]}), ((1, 4, 4, 2), {"strides": [1, 2, 2]}),
           ((1, 4, 4, 2), {"ksize": [1, 2, 2, 2]}), ((1, 4, 4, 2), {"ksize": [2, 2, 2, 1]}),
           ((1, 4, 4, 2), {"strides": [2, 2, 2, 1]}), ((1, 4, 4, 2), {"strides": [1, 0, 2, 1]}),
           ((1, 4, 4, 2), {"ksize": [1, 0, 2, 1]}), ((1, 4, 4, 4), {"ksize": [1, 1, 1, 3], "strides": [1, 1, 1, 2]})]
    for op in ["MaxPool", "AvgPool", "MaxPoolWithArgmax"]:
        more = {"Targmax": "int64"} if "Argmax" in op else {}
        for x, changed in bad:
            yield case(op, {"value" if op == "AvgPool" else "input": make(x)}, {**attrs, **more, **changed}, error=True)
    yield case("MaxPoolWithArgmax", {"input": make((0, 4, 4, 2))}, {**attrs, "Targmax": "int64"}, error=True)
    for pads in [[0, 0, 2, 1, 1, 0, 0, 0], [0, 0]]:
        yield case("MaxPool", {"input": make((1, 4, 4, 2))}, {**attrs, "padding": "EXPLICIT", "explicit_paddings": pads}, error=True)
    for k in [[1, 2, 2], [1, 2, 2, 2]]:
        yield case("MaxPoolV2", {"input": make((1, 4, 4, 2)), "ksize": k, "strides": [1, 2, 2, 1]}, {"padding": "SAME"}, error=True)
    for op in ["MaxPool3D", "AvgPool3D"]:
        for x, k in [((4, 4, 4, 2), [1, 2, 2, 2, 1]), ((1, 4, 4, 4, 2), [1, 2, 2, 2, 2]), ((1, 4, 4, 4, 2), [1, 2, 0, 2, 1])]:
            yield case(op, {"input": make(x)}, {"ksize": k, "strides": [1, 2, 2, 2, 1], "padding": "SAME"}, error=True)


def norm_cases(make):
    def inputs(x, channels, dtype="float", stats=True):
        return {"x": make(x, dtype), "scale": make((channels,)), "offset": make((channels,)),
                "mean": make((channels if stats else 0,)), "variance": np.abs(make((channels if stats else 0,)))}

    def norm(op, given, attrs, outputs, **options):
        # The reserved outputs of an inference run are not initialised: only some are compared.
        for output in outputs:
            yield case_steps([step(op, given, attrs, name="norm"), step("Identity", {"input": ref("norm", output)})], **options)

    for op in ["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"]:
        yield from norm(op, inputs((2, 3, 4, 5), 5), {"is_training": False, "epsilon": 1e-3}, [0, 1, 2], **CLOSE)
        yield from norm(op, inputs((2, 3, 4, 5), 5, stats=False), {"epsilon": 1e-3}, [0, 1, 2, 3, 4], **CLOSE)
        yield from norm(op, inputs((2, 3, 4, 5), 5), {"exponential_avg_factor": 0.25}, [0, 1, 2, 3, 4], **CLOSE)
    for dtype in ["half", "bfloat16"]:
        yield from norm("FusedBatchNormV3", inputs((1, 3, 3, 4), 4, dtype), {"is_training": False}, [0, 1], **tolerance(dtype))
        yield from norm("FusedBatchNormV3", inputs((1, 3, 3, 4), 4, dtype, False), {"is_training": True}, [0, 1, 2], **tolerance(dtype))
    yield from norm("FusedBatchNormV3", inputs((2, 4, 3, 3), 4), {"is_training": False, "data_format": "NCHW"}, [0], **CLOSE)
    yield from norm("FusedBatchNormV3", inputs((2, 4, 3, 3), 4, stats=False), {"data_format": "NCHW"}, [0, 1, 2], **CLOSE)
    yield from norm("FusedBatchNormV3", inputs((2, 2, 3, 3, 4), 4), {"is_training": False, "data_format": "NDHWC"}, [0], **CLOSE)
    yield from norm("FusedBatchNormV3", inputs((2, 4, 3, 3, 2), 4), {"is_training": False, "data_format": "NCDHW"}, [0], **CLOSE)
    yield from norm("FusedBatchNormV3", inputs((0, 3, 3, 2), 2), {"is_training": False}, [0, 1, 2, 5])
    yield from norm("FusedBatchNormV3", inputs((1, 1, 1, 2), 2, stats=False), {}, [0, 1, 2, 5], **CLOSE)
    bad = [((2, 3, 3, 2), {"scale": make((3,))}, {}), ((2, 3, 2), {}, {}), ((2, 3, 3, 2), {"mean": make((3,))}, {"is_training": False}),
           ((2, 3, 3, 2), {"scale": make((2, 1))}, {"is_training": False}),
           ((2, 3, 3, 2), {"mean": make((0,)), "variance": make((0,))}, {"exponential_avg_factor": 0.5})]
    for x, changed, attrs in bad:
        yield case("FusedBatchNormV3", {**inputs(x, 2), **changed}, attrs, error=True)
    for training, (x, attrs) in itertools.product([True, False], [((2, 2, 3, 4), {}), ((1, 2, 2, 3, 4), {"data_format": "NDHWC"})]):
        given = {"y_backprop": make(x), "x": make(x), "scale": make((4,)), "reserve_space_1": make((4,)), "reserve_space_2": np.abs(make((4,)))}
        for op in ["FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"]:
            if len(x) == 5 and op != "FusedBatchNormGradV3":
                continue
            more = {"reserve_space_3": np.float32(0)} if op.endswith("V3") else {}
            for output in [0, 1, 2]:
                yield case_steps([step(op, {**given, **more}, {"is_training": training, "epsilon": 1e-3, **attrs}, name="grad"),
                                  step("Identity", {"input": ref("grad", output)})], rtol=1e-4, atol=1e-4)
    for attrs in [{}, {"depth_radius": 2, "bias": 2.0, "alpha": 0.5, "beta": 0.75}, {"depth_radius": 0, "beta": 1.0}]:
        yield case("LRN", {"input": make((2, 2, 1, 7))}, attrs, **CLOSE)
    yield case("LRN", {"input": make((1, 1, 1, 6), "half")}, {"depth_radius": 2}, **tolerance("half"))
    yield case("LRN", {"input": make((1, 2, 6))}, error=True)


def einsum_cases(make):
    def einsum(equation, *shapes, dtype="float", **options):
        return case("Einsum", {"inputs": [make(x, dtype) for x in shapes]}, {"equation": equation},
                    **({} if options else tolerance(dtype)), **options)

    for equation, *shapes in [
            ("ab,bc->ac", (2, 3), (3, 4)), ("ab,cb->ac", (2, 3), (4, 3)), ("ba,bc->ac", (3, 2), (3, 4)),
            ("ab,bc->ca", (2, 3), (3, 4)), ("abc,cde->abde", (2, 3, 4), (4, 2, 5)), ("abcd,cde->abe", (2, 2, 3, 2), (3, 2, 4)),
            ("aecd,abcd->acbe", (2, 3, 2, 4), (2, 5, 2, 4)), ("acbe,aecd->abcd", (2, 2, 5, 3), (2, 3, 2, 4)),
            ("...ij,...jk->...ik", (2, 3, 4), (2, 4, 5)), ("...ij,...jk->...ik", (2, 1, 3, 4), (3, 4, 5)),
            ("...ij,jk->...ik", (2, 2, 3, 4), (4, 5)), ("...ij,jk...->...ik", (2, 3, 4), (4, 5, 2)),
            ("i,j->ij", (3,), (4,)), ("i,i->", (3,), (3,)), ("ij,->ij", (2, 3), ()), (",->", (), ()), ("ij,ij->ij", (2, 3), (2, 3)),
            ("ij,ij->", (2, 3), (2, 3)), ("ij->ji", (2, 3)), ("ij->", (2, 3)), ("ij->i", (2, 3)), ("ii->i", (3, 3)), ("ii->", (3, 3)),
            ("iij->ij", (2, 2, 3)), ("i->ii", (3,)), ("ij->iji", (2, 3)), ("ijj,jk->ik", (2, 3, 3), (3, 2)), ("abc->cab", (2, 3, 4)),
            ("...->...", (2, 3)), ("...i->...", (2, 3)), ("a...b->b...a", (2, 3, 4, 5)), ("i...i->...i", (3, 2, 3)),
            ("acbe,aecd->abcd", (2, 3, 5, 4), (2, 4, 3, 6)), ("abcd,cd->ab", (2, 3, 4, 5), (4, 5)), ("ab,cab->c", (2, 3), (4, 2, 3)),
            ("abc,adc->adb", (2, 3, 4), (2, 5, 4)), ("bqhd,bkhd->bhqk", (2, 3, 2, 4), (2, 5, 2, 4)), ("bhqk,bkhd->bqhd", (2, 2, 3, 5), (2, 5, 2, 4)),
            ("abc,bad->cd", (2, 3, 4), (3, 2, 5)), ("abz,bc->ac", (2, 3, 4), (3, 2)), ("ab,bcz->ac", (2, 3), (3, 2, 2)),
            ("ab,cd->abcd", (2, 3), (2, 2)), ("ab,bc->ac", (0, 3), (3, 2)), ("ab,bc->ac", (2, 0), (0, 3)),
            ("abc,abd->", (2, 2, 3), (2, 2, 2)), ("Ab,bC->AC", (2, 3), (3, 2)), ("a1->a", (2, 3)), ("...a,...a->...", (3, 2), (3, 2))]:
        yield einsum(equation, *shapes)
    for dtype in ["double", "half", "bfloat16", "int32", "int64", "complex64", "complex128"]:
        yield einsum("abc,acd->abd", (2, 3, 2), (2, 2, 4), dtype=dtype)
        yield einsum("ij->j", (3, 2), dtype=dtype)
    for equation, *shapes in [("ab,bc->ac", (2, 3), (4, 4)), ("ab,bc->ac", (2, 3, 1), (3, 4)), ("ab,bc", (2, 3), (3, 4)),
                              ("ii->i", (2, 3)), ("a,b,c->abc", (2,), (2,)), ("ab->a", (2, 3), (2, 3)),
                              ("...a,...a->...", (3, 2), (2, 2))]:
        yield einsum(equation, *shapes, error=True)


def resize_cases(make):
    modes = [{}, {"align_corners": True}, {"half_pixel_centers": True}]
    sizes = [((1, 4, 4, 1), (7, 7)), ((1, 7, 5, 2), (4, 3)), ((2, 3, 3, 3), (6, 3)), ((1, 5, 4, 1), (1, 1)), ((1, 1, 1, 2), (3, 2)),
             ((1, 2, 6, 1), (5, 13))]
    for op in ["ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea"]:
        for mode, (shape, size) in itertools.product(modes[:2] if op == "ResizeArea" else modes, sizes):
            yield case(op, {"images": make(shape), "size": list(size)}, mode, rtol=1e-5, atol=2e-5)
        for dtype in ["double", "half", "bfloat16", "uint8", "int8", "int16", "uint16", "int32", "int64"]:
            yield case(op, {"images": make((1, 3, 4, 2), dtype), "size": [5, 5]}, rtol=1e-5, atol=2e-5)
        for images, size in [((3, 3, 1), [2, 2]), ((1, 3, 3, 1), [2]), ((1, 3, 3, 1), [[2, 2]]), ((1, 3, 3, 1), [0, 2]),
                             ((1, 3, 3, 1), [-1, 2]), ((1, 0, 3, 1), [2, 2])]:
            yield case(op, {"images": make(images), "size": np.array(size, np.int32)}, error=True)
        yield case(op, {"images": make((0, 3, 3, 1)), "size": [2, 2]})
        if op != "ResizeArea":
            yield case(op, {"images": make((1, 3, 3, 1)), "size": [2, 2]}, {"align_corners": True, "half_pixel_centers": True}, error=True)
    for kernel in ["lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic"]:
        for antialias, (scale, shift) in itertools.product([True, False], [((1.7, 0.6), (0.0, 0.0)), ((0.5, 1.0), (0.3, -0.7))]):
            yield case("ScaleAndTranslate", {"images": make((1, 5, 6, 2)), "size": [4, 5], "scale": list(scale), "translation": list(shift)},
                       {"kernel_type": kernel, "antialias": antialias}, rtol=1e-5, atol=2e-5)
    for kernel, scale in [("other", [1.0, 1.0]), ("box", [0.0, 1.0]), ("box", [-1.0, 1.0]), ("box", [1.0])]:
        yield case("ScaleAndTranslate", {"images": make((1, 3, 3, 1)), "size": [2, 2], "scale": scale, "translation": [0.0, 0.0]},
                   {"kernel_type": kernel}, error=True)
    boxes = np.array([[0, 0, 1, 1], [0.1, 0.2, 0.8, 0.7], [0.9, 0.8, 0.1, 0.0], [-0.5, -0.2, 1.5, 1.2]], np.float32)
    for method, size in itertools.product(["bilinear", "nearest"], [(3, 3), (1, 1), (5, 2)]):
        yield case("CropAndResize", {"image": make((2, 4, 5, 2)), "boxes": boxes, "box_ind": [0, 1, 0, 1], "crop_size": list(size)},
                   {"method": method, "extrapolation_value": -3.0}, **CLOSE)
    for dtype in ["uint8", "int32", "double", "half"]:
        yield case("CropAndResize", {"image": make((1, 4, 4, 1), dtype), "boxes": boxes[:2], "box_ind": [0, 0], "crop_size": [2, 3]}, **CLOSE)
    yield case("CropAndResize", {"image": make((1, 4, 4, 1)), "boxes": np.zeros((0, 4), np.float32), "box_ind": np.zeros((0,), np.int32), "crop_size": [2, 3]})
    for image, b, index, size in [((4, 4, 1), boxes, [0] * 4, [2, 2]), ((1, 4, 4, 1), boxes[:, :3], [0] * 4, [2, 2]), ((1, 4, 4, 1), boxes, [0] * 3, [2, 2]),
                                  ((1, 4, 4, 1), boxes, [1] * 4, [2, 2]), ((1, 4, 4, 1), boxes, [0] * 4, [0, 2]), ((1, 4, 4, 1), boxes, [0] * 4, [2])]:
        yield case("CropAndResize", {"image": make(image), "boxes": b, "box_ind": index, "crop_size": size}, error=True)


def conv_gradient_cases(make):
    def by_input(op, sizes, w, dy, strides, dtype="float", **attrs):
        spatial = len(strides)
        return case(op, {"input_sizes": list(sizes), "filter": make(w, dtype), "out_backprop": make(dy, dtype)},
                    {"strides": [1, *strides, 1], "padding": "SAME", **attrs}, **tolerance(dtype))

    def by_filter(op, x, sizes, dy, strides, dtype="float", **attrs):
        return case(op, {"input": make(x, dtype), "filter_sizes": list(sizes), "out_backprop": make(dy, dtype)},
                    {"strides": [1, *strides, 1], "padding": "SAME", **attrs}, **tolerance(dtype))

    two = [((1, 4, 4, 2), (3, 3, 2, 3), (1, 2, 2, 3), (2, 2), {}), ((2, 5, 6, 3), (2, 3, 3, 4), (2, 5, 6, 4), (1, 1), {}),
           ((1, 5, 5, 2), (3, 3, 2, 3), (1, 2, 2, 3), (2, 2), {"padding": "VALID"}), ((1, 7, 6, 1), (4, 4, 1, 2), (1, 4, 3, 2), (2, 2), {}),
           ((1, 6, 6, 2), (1, 1, 2, 3), (1, 2, 3, 3), (3, 2), {}), ((0, 4, 4, 2), (3, 3, 2, 3), (0, 2, 2, 3), (2, 2), {}),
           ((1, 4, 4, 2), (3, 3, 2, 3), (1, 2, 2, 3), (2, 2), {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 0, 1, 0, 0, 0]})]
    for x, w, dy, strides, attrs in two:
        yield by_input("Conv2DBackpropInput", x, w, dy, strides, **attrs)
        yield by_filter("Conv2DBackpropFilter", x, w, dy, strides, **attrs)
    yield by_input("Conv2DBackpropInput", (4, 4), (3, 3, 2, 3), (1, 2, 2, 3), (2, 2))
    for dtype in ["double", "half", "bfloat16"]:
        yield by_input("Conv2DBackpropInput", (1, 4, 4, 2), (3, 3, 2, 3), (1, 2, 2, 3), (2, 2), dtype)
        yield by_filter("Conv2DBackpropFilter", (1, 4, 4, 2), (3, 3, 2, 3), (1, 2, 2, 3), (2, 2), dtype)
    yield by_input("Conv2DBackpropInput", (1, 4, 4, 2), (3, 3, 2, 3), (1, 2, 2, 3), (2, 2), "int32")
    for x, w, dy, strides, padding in [((1, 4, 4, 4, 2), (3, 3, 3, 2, 3), (1, 2, 2, 2, 3), (2, 2, 2), "SAME"),
                                       ((2, 3, 4, 5, 1), (2, 1, 2, 1, 2), (2, 2, 2, 4, 2), (1, 2, 1), "VALID")]:
        for dtype in ["float", "double"]:
            yield by_input("Conv3DBackpropInputV2", x, w, dy, strides, dtype, padding=padding)
            yield by_filter("Conv3DBackpropFilterV2", x, w, dy, strides, dtype, padding=padding)
    for x, w, dy, s, padding in [((1, 4, 4, 2), (3, 3, 2, 2), (1, 2, 2, 4), 2, "SAME"), ((2, 5, 4, 3), (2, 2, 3, 1), (2, 4, 3, 3), 1, "VALID")]:
        for dtype in ["float", "double"]:
            yield by_input("DepthwiseConv2dNativeBackpropInput", x, w, dy, (s, s), dtype, padding=padding)
            yield by_filter("DepthwiseConv2dNativeBackpropFilter", x, w, dy, (s, s), dtype, padding=padding)
    good = {"input_sizes": [1, 4, 4, 2], "filter": make((3, 3, 2, 3)), "out_backprop": make((1, 2, 2, 3))}
    for changed in [{"out_backprop": make((1, 3, 2, 3))}, {"out_backprop": make((1, 2, 2, 4))}, {"input_sizes": [1, 4, 4]}, {"input_sizes": [1, 4, 4, 3]},
                    {"input_sizes": [2, 4, 4, 2]}, {"input_sizes": [1, -4, 4, 2]}, {"input_sizes": [1, 4, 4, 4]}, {"filter": make((3, 2, 3))},
                    {"out_backprop": make((2, 2, 3))}]:
        yield case("Conv2DBackpropInput", {**good, **changed}, {"strides": [1, 2, 2, 1], "padding": "SAME"}, error=True)


def pool_gradient_cases(make):
    for padding, (x, y, k, s) in itertools.product(["SAME"], [((1, 4, 4, 2), (1, 2, 2, 2), 2, 2), ((2, 5, 4, 3), (2, 3, 2, 3), 3, 2), ((1, 3, 3, 1), (1, 3, 3, 1), 2, 1)]):
        attrs = {"ksize": [1, k, k, 1], "strides": [1, s, s, 1], "padding": padding}
        yield case("AvgPoolGrad", {"orig_input_shape": list(x), "grad": make(y)}, attrs, **CLOSE)
        for dtype in ["float", "double", "int32"]:
            given = make(x, dtype)
            yield case_steps([step("MaxPool", {"input": given}, attrs, name="y"),
                              step("MaxPoolGrad", {"orig_input": given, "orig_output": ref("y"), "grad": make(y, dtype)}, attrs)])
        yield case_steps([step("MaxPool", {"input": given.astype(np.float32)}, attrs, name="y"),
                          step("MaxPoolGradV2", {"orig_input": given.astype(np.float32), "orig_output": ref("y"), "grad": make(y),
                                                 "ksize": [1, k, k, 1], "strides": [1, s, s, 1]}, {"padding": padding})])
    three = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "SAME"}
    yield case("AvgPool3DGrad", {"orig_input_shape": [1, 3, 4, 4, 2], "grad": make((1, 2, 2, 2, 2))}, three, **CLOSE)
    given = make((1, 3, 4, 4, 2))
    yield case_steps([step("MaxPool3D", {"input": given}, three, name="y"),
                      step("MaxPool3DGrad", {"orig_input": given, "orig_output": ref("y"), "grad": make((1, 2, 2, 2, 2))}, three)])
    for rates, strides, padding in itertools.product([(1, 1), (2, 2), (1, 3)], [(1, 1), (2, 1)], ["SAME", "VALID"]):
        yield case("Dilation2D", {"input": make((1, 7, 7, 2)), "filter": make((3, 2, 2))},
                   {"strides": [1, *strides, 1], "rates": [1, *rates, 1], "padding": padding}, **CLOSE)
    one = {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "SAME"}
    for dtype in ["double", "half", "bfloat16", "int32", "uint8", "int8", "int64"]:
        yield case("Dilation2D", {"input": make((1, 3, 4, 2), dtype), "filter": make((2, 2, 2), dtype)}, one)
    for x, f, changed in [((1, 4, 4, 2), (2, 2, 3), {}), ((4, 4, 2), (2, 2, 2), {}), ((1, 4, 4, 2), (2, 2, 2), {"strides": [1, 0, 1, 1]})]:
        yield case("Dilation2D", {"input": make(x), "filter": make(f)}, {**one, **changed}, error=True)


def linalg_cases(make):
    types = ["float", "double", "complex64", "complex128"]
    near = {"float": dict(rtol=1e-4, atol=1e-4), "complex64": dict(rtol=1e-4, atol=1e-4)}

    def close(dtype):
        return near.get(dtype, dict(rtol=1e-9, atol=1e-9))

    def regular(shape, dtype="float"):
        return (make(shape, dtype) + 12 * np.eye(shape[-2], shape[-1])).astype(make(shape, dtype).dtype)

    def definite(shape, dtype):
        a = make(shape, dtype)
        return (a @ np.conj(np.swapaxes(a, -1, -2)) + 3 * np.eye(shape[-1])).astype(a.dtype)

    for dtype in types:
        for shape in [(3, 3), (2, 4, 4), (1, 1), (0, 3, 3), (2, 0, 0)]:
            yield case("MatrixDeterminant", {"input": make(shape, dtype)}, **close(dtype))
            yield case("Cholesky", {"input": definite(shape, dtype)}, **close(dtype))
            yield case("LogMatrixDeterminant", {"input": regular(shape, dtype)}, **close(dtype))
            for adjoint in [False, True]:
                yield case("MatrixInverse", {"input": regular(shape, dtype)}, {"adjoint": adjoint}, **close(dtype))
        for lower, adjoint in itertools.product([False, True], repeat=2):
            yield case("MatrixTriangularSolve", {"matrix": regular((3, 3), dtype), "rhs": make((3, 2), dtype)},
                       {"lower": lower, "adjoint": adjoint}, **close(dtype))
            yield case("MatrixSolve", {"matrix": regular((2, 3, 3), dtype), "rhs": make((2, 3, 2), dtype)}, {"adjoint": adjoint}, **close(dtype))
        yield case("MatrixTriangularSolve", {"matrix": regular((2, 1, 3, 3), dtype), "rhs": make((4, 3, 2), dtype)}, **close(dtype))
        for shape, full in itertools.product([(3, 3), (5, 2), (2, 4), (2, 3, 2)], [False, True]):
            # Singular vectors are free in sign: their product with the values is not.
            yield case("Qr", {"input": make(shape, dtype)}, {"full_matrices": full}, **close(dtype))
            svd = step("Svd", {"input": make(shape, dtype)}, {"full_matrices": full}, name="svd")
            yield case_steps([svd, step("Identity", {"input": ref("svd", 0)})], **close(dtype))
            if not full:
                yield case_steps([svd, step("Einsum", {"inputs": [ref("svd", 1), ref("svd", 0)]}, {"equation": "...ij,...j->...ij"}, name="us"),
                                  step("BatchMatMulV2", {"x": ref("us"), "y": ref("svd", 2)}, {"adj_y": True})], **close(dtype))
            else:
                yield case_steps([svd, step("BatchMatMulV2", {"x": ref("svd", 1), "y": ref("svd", 1)}, {"adj_x": True})], **close(dtype))
        for shape in [(3, 3), (2, 4, 4), (1, 1)]:
            eig = step("SelfAdjointEigV2", {"input": definite(shape, dtype)}, {"compute_v": True}, name="eig")
            yield case_steps([eig, step("Identity", {"input": ref("eig", 0)})], **close(dtype))
            yield case_steps([eig, step("Einsum", {"inputs": [ref("eig", 1), ref("eig", 0)]}, {"equation": "...ij,...j->...ij"}, name="ve"),
                              step("BatchMatMulV2", {"x": ref("ve"), "y": ref("eig", 1)}, {"adj_y": True})], **close(dtype))
        for op, given, attrs in [("SelfAdjointEigV2", definite((3, 3), dtype), {"compute_v": False}), ("Svd", make((3, 4), dtype), {"compute_uv": False})]:
            yield case_steps([step(op, {"input": given}, attrs, name="values"), step("Identity", {"input": ref("values", 0)})], **close(dtype))
    yield case("MatrixTriangularSolve", {"matrix": np.array([[0, 0], [1, 2]], np.float32), "rhs": np.array([[0, 1], [1, 2]], np.float32)})
    rank_one = np.outer([1, 2, 3], [1, -1]).astype(np.float32)
    yield case_steps([step("Svd", {"input": rank_one}, {"full_matrices": True}, name="svd"), step("Identity", {"input": ref("svd", 0)})], **near["float"])
    yield case_steps([step("Svd", {"input": rank_one}, {"full_matrices": True}, name="svd"),
                      step("BatchMatMulV2", {"x": ref("svd", 1), "y": ref("svd", 1)}, {"adj_x": True})], **near["float"])
    for op, inputs in [("MatrixInverse", {"input": np.ones((2, 2), np.float32)}), ("MatrixInverse", {"input": make((2, 3))}),
                       ("MatrixInverse", {"input": make((2,))}), ("MatrixDeterminant", {"input": make((2, 3))}),
                       ("Cholesky", {"input": make((2, 3))}),
                       ("MatrixSolve", {"matrix": regular((3, 3)), "rhs": make((2, 2))}), ("MatrixSolve", {"matrix": np.zeros((2, 2), np.float32), "rhs": make((2, 2))}),
                       ("MatrixSolve", {"matrix": regular((2, 3, 3)), "rhs": make((1, 3, 2))}),
                       ("MatrixTriangularSolve", {"matrix": regular((3, 3)), "rhs": make((2, 2))}), ("Qr", {"input": make((3,))})]:
        yield case(op, inputs, error=True)


def cases(rng):
    make = Maker(rng)
    yield from matmul_cases(make)
    yield from batch_matmul_cases(make)
    yield from conv_cases(make)
    yield from depthwise_cases(make)
    yield from conv3d_cases(make)
    yield from pool_cases(make)
    yield from norm_cases(make)
    yield from einsum_cases(make)
    yield from resize_cases(make)
    yield from conv_gradient_cases(make)
    yield from pool_gradient_cases(make)
    yield from linalg_cases(make)

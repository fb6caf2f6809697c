"""Channels-first convolution and pooling, which TensorFlow runs on the CPU only with oneDNN: record with TF_ENABLE_ONEDNN_OPTS=1."""
import itertools

from cases_nn import CLOSE, Maker
from case import case


def cases(rng):
    make = Maker(rng)
    for padding, (s, d) in itertools.product(["SAME", "VALID"], [((1, 1), (1, 1)), ((2, 1), (1, 1)), ((1, 1), (2, 1))]):
        yield case("Conv2D", {"input": make((2, 3, 6, 5)), "filter": make((3, 2, 3, 4))},
                   {"strides": [1, 1, *s], "dilations": [1, 1, *d], "padding": padding, "data_format": "NCHW"}, **CLOSE)
        if s == (2, 1):
            continue
        yield case("DepthwiseConv2dNative", {"input": make((1, 3, 6, 5)), "filter": make((3, 3, 3, 1))},
                   {"strides": [1, 1, 1, 1], "padding": padding, "data_format": "NCHW"}, **CLOSE)
    yield case("Conv2D", {"input": make((1, 2, 4, 5)), "filter": make((3, 3, 2, 3))},
               {"strides": [1, 1, 1, 1], "padding": "EXPLICIT", "explicit_paddings": [0, 0, 0, 0, 1, 2, 0, 1], "data_format": "NCHW"}, **CLOSE)
    for op, padding in itertools.product(["MaxPool", "AvgPool"], ["SAME", "VALID"]):
        yield case(op, {"value" if op == "AvgPool" else "input": make((2, 3, 5, 4))},
                   {"ksize": [1, 1, 3, 2], "strides": [1, 1, 2, 1], "padding": padding, "data_format": "NCHW"}, **CLOSE)
    yield case("Conv3D", {"input": make((1, 2, 3, 4, 3)), "filter": make((2, 2, 2, 2, 3))},
               {"strides": [1, 1, 1, 1, 1], "padding": "SAME", "data_format": "NCDHW"}, **CLOSE)
    yield case("Conv2DBackpropInput", {"input_sizes": [1, 2, 5, 4], "filter": make((3, 3, 2, 3)), "out_backprop": make((1, 3, 3, 2))},
               {"strides": [1, 1, 2, 2], "padding": "SAME", "data_format": "NCHW"}, **CLOSE)
    yield case("Conv2DBackpropFilter", {"input": make((1, 2, 5, 4)), "filter_sizes": [3, 3, 2, 3], "out_backprop": make((1, 3, 3, 2))},
               {"strides": [1, 1, 2, 2], "padding": "SAME", "data_format": "NCHW"}, **CLOSE)
    for op in ["MaxPool3D", "AvgPool3D"]:
        yield case(op, {"input": make((1, 2, 3, 4, 3))},
                   {"ksize": [1, 1, 2, 2, 2], "strides": [1, 1, 1, 2, 1], "padding": "SAME", "data_format": "NCDHW"}, **CLOSE)

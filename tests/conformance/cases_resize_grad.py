"""Gradients of image resizing."""
import itertools

import numpy as np

from case import array, case


def cases(rng):
    def make(shape, dtype="float"):
        return array(rng.integers(-8, 9, shape) / 2 if dtype in ("float", "double", "half", "bfloat16") else rng.integers(0, 9, shape), dtype)

    modes = [{}, {"align_corners": True}, {"half_pixel_centers": True}]
    sizes = [((4, 4), (7, 7)), ((7, 5), (4, 3)), ((3, 3), (6, 3)), ((5, 4), (1, 1)), ((1, 1), (3, 2))]
    for mode, (original, resized) in itertools.product(modes, sizes):
        yield case("ResizeBilinearGrad", {"grads": make((2, *resized, 3)), "original_image": make((2, *original, 3))}, mode, rtol=1e-5, atol=2e-5)
        yield case("ResizeNearestNeighborGrad", {"grads": make((2, *resized, 3)), "size": list(original)}, mode)
    for dtype in ["double", "half", "bfloat16"]:
        tolerance = {"rtol": 1e-5, "atol": 2e-5} if dtype == "double" else {"rtol": 2e-2, "atol": 5e-2}
        yield case("ResizeBilinearGrad", {"grads": make((1, 5, 5, 2)), "original_image": make((1, 3, 4, 2), dtype)}, **tolerance)
    for dtype in ["double", "half", "uint8", "int8", "int32"]:
        yield case("ResizeNearestNeighborGrad", {"grads": make((1, 5, 5, 2), dtype), "size": [3, 4]})
    for grads, original in [((3, 3, 1), (1, 2, 2, 1)), ((1, 3, 3, 1), (2, 2, 1))]:
        yield case("ResizeBilinearGrad", {"grads": make(grads), "original_image": make(original)}, error=True)
    for grads, size in [((3, 3, 1), [2, 2]), ((1, 3, 3, 1), [2]), ((1, 3, 3, 1), [0, 2]), ((1, 3, 3, 1), [-1, 2])]:
        yield case("ResizeNearestNeighborGrad", {"grads": make(grads), "size": np.array(size, np.int32)}, error=True)

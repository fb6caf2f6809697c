"""Non-maximum suppression, and grey-scale dilation's gradients."""
import numpy as np

from case import array, case

NAN, INF = np.nan, np.inf
f32, i32 = np.float32, np.int32
V3, V4, V5 = "NonMaxSuppressionV3", "NonMaxSuppressionV4", "NonMaxSuppressionV5"


def cases(rng):
    yield from suppression(rng)
    yield from soft(rng)
    yield from given_overlaps(rng)
    yield from refusals()
    yield from dilation_gradients(rng)


def random_boxes(rng, n):
    """Corners in any order, many overlaps."""
    centre, size = rng.uniform(0, 3, [n, 2]), rng.uniform(-1, 1, [n, 2])
    return np.concatenate([centre - size, centre + size], 1).astype(f32)


def suppression(rng):
    for n, most in ((1, 1), (6, 3), (6, 0), (40, 100), (200, 30), (0, 3)):
        boxes, scores = random_boxes(rng, n), rng.normal(size=n).astype(f32)
        base = {"boxes": boxes, "scores": scores, "max_output_size": most}
        for overlap in (0, .3, .5, 1):
            yield case("NonMaxSuppression", base, {"iou_threshold": overlap})
            yield case("NonMaxSuppressionV2", {**base, "iou_threshold": f32(overlap)})
            for score in (-INF, 0, .5):
                limits = {"iou_threshold": f32(overlap), "score_threshold": f32(score)}
                yield case(V3, {**base, **limits})
                for pad in (False, True):
                    yield case(V4, {**base, **limits}, {"pad_to_max_output_size": pad})
                    yield case(V5, {**base, **limits, "soft_nms_sigma": f32(0)}, {"pad_to_max_output_size": pad})
    # Equal scores, boxes without area, one within another, values that are not finite.
    boxes = f32([[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 0, 1], [.25, .25, .75, .75], [0, 1, 1, 2]])
    for scores in ([1] * 6, [1, 2, 3, 4, 5, 6], [NAN, 1, INF, -INF, 1, NAN], [0, 0, -1, -1, 0, 1]):
        for overlap in (0, .25, .5):
            yield case(V3, {"boxes": boxes, "scores": f32(scores), "max_output_size": 6, "iou_threshold": f32(overlap),
                            "score_threshold": f32(-INF)})
    boxes, scores = array(random_boxes(rng, 12), "half"), array(rng.permutation(12) / 8, "half")
    for kind in ("half", "float"):
        limits = {"iou_threshold": array(.4, kind), "score_threshold": array(.25, kind)}
        base = {"boxes": boxes, "scores": scores, "max_output_size": 5}
        yield case("NonMaxSuppressionV2", {**base, "iou_threshold": limits["iou_threshold"]})
        yield case(V3, {**base, **limits})
        yield case(V4, {**base, **limits}, {"pad_to_max_output_size": True})
    yield case(V5, {**base, "iou_threshold": array(.4, "half"), "score_threshold": array(.25, "half"),
                    "soft_nms_sigma": array(.5, "half")}, rtol=2e-3)


def soft(rng):
    for n, most in ((6, 3), (30, 30), (100, 12)):
        boxes, scores = random_boxes(rng, n), rng.uniform(size=n).astype(f32)
        for sigma in (.1, .5, 2):
            for overlap in (0, .3, 1):
                for score in (-INF, 0, .3):
                    yield case(V5, {"boxes": boxes, "scores": scores, "max_output_size": most,
                                    "iou_threshold": f32(overlap), "score_threshold": f32(score),
                                    "soft_nms_sigma": f32(sigma)}, {"pad_to_max_output_size": True})
    # Scores below zero: lowering them towards zero raises them.
    boxes = random_boxes(rng, 10)
    yield case(V5, {"boxes": boxes, "scores": rng.normal(size=10).astype(f32), "max_output_size": 10,
                    "iou_threshold": f32(.5), "score_threshold": f32(-9), "soft_nms_sigma": f32(.5)})


def given_overlaps(rng):
    for n, most in ((1, 1), (8, 4), (30, 40), (0, 2)):
        overlaps = rng.uniform(size=[n, n]).astype(f32)
        for overlap in (0, .5, .9, 2):
            for score in (-INF, 0):
                yield case("NonMaxSuppressionWithOverlaps", {
                    "overlaps": overlaps, "scores": rng.normal(size=n).astype(f32), "max_output_size": most,
                    "overlap_threshold": f32(overlap), "score_threshold": f32(score)})


def refusals():
    good = {"boxes": np.zeros([2, 4], f32), "scores": f32([1, 2]), "max_output_size": 2, "iou_threshold": f32(.5),
            "score_threshold": f32(0)}
    for bad in ({"boxes": np.zeros([2, 3], f32)}, {"boxes": np.zeros([8], f32)}, {"scores": f32([1])},
                {"scores": f32([[1, 2]])}, {"max_output_size": -1}, {"max_output_size": [2]},
                {"iou_threshold": f32(1.5)}, {"iou_threshold": f32(-.5)}, {"iou_threshold": f32(NAN)},
                {"iou_threshold": f32([.5])}, {"score_threshold": f32([0])}):
        yield case(V3, {**good, **bad}, error=True)
        yield case(V4, {**good, **bad}, error=True)
        yield case(V5, {**good, "soft_nms_sigma": f32(0), **bad}, error=True)
    for sigma in (-1, [0]):
        yield case(V5, {**good, "soft_nms_sigma": f32(sigma)}, error=True)
    yield case("NonMaxSuppression", {k: good[k] for k in ("boxes", "scores", "max_output_size")},
               {"iou_threshold": 2.}, error=True)
    good = {"overlaps": np.zeros([2, 2], f32), "scores": f32([1, 2]), "max_output_size": 2,
            "overlap_threshold": f32(.5), "score_threshold": f32(0)}
    for bad in ({"overlaps": np.zeros([2, 3], f32)}, {"overlaps": np.zeros([4], f32)}, {"scores": f32([1])},
                {"max_output_size": [1]}, {"overlap_threshold": f32([1])}, {"score_threshold": f32([1])}):
        yield case("NonMaxSuppressionWithOverlaps", {**good, **bad}, error=True)


def dilation_gradients(rng):
    kinds = ["float", "double", "half", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
    loose = {"half": dict(rtol=4e-3, atol=4e-3), "bfloat16": dict(rtol=3e-2, atol=3e-2)}

    def both(x, f, strides, rates, padding, grad=None, error=False, **tolerance):
        def size(n, k, s, r):
            return -(-n // s) if padding == "SAME" else (n - (k - 1) * r - 1 + s) // s
        if grad is None:
            dims = [size(x.shape[1 + d], f.shape[d], strides[d], rates[d]) for d in range(2)]
            grad = array(rng.integers(1, 5, [x.shape[0], *dims, x.shape[3]]), x.dtype)
        for which in ("Input", "Filter"):
            yield case("Dilation2DBackprop" + which, {"input": x, "filter": f, "out_backprop": grad},
                       {"strides": [1, *strides, 1], "rates": [1, *rates, 1], "padding": padding}, error=error, **tolerance)

    def make(shape, kind="float"):
        return array(rng.integers(0, 9, shape), kind)

    for padding in ("SAME", "VALID"):
        for strides, rates in (((1, 1), (1, 1)), ((2, 1), (1, 2)), ((3, 2), (2, 2))):
            yield from both(rng.normal(size=[2, 7, 8, 3]).astype(f32), rng.normal(size=[3, 2, 3]).astype(f32), strides,
                            rates, padding)
        for kind in kinds:
            yield from both(make((2, 5, 4, 2), kind), make((2, 2, 2), kind), (1, 1), (1, 1), padding,
                            **loose.get(kind, {}))
    # No tap of a window in the image; no sum above the lowest value; nothing at all.
    yield from both(make((1, 1, 1, 2)), make((2, 2, 2)), (1, 1), (2, 2), "SAME")
    yield from both(array(np.zeros([1, 3, 3, 1]), "uint8"), array(np.zeros([2, 2, 1]), "uint8"), (1, 1), (1, 1), "SAME")
    yield from both(np.full([1, 3, 3, 1], NAN, f32), np.zeros([2, 2, 1], f32), (1, 1), (1, 1), "VALID")
    yield from both(make((0, 3, 3, 1)), make((2, 2, 1)), (1, 1), (1, 1), "VALID")
    one = ((1, 1), (1, 1), "VALID")
    yield from both(make((1, 3, 3, 2)), make((2, 2, 2)), *one, grad=make((1, 3, 3, 2)), error=True)
    yield from both(make((1, 3, 3, 2)), make((2, 2, 1)), *one, grad=make((1, 2, 2, 2)), error=True)
    yield from both(make((3, 3, 2)), make((2, 2, 2)), *one, grad=make((1, 2, 2, 2)), error=True)
    yield from both(make((1, 3, 3, 2)), make((1, 2, 2, 2)), *one, grad=make((1, 2, 2, 2)), error=True)
    yield from both(make((1, 2, 2, 2)), make((4, 4, 2)), *one, grad=make((1, 0, 0, 2)), error=True)

"""The gradient of local response normalisation."""
from case import array, case


def cases(rng):
    def lrn_grad(grads, image, output, attrs=None, dtype="float", **options):
        make = lambda shape: array(rng.uniform(-1, 1, shape), dtype)
        return case("LRNGrad", {"input_grads": make(grads), "input_image": make(image), "output_image": make(output)}, attrs or {}, **options)

    shape = (2, 2, 1, 7)
    for attrs in [{}, {"depth_radius": 2, "alpha": 0.5, "beta": 0.75}, {"depth_radius": 1, "bias": 2.0, "beta": 1.0}, {"depth_radius": 0}]:
        yield lrn_grad(shape, shape, shape, attrs, rtol=1e-4, atol=1e-5)
    yield lrn_grad(shape, shape, shape, {"depth_radius": 2}, "half", rtol=5e-2, atol=5e-2)
    yield lrn_grad((2, 2, 1, 0), (2, 2, 1, 0), (2, 2, 1, 0))
    for grads, image, output in [((2, 1, 7), shape, shape), (shape, (2, 1, 7), shape), (shape, shape, (2, 2, 1, 6))]:
        yield lrn_grad(grads, image, output, error=True)

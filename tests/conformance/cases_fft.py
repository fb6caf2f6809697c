"""Fourier transforms."""
import numpy as np

from case import array, case


def cases(rng):
    def real(shape, dtype="float"):
        return array(rng.standard_normal(shape), dtype)

    def values(shape, dtype="complex64"):
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)

    close = {"rtol": 1e-5, "atol": 2e-5}
    # Powers of two, small factors, primes small and large, one, none.
    for n in [1, 2, 3, 5, 8, 12, 13, 17, 30, 37, 41]:
        for op in ["FFT", "IFFT"]:
            yield case(op, {"input": values((2, n))}, **close)
        yield case("RFFT", {"input": real((2, n)), "fft_length": [n]}, **close)
        yield case("IRFFT", {"input": values((2, n // 2 + 1)), "fft_length": [n]}, **close)
    for dtype in ["complex64", "complex128"]:
        for op in ["FFT", "IFFT", "FFT2D", "IFFT2D", "FFT3D", "IFFT3D"]:
            yield case(op, {"input": values((2, 3, 4, 2), dtype)}, **close)
            yield case(op, {"input": values((3, 2, 5), dtype)}, **close)
    for op, n in [("FFT", (0,)), ("IFFT", (2, 0)), ("FFT2D", (0, 3, 2)), ("FFT3D", (2, 3, 0))]:
        yield case(op, {"input": values(n)})
    for dtype, spectrum in [("float", "complex64"), ("double", "complex128")]:
        attrs = {"Treal": dtype, "Tcomplex": spectrum}
        for n in [4, 5, 3]:
            yield case("RFFT", {"input": real((3, 5), dtype), "fft_length": [n]}, attrs, **close, error=n > 5)
            yield case("IRFFT", {"input": values((3, 4), spectrum), "fft_length": [n]}, attrs, **close)
        yield case("RFFT2D", {"input": real((2, 4, 6), dtype), "fft_length": [4, 6]}, attrs, **close)
        yield case("RFFT2D", {"input": real((2, 4, 6), dtype), "fft_length": [3, 5]}, attrs, **close)
        yield case("IRFFT2D", {"input": values((2, 4, 4), spectrum), "fft_length": [4, 6]}, attrs, **close)
        yield case("IRFFT2D", {"input": values((2, 4, 4), spectrum), "fft_length": [3, 5]}, attrs, **close)
        yield case("RFFT3D", {"input": real((2, 3, 4), dtype), "fft_length": [2, 3, 4]}, attrs, **close)
        yield case("IRFFT3D", {"input": values((2, 3, 3), spectrum), "fft_length": [2, 3, 4]}, attrs, **close)
    yield case("FFT2D", {"input": values((3,))}, error=True)
    yield case("RFFT", {"input": real((2, 4)), "fft_length": [5]}, error=True)
    yield case("RFFT", {"input": real((2, 4)), "fft_length": [-1]}, error=True)
    yield case("RFFT", {"input": real((2, 4)), "fft_length": [2, 2]}, error=True)
    yield case("IRFFT", {"input": values((2, 3)), "fft_length": [7]}, error=True)

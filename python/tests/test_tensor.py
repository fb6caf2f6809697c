import numpy as np
import pytest
import tare

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (40, 50, 2)])
def test_arrays_there_and_back(dtype, shape):
    a = np.random.default_rng(1).integers(0, 2, shape).astype(dtype)
    t = tare.tensor(a)
    assert t.dtype == dtype and t.shape == shape
    b = t.numpy()
    assert b.dtype == a.dtype
    np.testing.assert_array_equal(a, b)
    assert t.tolist() == a.tolist()
    np.testing.assert_array_equal(np.asarray(t), a)


def test_contiguous_arrays_are_shared_and_others_copied():
    a = np.arange(10000, dtype=np.float32)
    t = tare.tensor(a)
    assert np.shares_memory(t.numpy(), a) and not t.numpy().flags.writeable
    strided = np.arange(20000, dtype=np.float32)[::2]
    np.testing.assert_array_equal(tare.tensor(strided).numpy(), strided)
    fortran = np.asfortranarray(np.arange(6000.0).reshape(60, 100))
    np.testing.assert_array_equal(tare.tensor(fortran).numpy(), fortran)


def test_shared_arrays_live_and_go_with_their_tensor():
    import sys
    a = np.arange(10000, dtype=np.float32)
    refs = sys.getrefcount(a)
    t = tare.tensor(a)
    view = t.numpy()
    assert sys.getrefcount(a) > refs
    del t
    assert view[9] == 9
    del view
    assert sys.getrefcount(a) == refs


@pytest.mark.parametrize("value, dtype", [
    (True, "bool"), (1, "int32"), (2 ** 40, "int64"), (1.5, "float32"), (1j, "complex128"), ("x", "string"),
    ([1, 2.5], "float32"), ([], "float32"), ([b"x"], "string"), ([np.float64(1)], "float32"), (np.int16(3), "int16"),
])
def test_python_values_as_tensorflow_infers_them(value, dtype):
    assert tare.tensor(value).dtype == dtype


@pytest.mark.parametrize("value, dtype", [(1.5, "int32"), (True, "int32"), (1, "bool"), (300, "uint8"), (-1, "uint32"),
                                          ("x", "float32"), (1, "string"), (None, "float32"), ([[1], 2], "int32")])
def test_values_that_do_not_fit(value, dtype):
    with pytest.raises((TypeError, ValueError)):
        tare.tensor(value, dtype)


def test_strings():
    t = tare.tensor([["a", "über"], [b"\0\xff", ""]])
    assert t.tolist() == [[b"a", "über".encode()], [b"\0\xff", b""]]
    assert t.numpy().dtype == object and t.numpy()[1, 0] == b"\0\xff"
    assert tare.tensor("x").numpy() == b"x"


def test_bfloat16():
    t = tare.ops.cast([1.5, -2.0], DstT="bfloat16")
    assert t.tolist() == [1.5, -2.0]
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert t.numpy().dtype == ml_dtypes.bfloat16
    assert tare.tensor(np.ones(3000, ml_dtypes.bfloat16)).dtype == "bfloat16"


def test_dlpack():
    t = tare.tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    np.testing.assert_array_equal(np.from_dlpack(t), t.numpy())

    class Foreign:  # only DLPack
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **kwargs):
            return self.array.__dlpack__()

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    np.testing.assert_array_equal(tare.tensor(Foreign(np.arange(5))).numpy(), np.arange(5))


def test_scalars_are_numbers():
    t = tare.tensor(2.5)
    assert float(t) == 2.5 and int(t) == 2 and bool(t) and t.item() == 2.5 and isinstance(t.numpy(), np.float32)
    assert len(tare.tensor([1, 2])) == 2 and tare.tensor([1, 2])[1] == 2
    with pytest.raises(TypeError):
        len(t)

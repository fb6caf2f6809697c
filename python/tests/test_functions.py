"""tf.functions of the object graph, by their saved structures."""
import numpy as np
import pytest
import tare
from tare import structure

from test_corpus import decode, listed


def load(data, name):
    return tare.load(data / "corpus" / name)


def test_a_function_and_its_errors(data):
    with load(data, "m_no_signature_callable_only") as m:
        assert m.f([1.0, 2.0, 3.0]).tolist() == m.f(x=np.float32([1, 2, 3])).tolist() == [3.0, 6.0, 9.0]
        assert "x: float32 [None]" in repr(m.f)
        for bad in (("x",), (np.ones((2, 2), np.float32),), (), (1.0, 2.0), (None,)):
            with pytest.raises(TypeError, match="Could not find matching concrete function"):
                m.f(*bad)
        with pytest.raises(AttributeError):
            m.nothing
        with pytest.raises(TypeError, match="without a __call__"):
            m(1)
        f = m.f
    with pytest.raises(tare.errors.FailedPreconditionError):
        f([1.0])


def test_a_keras_model_is_called_with_defaults_and_literals(data):
    with load(data, "k2_mlp_trained") as m:
        x = np.random.default_rng(0).random((3, 8), np.float32)
        want, = m.signatures["serving_default"](x).values()
        for y in (m(x), m(x, False), m(x, training=False, mask=None), m(tare.tensor(x))):
            np.testing.assert_allclose(y.numpy(), want.numpy(), rtol=1e-6)
        with pytest.raises(TypeError, match="bogus"):
            m(x, bogus=1)
        assert "layers" in dir(m.keras_api)


def test_state_is_shared_with_signatures(data):
    with load(data, "m_multi_sig_state") as m:
        count = m.signatures["count"]
        first = {k: v.tolist() for k, v in count(**{k: np.ones([d or 1 for d in s.shape], s.dtype.as_numpy_dtype)
                                                    for k, s in count.inputs.items()}).items()}
        again = m.fn_count(**{k: np.ones([d or 1 for d in s.shape], s.dtype.as_numpy_dtype)
                              for k, s in count.inputs.items()})
        assert {k: v.tolist() for k, v in again.items()} != first


@pytest.mark.parametrize("name", [n for n in listed() if n.startswith("m_")])
def test_functions_answer_as_their_signatures(name, data):
    for path in sorted((data / "golden" / name).glob("*.npz")):
        key = path.stem.rsplit(".", 1)[0]
        with load(data, name) as m, np.load(path) as file:
            function = getattr(m, f"fn_{key}", None)
            if function is None or name in ("m_multi_sig_state", "m_lookup_tables", "m_resource_scatter",
                                            "m_assert_print_ctrl"):
                continue  # with state, answers depend on the calls before
            arrays = decode(file)
            specs = m.signatures[key].inputs
            inputs = {k[3:]: v if specs[k[3:]].dtype == "string" else v.astype(specs[k[3:]].dtype.as_numpy_dtype)
                      for k, v in arrays.items() if k.startswith("in/")}
            outputs = function(**inputs)
            if not isinstance(outputs, dict):
                continue
            for k, t in outputs.items():
                want = arrays["out/" + k]
                if want.dtype.kind in "fc":
                    loose = 2e-2 if t.dtype in ("bfloat16", "float16") else 1e-5
                    np.testing.assert_allclose(np.array(t.tolist()).reshape(t.shape), want, rtol=loose, atol=loose)
                else:
                    np.testing.assert_array_equal(np.asarray(t), want)


def test_cycles_of_functions_leave_nothing(data, assert_flat):
    x = np.ones((2, 8), np.float32)

    def cycle():
        m = load(data, "k2_mlp_trained")
        m(x)
        with pytest.raises(TypeError):
            m("x")
        del m
    assert_flat(cycle)


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def message(tag, payload):
    return varint(tag << 3 | 2) + varint(len(payload)) + payload


def test_structures():
    number, text = b"\x60\x05", message(13, b"x")
    assert structure.parse(number) == -3 and structure.parse(text) == "x" and structure.parse(b"") is None
    assert structure.parse(message(52, message(1, number) + message(1, text))) == (-3, "x")
    deep = number
    for _ in range(100):
        deep = message(51, message(1, deep))
    for bad in (deep, b"\xff" * 20, b"\x6a\x7f", message(51, b"\x0a")):
        with pytest.raises(ValueError):
            structure.parse(bad)
    spec = tare.TensorSpec((None,), tare.dtypes.float32, "x")
    flat = []
    assert structure.flatten({"b": spec, "a": [spec]}, {"a": [1], "b": 2}, "v", False, flat) is None
    assert [v for _, v, _ in flat] == [1, 2]
    assert structure.pack({"b": spec, "a": (spec,)}, iter([1, 2])) == {"b": 2, "a": (1,)}

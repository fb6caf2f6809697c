import gc
import weakref

import numpy as np
import pytest
import tare


@pytest.fixture
def model(demo):
    with tare.load(demo) as m:
        yield m


@pytest.fixture
def classify(model):
    return model.signatures["serving_default"]


def test_inputs_of_every_sort_agree(classify):
    want = classify(text=["heavy rain"])["output_0"].numpy()
    for value in (["heavy rain"], [b"heavy rain"], ("heavy rain",), np.array(["heavy rain"]),
                  np.array([b"heavy rain"]), np.array(["heavy rain"], object), tare.tensor(["heavy rain"])):
        np.testing.assert_array_equal(classify(text=value)["output_0"].numpy(), want)
    np.testing.assert_array_equal(classify(["heavy rain"])["output_0"].numpy(), want)


@pytest.mark.parametrize("args, kwargs, error, text", [
    ([], {}, ValueError, "'text' is missing"),
    ([], {"foo": 1}, TypeError, "no input 'foo'"),
    ([], {"text": [1]}, TypeError, "'text' is string"),
    ([], {"text": np.zeros(3)}, TypeError, "'text' is an array of float64, expected string"),
    ([], {"text": [["a"], ["b", "c"]]}, ValueError, "differ in length"),
    ([], {"text": "a scalar"}, ValueError, "'text'"),
    ([["a"], ["b"]], {}, TypeError, "keyword"),
    ([["a"]], {"text": ["a"]}, TypeError, "no further input"),
])
def test_errors_name_the_input(classify, args, kwargs, error, text):
    with pytest.raises(error, match=text):
        classify(*args, **kwargs)


def test_unload_gives_a_receipt_and_ends_calls(demo):
    m = tare.load(demo)
    s = m.signatures["serving_default"]
    s(text=["x"])
    receipt = m.unload()
    assert receipt.total_held == 0 and receipt.total_charged > 0 and "weights" in receipt.charged
    assert receipt.dict()["model"] == demo and "returned" in str(receipt)
    assert m.unload().dict() == receipt.dict()
    assert "unloaded" in repr(m) and not m.loaded
    with pytest.raises(tare.errors.FailedPreconditionError):
        s(text=["x"])
    with pytest.raises(RuntimeError):
        m.variables[0] if m.variables else s(text=["x"])


def test_outputs_outlive_the_model(demo):
    m = tare.load(demo)
    out = m.signatures["serving_default"](text=["x"])["output_0"]
    array, before = out.numpy(), out.tolist()
    assert m.unload().held == {"caller": 64}
    assert array.tolist() == before == out.tolist()
    del out
    assert array.tolist() == before


def test_the_last_reference_unloads(demo):
    before = tare.memory().total
    m = tare.load(demo)
    s, gone = m.signatures["serving_default"], weakref.ref(m)
    del m
    assert gone() is None
    assert s(text=["x"])
    del s
    gc.collect()
    assert tare.memory().total == before and not tare.memory().models


def test_what_a_model_tells(model, demo):
    assert "serving_default" in repr(model) and model.path == demo
    s = model.signatures["serving_default"]
    assert s.inputs["text"].dtype == "string" and s.inputs["text"].shape == (None,)
    names = [v.name for v in model.variables]
    assert "sequential/dense/bias" in names
    assert model.variables[0].numpy().shape == model.variables[0].shape
    assert model.memory()["plans"] > 0 and demo in str(tare.memory())


def test_missing_models(tmp_path):
    with pytest.raises(OSError):
        tare.load(tmp_path)
    with pytest.raises(tare.errors.NotFoundError):
        tare.load("/nope")
    with pytest.raises(ValueError):
        tare.load("/nope", files="other")


def test_variables_are_all_of_the_object_graph(data):
    with tare.load(data / "corpus" / "k2_mlp_trained") as m:
        found = m.variables
        assert len({id(v) for v in found}) == len(found) > 4  # layers' weights and the optimizer's
        before = tare.memory().total
        for v in found:
            assert v.numpy().shape == tuple(v.shape) and v.value().dtype == v.dtype
        assert len(m.variables) == len(found) and tare.memory().total >= before
        one = found[0]
    with pytest.raises(tare.errors.FailedPreconditionError):
        one.numpy()


def test_variables_leave_nothing(data, assert_flat):
    def cycle():
        with tare.load(data / "corpus" / "k2_mlp_trained") as m:
            [v.numpy() for v in m.variables]
    assert_flat(cycle, cycles=25)


@pytest.fixture
def limit():
    yield tare.set_memory_limit
    tare.set_memory_limit(None)


def test_a_memory_limit_stops_loads_and_runs(demo, limit):
    gc.collect()
    limit(1)
    with pytest.raises(tare.errors.ResourceExhaustedError, match="the files of .* more, the limit is 1"):
        tare.load(demo)  # and what earlier tests left for reuse is given back
    limit(None)
    base = tare.memory().total
    with tare.load(demo) as m:
        size = tare.memory().total - base
        call = m.signatures["serving_default"]
        want = call(text=["rain"])["output_0"].numpy()
        limit(base + size * 3 // 2)
        for _ in range(3):
            with pytest.raises(tare.errors.ResourceExhaustedError, match=r"memory limit: \d+ bytes are held .* the limit is"):
                tare.load(demo)
        np.testing.assert_array_equal(call(text=["rain"])["output_0"].numpy(), want)
        with pytest.raises(MemoryError, match="tensors need .* more"):
            call(text=["rain"] * (size // 8))  # its input is too large
        np.testing.assert_array_equal(call(text=["rain"])["output_0"].numpy(), want)
        limit(1)
        with pytest.raises(tare.errors.ResourceExhaustedError, match="before a run"):
            call(text=["rain"])
        limit(None)
        np.testing.assert_array_equal(call(text=["rain"])["output_0"].numpy(), want)
    del want  # an output shares its bytes
    gc.collect()
    assert tare.memory().total == base
    for bad in (0, -1):
        with pytest.raises(ValueError):
            limit(bad)


def test_a_memory_limit_counts_outputs(data, limit, assert_flat):
    x = np.ones((50_000, 8), np.float32)  # shared, so not Tare's
    with tare.load(data / "corpus" / "k2_mlp_trained") as m:
        call = m.signatures["serving_default"]
        call(x)
        limit(1 << 30)
        kept = call(x)
        now = tare.memory()
        limit(now.total - now.kinds.get("pooled", 0))  # cached kernels stay

        def refused():
            with pytest.raises(tare.errors.ResourceExhaustedError, match="tensors need .* more"):
                call(x)
        assert_flat(refused, cycles=15)
        del kept
        limit(now.total + (16 << 20))  # what the layers between take, too
        call(x)


def test_a_memory_limit_holds_while_a_run_lasts(limit):
    big = (1 << 20,)
    tare.ops.fill(big, np.float32(1))
    limit(tare.memory().total + (6 << 20))
    tare.ops.fill(big, np.float32(1))  # 4 MiB
    with pytest.raises(tare.errors.ResourceExhaustedError, match="tensors need .* more, the limit"):
        tare.ops.sum(tare.ops.fill((1 << 22,), np.float32(1)), np.int32(0))  # 16 MiB, and 4 bytes are left of it
    tare.ops.fill(big, np.float32(1))


def test_refused_loads_leave_nothing(demo, limit, assert_flat):
    limit(1)

    def cycle():
        with pytest.raises(tare.errors.ResourceExhaustedError):
            tare.load(demo)
    assert_flat(cycle, cycles=25)

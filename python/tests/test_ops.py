import numpy as np
import pytest
import tare


def test_eager_ops():
    assert tare.ops.add_v2([1, 2], 3).tolist() == [4, 5]
    assert tare.ops.add_v2(np.float64(1), [2, 3]).dtype == "float64"
    assert tare.ops.mat_mul([[1.0, 2.0]], [[3.0, 4.0]], transpose_b=True).tolist() == [[11.0]]
    assert [t.tolist() for t in tare.ops.split(0, [1.0, 2.0], num_split=2)] == [[1.0], [2.0]]
    top = tare.ops.top_kv2([3.0, 1.0, 2.0], k=2)
    assert top.values.tolist() == [3.0, 2.0] and top.indices.tolist() == [0, 2]
    assert tare.ops.concat_v2([[1], [2, 3]], 0).tolist() == [1, 2, 3]
    assert tare.ops.string_join(["a", "b"], separator="-").numpy() == b"a-b"
    assert "strides" in tare.ops.conv2d.__doc__ and "add_v2" in dir(tare.ops)


def test_op_errors():
    with pytest.raises(AttributeError):
        tare.ops.no_such_op
    with pytest.raises(TypeError, match="lacks the inputs y"):
        tare.ops.add_v2(1)
    with pytest.raises(TypeError, match="no attribute"):
        tare.ops.add_v2(1, 2, foo=3)
    with pytest.raises(tare.errors.InvalidArgumentError, match="Incompatible shapes"):
        tare.ops.add_v2([1, 2], [1, 2, 3])


def test_kernel_cache_and_memory():
    cache = tare.kernel_cache()
    cache.clear()
    tare.ops.add_v2(1, 2)
    tare.ops.add_v2(3, 4)
    assert cache.stats()["entries"] == 1 and cache.stats()["hits"] >= 1
    assert "AddV2" in {row["op"] for row in cache.report() if row["entries"]}
    limit = cache.limit
    cache.limit = 5
    assert cache.limit == (5, limit[1]) and "lru" in cache.policy
    cache.limit = limit
    cache.clear()
    assert cache.stats()["entries"] == 0
    assert tare.memory().total >= 0 and tare.memory().dict()["kinds"] is not None


def test_seed():
    def draw():
        return tare.ops.random_uniform([4], dtype="float32").tolist()
    tare.set_seed(7)
    first = draw()
    tare.set_seed(7)
    assert draw() == first != draw()


def test_tf_compat(demo):
    import tare.tf_compat as tf
    from tare.tf_compat.python import pywrap_tfe
    from tare.tf_compat.python.eager import context
    model = tf.saved_model.load(demo)
    scores = model.signatures["serving_default"](text=tf.constant(["rain"]))["output_0"]
    assert scores.numpy().shape == (1, 3) and scores.dtype == tf.float32
    del model
    tf.keras.backend.clear_session()
    pywrap_tfe.TFE_ContextClearCaches(context.context()._handle)
    assert tf.convert_to_tensor([1, 2], dtype=tf.int64).numpy().tolist() == [1, 2]
    assert tf.constant(0.5, shape=[2]).numpy().tolist() == [0.5, 0.5]
    assert tf.raw_ops.AddV2(x=1, y=2).numpy() == 3
    with pytest.raises(AttributeError, match="docs/python.md"):
        tf.function

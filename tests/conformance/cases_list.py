"""Tensor lists: sequences of list ops that end in something to read."""
import numpy as np
import tensorflow as tf
from case import Ref, case_steps, ref, step

F = np.float32
ANY = np.int32(-1)
# Begins the steps of a case whose last step TensorFlow refuses.
FAIL = object()
FAILS = [FAIL]


def i32(*v):
  return np.array(v, np.int32)


def scalar(v, dtype=np.int32):
  return np.array(v, dtype)


def reserve(shape, n, dtype=tf.float32, name="l"):
  return step("TensorListReserve", {"element_shape": np.asarray(shape), "num_elements": scalar(n)},
              {"element_dtype": dtype}, name=name)


def empty(shape, dtype=tf.float32, most=-1, name="l"):
  return step("EmptyTensorList", {"element_shape": np.asarray(shape), "max_num_elements": scalar(most)},
              {"element_dtype": dtype}, name=name)


def from_tensor(value, shape=ANY, name="l"):
  return step("TensorListFromTensor", {"tensor": value, "element_shape": np.asarray(shape)}, {}, name=name)


def set_item(index, item, name="l", to="l", **attrs):
  return step("TensorListSetItem", {"input_handle": ref(name), "index": scalar(index), "item": item}, attrs, name=to)


def push(item, name="l", to="l"):
  return step("TensorListPushBack", {"input_handle": ref(name), "tensor": item}, {}, name=to)


def get(index, shape=ANY, dtype=tf.float32, name="l"):
  return step("TensorListGetItem", {"input_handle": ref(name), "index": scalar(index), "element_shape": np.asarray(shape)},
              {"element_dtype": dtype})


def stack(shape=ANY, dtype=tf.float32, n=-1, name="l"):
  return step("TensorListStack", {"input_handle": ref(name), "element_shape": np.asarray(shape)},
              {"element_dtype": dtype, "num_elements": n})


def length(name="l"):
  return step("TensorListLength", {"input_handle": ref(name)})


def element_shape(dtype=tf.int32, name="l"):
  return step("TensorListElementShape", {"input_handle": ref(name)}, {"shape_type": dtype})


def resize(n, name="l", to="l"):
  return step("TensorListResize", {"input_handle": ref(name), "size": scalar(n)}, {}, name=to)


def gather(indices, shape=ANY, dtype=tf.float32, name="l"):
  return step("TensorListGather", {"input_handle": ref(name), "indices": indices, "element_shape": np.asarray(shape)},
              {"element_dtype": dtype})


def pop(shape=ANY, dtype=tf.float32, name="l", to="p"):
  return step("TensorListPopBack", {"input_handle": ref(name), "element_shape": np.asarray(shape)},
              {"element_dtype": dtype}, name=to)


def concat_v2(shape, leading=(), dtype=tf.float32, name="l"):
  return step("TensorListConcatV2", {"input_handle": ref(name), "element_shape": np.asarray(shape),
                                     "leading_dims": np.array(leading, np.int64)}, {"element_dtype": dtype})


def split(value, shape, lengths, name="l"):
  return step("TensorListSplit", {"tensor": value, "element_shape": np.asarray(shape),
                                  "lengths": np.array(lengths, np.int64)}, {}, name=name)


def values(dtype, *shape):
  n = int(np.prod(shape))
  if dtype == tf.string:
    return np.array(["s%d" % i for i in range(n)], object).reshape(shape)
  return np.arange(n).astype(dtype.as_numpy_dtype).reshape(shape)


def making():
  yield [reserve(ANY, 3), length()]
  yield [reserve(i32(2), 0), length()]
  yield FAILS + [reserve(i32(2), -1)]
  yield [reserve(i32(2, -1), 2), element_shape()]
  yield [reserve(np.array([2, -1], np.int64), 2), element_shape(tf.int64)]
  yield [reserve(ANY, 2), element_shape()]
  yield [reserve(np.array([], np.int32), 2), element_shape()]
  yield FAILS + [reserve(scalar(3), 2)]
  yield FAILS + [reserve(i32(-2), 2)]
  yield FAILS + [reserve(np.zeros((1, 1), np.int32), 2)]
  yield [reserve(i32(2), 2), stack()]
  yield FAILS + [reserve(ANY, 2), stack()]
  yield [reserve(ANY, 2), stack(i32(3))]
  yield FAILS + [reserve(i32(-1), 0), stack()]
  yield [reserve(i32(-1), 0), stack(i32(4))]
  yield FAILS + [reserve(i32(2), 2), stack(i32(3))]
  yield FAILS + [reserve(i32(2), 2), stack(i32(2), dtype=tf.int32)]
  yield FAILS + [reserve(i32(2), 2), stack(i32(2), n=3)]
  yield [reserve(i32(2), 2), stack(i32(2), n=2)]
  yield [empty(ANY), length()]
  yield [empty(i32(2)), stack(i32(2))]
  yield FAILS + [empty(i32(2)), stack(i32(2, 2))]
  yield FAILS + [empty(ANY), stack()]
  yield [empty(i32(1), most=2), push(np.ones(1, F)), push(np.ones(1, F)), length()]
  yield FAILS + [empty(i32(1), most=1), push(np.ones(1, F)), push(np.ones(1, F))]
  yield FAILS + [empty(i32(1), most=0), push(np.ones(1, F))]


def setting():
  for dtype in (tf.float32, tf.float64, tf.float16, tf.bfloat16, tf.int8, tf.int64, tf.bool, tf.complex64, tf.string):
    yield [reserve(i32(2), 2, dtype), set_item(1, values(dtype, 2)), stack(i32(2), dtype)]
    yield [from_tensor(values(dtype, 3, 2)), get(1, dtype=dtype)]
  yield FAILS + [reserve(i32(2), 2), set_item(0, np.ones(3, F))]
  yield FAILS + [reserve(i32(2), 2), set_item(0, np.ones(2, np.int32))]
  yield FAILS + [reserve(i32(2), 2), set_item(2, np.ones(2, F))]
  yield FAILS + [reserve(i32(2), 2), set_item(-1, np.ones(2, F))]
  yield [reserve(i32(2), 2), set_item(4, np.ones(2, F), resize_if_index_out_of_bounds=True), stack()]
  yield FAILS + [reserve(ANY, 2), set_item(0, np.ones(2, F)), set_item(1, np.ones(3, F)), stack()]
  yield [reserve(ANY, 2), set_item(0, np.ones(2, F)), stack()]
  yield FAILS + [reserve(ANY, 2), set_item(0, np.ones(2, F)), set_item(1, np.ones(3, F)), stack(i32(2))]
  yield FAILS + [reserve(ANY, 2), set_item(0, np.ones(2, F)), stack(i32(3))]
  yield FAILS + [reserve(ANY, 2), set_item(0, np.ones(2, F)), gather(i32(0), i32(3))]
  yield [reserve(i32(-1), 2), set_item(0, np.ones(2, F)), stack(i32(-1))]
  # The first list is a value: what is set in the second must not show in it.
  yield [reserve(i32(2), 2), set_item(0, np.ones(2, F), to="a"), set_item(0, np.full(2, 5, F), name="a", to="b"),
         stack(name="a")]
  yield [reserve(i32(2), 2), set_item(0, np.ones(2, F), to="a"), set_item(0, np.full(2, 5, F), name="a", to="b"),
         stack(name="b")]
  yield FAILS + [reserve(i32(2), 3), get(3)]
  yield FAILS + [reserve(i32(2), 3), get(-1)]
  yield [reserve(i32(2), 3), get(2)]
  yield FAILS + [reserve(i32(2), 3), get(2, i32(3))]
  yield [reserve(ANY, 3), get(2, i32(3))]
  yield FAILS + [reserve(ANY, 3), get(2)]
  yield FAILS + [reserve(i32(-1), 3), get(2)]
  yield [reserve(i32(-1), 3), set_item(0, np.ones(2, F)), get(2)]
  yield FAILS + [reserve(i32(-1), 3), set_item(0, np.ones(2, F)), set_item(1, np.ones(3, F)), get(2)]
  yield [reserve(i32(2), 3), set_item(0, np.ones(2, F)), get(0, i32(3))]
  yield FAILS + [reserve(i32(2), 3), set_item(0, np.ones(2, F)), get(0, dtype=tf.int32)]
  yield [reserve(i32(2), 3), set_item(0, np.ones(2, F)), get(0, np.array([-1], np.int64))]


def pushing():
  yield [empty(i32(2)), push(np.ones(2, F)), push(np.zeros(2, F)), stack()]
  yield FAILS + [empty(i32(2)), push(np.ones(3, F))]
  yield FAILS + [empty(i32(2)), push(np.ones(2, np.int32))]
  yield [empty(ANY), push(np.ones(2, F)), push(np.ones(3, F)), length()]
  yield [empty(ANY), push(np.ones(2, F)), push(np.ones(3, F)), get(1)]
  yield [empty(ANY, tf.string), push(np.array(b"x", object)), push(np.array(b"yy", object)), stack(dtype=tf.string)]
  yield [empty(i32(2)), push(np.ones(2, F)), push(np.zeros(2, F), to="b"), length()]
  yield FAILS + [empty(i32(2)), pop()]
  yield [empty(i32(2)), push(np.ones(2, F)), pop(), length("p")]
  yield [from_tensor(values(tf.float32, 3, 2)), pop(), stack(name="p")]
  yield [from_tensor(values(tf.float32, 3, 2)), pop(), step("Identity", {"input": ref("p", 1)})]
  yield [from_tensor(values(tf.float32, 3, 2)), pop(), length()]
  yield [reserve(i32(2), 2), pop(), step("Identity", {"input": ref("p", 1)})]
  yield [reserve(ANY, 2), pop(i32(3)), step("Identity", {"input": ref("p", 1)})]
  yield FAILS + [reserve(ANY, 2), pop()]
  yield [from_tensor(values(tf.float32, 3, 2)), pop(i32(3)), length("p")]
  yield FAILS + [from_tensor(values(tf.float32, 3, 2)), pop(dtype=tf.int32)]
  batch = lambda t: step("TensorListPushBackBatch", {"input_handles": ref("h"), "tensor": t}, {}, name="b")
  pack = step("Pack", {"values": [ref("x"), ref("y")]}, {"axis": 0}, name="h")
  unpack = step("Unpack", {"value": ref("b")}, {"num": 2, "axis": 0}, name="u")
  yield [empty(i32(2), name="x"), empty(i32(2), name="y"), pack, batch(values(tf.float32, 2, 2)), unpack,
         step("TensorListStack", {"input_handle": ref("u", 1), "element_shape": i32(2)}, {"element_dtype": tf.float32})]
  yield FAILS + [empty(i32(2), name="x"), empty(i32(2), name="y"), pack, batch(values(tf.float32, 3, 2))]
  yield FAILS + [empty(i32(2), name="x"), empty(i32(2), name="y"), pack, batch(values(tf.float32, 2, 3))]
  yield FAILS + [empty(i32(2), name="x"), empty(i32(2), name="y"), pack, batch(scalar(1, F))]


def resizing():
  t = values(tf.float32, 3, 2)
  yield [from_tensor(t, i32(2)), resize(5), stack()]
  yield [from_tensor(t, i32(2)), resize(2), stack()]
  yield [from_tensor(t, i32(2)), resize(0), length()]
  yield FAILS + [from_tensor(t, i32(2)), resize(-1)]
  yield [from_tensor(t, i32(2)), resize(1, to="b"), length()]


def whole():
  t = values(tf.float32, 3, 2)
  yield [from_tensor(t, i32(2)), stack()]
  yield [from_tensor(t, i32(-1)), element_shape()]
  yield [from_tensor(t, ANY), element_shape()]
  yield FAILS + [from_tensor(t, i32(3))]
  yield FAILS + [from_tensor(scalar(1, F))]
  yield [from_tensor(np.zeros((0, 2), F), i32(2)), stack()]
  yield [from_tensor(np.zeros((2, 0), F)), stack()]
  yield [from_tensor(values(tf.float32, 3)), stack()]
  yield [from_tensor(values(tf.string, 3, 2)), stack(dtype=tf.string)]
  yield [from_tensor(t), stack(i32(2), n=3)]
  yield FAILS + [from_tensor(t), stack(i32(2), n=2)]
  yield FAILS + [from_tensor(t), stack(i32(3))]
  yield [from_tensor(t), gather(i32(2, 0, 2))]
  yield FAILS + [from_tensor(t), gather(i32(3))]
  yield FAILS + [from_tensor(t), gather(i32(-1))]
  yield [from_tensor(t), gather(np.zeros(0, np.int32), i32(2))]
  yield FAILS + [from_tensor(t), gather(np.zeros(0, np.int32))]
  yield [from_tensor(t), gather(scalar(1))]
  yield [from_tensor(t), gather(np.array([[0, 1]], np.int32))]
  yield [reserve(i32(2), 2), set_item(0, np.ones(2, F)), gather(i32(0, 1, 0))]
  yield FAILS + [reserve(ANY, 2), gather(i32(0))]
  yield [reserve(ANY, 2), set_item(0, np.ones(2, F)), gather(i32(0, 1))]
  yield FAILS + [reserve(ANY, 2), set_item(0, np.ones(2, F)), set_item(1, np.ones(3, F)), gather(i32(0, 1))]
  yield [from_tensor(values(tf.int64, 3)), gather(i32(1, 1), dtype=tf.int64)]
  yield [from_tensor(values(tf.string, 3)), gather(i32(2, 1), dtype=tf.string)]
  yield FAILS + [from_tensor(t), gather(i32(0), dtype=tf.int32)]
  yield [from_tensor(t, name="x"), from_tensor(t + 10, name="y"),
         step("TensorListConcatLists", {"input_a": ref("x"), "input_b": ref("y")}, {"element_dtype": tf.float32}, name="l"),
         stack()]
  yield [from_tensor(t, name="x"), from_tensor(t + 10, name="y"),
         step("TensorListConcatLists", {"input_a": ref("x"), "input_b": ref("y")}, {"element_dtype": tf.float32}, name="l"),
         length("x")]
  yield FAILS + [from_tensor(t, name="x"), from_tensor(values(tf.int32, 2), name="y"),
         step("TensorListConcatLists", {"input_a": ref("x"), "input_b": ref("y")}, {"element_dtype": tf.float32}, name="l")]
  yield FAILS + [from_tensor(t, i32(2), name="x"), from_tensor(values(tf.float32, 2, 3), i32(3), name="y"),
         step("TensorListConcatLists", {"input_a": ref("x"), "input_b": ref("y")}, {"element_dtype": tf.float32}, name="l")]
  yield [from_tensor(t, i32(2)), step("ZerosLike", {"x": ref("l")}, {}, name="z"), stack(name="z")]
  yield [from_tensor(t, i32(2)), step("AddN", {"inputs": [ref("l"), ref("l")]}, {}, name="z"), stack(name="z")]


def scattering():
  t = values(tf.float32, 3, 2)
  scatter = lambda v, i, s: step("TensorListScatter", {"tensor": v, "indices": i, "element_shape": np.asarray(s)}, {},
                                 name="l")
  scatter_v2 = lambda v, i, s, n: step("TensorListScatterV2", {
      "tensor": v, "indices": i, "element_shape": np.asarray(s), "num_elements": scalar(n)}, {}, name="l")
  into = lambda v, i: step("TensorListScatterIntoExistingList", {"input_handle": ref("l"), "tensor": v, "indices": i}, {},
                           name="l")
  yield [scatter(t, i32(4, 0, 2), i32(2)), stack()]
  yield [scatter(t, i32(1, 0, 0), ANY), stack(i32(2))]
  yield FAILS + [scatter(t, i32(1, 0), i32(2))]
  yield FAILS + [scatter(t, i32(1, 0, -1), i32(2))]
  yield FAILS + [scatter(t, i32(1, 0, 2), i32(3))]
  yield [scatter_v2(t, i32(4, 0, 2), i32(2), 6), stack()]
  yield [scatter_v2(t, i32(4, 0, 2), i32(2), -1), stack()]
  yield FAILS + [scatter_v2(t, i32(4, 0, 2), i32(2), 3)]
  yield FAILS + [scatter_v2(t, i32(4, 0, 2), i32(2), -2)]
  yield [scatter_v2(np.zeros((0, 2), F), np.zeros(0, np.int32), i32(2), 2), stack()]
  yield FAILS + [scatter_v2(t, i32(0, 1, 2, 3), i32(2), 6)]
  yield [reserve(i32(2), 4), into(t, i32(3, 1, 0)), stack()]
  yield FAILS + [reserve(i32(2), 4), into(t, i32(0, 1))]
  yield FAILS + [reserve(i32(2), 4), into(np.ones((3, 2), np.int32), i32(0, 1, 2))]
  yield FAILS + [reserve(i32(2), 4), into(scalar(1, F), i32(0))]


def concatenating():
  t = values(tf.float32, 6, 2)
  for lengths in ((2, 4), (1, 1, 4), (6,), (0, 6)):
    yield [split(t, i32(-1, 2), lengths), concat_v2(i32(-1, 2))]
  for lengths in ((2, 2), (-1, 7), (7,), ()):
    yield FAILS + [split(t, i32(-1, 2), lengths)]
  yield FAILS + [split(t, i32(-1, 3), (2, 4))]
  yield FAILS + [split(t, np.array([], np.int32), (2, 4))]
  yield FAILS + [split(t, i32(-1, 2, 2), (2, 4))]
  yield [split(t, i32(3, 2), (3, 3)), concat_v2(i32(3, 2))]
  yield [split(t, i32(3, 2), (2, 4)), length()]
  yield [split(t, ANY, (2, 4)), get(1)]
  yield FAILS + [split(scalar(1, F), ANY, (1,))]
  yield [split(t, i32(-1, 2), (2, 4)), concat_v2(ANY)]
  yield FAILS + [split(t, i32(-1, 2), (2, 4)), concat_v2(i32(-1, 3))]
  yield FAILS + [split(t, i32(-1, 2), (2, 4)), concat_v2(i32(4, 2))]
  yield [split(values(tf.string, 5), i32(-1), (2, 3)), concat_v2(i32(-1), dtype=tf.string)]
  yield FAILS + [reserve(i32(-1, 2), 2), concat_v2(i32(-1, 2))]
  yield [reserve(i32(-1, 2), 2), concat_v2(i32(-1, 2), (1, 2))]
  yield [reserve(i32(-1, 2), 3), set_item(0, np.ones((2, 2), F)), concat_v2(i32(-1, 2), (5, 1, 2))]
  yield [reserve(i32(3, 2), 2), concat_v2(i32(3, 2))]
  yield FAILS + [reserve(ANY, 2), concat_v2(ANY)]
  yield FAILS + [reserve(ANY, 2), set_item(0, scalar(1, F)), set_item(1, scalar(1, F)), concat_v2(ANY)]
  yield FAILS + [reserve(ANY, 2), concat_v2(np.array([], np.int32))]
  yield [empty(i32(-1, 2)), concat_v2(i32(-1, 2))]
  yield FAILS + [empty(ANY), concat_v2(ANY)]
  yield FAILS + [reserve(ANY, 2), set_item(0, np.ones((2, 2), F)), set_item(1, np.ones((1, 3), F)), concat_v2(ANY)]
  yield [reserve(ANY, 2), set_item(0, np.ones((2, 2), F)), concat_v2(ANY, (2, 3))]
  yield FAILS + [split(t, i32(-1, 2), (2, 4)), concat_v2(i32(-1, 2), dtype=tf.int32)]
  concat = lambda s: step("TensorListConcat", {"input_handle": ref("l")}, {"element_dtype": tf.float32, "element_shape": s})
  yield [split(t, i32(-1, 2), (2, 4)), concat([None, 2])]
  yield [split(t, i32(-1, 2), (2, 4)), concat(None)]
  yield FAILS + [reserve(i32(3, 2), 2), concat([3, 2])]


def nested():
  inner = from_tensor(values(tf.float32, 2, 2), name="i")
  as_item = step("Identity", {"input": ref("i")}, {}, name="i")
  yield [inner, empty(np.array([], np.int32), tf.variant), step(
      "TensorListPushBack", {"input_handle": ref("l"), "tensor": ref("i")}, {}, name="l"), step(
          "TensorListGetItem", {"input_handle": ref("l"), "index": scalar(0), "element_shape": np.array([], np.int32)},
          {"element_dtype": tf.variant}, name="g"), stack(name="g")]
  yield [inner, as_item, reserve(np.array([], np.int32), 2, tf.variant), step(
      "TensorListSetItem", {"input_handle": ref("l"), "index": scalar(1), "item": ref("i")}, {}, name="l"), step(
          "TensorListGetItem", {"input_handle": ref("l"), "index": scalar(1), "element_shape": np.array([], np.int32)},
          {"element_dtype": tf.variant}, name="g"), length("g")]


GROUPS = (making, setting, pushing, resizing, whole, scattering, concatenating, nested)


def renamed(steps):
  """Steps that give their list the name of the one they took get a name each, as records want it."""
  latest, out = {}, []

  def now(value):
    if isinstance(value, list):
      return [now(v) for v in value]
    return ref(latest[value.name], value.output) if isinstance(value, Ref) else value

  for i, s in enumerate(steps):
    out.append(step(s.op, {k: now(v) for k, v in s.inputs.items()}, s.attrs, name="%s%d" % (s.name or "", i)))
    latest[s.name] = out[-1].name
  return out


def cases(rng):
  for group in GROUPS:
    for steps in group():
      error = steps[0] is FAIL
      yield case_steps(renamed(steps[1:] if error else steps), error=error)

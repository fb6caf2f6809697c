"""TF1 tensor arrays: written, read, gathered and joined in one session run. Assertions too."""
import numpy as np
import tensorflow as tf
from case import case_steps, ref, step

F = np.float32
FAIL = object()
# Begins the steps of a case whose last step TensorFlow refuses.
FAILS = [FAIL]


def i32(*v):
  return np.array(v, np.int32)


def array(size, dtype=tf.float32, **attrs):
  return step("TensorArrayV3", {"size": np.array(size, np.int32)}, {"dtype": dtype, **attrs}, name="a")


class Flow:
  """The flow that the next step takes: of the step before it."""

  def __init__(self):
    self.at, self.n = ref("a", 1), 0

  def step(self, op, inputs, attrs=None, flows=True, flow_out=0):
    self.n += 1
    name = "s%d" % self.n
    s = step(op, {"handle": ref("a"), **inputs, "flow_in": self.at}, attrs or {}, name=name)
    if flows:
      self.at = ref(name, flow_out)
    return s

  def write(self, index, value):
    return self.step("TensorArrayWriteV3", {"index": np.array(index, np.int32), "value": value})

  def scatter(self, indices, value):
    return self.step("TensorArrayScatterV3", {"indices": indices, "value": value})

  def split(self, value, lengths):
    return self.step("TensorArraySplitV3", {"value": value, "lengths": np.array(lengths, np.int64)})

  def read(self, index, dtype=tf.float32):
    return self.step("TensorArrayReadV3", {"index": np.array(index, np.int32)}, {"dtype": dtype}, flows=False)

  def gather(self, indices, dtype=tf.float32, shape=None):
    return self.step("TensorArrayGatherV3", {"indices": indices}, {"dtype": dtype, "element_shape": shape}, flows=False)

  def concat(self, dtype=tf.float32, shape=None):
    return self.step("TensorArrayConcatV3", {}, {"dtype": dtype, "element_shape_except0": shape}, flows=False)

  def size(self):
    return self.step("TensorArraySizeV3", {}, flows=False)


def values(dtype, *shape):
  n = int(np.prod(shape))
  if dtype == tf.string:
    return np.array(["s%d" % i for i in range(n)], object).reshape(shape)
  return np.arange(n).astype(dtype.as_numpy_dtype).reshape(shape)


ANY = {"element_shape": None}
TWO = {"element_shape": [2]}
one, two, three = np.ones(2, F), np.full(2, 2, F), np.ones(3, F)


def writing():
  for dtype in (tf.float32, tf.float64, tf.float16, tf.bfloat16, tf.int8, tf.int32, tf.int64, tf.bool, tf.complex64,
                tf.string):
    f = Flow()
    yield [array(2, dtype, **ANY), f.write(1, values(dtype, 2)), f.write(0, values(dtype, 2)), f.read(1, dtype)]
    f = Flow()
    yield [array(3, dtype, **ANY), f.scatter(i32(2, 0, 1), values(dtype, 3, 2)), f.gather(i32(0, 1, 2), dtype)]
    f = Flow()
    yield [array(2, dtype, **ANY), f.split(values(dtype, 5, 2), (2, 3)), f.concat(dtype)]
  f = Flow()
  yield FAILS + [array(2, **ANY), f.write(2, one)]
  f = Flow()
  yield FAILS + [array(2, **ANY), f.write(-1, one)]
  f = Flow()
  yield [array(0, dynamic_size=True, **ANY), f.write(3, one), f.size()]
  f = Flow()
  yield [array(0, dynamic_size=True, **ANY), f.write(1, one), f.write(0, two), f.gather(i32(0, 1))]
  f = Flow()
  yield FAILS + [array(2, **ANY), f.write(0, one), f.write(0, two)]
  f = Flow()
  yield FAILS + [array(2, **ANY), f.write(0, np.ones(2, np.int32))]
  f = Flow()
  yield FAILS + [array(2, **TWO), f.write(0, three)]
  f = Flow()
  yield [array(2, element_shape=[None]), f.write(0, one), f.write(1, three), f.read(1)]
  f = Flow()
  yield FAILS + [array(2, identical_element_shapes=True, **ANY), f.write(0, one), f.write(1, three)]
  f = Flow()
  yield [array(2, identical_element_shapes=True, **ANY), f.write(0, one), f.read(1)]
  f = Flow()
  yield FAILS + [array(-1, **ANY)]
  f = Flow()
  yield FAILS + [array([2], **ANY)]


def reading():
  f = Flow()
  yield FAILS + [array(2, **ANY), f.read(0)]
  f = Flow()
  yield [array(2, **TWO), f.read(0)]
  f = Flow()
  yield FAILS + [array(2, **TWO), f.read(2)]
  f = Flow()
  yield FAILS + [array(2, **TWO), f.read(-1)]
  f = Flow()
  yield FAILS + [array(2, **TWO), f.read(0, tf.int32)]
  f = Flow()
  yield FAILS + [array(2, **TWO), f.write(0, one), f.read(0), f.read(0)]
  f = Flow()
  yield [array(2, clear_after_read=False, **TWO), f.write(0, one), f.read(0), f.read(0)]
  f = Flow()
  yield FAILS + [array(2, **TWO), f.write(0, one), f.gather(i32(0)), f.gather(i32(0))]
  f = Flow()
  yield [array(3, **TWO), f.write(1, one), f.gather(i32(0, 1, 2))]
  f = Flow()
  yield FAILS + [array(3, **ANY), f.write(1, one), f.gather(i32(0, 1, 2))]
  f = Flow()
  yield FAILS + [array(3, **ANY), f.write(0, one), f.write(1, three), f.gather(i32(0, 1))]
  f = Flow()
  yield FAILS + [array(3, **ANY), f.write(0, one), f.gather(i32(3))]
  f = Flow()
  yield FAILS + [array(3, **ANY), f.write(0, one), f.gather(i32(-1))]
  f = Flow()
  yield FAILS + [array(3, **TWO), f.gather(i32())]
  f = Flow()
  yield FAILS + [array(3, **ANY), f.gather(i32())]
  f = Flow()
  yield [array(3, **ANY), f.gather(i32(), shape=[4])]
  f = Flow()
  yield [array(2, clear_after_read=False, **TWO), f.scatter(i32(0, 1), np.arange(4, dtype=F).reshape(2, 2)),
         f.gather(i32(1, 0, 1))]
  f = Flow()
  yield FAILS + [array(2, **ANY), f.scatter(i32(0, 1), np.arange(4, dtype=F).reshape(2, 2)), f.gather(i32(0, 1), tf.int32)]
  f = Flow()
  yield FAILS + [array(2, **ANY), f.scatter(i32(0, 1), np.arange(4, dtype=F).reshape(2, 2)), f.gather(i32(0, 1), shape=[3])]
  f = Flow()
  yield FAILS + [array(2, **ANY), f.scatter(i32(0, 1, 2), np.arange(6, dtype=F).reshape(3, 2))]
  f = Flow()
  yield [array(2, dynamic_size=True, **ANY), f.scatter(i32(0, 1, 2), np.arange(6, dtype=F).reshape(3, 2)), f.size()]
  f = Flow()
  yield FAILS + [array(2, **ANY), f.scatter(i32(0), np.arange(4, dtype=F).reshape(2, 2))]
  f = Flow()
  yield FAILS + [array(2, **ANY), f.scatter(i32(0, 0), np.arange(4, dtype=F).reshape(2, 2))]
  f = Flow()
  yield FAILS + [array(2, **ANY), f.scatter(i32(0, -1), np.arange(4, dtype=F).reshape(2, 2))]
  f = Flow()
  yield FAILS + [array(2, **ANY), f.scatter(i32(0, 1), F(1))]


def joining():
  t = np.arange(10, dtype=F).reshape(5, 2)
  for lengths in ((5, 0), (0, 5), (2, 3)):
    f = Flow()
    yield [array(2, **ANY), f.split(t, lengths), f.concat()]
  for lengths in ((2, 2), (2, 4), (5,), (1, 2, 2)):
    f = Flow()
    yield FAILS + [array(2, **ANY), f.split(t, lengths)]
  f = Flow()
  yield [array(2, dynamic_size=True, **ANY), f.split(t, (1, 2, 2)), f.size()]
  f = Flow()
  yield [array(2, **ANY), f.write(0, one), f.write(1, three), f.concat()]
  f = Flow()
  yield FAILS + [array(2, **ANY), f.write(0, t), f.write(1, t[:, :1]), f.concat()]
  f = Flow()
  yield FAILS + [array(2, **ANY), f.write(0, F(1)), f.write(1, F(1)), f.concat()]
  f = Flow()
  yield FAILS + [array(2, **ANY), f.write(0, one), f.concat()]
  f = Flow()
  yield [array(2, element_shape=[2]), f.write(0, one), f.concat()]
  f = Flow()
  yield FAILS + [array(0, **ANY), f.concat()]
  f = Flow()
  yield [array(0, **ANY), f.concat(shape=[3])]
  f = Flow()
  yield FAILS + [array(2, **ANY), f.split(t, (2, 3)), f.concat(tf.int32)]
  f = Flow()
  yield [array(2, **ANY), f.size()]
  close = step("TensorArrayCloseV3", {"handle": ref("a")}, name="c")
  f = Flow()
  yield FAILS + [array(2, **ANY), close, f.size()]
  yield [array(2, **ANY), close, step("TensorArrayCloseV3", {"handle": ref("a")})]


def asserting():
  a = lambda condition, *data, **attrs: [step("Assert", {"condition": condition, "data": list(data)}, attrs)]
  yield a(np.array(True), one)
  yield FAILS + a(np.array(False), one)
  yield FAILS + a(np.array([True]), one)
  yield FAILS + [step("PrintV2", {"input": "to nowhere"}, {"output_stream": "nowhere"})]


GROUPS = (writing, reading, joining, asserting)


def cases(rng):
  for group in GROUPS:
    for steps in group():
      error = steps[0] is FAIL
      yield case_steps(steps[1:] if error else steps, error=error, graph=group is not asserting)

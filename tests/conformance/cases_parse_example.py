"""Parsing of tf.train.Example and SequenceExample messages, and of CSV."""
import numpy as np
import tensorflow as tf
from case import case_steps, step

F = np.float32
FAIL = object()
# Begins the steps of a case that TensorFlow refuses.
FAILS = [FAIL]
STRINGS = {tf.string: np.zeros(0, object)}


def feature(v):
  f = tf.train.Feature()
  if v is None:
    return f
  kind, v = v
  if kind == "f":
    f.float_list.value.extend(v)
    f.float_list.SetInParent()
  elif kind == "i":
    f.int64_list.value.extend(v)
    f.int64_list.SetInParent()
  else:
    f.bytes_list.value.extend(v)
    f.bytes_list.SetInParent()
  return f


def example(**features):
  e = tf.train.Example()
  e.features.SetInParent()
  for k, v in features.items():
    e.features.feature[k].CopyFrom(feature(v))
  return e.SerializeToString()


def sequence(context=None, **lists):
  e = tf.train.SequenceExample()
  for k, v in (context or {}).items():
    e.context.feature[k].CopyFrom(feature(v))
  for k, steps in lists.items():
    e.feature_lists.feature_list[k].SetInParent()
    e.feature_lists.feature_list[k].feature.extend(feature(v) for v in steps)
  return e.SerializeToString()


def strings(*v):
  return np.array(list(v) + [None], object)[:-1]


def default(dtype, *v):
  return strings(*v) if dtype == tf.string else np.array(v, dtype.as_numpy_dtype)


def v2(serialized, sparse=(), dense=(), ragged=(), names=()):
  """sparse: (key, type); dense: (key, type, shape, default); ragged: (key, value type, split type)."""
  serialized = np.array(serialized, object) if isinstance(serialized, bytes) else strings(*serialized)
  return [step("ParseExampleV2", {
      "serialized": serialized, "names": strings(*names), "sparse_keys": strings(*(s[0] for s in sparse)),
      "dense_keys": strings(*(d[0] for d in dense)), "ragged_keys": strings(*(r[0] for r in ragged)),
      "dense_defaults": [d[3] for d in dense]}, {
          "num_sparse": len(sparse), "sparse_types": [s[1] for s in sparse], "dense_shapes": [d[2] for d in dense],
          "ragged_value_types": [r[1] for r in ragged], "ragged_split_types": [r[2] for r in ragged],
          "Tdense": [d[1] for d in dense]})]


def v1(serialized, sparse=(), dense=(), names=()):
  s = lambda k: np.array(k, object)
  return [step("ParseExample", {
      "serialized": strings(*serialized), "names": strings(*names), "sparse_keys": [s(x[0]) for x in sparse],
      "dense_keys": [s(d[0]) for d in dense], "dense_defaults": [d[3] for d in dense]}, {
          "sparse_types": [x[1] for x in sparse], "dense_shapes": [d[2] for d in dense], "Tdense": [d[1] for d in dense],
          "Nsparse": len(sparse), "Ndense": len(dense)})]


def single(serialized, sparse=(), dense=()):
  return [step("ParseSingleExample", {"serialized": np.array(serialized, object), "dense_defaults": [d[3] for d in dense]}, {
      "num_sparse": len(sparse), "sparse_keys": [x[0] for x in sparse], "sparse_types": [x[1] for x in sparse],
      "dense_keys": [d[0] for d in dense], "dense_shapes": [d[2] for d in dense], "Tdense": [d[1] for d in dense]})]


ONE = example(f=("f", [1, 2, 3]), i=("i", [7, -8]), s=("s", [b"ab", b"", b"c" * 30]))
TWO = example(f=("f", [4]), i=("i", []), s=("s", [b"z"]))
NONE = example()
DATA = {"f": tf.float32, "i": tf.int64, "s": tf.string}
PAD = {"f": (5.,), "i": (9,), "s": (b"pad",)}


def examples():
  for key, dtype in DATA.items():
    none, pad = default(dtype), default(dtype, *PAD[key])
    for batch in ((ONE, TWO), (ONE, NONE, TWO), (NONE,), ()):
      yield v2(batch, sparse=[(key, dtype)])
      yield v1(batch, sparse=[(key, dtype)])
      for split in (tf.int32, tf.int64):
        yield v2(batch, ragged=[(key, dtype, split)])
      yield v2(batch, dense=[(key, dtype, [None], pad)])
      yield FAILS + v2(batch, dense=[(key, dtype, [None], none)])
    for one in (ONE, NONE):
      yield v2(one, sparse=[(key, dtype)])
      yield v2(one, ragged=[(key, dtype, tf.int32)])
      yield v2(one, dense=[(key, dtype, [None], pad)])
      yield single(one, sparse=[(key, dtype)])
      yield single(one, dense=[(key, dtype, [None], pad)])
  f = lambda shape, *d: [("f", tf.float32, shape, np.array(d, F).reshape([x if x else -1 for x in shape] if d else [0]))]
  yield v2((ONE,), dense=f([3]))
  yield v2((ONE, ONE), dense=f([3]))
  yield v2((ONE, NONE), dense=f([3], 7, 8, 9))
  yield v1((ONE, NONE), dense=f([3], 7, 8, 9))
  yield v2(ONE, dense=f([3]))
  yield v2(NONE, dense=f([3], 7, 8, 9))
  yield single(ONE, dense=f([3]))
  yield single(NONE, dense=f([3], 7, 8, 9))
  yield v2((TWO,), dense=f([]))
  yield v2((TWO,), dense=f([1]))
  yield v2((ONE,), dense=f([1, 3]))
  yield v2((ONE,), dense=f([3, 1]))
  yield v2((ONE, example(f=("f", range(6)))), dense=[("f", tf.float32, [None, 3], np.array([5], F))])
  yield FAILS + v2((ONE, NONE), dense=f([3]))
  yield FAILS + v2((ONE,), dense=f([2]))
  yield FAILS + v2((ONE, TWO), dense=f([3]))
  yield FAILS + v2((ONE,), dense=[("i", tf.float32, [2], np.zeros(0, F))])
  yield FAILS + v2((ONE,), sparse=[("i", tf.float32)])
  yield FAILS + v2((ONE,), ragged=[("i", tf.float32, tf.int32)])
  yield FAILS + v2((ONE,), dense=[("f", tf.float32, [3], np.array([7, 8], F))])
  yield FAILS + v2((ONE,), dense=[("f", tf.float32, [None, 2], np.array([5], F))])
  yield FAILS + v2((ONE,), dense=[("i", tf.float32, [None], np.array([5], F))])
  yield FAILS + v2((b"garbage",), sparse=[("f", tf.float32)])
  yield FAILS + v2((ONE[:-3],), sparse=[("f", tf.float32)])
  yield v2((b"",), sparse=[("f", tf.float32)])
  yield FAILS + v2((ONE, NONE), dense=f([3]), names=(b"first", b"second"))
  yield FAILS + v2((ONE, TWO), dense=f([3]), names=(b"first",))
  yield v2((example(f=None), ONE), sparse=[("f", tf.float32)])
  yield v2((example(f=None),), dense=f([1], 5))
  yield FAILS + v2((example(f=("i", [])),), sparse=[("f", tf.float32)])
  yield v2((ONE + TWO,), sparse=[("f", tf.float32), ("i", tf.int64), ("s", tf.string)])
  yield v2((ONE, TWO), sparse=[("f", tf.float32), ("s", tf.string)], dense=[("i", tf.int64, [None], np.array([0]))],
           ragged=[("z", tf.int64, tf.int64)])
  yield v2((ONE, TWO), sparse=[("s", tf.string), ("i", tf.int64), ("absent", tf.string)])
  # Not packed, as old writers have it.
  yield FAILS + v2((b"\x0a\x11\x0a\x0f\x0a\x01f\x12\x0a\x12\x08\x0d\x00\x00\x80\x3f\x0d\x00\x00",), sparse=[("f", tf.float32)])
  yield v2((b"\x0a\x13\x0a\x11\x0a\x01f\x12\x0c\x12\x0a\x0d\x00\x00\x80\x3f\x0d\x00\x00\x00\x40",), sparse=[("f", tf.float32)])
  yield v2((b"\x0a\x0d\x0a\x0b\x0a\x01i\x12\x06\x1a\x04\x08\x01\x08\x02",), sparse=[("i", tf.int64)])
  yield v2((example(i=("i", [2**63 - 1, -2**63, 0])),), sparse=[("i", tf.int64)])
  yield FAILS + single(ONE, dense=f([2]))
  yield FAILS + single(NONE, dense=f([2]))
  yield FAILS + single(b"garbage", dense=f([2], 1, 2))
  yield single(ONE, sparse=[("f", tf.float32), ("i", tf.int64)], dense=[("s", tf.string, [3], default(tf.string))])
  yield single(ONE, dense=[("f", tf.float32, [None, 3], np.array([5], F))])
  yield FAILS + single(ONE, sparse=[("i", tf.float32)])


def seq(op, serialized, context_sparse=(), context_dense=(), context_ragged=(), sparse=(), dense=(), ragged=(), assumed=None):
  """Feature lists: sparse (key, type), dense (key, type, shape), ragged (key, type, split type)."""
  attrs = {
      "Ncontext_sparse": len(context_sparse), "Tcontext_dense": [d[1] for d in context_dense],
      "context_sparse_types": [s[1] for s in context_sparse], "context_dense_shapes": [d[2] for d in context_dense],
      "Nfeature_list_sparse": len(sparse), "Nfeature_list_dense": len(dense),
      "feature_list_dense_types": [d[1] for d in dense], "feature_list_sparse_types": [s[1] for s in sparse],
      "feature_list_dense_shapes": [d[2] for d in dense]}
  keys = lambda specs: [s[0] for s in specs]
  defaults = [d[3] for d in context_dense]
  if op == "ParseSequenceExampleV2":
    attrs.update({
        "context_ragged_value_types": [r[1] for r in context_ragged],
        "context_ragged_split_types": [r[2] for r in context_ragged],
        "feature_list_ragged_value_types": [r[1] for r in ragged], "feature_list_ragged_split_types": [r[2] for r in ragged]})
    data = np.array(serialized, object) if isinstance(serialized, bytes) else strings(*serialized)
    return [step(op, {
        "serialized": data, "debug_name": strings(), "context_sparse_keys": strings(*keys(context_sparse)),
        "context_dense_keys": strings(*keys(context_dense)), "context_ragged_keys": strings(*keys(context_ragged)),
        "feature_list_sparse_keys": strings(*keys(sparse)), "feature_list_dense_keys": strings(*keys(dense)),
        "feature_list_ragged_keys": strings(*keys(ragged)),
        "feature_list_dense_missing_assumed_empty": np.array([d[0] in (assumed or ()) for d in dense], bool),
        "context_dense_defaults": defaults}, attrs)]
  if op == "ParseSequenceExample":
    attrs.update({
        "feature_list_dense_missing_assumed_empty": list(assumed or ()), "context_sparse_keys": keys(context_sparse),
        "context_dense_keys": keys(context_dense), "feature_list_sparse_keys": keys(sparse),
        "feature_list_dense_keys": keys(dense), "Ncontext_dense": len(context_dense)})
    return [step(op, {"serialized": strings(*serialized), "debug_name": strings(), "context_dense_defaults": defaults}, attrs)]
  scalars = lambda specs: [np.array(s[0], object) for s in specs]
  attrs["Ncontext_dense"] = len(context_dense)
  return [step(op, {
      "serialized": np.array(serialized, object), "feature_list_dense_missing_assumed_empty": strings(*(assumed or ())),
      "context_sparse_keys": scalars(context_sparse), "context_dense_keys": scalars(context_dense),
      "feature_list_sparse_keys": scalars(sparse), "feature_list_dense_keys": scalars(dense),
      "context_dense_defaults": defaults, "debug_name": np.array(b"", object)}, attrs)]


SEQ = sequence({"c": ("i", [1, 2])}, f=[("f", [1, 2]), ("f", [3, 4])], s=[("s", [b"a"]), ("s", []), ("s", [b"b", b"cc"])])
SHORT = sequence({"c": ("i", [3, 4])}, f=[("f", [5, 6])], s=[])
BARE = sequence({}, f=[])


def sequences():
  for op in ("ParseSequenceExample", "ParseSequenceExampleV2", "ParseSingleSequenceExample"):
    one = op == "ParseSingleSequenceExample"
    for batch in (((SEQ,), (SEQ, SHORT), (SHORT, BARE, SEQ), ()) if not one else ((SEQ,), (SHORT,), (BARE,))):
      data = batch[0] if one else batch
      yield seq(op, data, context_sparse=[("c", tf.int64)])
      yield seq(op, data, context_dense=[("c", tf.int64, [2], np.array([8, 9]))])
      yield seq(op, data, sparse=[("f", tf.float32), ("s", tf.string)])
      yield seq(op, data, dense=[("f", tf.float32, [2])])
      yield seq(op, data, dense=[("g", tf.float32, [2])], assumed=("g",))
      yield seq(op, data, context_sparse=[("c", tf.int64)], dense=[("f", tf.float32, [2])], sparse=[("s", tf.string)])
    wrap = (lambda x: x) if one else (lambda x: (x,))
    yield FAILS + seq(op, wrap(SEQ), dense=[("g", tf.float32, [2])])
    yield FAILS + seq(op, wrap(SEQ), dense=[("f", tf.float32, [3])])
    yield FAILS + seq(op, wrap(SEQ), dense=[("f", tf.int64, [2])])
    yield FAILS + seq(op, wrap(SEQ), dense=[("s", tf.string, [1])])
    yield FAILS + seq(op, wrap(SEQ), sparse=[("f", tf.int64)])
    yield FAILS + seq(op, wrap(SEQ), context_sparse=[("c", tf.float32)])
    yield FAILS + seq(op, wrap(SEQ), context_dense=[("c", tf.int64, [3], np.zeros(0, np.int64))])
    yield FAILS + seq(op, wrap(BARE), context_dense=[("c", tf.int64, [2], np.zeros(0, np.int64))])
    yield FAILS + seq(op, wrap(b"garbage"), sparse=[("f", tf.float32)])
    yield seq(op, wrap(b""), sparse=[("f", tf.float32)], context_sparse=[("c", tf.int64)])
  op = "ParseSequenceExampleV2"
  for batch in ((SEQ, SHORT), (BARE, SEQ), ()):
    for split in (tf.int32, tf.int64):
      yield seq(op, batch, context_ragged=[("c", tf.int64, split)], ragged=[("f", tf.float32, split), ("s", tf.string, split)])
  yield seq(op, SEQ, context_sparse=[("c", tf.int64)], sparse=[("s", tf.string)], dense=[("f", tf.float32, [2])])
  yield seq(op, SEQ, context_dense=[("c", tf.int64, [2], np.zeros(0, np.int64))])


def csv(records, defaults, **attrs):
  return [step("DecodeCSV", {"records": strings(*records) if isinstance(records, tuple) else np.array(records, object),
                             "record_defaults": defaults}, attrs)]


def csvs():
  f, i, j, d, s = (np.array([1.5], F), np.array([7], np.int32), np.array([8], np.int64), np.array([2.5], np.float64),
                   strings(b"def"))
  row = [f, i, j, d, s]
  yield csv((b"1.25,2,3,4.5,five", b"-1e3,-2,-3,1e-300,"), row)
  yield csv((b",,,,",), row)
  yield csv(b"1,2,3,4,x", row)
  yield csv((), row)
  yield csv((b'1,2,3,4,"a,b"', b'1,2,3,4,"say ""hi"""', b'1,2,3,4,"line\nbreak"'), row)
  yield FAILS + csv((b'1,2,3,4,"a,b"',), row, use_quote_delim=False)
  yield csv((b'1,2,3,4,"ab',), row, use_quote_delim=False)
  yield FAILS + csv((b'1,2,3,4,"ab',), row)
  yield FAILS + csv((b'1,2,3,4,"ab"c',), row)
  yield FAILS + csv((b'1,2,3,4,a"b',), row)
  yield csv((b"1|2|3|4|x",), row, field_delim="|")
  yield csv((b"NA,2,NA,4,NA",), row, na_value="NA")
  yield FAILS + csv((b"1,2,3",), row)
  yield FAILS + csv((b"1,2,3,4,5,6",), row)
  yield FAILS + csv((b"x,2,3,4,5",), row)
  yield FAILS + csv((b"1,x,3,4,5",), row)
  yield FAILS + csv((b"1,3000000000,3,4,5",), row)
  yield FAILS + csv((b"1,2,99999999999999999999,4,5",), row)
  yield FAILS + csv((b"1,2.5,3,4,5",), row)
  yield csv((b" 1, 2, 3, 4, 5",), row)
  yield FAILS + csv((b"1,,3,4,5",), [f, np.zeros(0, np.int32), j, d, s])
  yield FAILS + csv((b"1,2,3,4,5\n", b"1,2,3,4,5\r\n"), row)
  yield csv((b"a,b,c,d",), [s, s], select_cols=[1, 3])
  yield FAILS + csv((b"a,b",), [s, s], select_cols=[1, 3])
  yield FAILS + csv((b"a,b,c,d",), [s, s], select_cols=[3, 1])
  yield FAILS + csv((b"a,b,c,d",), [s, s], select_cols=[1])
  yield FAILS + csv((b"1,2",), [np.array([1, 2], F), f])
  yield csv((b"1,2",), [np.array(1, F), f])
  yield csv((b"inf,nan", b"-Infinity,1e999"), [f, d])
  yield FAILS + csv((b"",), [f])
  yield FAILS + csv((b"",), [f, f])
  yield FAILS + csv((b"a,b", b"c"), [s, s])
  yield FAILS + csv((b"1;2",), [i, i], field_delim=";;")
  yield FAILS + csv((b"a,b\nc,d",), [s, s])


GROUPS = (examples, sequences, csvs)


def cases(rng):
  for group in GROUPS:
    for steps in group():
      error = steps[0] is FAIL
      yield case_steps(steps[1:] if error else steps, error=error)

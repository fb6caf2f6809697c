"""Lookup tables: filling, finding, changing, exporting and what is refused."""
import itertools

import numpy as np

from case import array, case, case_steps, ref, step

I64, F32 = np.int64, np.float32
UNIQUE = itertools.count()


def strings(*values):
    return np.array(values, dtype=object)


def ints(*values):
    return np.array(values, I64)


def table(op="HashTableV2", key="string", value="int64", **attrs):
    """A step that makes a table no other case knows."""
    if not op.startswith("Anonymous"):
        attrs["shared_name"] = f"table_{next(UNIQUE)}"
    inputs = attrs.pop("inputs", {})
    if "Dense" in op:
        attrs["value_dtype"] = value
    else:
        attrs.update(key_dtype=key, value_dtype=value)
    return step(op, inputs, attrs, name="h")


def dense(empty, deleted, value="int64", op="MutableDenseHashTableV2", **attrs):
    attrs.setdefault("initial_num_buckets", 4)
    return table(op, value=value, inputs={"empty_key": empty, "deleted_key": deleted}, **attrs)


def on(op, error=False, **inputs):
    attrs = inputs.pop("attrs", {})
    return step(op, {"table_handle": ref("h"), **inputs}, attrs, check=True, error=error)


def init(keys, values, error=False):
    return on("InitializeTableV2", error, keys=keys, values=values)


def find(keys, default, error=False):
    return on("LookupTableFindV2", error, keys=keys, default_value=default)


def insert(keys, values, error=False):
    return on("LookupTableInsertV2", error, keys=keys, values=values)


def remove(keys, error=False):
    return on("LookupTableRemoveV2", error, keys=keys)


def import_(keys, values, error=False):
    return on("LookupTableImportV2", error, keys=keys, values=values)


def size():
    return on("LookupTableSizeV2")


def export(key="string", value="int64", error=False):
    return on("LookupTableExportV2", error, attrs={"Tkeys": key, "Tvalues": value})


STATIC_TYPES = [("string", v) for v in ("string", "int32", "int64", "float", "double", "bool")]
STATIC_TYPES += [("int32", v) for v in ("string", "int32", "float", "double")]
STATIC_TYPES += [("int64", v) for v in ("string", "int32", "int64", "float", "double")]
MUTABLE_TYPES = [t for t in STATIC_TYPES if t not in
                 (("string", "string"), ("int32", "string"))]
DENSE_TYPES = [t for t in MUTABLE_TYPES if t != ("int64", "string")] + [("int64", "bool")]


def samples(dtype, n, first=0):
    if dtype == "string":
        return strings(*["", "b", "a key longer than a small string cell is", "\0é", "e"][first:first + n])
    return array([3, -7, 2**31 - 1, 5, 11][first:first + n], dtype)


def static_tables():
    for op, (key, value) in itertools.product(("HashTableV2", "AnonymousHashTable"), STATIC_TYPES):
        k, v = samples(key, 4), samples(value, 4)
        yield case_steps([table(op, key, value), size(), init(k, v), size(),
                          find(k[::-1].reshape(2, 2), v[0]), find(samples(key, 3, 2), samples(value, 3, 1))])
    h = table
    yield case_steps([h(), find(strings("a"), I64(1), error=True)])
    yield case_steps([h(), export(error=True)])
    yield case_steps([h(), init(strings("a", "a"), ints(1, 2), error=True), size(),
                      find(strings("a"), I64(9), error=True)])
    yield case_steps([h(), init(strings("a", "a"), ints(2, 2)), size(), find("a", I64(9)), export()])
    yield case_steps([h(), init(strings("a"), ints(1)), init(strings("b"), ints(2)),
                      init(strings("b", "c"), ints(2, 3), error=True), import_(strings("b"), ints(2)),
                      import_(strings("b", "c"), ints(2, 3), error=True), find(strings("a", "b"), I64(-1))])
    yield case_steps([h(), import_(strings("q", "r"), ints(7, 8)), find(strings("q", "r", "s"), I64(-1))])
    yield case_steps([h(), import_(strings("q"), ints(7)), export()])
    yield case_steps([h(), import_("q", I64(7)), size()])
    yield case_steps([h(), import_(strings("q", "r").reshape(1, 2), ints(7, 8).reshape(1, 2)), size()])
    yield case_steps([h(), import_(strings(), ints(), error=True), size()])
    yield case_steps([h(), init(strings("q"), ints(7)), insert(strings("r"), ints(7), error=True),
                      remove(strings("q"), error=True), size()])
    for keys, values in [(strings("q", "r"), ints(7)), (strings("q").reshape(1, 1), ints(7).reshape(1, 1)),
                         ("q", I64(7)), (strings(), ints()), (ints(1), ints(7)), (strings("q"), F32([7]))]:
        yield case_steps([h(), init(keys, values, error=True), size()])
    yield case_steps([h(), import_(strings("q", "r"), ints(7), error=True)])
    yield case_steps([h(), import_(strings("q", "q"), ints(7, 8), error=True)])
    for key, value, keys, values in [
            ("int64", "string", ints(7, 7), strings("x", "y")), ("int64", "float", ints(7, 7), F32([1.5, 2.25])),
            ("string", "bool", strings("k", "k"), np.array([True, False])),
            ("int64", "float", ints(7, 7), F32([np.nan, np.nan]))]:
        yield case_steps([h(key=key, value=value), init(keys, values, error=True), size()])
    yield case_steps([h(key="int64", value="float"), init(ints(7, 7), F32([0, -0.0])), size()])
    keys = strings("a", "z").reshape(1, 2)
    for default in (ints(7), ints(7, 8), ints(7, 8, 9).reshape(1, 3), ints(7, 8).reshape(2, 1)):
        yield case_steps([h(), init(strings("a"), ints(1)), find(keys, default, error=True)])
    for default in (I64(7), ints(7, 8).reshape(1, 2)):
        yield case_steps([h(), init(strings("a"), ints(1)), find(keys, default)])
    yield case_steps([h(), init(strings("a"), ints(1)), find("a", I64(7)), find("b", I64(7)),
                      find(strings(), I64(7)), find(strings(), ints()),
                      find(ints(1), I64(7), error=True), find(strings("a"), F32(7), error=True)])
    many = rng_keys(500)
    yield case_steps([h(key="int64", value="int64"), init(many, many * 3), size(),
                      find(np.concatenate([many[::7], many[::9] + 1]), I64(-1))])
    words = np.array([f"word{k}" for k in many], dtype=object)
    yield case_steps([h(), init(words, many), size(), find(words[::11], I64(-1)), find(words[:3], I64(-1))])


def rng_keys(n):
    return np.unique(np.random.default_rng(3).integers(-10**6, 10**6, n))


def mutable_tables():
    for op, (key, value) in itertools.product(("MutableHashTableV2", "AnonymousMutableHashTable"), MUTABLE_TYPES):
        k, v = samples(key, 4), samples(value, 4)
        yield case_steps([table(op, key, value), size(), insert(k, v), size(), insert(k[:1], v[1:2]),
                          find(k[::-1].reshape(2, 2), v[0]), remove(k[1:3]), size(),
                          find(samples(key, 4), samples(value, 4, 1))])
    h = lambda: table("MutableHashTableV2")
    yield case_steps([h(), find(strings("a"), I64(7)), size(), export(), find(strings("a", "b"), ints(7, 8)),
                      find(strings("a", "b"), ints(7), error=True)])
    yield case_steps([h(), insert(strings("a", "b", "a"), ints(1, 2, 3)), size(), find(strings("a", "b"), I64(0)),
                      remove(strings("a", "zz")), size(), find(strings("a", "b"), I64(0)), export()])
    yield case_steps([h(), insert(strings("a"), ints(1)), import_(strings("x", "y"), ints(5, 6)), size(),
                      find(strings("a", "x", "y"), I64(0)), import_(strings(), ints()), size()])
    yield case_steps([h(), insert("a", I64(1)), insert(strings("b", "c").reshape(2, 1), ints(2, 3).reshape(2, 1)),
                      insert(strings(), ints()), size(), find(strings("a", "b", "c"), I64(0)), remove("a"), size()])
    for keys, values in [(strings("a", "b"), ints(1)), (strings("a", "b"), ints(1, 2).reshape(2, 1)),
                         (ints(1), ints(1)), (strings("a"), F32([1]))]:
        yield case_steps([h(), insert(keys, values, error=True), size()])
        yield case_steps([h(), import_(keys, values, error=True), size()])
    yield case_steps([h(), remove(ints(1), error=True)])
    yield case_steps([h(), init(strings("a"), ints(1), error=True)])
    many = rng_keys(300)
    yield case_steps([table("MutableHashTableV2", "int64", "int64"), insert(many, many + 1), remove(many[::2]),
                      insert(many[::4], many[::4]), size(), find(many, I64(-1))])


def tables_of_tensors():
    types = [t for t in STATIC_TYPES if t[0] != "int32" and t != ("string", "string")]
    for op, (key, value) in itertools.product(
            ("MutableHashTableOfTensorsV2", "AnonymousMutableHashTableOfTensors"), types):
        k, v = samples(key, 2), samples(value, 4).reshape(2, 2)
        yield case_steps([table(op, key, value, value_shape=[2]), insert(k, v), size(), find(samples(key, 3), v[0]),
                          find(samples(key, 2, 1), v[::-1]), remove(k[:1]), export(key, value)])
    h = lambda: table("MutableHashTableOfTensorsV2", value_shape=[2])
    for shape in ([], [2, 2], [None], None):
        yield case_steps([table("MutableHashTableOfTensorsV2", value_shape=shape)], error=True)
    pairs = ints(1, 2, 3, 4).reshape(2, 2)
    yield case_steps([h(), export(), insert(strings("a", "b"), ints(1, 2, 3, 4, 5, 6).reshape(2, 3), error=True),
                      insert(strings("a", "b"), ints(1, 2), error=True), size()])
    for default in (ints(7, 8, 9), I64(7), ints(7)):
        yield case_steps([h(), insert(strings("a", "b"), pairs), find(strings("a", "c"), default, error=True)])
    yield case_steps([h(), insert(strings("a", "b"), pairs), find("a", ints(7, 8)),
                      find(strings("a", "c").reshape(1, 2), ints(7, 8)), import_(strings("z"), ints(5, 6).reshape(1, 2)),
                      export()])


def dense_tables():
    for key, value in DENSE_TYPES:
        k, v = samples(key, 3), samples(value, 3)
        empty, deleted = ("none", "gone") if key == "string" else (array(-1, key), array(-2, key))
        yield case_steps([dense(empty, deleted, value), size(), insert(k, v), size(),
                          find(samples(key, 5), v[0]), remove(k[1:2]), size(), find(k, samples(value, 3, 1))])
        yield case_steps([dense(empty, deleted, value, "AnonymousMutableDenseHashTable"), insert(k[:1], v[:1]),
                          find(k[:2], v[1])])
    h = lambda **attrs: dense(I64(-1), I64(-2), **attrs)
    yield case_steps([h(), insert(ints(1, 2, 3, 1), ints(10, 20, 30, 11)), export("int64"), size()])
    yield case_steps([h(), insert(ints(-5, -6), ints(1, 2)), export("int64")])
    yield case_steps([h(max_load_factor=0.95), insert(ints(8, 4, 3), ints(1, 2, 3)), export("int64")])
    yield case_steps([dense(np.int32(0), np.int32(-1), "int32"), insert(np.int32([-5, -6]), np.int32([1, 2])),
                      export("int32", "int32")])
    yield case_steps([h(), insert(ints(1), ints(1)), insert(I64(2), I64(3)), size(), find(I64(2), I64(0)),
                      remove(ints(1, 77)), size(), find(ints(1, 2), ints(8, 9))])
    for keys in (ints(-1), ints(5, -2)):
        yield case_steps([h(), insert(keys, keys, error=True), size()])
        yield case_steps([h(), find(keys, I64(0), error=True)])
        yield case_steps([h(), remove(keys, error=True), size()])
    yield case_steps([h(), insert(ints(5, 6).reshape(1, 2), ints(5, 6).reshape(1, 2), error=True)])
    yield case_steps([h(), insert(ints(5, 6).reshape(2, 1), ints(5, 6).reshape(2, 1)), size()])
    yield case_steps([h(), insert(ints(1), ints(1)),
                      import_(ints(8, 9, -2, -1).reshape(4, 1), ints(1, 2, 3, 4).reshape(4, 1)), size(),
                      find(ints(1, 8, 9), I64(-7))])
    yield case_steps([h(), import_(ints(5, 6).reshape(2, 1), ints(5, 6), error=True)])
    for buckets in (0, 1, 3, 6):
        yield case_steps([h(initial_num_buckets=buckets)], error=True)
    for load in (0.0, 1.0, -1.0):
        yield case_steps([h(max_load_factor=load)], error=True)
    yield case_steps([dense(I64(-1), I64(-1))], error=True)
    yield case_steps([dense(ints(-1, -2), I64(-1))], error=True)
    yield case_steps([dense(I64(-1), I64(-2), value_shape=[2, 2])], error=True)
    rows = lambda *v: ints(*v).reshape(-1, 2)
    vectors = lambda: dense(ints(-1, -2), ints(-1, -3), value_shape=[2])
    yield case_steps([vectors(), insert(rows(1, 2, 3, 4), rows(5, 6, 7, 8)), size(),
                      find(rows(3, 4, 5, 6), ints(9, 9)), find(rows(3, 4, 5, 6), rows(9, 9, 8, 8)),
                      remove(rows(1, 2)), size(), find(rows(1, 2), ints(0, 0))])
    yield case_steps([vectors(), export("int64")])
    yield case_steps([vectors(), find(ints(3, 4, 5).reshape(1, 3), ints(9, 9), error=True)])
    yield case_steps([vectors(), find(ints(3, 4), ints(9, 9), error=True)])
    yield case_steps([vectors(), find(rows(-1, -2), ints(9, 9), error=True)])
    texts = lambda: dense("", "x", "float", value_shape=[2])
    yield case_steps([texts(), insert(strings("a"), np.ones([1, 2], F32)), find(strings("a", "b"), F32([0, 5])),
                      find(strings("a", "b"), F32(0), error=True)])
    yield case_steps([texts(), insert(strings("a"), np.ones([1, 3], F32), error=True), size()])
    yield case_steps([texts(), find(strings("a", "b").reshape(1, 2), F32([0, 5]), error=True)])
    many = rng_keys(200)
    yield case_steps([h(), insert(many[many < -2], many[many < -2]), insert(many[many > 0], many[many > 0]),
                      remove(many[many > 0][::3]), size(), find(many[np.abs(many) > 2], I64(-1))])


def handles():
    for op in ("HashTableV2", "MutableHashTableV2"):
        yield case("HashTableV2", {}, {"key_dtype": "string", "value_dtype": "int64", "shared_name": "_x"}, error=True)
        yield case(op, {}, {"key_dtype": "string", "value_dtype": "int64", "container": "~"}, error=True)
    attrs = {"key_dtype": "string", "value_dtype": "int64", "shared_name": "shared_by_two"}
    yield case_steps([step("HashTableV2", {}, attrs, name="h"), init(strings("a"), ints(4)),
                      step("HashTableV2", {}, attrs, name="g"),
                      step("LookupTableFindV2", {"table_handle": ref("g"), "keys": "a", "default_value": I64(0)}),
                      ])
    yield case_steps([step("HashTableV2", {}, {**attrs, "shared_name": "two_types"}, name="h"),
                      step("HashTableV2", {}, {**attrs, "shared_name": "two_types", "value_dtype": "float"})],
                     error=True)
    yield case_steps([step("HashTableV2", {}, {**attrs, "shared_name": "gone"}, name="h"), init(strings("a"), ints(4)),
                      step("DestroyResourceOp", {"resource": ref("h")}, {"ignore_lookup_error": False}),
                      step("DestroyResourceOp", {"resource": ref("h")}, {"ignore_lookup_error": False}, error=True),
                      step("DestroyResourceOp", {"resource": ref("h")}),
                      step("HashTableV2", {}, {**attrs, "shared_name": "gone"}, name="g"),
                      step("LookupTableSizeV2", {"table_handle": ref("g")})])
    yield case_steps([step("VarHandleOp", {}, {"dtype": "float", "shape": []}, name="h"),
                      find("a", I64(0), error=True)])


def reference_tables():
    """TF1's ops, whose handles are references."""
    for key, value in (("string", "int64"), ("int64", "string"), ("int64", "float")):
        k, v = samples(key, 3), samples(value, 3)
        yield case_steps([table("HashTable", key, value), on("InitializeTable", keys=k, values=v), on("LookupTableSize"),
                          on("LookupTableFind", keys=samples(key, 4), default_value=v[0])])
        yield case_steps([table("MutableHashTable", key, value), on("LookupTableInsert", keys=k, values=v),
                          on("LookupTableImport", keys=k[:1], values=v[:1]), on("LookupTableSize"),
                          on("LookupTableExport", attrs={"Tkeys": key, "Tvalues": value})])
        yield case_steps([table("MutableHashTableOfTensors", key, value, value_shape=[1]),
                          on("LookupTableInsert", keys=k, values=v.reshape(3, 1)),
                          on("LookupTableFind", keys=samples(key, 4), default_value=v[:1])])
    yield case_steps([table("HashTable"), on("LookupTableFind", keys="a", default_value=I64(0), error=True)])


def cases(rng):
    for topic in (static_tables, mutable_tables, tables_of_tensors, dense_tables, handles, reference_tables):
        yield from topic()

"""Strings: case, parts, joins, splits, numbers, bytes, hashes, formats."""
import itertools

import numpy as np

from case import array, case

I64, F32 = np.int64, np.float32


def strings(*values):
    return np.array(values, dtype=object)


LONG = "a string that is longer than a small cell, " * 3
TEXTS = strings("", "AbC", "a\0B", "ÀÉ é", b"\xff\xfeAB", LONG, " x ").reshape(7)


def changing_case():
    for op, encoding in itertools.product(("StringLower", "StringUpper"), ("", "utf-8")):
        yield case(op, {"input": TEXTS}, {"encoding": encoding})
        yield case(op, {"input": "aBcÀ"}, {"encoding": encoding})
        yield case(op, {"input": strings()}, {"encoding": encoding})
        yield case(op, {"input": TEXTS[:6].reshape(2, 3)}, {"encoding": encoding})
    words = strings("ß straße ẞ", "ŉ ǰ ΐ և ﬁ ﬀ ᾳ ᾼ ᾀ", "İI ıi i̇ ì", "ΑΣ ΑΣΑ Σ ΟΔΥΣΣΕΥΣ. Σ'Σ ΑΣ́", "ǆ ǅ Ǆ", "Ⅷ ⓐ",
                    b"\xe2\x82A", b"\xf0\x9f\x98", b"\xed\xa0\x80A", b"\xf5\x80\x80\x80", b"\xc0\x80", "Ⴀ Ა ა ⴀ Ꭰ ꭰ",
                    "𐐀𐐨 ſ K Ω", "привет ПРИВЕТ", "漢字")
    for op in ("StringLower", "StringUpper"):
        yield case(op, {"input": words}, {"encoding": "utf-8"})
        yield case(op, {"input": "a"}, {"encoding": "UTF-8"}, error=True)
        yield case(op, {"input": "a"}, {"encoding": "latin1"}, error=True)


def strip_and_length():
    yield case("StringStrip", {"input": strings(" a b ", "\t\n\v\f\ra\x1c", "\xa0a", "", "   ", "a\0 ", LONG + "  ")})
    yield case("StringStrip", {"input": "  b"})
    yield case("StringStrip", {"input": strings().reshape(0, 3)})
    for unit in ("BYTE", "UTF8_CHAR"):
        yield case("StringLength", {"input": strings("abc", "é", "", b"\xff\x80\x80a", "a\0b", LONG)}, {"unit": unit})
        yield case("StringLength", {"input": "漢字"}, {"unit": unit})
        yield case("StringLength", {"input": strings()}, {"unit": unit})


def substr():
    for unit, itype in itertools.product(("BYTE", "UTF8_CHAR"), (np.int32, I64)):
        pos, length = np.meshgrid(np.array([0, 1, 4, 5, -1, -5], itype), np.array([0, 2, 10], itype))
        yield case("Substr", {"input": "héñlo", "pos": pos, "len": length}, {"unit": unit})
    for pos, length in ((1, -1), (5, -3), (0, -2)):
        for unit in ("BYTE", "UTF8_CHAR"):
            yield case("Substr", {"input": "hello", "pos": pos, "len": length}, {"unit": unit})
    yield case("Substr", {"input": "hello", "pos": -2, "len": -1})
    yield case("Substr", {"input": "hello", "pos": -2, "len": -1}, {"unit": "UTF8_CHAR"}, error=True)
    for pos in (6, -6, 2**31 - 1, -2**31):
        for unit in ("BYTE", "UTF8_CHAR"):
            yield case("Substr", {"input": "hello", "pos": pos, "len": 1}, {"unit": unit}, error=True)
    pair = strings("hello", "abc")
    yield case("Substr", {"input": pair, "pos": [1, 2], "len": [2, 1]})
    yield case("Substr", {"input": pair, "pos": 1, "len": [2, 1]}, error=True)
    yield case("Substr", {"input": "hello", "pos": [1, 2], "len": [2, 1]})
    yield case("Substr", {"input": pair.reshape(1, 2), "pos": [1, 2], "len": [2, 1]})
    yield case("Substr", {"input": pair.reshape(1, 2), "pos": [[1], [2]], "len": [[2], [1]]})
    yield case("Substr", {"input": pair.reshape(2, 1), "pos": [[1, 0, 2]], "len": [[2, 1, 1]]})
    yield case("Substr", {"input": pair.reshape(1, 1, 2), "pos": 1, "len": 1})
    yield case("Substr", {"input": pair, "pos": [1, 2, 3], "len": [1, 1, 1]}, error=True)
    yield case("Substr", {"input": pair, "pos": [1, 5], "len": [1, 1]}, error=True)
    yield case("Substr", {"input": strings(), "pos": 1, "len": 1})
    yield case("Substr", {"input": b"\xff\xfeab", "pos": 1, "len": 2}, {"unit": "UTF8_CHAR"})


def joins():
    yield case("StringJoin", {"inputs": []}, {"N": 0})
    for sep in ("", "-"):
        yield case("StringJoin", {"inputs": ["a", strings("b", "c")]}, {"separator": sep})
        yield case("StringJoin", {"inputs": [strings("b", LONG), strings("", "é"), "z"]}, {"separator": sep})
    yield case("StringJoin", {"inputs": [strings("b")]})
    yield case("StringJoin", {"inputs": ["x", "y"]})
    yield case("StringJoin", {"inputs": [strings(), "y"]})
    yield case("StringJoin", {"inputs": [strings("a"), strings("b", "c")]}, error=True)
    yield case("StringJoin", {"inputs": [strings("a").reshape(1, 1), strings("b")]}, error=True)
    grid = strings(*"abcdef").reshape(3, 2)
    cube = strings(*"abcdefghijkl").reshape(2, 3, 2)
    for keep in (False, True):
        for axes in (0, 1, -1, [0, 1], [1, 0], [-1, -2], [], [[0]], [0]):
            yield case("ReduceJoin", {"inputs": grid, "reduction_indices": np.array(axes, np.int32)},
                       {"keep_dims": keep, "separator": "."})
        for axes in ([0, 2], [2, 0], [1], [2, 1, 0], [1, 2]):
            yield case("ReduceJoin", {"inputs": cube, "reduction_indices": axes}, {"keep_dims": keep})
    for axes in ([0, 0], 2, [0, -2], -3):
        yield case("ReduceJoin", {"inputs": grid, "reduction_indices": axes}, error=True)
    yield case("ReduceJoin", {"inputs": "a", "reduction_indices": np.array([], np.int32)})
    yield case("ReduceJoin", {"inputs": "a", "reduction_indices": 0}, error=True)
    yield case("ReduceJoin", {"inputs": np.zeros([0, 3], object), "reduction_indices": 0})
    yield case("ReduceJoin", {"inputs": np.zeros([3, 0], object), "reduction_indices": 0})
    join = lambda x, ids, n, error=False, **attrs: case(
        "UnsortedSegmentJoin", {"inputs": x, "segment_ids": ids, "num_segments": n}, attrs, error=error)
    abc = strings("a", "b", "c")
    for itype, ntype in itertools.product((np.int32, I64), repeat=2):
        yield join(abc, np.array([0, 1, 0], itype), ntype(2), separator=":")
    yield join(grid, [0, 1, 0], 2, separator=":")
    yield join(grid, [[0, 1], [1, 0], [0, 0]], 3, separator=":")
    yield join(abc[:2], [0, 0], 4)
    yield join(strings(), np.array([], np.int32), 4)
    for ids, n in (([0, -1, 0], 2), ([0, 2, 0], 2), ([0, 1, 0], 0), ([0, 1, 0], -1), ([0, 1], 2), ([0, 0, 0], [3])):
        yield join(abc, ids, n, error=True)
    yield join("a", 0, 1, error=True)


def splits():
    split = lambda x, d, error=False, **attrs: case("StringSplit", {"input": x, "delimiter": d}, attrs, error=error)
    rows = strings("a b  c", " d ", "", "a,b;c", LONG)
    for delimiter, skip in itertools.product((" ", ",;", "", "x"), (True, False)):
        yield split(rows, delimiter, skip_empty=skip)
    yield split(strings("abc", "é"), "")
    yield split(strings("a\tb c"), " ")
    yield split(strings(), " ")
    yield split("a b", " ", error=True)
    yield split(strings("a b").reshape(1, 1), " ", error=True)
    yield split(strings("a b"), strings(" "), error=True)
    v2 = lambda x, s, error=False, **attrs: case("StringSplitV2", {"input": x, "sep": s}, attrs, error=error)
    rows = strings("a b  c", " d  ", "", "a<>b<><>c", "<>", "\ta\nb\vc\fd\re\x1cf\xa0g ", LONG)
    for sep, most in itertools.product(("", " ", "<>", "zz"), (-1, 0, 1, 2, -5)):
        yield v2(rows, sep, maxsplit=most)
    yield v2(strings("", "  "), "")
    yield v2(strings("aaa", "aaaa"), "aa")
    yield v2(strings(), "")
    yield v2(strings("é漢é"), "漢")
    yield v2("a b", "", error=True)
    yield v2(strings("a b").reshape(1, 1), "", error=True)
    yield v2(strings("a b"), strings(""), error=True)


def ngrams():
    def make(data, ends, widths, pad=0, short=False, left="LP", right="RP", sep="|", itype=I64, error=False):
        return case("StringNGrams", {"data": data, "data_splits": np.array(ends, itype)},
                    {"separator": sep, "ngram_widths": widths, "left_pad": left, "right_pad": right, "pad_width": pad,
                     "preserve_short_sequences": short}, error=error)
    five = strings(*"abcde")
    for ends in ([0, 3, 5], [0, 3, 3, 5], [0, 0, 5], [0, 5, 5]):
        for widths, pad in (([2], 0), ([2, 3], 0), ([3], 1), ([3], 2), ([3], -1), ([4], 5), ([1], 2), ([6], 1)):
            yield make(five, ends, widths, pad)
        for widths, pad in (([4], 0), ([4], 1), ([6], 1), ([7], -1), ([5, 4], 0), ([3, 2], 1)):
            yield make(five, ends, widths, pad, short=True)
    yield make(five, [0, 3, 5], [2, 3], itype=np.int32)
    yield make(strings("a", "b"), [0, 2], [6], -1, left="", right="")
    yield make(strings("a", LONG), [0, 2], [2, 2], sep="")
    yield make(strings("a"), [0, 1], [])
    yield make(strings("a", "b"), [], [1])
    yield make(strings(), [], [1])
    yield make(strings(), [0], [1])
    yield make(strings(), [0, 0], [1])
    for widths in ([0], [-1]):
        yield make(strings("a"), [0, 1], widths, error=True)
    for ends in ([1, 1], [0, 2], [0, 1, 0], [0, 0], [0, -1, 1], [-1, 1]):
        yield make(strings("a"), ends, [1], error=True)


def as_string():
    def make(x, error=False, **attrs):
        return case("AsString", {"input": x}, attrs, error=error)
    reals = [1.5, -2, 1e10, np.inf, -np.inf, np.nan, 1 / 3, 1e-10, 0.0, -0.0, 123456789]
    formats = [{}, {"precision": 2}, {"precision": 0}, {"scientific": True}, {"scientific": True, "precision": 3},
               {"shortest": True}, {"shortest": True, "precision": 3}, {"width": 10}, {"width": 0}, {"fill": "0"},
               {"fill": "+"}, {"width": 10, "precision": 2}]
    formats += [{"width": 10, "fill": f} for f in "0-+ #"]
    for f in formats:
        yield make(F32(reals), **f)
    for f in formats[:8] + formats[-5:-2]:
        for dtype in ("double", "half", "bfloat16"):
            yield make(array([1.5, -1 / 3, np.inf, 7], dtype), **f)
        yield make(array([1 + 2j, -1 / 3 - 2.5j], "complex64" if "width" in f else "complex128"), **f)
    yield make(np.float64([1e300, 5e-324]))
    ints = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    for dtype in ints:
        info = np.iinfo(dtype)
        values = np.array([info.min, info.max, 5, 0], dtype)
        for f in ({}, {"width": 8}, {"width": 8, "fill": "0"}, {"width": 8, "fill": "-"}, {"width": 8, "fill": "+"},
                  {"width": 8, "fill": " "}):
            yield make(values, **f)
        yield make(values, precision=2, error=True)
    for f in ({"scientific": True}, {"shortest": True}, {"precision": 0}):
        yield make([1, 2], error=True, **f)
        yield make([True], error=True, **f)
    for f in ({}, {"width": 10}, {"width": 10, "fill": "0"}):
        yield make([True, False], **f)
    for f in ({}, {"width": 6}, {"width": 6, "fill": "-"}, {"width": 6, "fill": "0"}, {"precision": 1},
              {"scientific": True}):
        yield make(strings("ab", "", LONG, "a longer one"), **f)
    for f in ({"fill": "x", "width": 4}, {"fill": "00", "width": 4}, {"scientific": True, "shortest": True}):
        yield make(F32([1]), error=True, **f)
    yield make(np.zeros([2, 0], np.int32))
    yield make(np.int64(7))
    yield make(np.arange(6).reshape(2, 3))


def to_number():
    good = {
        "float": ["1", "+1", "-1", " 1 ", "\t1\n", "\v1", "0x10", "-0x1F", "0X1f", "0x1.8p1", "1e400", "-1e400", "1e-400",
                  "1e-40", "inf", "Infinity", "INF", "-inf", "+inf", "nan", "NaN", "nan(1)", "1.", ".5", "1e5", "1E5",
                  "-0", "00012", "3.4028236e38", "0x10000000000000001", "4294967296", "0." + "0" * 400 + "1",
                  "1" + "0" * 400, "0.1", "16777217"],
        "int32": ["1", "+1", "-1", " 1 ", "\v1", "-0", "00012", "2147483647", "-2147483648"],
        "int64": ["9223372036854775807", "-9223372036854775808", "+5", " 7\n"],
        "uint32": ["4294967295", "0", "+1", " 12 "],
        "uint64": ["18446744073709551615", "0"],
    }
    good["double"] = good["float"] + ["1e308", "1e-310"]
    for dtype, texts in good.items():
        yield case("StringToNumber", {"string_tensor": strings(*texts)}, {"out_type": dtype})
    bad = ["", " ", "++1", "+-1", "-+1", "1\0", "1_0", "infi", ".", "1e", "1e+", "1 2", "1f", "0x", "1,000", "١", "-", "+",
           "0x-1", "- 1"]
    for text in bad:
        yield case("StringToNumber", {"string_tensor": text}, {"out_type": "float"}, error=True)
    for dtype, texts in {"int32": ["2147483648", "1.5", "0x10", "1e5", "", "-", "+-1"], "int64": ["9223372036854775808"],
                         "uint32": ["-1", "-0", "4294967296"], "uint64": ["18446744073709551616", "-1"]}.items():
        for text in texts:
            yield case("StringToNumber", {"string_tensor": text}, {"out_type": dtype}, error=True)
    yield case("StringToNumber", {"string_tensor": strings()}, {"out_type": "float"})
    yield case("StringToNumber", {"string_tensor": strings("1", "2").reshape(2, 1)}, {"out_type": "double"})


def base64():
    texts = strings("", "a", "ab", "abc", "abcd", b"\xff\xfe\xfd", b"\xfb\xff", LONG)
    for pad in (False, True):
        yield case("EncodeBase64", {"input": texts}, {"pad": pad})
    yield case("EncodeBase64", {"input": "x"})
    yield case("DecodeBase64", {"input": strings("", "YQ", "YQ==", "YWI", "YWI=", "YWJj", "-_", "_-8", "YR", "YWJ",
                                                 "YWJjZGVmZ2g")})
    for text in ("YQ=", "Y", "YQ===", "+/", "YQ\n", "Y Q", "=", "====", "YWJjY", "YQ==YQ=="):
        yield case("DecodeBase64", {"input": text}, error=True)


def raw():
    def decode(s, dtype, error=False, **attrs):
        return case("DecodeRaw", {"bytes": s}, {"out_type": dtype, **attrs}, error=error)
    sixteen = strings(b"abcdefghABCDEFGH", bytes(range(16)))
    types = ("half", "float", "double", "int32", "uint16", "uint8", "int16", "int8", "int64", "bfloat16", "complex64",
             "complex128")
    for dtype in types:
        for little in (True, False):
            yield decode(sixteen, dtype, little_endian=little)
    yield decode(b"\0\1\1", "bool")
    yield decode("abcd", "int16")
    for x in ("", strings("", ""), strings(), np.zeros([2, 0], object)):
        yield decode(x, "int32")
    yield decode("abc", "int16", error=True)
    yield decode(strings("abcd", "ef"), "int16", error=True)
    def padded(s, n, dtype, error=False, **attrs):
        return case("DecodePaddedRaw", {"input_bytes": s, "fixed_length": n}, {"out_type": dtype, **attrs}, error=error)
    texts = strings("abc", "", "abcdefghijklmnop")
    for dtype in types[1:-2]:
        for little in (True, False):
            yield padded(texts, 8, dtype, little_endian=little)
    yield padded("abc", 4, "uint8")
    yield padded(strings(), 4, "int32")
    for n in (3, 0, -2, [4]):
        yield padded(texts, n, "int16", error=True)


def hashes():
    texts = strings("", "a", *[("abcdefghijklmnopqrstuvwxyz" * 6)[:n] for n in (2, 3, 7, 8, 9, 15, 16, 17, 32, 33, 64,
                                                                               65, 150)], "é")
    for n in (1, 10, 2**62):
        yield case("StringToHashBucket", {"string_tensor": texts}, {"num_buckets": n})
        yield case("StringToHashBucketFast", {"input": texts}, {"num_buckets": n})
        for key in ([1, 2], [-1, 2**63 - 1]):
            yield case("StringToHashBucketStrong", {"input": texts}, {"num_buckets": n, "key": key})
    yield case("StringToHashBucketFast", {"input": texts[:4].reshape(2, 2)}, {"num_buckets": 5})
    yield case("StringToHashBucketFast", {"input": strings()}, {"num_buckets": 5})
    yield case("StringToHashBucketStrong", {"input": "a"}, {"num_buckets": 5, "key": [1]}, error=True)
    for op, name in (("StringToHashBucket", "string_tensor"), ("StringToHashBucketFast", "input")):
        yield case(op, {name: "a"}, {"num_buckets": 0}, error=True)
    fingerprint = lambda x, method="farmhash64", error=False: case(
        "Fingerprint", {"data": x, "method": method}, error=error)
    for x in (strings("a", "bc"), strings("a", "b", "c", "d").reshape(2, 2), np.int32([[1, 2], [3, 4]]), F32([1, 2]),
              np.zeros([0, 2], np.int32), np.zeros([2, 0], np.int32), np.array([True]), strings("a").reshape(1, 1),
              np.zeros([2, 3, 4], np.uint8)):
        yield fingerprint(x)
    yield fingerprint("a", error=True)
    yield fingerprint(np.int32(3), error=True)
    yield fingerprint(strings("a"), "md5", error=True)
    yield fingerprint(strings("a"), strings("farmhash64"), error=True)


def formats():
    def make(inputs, template="%s", placeholder="%s", summarize=3, error=False):
        return case("StringFormat", {"inputs": inputs},
                    {"template": template, "placeholder": placeholder, "summarize": summarize}, error=error)
    yield make([], "abc")
    yield make([1, 2], "x {} y {}", "{}")
    yield make([1], "%%s")
    for n, template, placeholder in ((1, "{} {}", "{}"), (2, "{}", "{}"), (0, "a%sb", "%s"), (1, "a", "%s")):
        yield make([1] * n, template, placeholder, error=True)
    numbers = [np.arange(3), np.arange(6), np.arange(7), np.arange(20).reshape(4, 5), np.arange(100).reshape(10, 10),
               np.zeros([2, 3, 4], np.int32), np.zeros([0], np.int32), np.zeros([2, 0], np.int32),
               np.zeros([0, 2], np.int32), F32([1.5, 1e10, 1 / 3, np.nan, np.inf, -np.inf, -0.0, 1e-40]), F32(1e-7),
               np.float64([1 / 3, 1e300, 0.1, 1e16, 123456789012]), np.int8([-5]), np.uint64([2**64 - 1]),
               np.arange(8 * 8 * 8).reshape(8, 8, 8), F32([100000, 1e6, 123456789]),
               array([1.5, 0.1], "bfloat16"), array([1 / 3], "half")]
    for x, summarize in itertools.product(numbers, (3, -1, 1, 0)):
        yield make([x], summarize=summarize)
    yield make([np.array([True, False])])
    yield make([F32([1.5]), np.array([[1], [2]])], "x=%s i=%s")
    for x in ('é"x\n\t\\\'', strings("a", "b"), strings(*"abcd").reshape(2, 2), strings()):
        yield make([x])


def cases(rng):
    for topic in (changing_case, strip_and_length, substr, joins, splits, ngrams, as_string, to_number, base64, raw,
                  hashes, formats):
        yield from topic()

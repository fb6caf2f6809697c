"""Text encodings: decoding, encoding and transcoding, with what is done about errors."""
import itertools

import numpy as np

from case import case


def strings(*values):
    return np.array(values, dtype=object)


GOOD = strings("héllo", "", "漢😀", "\ufeffab")
BAD = strings(b"a\xffb\xe2\x82c\xed\xa0\x80d\xf0\x9f\x98", b"\xc0\x80\xe0\x80\x80\xf4\x90\x80\x80z", b"\x80\x80")
CONTROL = strings("a\x01\x07\tb\n\r\x7f\x85\u200b\0c")
POLICIES = [{"errors": e, "replace_control_characters": r} for e in ("replace", "ignore", "strict")
            for r in (False, True)] + [{"replacement_char": ord("?")}, {"replacement_char": 0x1f600}]
BYTES = {
    "UTF-16-BE": [b"\0a\0b\xd8\x3d\xde\0", b"\0a\0", b"\0a\xd8\x3d\0b", b"\0a\xde\0\0b", b"\xd8\x3d", b"\xd8\x3d\xd8\x3d\xde\0"],
    "UTF-16-LE": [b"a\0b\0", b"\x3d\xd8\0\xde"],
    # One at a time: TensorFlow looks for a byte order mark in the first string only.
    "UTF-16": [b"a\0b\0", b""], "utf-16": [b"\xfe\xff\0a"], "utf16": [b"\xff\xfea\0"],
    "UTF-32": [b"\xff\xfe\0\0a\0\0\0"],
    "UTF-32-BE": [b"\0\0\0a\0\1\xf6\0", b"\0\0\0a\0\x11\0\0", b"\0\0\0a\0\0", b"\0\0\xd8\0"],
    "UTF-32-LE": [b"a\0\0\0", b"\0\xf6\1\0"],
    "latin1": [b"a\xe9\x80"], "ISO-8859-1": [b"a\xe9\x80"], "windows-1252": [bytes(range(0x7e, 0xa2))],
    "US-ASCII": [b"a\xe9"], "ASCII": [b"a"], "utf8": ["é"], "utf-8": ["é"],
}


def decoding():
    for op in ("UnicodeDecode", "UnicodeDecodeWithOffsets"):
        def make(x, source="UTF-8", error=False, **attrs):
            attrs = {"errors": "replace", "replacement_char": 0xfffd, "replace_control_characters": False,
                     "Tsplits": np.int64, **attrs}
            return case(op, {"input": x}, {"input_encoding": source, **attrs}, error=error)
        for texts, policy in itertools.product((GOOD, BAD, CONTROL), POLICIES):
            yield make(texts, error=texts is BAD and policy.get("errors") == "strict", **policy)
        for source, texts in BYTES.items():
            yield make(strings(*texts), source)
            yield make(strings(*texts), source, errors="ignore")
        for x in ("abc", strings("a", "bc").reshape(1, 2), strings()):
            # TensorFlow's own kernel with offsets dies on int32 splits.
            yield make(x, Tsplits=np.int32 if op == "UnicodeDecode" else np.int64)
        yield make("a", "nonsense", error=True)
        for attrs in ({"replacement_char": 0x110000}, {"replacement_char": -1}, {"errors": "bad"}):
            yield make("a", error=True, **attrs)


def encoding():
    def make(values, splits, output="UTF-8", itype=np.int64, error=False, **attrs):
        return case("UnicodeEncode", {"input_values": np.array(values, np.int32), "input_splits": np.array(splits, itype)},
                    {"output_encoding": output, **attrs}, error=error)
    odd = [97, 0xd800, 0x110000, -1, 0xfffd, 0xffff, 0xfdd0]
    for output, errors in itertools.product(("UTF-8", "UTF-16-BE", "UTF-32-BE"), ("replace", "ignore", "strict")):
        yield make([97, 233, 0x6f22, 0x1f600], [0, 1, 1, 4], output, errors=errors)
        yield make(odd, [0, 7], output, errors=errors, error=errors == "strict")
    yield make(odd, [0, 3, 7], replacement_char=63, itype=np.int32)
    yield make([], [0])
    yield make([], [0, 0])
    for values, splits in (([97], [1, 1]), ([97], [0, 2]), ([97, 98], [0, 1]), ([97, 98], [0, 2, 1, 2]), ([97], []),
                           ([], []), ([[97]], [0, 1]), ([97], [[0, 1]]), ([97], [0, -1, 1])):
        yield make(values, splits, error=True)
    yield make([97], [0, 1], "UTF-16-LE", error=True)
    yield make([97], [0, 1], replacement_char=0x110000, error=True)


def transcoding():
    def make(x, source="UTF-8", output="UTF-8", error=False, **attrs):
        return case("UnicodeTranscode", {"input": x},
                    {"input_encoding": source, "output_encoding": output, **attrs}, error=error)
    for output in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
        for texts, policy in itertools.product((GOOD, BAD, CONTROL), POLICIES):
            strict = policy.get("errors") == "strict"
            bad = texts is BAD or (texts is CONTROL and policy.get("replace_control_characters"))
            yield make(texts, output=output, error=strict and bool(bad), **policy)
    for source, texts in BYTES.items():
        yield make(strings(*texts), source)
        yield make(strings(*texts), source, "UTF-16-BE", errors="ignore")
    for x in ("abc", strings("a", "b").reshape(2, 1), strings()):
        yield make(x)
    yield make("a", "nonsense", error=True)
    yield make("a", "", error=True)
    yield make("a", output="UTF-16-LE", error=True)


def cases(rng):
    for topic in (decoding, encoding, transcoding):
        yield from topic()

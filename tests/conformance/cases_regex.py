"""Regular expressions: replacing and matching, with fixed and with given patterns."""
import numpy as np

from case import case


def strings(*values):
    return np.array(values, dtype=object)


LONG = "a string that is longer than a small cell, " * 3
TEXTS = strings("", "abcabc", "x", "aaa", "baaac", "hé", b"h\xff", "a\nb", "ABC", "a.b, c!", "漢字abc", "a\0b", LONG)
REPLACEMENTS = [
    ("b", "Z"), ("(a)(b)", r"\2\1\0"), ("a", r"\1"), ("a", r"\0\0"), ("", "-"), (".", r"<\0>"), ("^$", "e"),
    ("(?i)b", "x"), ("[[:punct:]]", ""), (r"([\p{P}\p{Han}])", r" \1 "), ("a*", "x"), ("a|", "Z"), ("a.b", "x"),
    ("^b", "x"), ("(?m)^b", "x"), ("(?s)a.b", "x"), (r"\s+", " "), (r"[^\p{L}\p{N}\s]", ""), ("\0", "N"),
    (r"\b", "|"), ("a", "\\\\"), ("longer|small", ""), (r"(\w+) (\w+)", r"\2 \1"), ("[.e].*", ""),
]


def replace(texts, pattern, rewrite, error=False, **attrs):
    yield case("RegexReplace", {"input": texts, "pattern": pattern, "rewrite": rewrite}, attrs, error=error)
    yield case("StaticRegexReplace", {"input": texts}, {"pattern": pattern, "rewrite": rewrite, **attrs}, error=error)


def match(texts, pattern, error=False):
    yield case("RegexFullMatch", {"input": texts, "pattern": pattern}, error=error)
    yield case("StaticRegexFullMatch", {"input": texts}, {"pattern": pattern}, error=error)


def cases(rng):
    for pattern, rewrite in REPLACEMENTS:
        yield from replace(TEXTS, pattern, rewrite)
        yield from replace(TEXTS, pattern, rewrite, replace_global=False)
    yield from replace("abc", "b", "x")
    yield from replace(TEXTS[:12].reshape(3, 4), "a", "x")
    yield from replace(strings(), "a", r"\3")
    for pattern in ("(a", "a**b[", r"\8", "(?<x>a)", "[z-a]", "*"):
        yield from replace("abc", pattern, "x", error=True)
        yield from match("abc", pattern, error=True)
    yield case("RegexReplace", {"input": strings(), "pattern": "(", "rewrite": "x"}, error=True)
    yield case("RegexReplace", {"input": strings("a"), "pattern": strings("a"), "rewrite": "x"}, error=True)
    yield case("RegexReplace", {"input": strings("a"), "pattern": "a", "rewrite": strings("x")}, error=True)
    yield case("RegexFullMatch", {"input": strings("a"), "pattern": strings("a")}, error=True)
    for pattern in ("a.*", "", ".", "(?i)abc", "[a]", ".*[0-9]+.*", r"\p{Han}+\w+", "(a|b)*c?", "(?s).*"):
        yield from match(TEXTS, pattern)
    yield from match("a", "a")
    yield from match(strings(), "a")
    yield from match(TEXTS[:6].reshape(2, 3), "a+")

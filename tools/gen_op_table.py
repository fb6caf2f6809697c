#!/usr/bin/env python3
"""Writes src/op/op_table.inc from a serialised OpList (TF_GetAllOpList of any libtensorflow).

    python3 tools/gen_op_table.py OPLIST.pb > src/op/op_table.inc

Needs nothing but Python: field numbers are those of docs/formats (OpList.op=1; OpDef name=1 input_arg=2
output_arg=3 attr=4 is_stateful=17; ArgDef name=1 type=3 type_attr=4 number_attr=5 type_list_attr=6
is_ref=16; AttrDef name=1 type=2 default_value=3 has_minimum=5 minimum=6 allowed_values=7).
"""
import struct
import sys

DTYPES = ("invalid float double int32 uint8 int16 int8 string complex64 int64 bool qint8 quint8 qint32 "
          "bfloat16 qint16 quint16 uint16 complex128 half resource variant uint32 uint64 float8_e5m2 "
          "float8_e4m3fn float8_e4m3fnuz float8_e4m3b11fnuz float8_e5m2fnuz int4 uint4 int2 uint2 "
          "float4_e2m1fn").split()


def varint(b, i):
    v = s = 0
    while True:
        v |= (b[i] & 127) << s
        s += 7
        i += 1
        if b[i - 1] < 128:
            return v, i


def fields(b):
    """Yields (field number, value): int for varints, bytes for the rest."""
    i = 0
    while i < len(b):
        key, i = varint(b, i)
        kind = key & 7
        if kind == 0:
            v, i = varint(b, i)
        elif kind == 2:
            n, i = varint(b, i)
            v, i = b[i:i + n], i + n
        else:
            n = 8 if kind == 1 else 4
            v, i = b[i:i + n], i + n
        yield key >> 3, v


def signed(v):
    return v - (1 << 64) if v >> 63 else v


def dtype(v):
    return ("&" if v > 100 else "") + DTYPES[v - 100 if v > 100 else v]


def quote(b):
    return "'" + b.decode() + "'"


def shape(b):
    dims, unknown = [], False
    for f, v in fields(b):
        if f == 2:
            d = 0
            for g, w in fields(v):
                if g == 1:
                    d = signed(w)
            dims.append("?" if d < 0 else str(d))
        elif f == 3:
            unknown = bool(v)
    return "<unknown>" if unknown else "[" + ",".join(dims) + "]"


def number(raw):
    return repr(struct.unpack("<f", raw)[0])


def packed(v, one):
    if isinstance(v, int):
        return [one(v)]
    out, i = [], 0
    while i < len(v):
        x, i = varint(v, i)
        out.append(one(x))
    return out


def value(b):
    for f, v in fields(b):
        if f == 1:
            items = []
            for g, w in fields(v):
                if g == 2:
                    items.append(quote(w))
                elif g == 3:
                    items += packed(w, lambda x: str(signed(x)))
                elif g == 4:
                    items += [number(w[i:i + 4]) for i in range(0, len(w), 4)]
                elif g == 5:
                    items += packed(w, lambda x: "true" if x else "false")
                elif g == 6:
                    items += packed(w, dtype)
                elif g == 7:
                    items.append(shape(w))
            return "[" + ",".join(items) + "]"
        if f == 2:
            return quote(v)
        if f == 3:
            return str(signed(v))
        if f == 4:
            return number(v)
        if f == 5:
            return "true" if v else "false"
        if f == 6:
            return dtype(v)
        if f == 7:
            return shape(v)
        if f == 8:
            return "<tensor>"
    return "[]"


def arg(b):
    a = dict(fields(b))
    kind = (DTYPES[a[3]] if a.get(3) else "[" + a[6].decode() + "]" if a.get(6) else a[4].decode())
    if a.get(5):
        kind = a[5].decode() + "*" + kind
    return a[1].decode() + ":" + ("&" if a.get(16) else "") + kind


def attr(b):
    a = dict(fields(b))
    s = a[1].decode() + ":" + a[2].decode()
    if 7 in a:
        s += "{" + value(a[7])[1:-1] + "}"
    if a.get(5):
        s += ">=" + str(signed(a.get(6, 0)))
    if 3 in a:
        s += "=" + value(a[3])
    return s


def main():
    rows = []
    for f, op in fields(open(sys.argv[1], "rb").read()):
        if f != 1:
            continue
        name, ins, outs, attrs, stateful = "", [], [], [], False
        for g, v in fields(op):
            if g == 1:
                name = v.decode()
            elif g == 2:
                ins.append(arg(v))
            elif g == 3:
                outs.append(arg(v))
            elif g == 4:
                attrs.append(attr(v))
            elif g == 17:
                stateful = bool(v)
        if not name.startswith("_"):
            rows.append((name, " ".join(ins) + " -> " + " ".join(outs), " ".join(attrs), stateful))
    print("// Made by tools/gen_op_table.py. One row an op, sorted by name.")
    for name, args, attrs, stateful in sorted(rows):
        text = attrs.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        print(f'{{"{name}", "{args.strip()}", "{text}"{", true" if stateful else ""}}},')


main()

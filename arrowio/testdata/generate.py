#!/usr/bin/env python3
"""Writes the streams in pyarrow/ with their expected values beside them.

Another implementation's bytes are what keeps the decoder honest: run
`python3 generate.py` with pyarrow to write them again. The expected values are
JSON: per batch an object of columns; bytes in hex, times as their number,
decimals as text, maps as lists of pairs, floats that JSON lacks as text.
"""
import decimal, json, math, pathlib, random

import pyarrow as pa

HERE = pathlib.Path(__file__).parent / "pyarrow"


def plain(v, t):
    if v is None:
        return None
    if pa.types.is_dictionary(t):
        return plain(v, t.value_type)
    if pa.types.is_map(t):
        return [[plain(k, t.key_type), plain(i, t.item_type)] for k, i in v]
    if pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t):
        return [plain(x, t.value_type) for x in v]
    if pa.types.is_struct(t):
        return {f.name: plain(v[f.name], f.type) for f in t}
    if pa.types.is_floating(t):
        return float(v) if math.isfinite(v) else str(float(v))
    if isinstance(v, bytes):
        return v.hex()
    if isinstance(v, decimal.Decimal):
        return str(v)
    return v


def column(a):
    t = a.type
    if pa.types.is_temporal(t) and not pa.types.is_interval(t):
        bits = t.bit_width
        a = a.view(pa.int32() if bits == 32 else pa.int64())
        t = a.type
    return [plain(v, t) for v in a.to_pylist()]


def write(name, batches, schema=None, **options):
    schema = schema or batches[0].schema
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema, options=pa.ipc.IpcWriteOptions(**options)) as w:
        for b in batches:
            w.write_batch(b)
    (HERE / f"{name}.arrows").write_bytes(sink.getvalue().to_pybytes())
    want = [{n: column(b.column(i)) for i, n in enumerate(b.schema.names)} for b in batches]
    (HERE / f"{name}.json").write_text(json.dumps(want) + "\n")


def flat():
    n = None
    cols = {"nothing": pa.nulls(5), "flag": pa.array([True, n, False, True, n])}
    for t in (pa.int8(), pa.int16(), pa.int32(), pa.int64()):
        cols[str(t)] = pa.array([-1, n, 0, 7, -(2 ** (t.bit_width - 1)) if t.bit_width < 64 else -(2**53)], t)
    for t in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()):
        cols[str(t)] = pa.array([1, n, 0, 7, 2**t.bit_width - 1 if t.bit_width < 64 else 2**53], t)
    cols["half"] = pa.array([0.5, n, -2, 1024, 0], pa.float16())
    cols["single"] = pa.array([0.5, n, math.inf, math.nan, -0.25], pa.float32())
    cols["double"] = pa.array([0.1, n, -math.inf, math.nan, 1e300], pa.float64())
    text = ["a", n, "", "grün", "日本語 and more than twelve bytes"]
    for t in (pa.string(), pa.large_string()):
        cols[str(t)] = pa.array(text, t)
    for t in (pa.binary(), pa.large_binary()):
        cols[str(t)] = pa.array([b"\xff\x00", n, b"", b"x", b"\x80" * 20], t)
    cols["fixed"] = pa.array([b"abc", n, b"\0\0\0", b"xyz", b"\xff\xff\xff"], pa.binary(3))
    cols["full"] = pa.array([1.5, 2, 3, 4, 5], pa.float32())
    return pa.record_batch(cols)


def temporal():
    n, cols = None, {}
    for t in (pa.date32(), pa.time32("s"), pa.time32("ms")):
        cols[str(t)] = pa.array([1, n, 4000], pa.int32()).view(t)
    for t in [pa.date64(), pa.time64("us"), pa.time64("ns"), pa.timestamp("ns", "Europe/Berlin"), pa.timestamp("s", "+02:00")]:
        cols[str(t)] = pa.array([86400000, n, 0], pa.int64()).view(t)
    for u in ("s", "ms", "us", "ns"):
        cols["duration " + u] = pa.array([1, n, -5], pa.int64()).view(pa.duration(u))
        cols["timestamp " + u] = pa.array([1, n, -5], pa.int64()).view(pa.timestamp(u))
    cols["small"] = pa.array([decimal.Decimal("1.25"), n, decimal.Decimal("-99.99")], pa.decimal128(10, 2))
    cols["big"] = pa.array([decimal.Decimal("1.250"), n, decimal.Decimal("-99.990")], pa.decimal256(50, 3))
    return pa.record_batch(cols)


def nested():
    n = None
    point = pa.struct([("x", pa.float64()), ("tag", pa.string())])
    return pa.record_batch({
        "list": pa.array([[1, n, 3], n, [], [4]], pa.list_(pa.int32())),
        "large": pa.array([["a"], n, [], ["b", "cd"]], pa.large_list(pa.string())),
        "vector": pa.array([[1, 2, 3], n, [4, n, 6], [7, 8, 9]], pa.list_(pa.float32(), 3)),
        "struct": pa.array([{"x": 1.5, "tag": "p"}, n, {"x": n, "tag": n}, {"x": 2, "tag": ""}], point),
        "map": pa.array([[("k", 1)], n, [], [("a", n), ("b", 2)]], pa.map_(pa.string(), pa.int64())),
        "deep": pa.array([[[{"x": 1.0, "tag": "q"}]], n, [], [[], n]], pa.list_(pa.list_(point))),
        "words": pa.ListArray.from_arrays([0, 2, 2, 3, 4], pa.array(["u", "v", "u", n]).dictionary_encode()),
    })


def main():
    HERE.mkdir(exist_ok=True)
    rnd = random.Random(1)
    write("flat", [flat()])
    write("temporal", [temporal()])
    write("nested", [nested()])
    write("sliced", [flat().slice(1, 3), flat().slice(2, 2)])
    write("nested_sliced", [nested().slice(1, 2)])
    write("schema_only", [], schema=flat().schema.with_metadata({"about": "nothing", "raw": b"\xff\xfe"}))
    write("empty_batches", [flat().slice(0, 0), flat(), flat().slice(5)])
    write("nested_empty", [nested().slice(0, 0)])
    write("no_columns", [pa.record_batch([], names=[])])
    noise = pa.record_batch({
        "zeros": pa.array([0.0] * 400, pa.float32()),
        "noise": pa.array([rnd.random() for _ in range(400)], pa.float64()),
        "text": pa.array([rnd.choice(["red", "green", None]) for _ in range(400)]),
        "one": pa.array([True] * 400),
    })
    for codec in ("lz4", "zstd"):
        write(codec, [flat(), flat().slice(1, 3)], compression=codec)
        write(codec + "_nested", [nested()], compression=codec)
        write(codec + "_long", [noise], compression=codec)
    # Beyond 64 KiB a frame has several blocks. Byte i is i*i % 251.
    squares = pa.record_batch({"n": pa.array([bytes(i * i % 251 for i in range(100_000))])})
    write("lz4_blocks", [squares], compression="lz4")
    (HERE / "lz4_blocks.json").unlink()
    words = lambda *w: pa.record_batch({"w": pa.array(w).dictionary_encode()})
    write("dictionary_replaced", [words("a", "b", None, "a"), words("c"), words("a", "zz")])
    minus = pa.Array.from_buffers(pa.int8(), 3, [pa.py_buffer(b"\x05"), pa.py_buffer(b"\x00\xff\x01")])
    write("dictionary_minus_one", [pa.record_batch({"w": pa.DictionaryArray.from_arrays(minus, pa.array(["x", "y"]), safe=False)})])
    kinds = {}
    for i, t in enumerate((pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64())):
        v = [pa.string(), pa.large_string(), pa.binary(), pa.int64(), pa.float32(), pa.bool_(), pa.string(), pa.date32()][i]
        d = pa.array([1, 0], pa.int32()).view(v) if v == pa.date32() else pa.array(
            [b"p", b"q"] if v == pa.binary() else ["p", "q"] if "string" in str(v) else [1, 0]).cast(v)
        kinds[str(t)] = pa.DictionaryArray.from_arrays(pa.array([1, None, 0], t), d)
    del kinds["uint64"]  # its values are dates, which to_pylist renders
    write("dictionary_kinds", [pa.record_batch(kinds)])
    text = ["a", None, "", "exactly12345", "more than twelve bytes", "日本語日本語"]
    views = pa.record_batch({
        "utf8": pa.array(text, pa.string_view()),
        "bytes": pa.array([t and t.encode() + b"\xff" for t in text], pa.binary_view()),
        "word": pa.DictionaryArray.from_arrays(pa.array([0, 1, 1, 0, None, 0]), pa.array(["x", "a word of many letters"], pa.string_view())),
    })
    write("views", [views, views.slice(2, 3)])
    write("views_lz4", [views], compression="lz4")



if __name__ == "__main__":
    main()

"""Readers for the topics of an eerf pipeline, in their shortest form, row by row. Needs numpy and pyarrow.

Tests compare them with the Go code and with the package eerf. docs/wire-formats.md explains the fields.
"""
import datetime
import hashlib
import json
import re
import struct
import sys

import numpy as np
import pyarrow as pa

FORMAT_VERSIONS = {
    "eerf.spec": 5, "eerf.request": 2, "eerf.progress": 2, "eerf.refusal": 2, "eerf.current": 2, "eerf.block": 2,
    "eerf.checkpoint": 3, "eerf.feature_set": 3, "eerf.model": 2,
}  # 1 in all others


def read(value, key):
    """Returns (table, document) of an Arrow message whose metadata document is under key."""
    with pa.ipc.open_stream(value) as stream:
        table = stream.read_all()
    return table, checked(json.loads(table.schema.metadata[key.encode()]), key)


def read_control(value, key):
    """Returns a control document, which is JSON and begins with its name."""
    document = json.loads(value)
    if document["document"] != key:
        raise ValueError(f"document {document['document']}, want {key}")
    return checked(document, key)


def checked(document, key):
    """Returns the document, unless it is of another version."""
    if document["format_version"] != FORMAT_VERSIONS.get(key, 1):
        raise ValueError(f"format version {document['format_version']} of {key}, want {FORMAT_VERSIONS.get(key, 1)}")
    return document


def column(table, name):
    """Returns a column as an array: [rows], or [rows, n] for a column of fixed-size lists."""
    values = table[name].combine_chunks()
    if isinstance(values, pa.ChunkedArray):  # older pyarrow
        values = pa.concat_arrays(values.chunks)
    if pa.types.is_fixed_size_list(values.type):
        return values.flatten().to_numpy(zero_copy_only=False).reshape(len(values), values.type.list_size)
    return values.to_numpy(zero_copy_only=False)


def event(columns):
    """The message of some rows. Types are those of pyarrow: say pa.array(values, pa.string()) where values may be all null."""
    table = pa.table(columns)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def scores(checkpoints, coding):
    """Returns the scores [M0, K] that the sums of all partitions give under an output coding.

    checkpoints are messages, one for each partition; coding is that of the feature set."""
    n, phi, y_phi = 0, 0.0, 0.0
    tables = [read(value, "eerf.checkpoint") for value in checkpoints]
    for table, document in sorted(tables, key=lambda t: t[1]["partition"]):
        n += document["rows"]
        phi = phi + column(table, "phi")
        y_phi = y_phi + column(table, "y_phi")
    gain, offset = np.array(coding["gain"]), np.array(coding["offset"])
    return (gain * y_phi + offset * phi[:, None]) / n


def read_feature_set(value):
    """Returns a feature set as a dict: the document's fields, the encoder and the columns."""
    table, document = read(value, "eerf.feature_set")
    text = table.schema.metadata[b"eerf.encoder"]
    feature_set = dict(document, encoder=json.loads(text), encoder_json=text)
    for name in ("index", "phase", "weight", "score", "s"):
        feature_set[name] = column(table, name)
    if "kinds" not in document:
        return dict(feature_set, omega=column(table, "omega"))
    n = document["kinds"]["cosine"] + document["kinds"]["ramp"]  # the features with an omega come first
    feature_set["omega"] = np.array(table["omega"].to_pylist()[:n], dtype=np.float32).reshape(n, document["width"])
    feature_set["phase"] = feature_set["phase"][:n]
    for name in ("coordinate", "sign", "threshold"):  # lists of one to three, for each hinge and then each box
        feature_set[name] = table[name].to_pylist()[n:]
    return feature_set


def feature_headers(headers):
    """Returns the coordinates of a features message from its Kafka headers, pairs of str and bytes."""
    h = {key: value.decode() for key, value in headers if key.startswith("eerf-")}
    names = ("source-partition", "source-offset", "first-row", "row-count", "source-rows")
    numbers = {name.replace("-", "_"): int(h["eerf-" + name]) for name in names}
    return dict(numbers, feature_set=h["eerf-feature-set"], source_topic=h["eerf-source-topic"], source_log=h.get("eerf-source-log", ""))


def live_errors(blocks):
    """Rows, mean loss and mean promise over messages of the topic live, whatever their order; those there twice count once."""
    place, rows, loss, promised = {}, 0, 0.0, 0.0
    for block in sorted((read_control(b, "eerf.block") for b in blocks), key=lambda b: (b["partition"], b["next_offset"], b["next_row"])):
        of, end = (block["partition"], block.get("source_log")), (block["next_offset"], block["next_row"])
        if end <= place.get(of, (-1, -1)):
            continue
        place[of] = end
        for model in block["models"]:
            rows, loss = rows + model["rows"], loss + model["loss"]
            promised += model["rows"] * model.get("promised", float("nan"))
    return {"rows": rows, "loss": loss / rows, "promised": None if promised != promised else promised / rows}


def read_features(value):
    """Returns (document, rows [n], features [n, M], table) of a features message."""
    table, document = read(value, "eerf.features")
    return document, column(table, "row"), column(table, "features"), table


def predictions(table):
    """Returns (model id or None, prediction, probabilities) of a features message with predictions, as lists."""
    document = json.loads(table.schema.metadata[b"eerf.features"])
    chances = table["probabilities"].to_pylist() if "probabilities" in table.column_names else None
    return document.get("model"), table["prediction"].to_pylist(), chances


def read_model(value):
    """Returns a model as a dict: the document's fields and theta [M, K]."""
    table, document = read(value, "eerf.model")
    return dict(document, theta=column(table, "theta"))


def predict(model, features):
    """Returns f [n, K] for features [n, M]."""
    return np.asarray(features, dtype=np.float64) @ model["theta"] + np.array(model["intercept"])


def in_units(model, f):
    """Returns what outputs [n, K] of a regression predict, in the units of the label."""
    return {"log": np.exp, "log1p": np.expm1}.get(model["label"].get("transform"), lambda v: v)(f)


def probabilities(f):
    """Returns the probabilities of the classes under the logistic loss for outputs [n, K]."""
    if f.shape[1] == 1:
        f = np.hstack([np.zeros_like(f), f])
    e = np.exp(f - f.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def classes(model, f):
    """Returns the class names that outputs [n, K] of a classification stand for."""
    number = (f[:, 0] > 0).astype(int) if f.shape[1] == 1 else f.argmax(axis=1)
    return [model["label"]["classes"][i] for i in number]


def read_model_file(value):
    """Returns the model and the feature set of the bytes of a model file."""
    with pa.BufferReader(value) as file:
        pa.ipc.open_stream(file).read_all()
        return read_model(value), read_feature_set(value[file.tell():])


CYCLES = {"day": (0, 86400), "week": (4 * 86400, 7 * 86400), "year": (0, 365.2425 * 86400)}  # start and length in seconds


def seconds(kind, value):
    """Returns a datetime, date or time, or its ISO text, as the seconds that kind counts; None where it is none."""
    if isinstance(value, str):
        try:
            value = (datetime.time if kind == "clock" else datetime.datetime).fromisoformat(value)
        except ValueError:
            return None
    if value is None:
        return None
    if kind == "clock":
        return value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    return (value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)).timestamp()


def encode(encoder, row):
    """Returns x [d] for an event given as a dict; None is null, as is a missing column."""
    def missing(value):
        return value is None or "nan" in encoder and isinstance(value, float) and np.isnan(value)

    x = []
    for c in encoder["columns"]:
        value, mean = row.get(c["name"]), c.get("mean", [])
        if c["kind"] in ("time", "clock"):
            value = seconds(c["kind"], value)
        absent = missing(value)
        if c["kind"] == "category":
            values = [float(value == name) for name in c["categories"]]
            values += [float(not absent and value not in c["categories"])] if c.get("other") else []
        elif c["kind"] == "vector":
            values = [m if missing(v) else float(v) for v, m in zip(mean if absent else value, mean)]
        else:
            values = [mean[0] if absent else float(value)]
        for start, length in (CYCLES[cycle] for cycle in c.get("cycles", [])):
            part = 0 if absent else ((value - start) % length) / length
            place = [np.sin(2 * np.pi * part), np.cos(2 * np.pi * part), 2 * part - 1]
            if c["kind"] == "clock":  # the value is the passed part already
                place = place[:2]
            values += [0.0] * len(place) if absent else place
        values += [float(absent)] if c.get("missing") else []
        for j, scale in enumerate(c.get("scale", [])):
            if j < len(c.get("low", [])):
                values[j] = min(max(values[j], c["low"][j]), c["high"][j])
            values[j] = (values[j] - mean[j]) / scale
            clip = encoder["clip"]
            if clip > 0 and abs(values[j]) > clip:
                numbers = encoder.get("tail") == "log" and (c["kind"] == "vector" or c["kind"] == "numeric" and j == 0)
                tail = 1 + np.log(min(abs(values[j]) / clip, 2**20)) if numbers else 1
                values[j] = np.copysign(clip * tail, values[j])
        x.extend(values)
    return np.array(x, dtype=np.float32)


def features(feature_set, x):
    """Returns the features [n, M] of encoded rows x [n, d]: weight * phi * scale."""
    x = np.asarray(x, dtype=np.float64)
    omega = feature_set["omega"].astype(np.float64)
    if feature_set["map"] == "linear":
        phi = x[:, omega[:, 0].astype(int)]
    else:
        t = x @ omega.T
        if "kinds" in feature_set:
            phi = mixed(feature_set, x, t + feature_set["phase"])
        elif feature_set["map"] == "cosine":
            phi = np.cos(t + feature_set["phase"])
        else:
            phi = t ** int(feature_set["map"][-1]) * np.heaviside(t, 0.5)
    return feature_set["weight"] * phi * feature_set["scale"]


def mixed(feature_set, x, t):
    """Returns phi for a set of mixed kinds: cosines and ramps of t, then hinges and boxes of x."""
    kinds = feature_set["kinds"]
    phi = [np.cos(t[:, :kinds["cosine"]]), np.maximum(t[:, kinds["cosine"]:], 0)]
    for i, factors in enumerate(zip(feature_set["coordinate"], feature_set["sign"], feature_set["threshold"])):
        products = np.ones(len(x))
        for j, s, h in zip(*factors):
            z = s * (x[:, j] - h)
            products *= np.maximum(z, 0) if i < kinds["hinge"] else z >= 0
        phi.append(products[:, None])
    return np.hstack(phi)


def content_id(prefix, *parts):
    digest = hashlib.sha256()
    for part in parts:
        digest.update(struct.pack("<Q", len(part)) + part)
    return prefix + digest.hexdigest()[:32]


def numbers(kind, values):
    """Returns values as little-endian bytes: kind is "f4", "f8" or "i8"."""
    return np.asarray(values).astype("<" + kind).tobytes()


def feature_set_id(fs):
    phase, products = fs["phase"] if fs["map"] == "cosine" else [], []
    if "kinds" in fs:
        products = [numbers("i8", [fs["kinds"][kind] for kind in ("cosine", "ramp", "hinge", "box")]), numbers("i8", [len(s) for s in fs["sign"]])]
        for kind, name in (("i8", "coordinate"), ("f4", "sign"), ("f4", "threshold")):
            products.append(numbers(kind, [v for factors in fs[name] for v in factors]))
    return content_id(
        "fs-", b"eerf.feature_set/%d" % (2 if "kinds" in fs else 1), fs["encoder_json"], fs["map"].encode(),
        numbers("i8", [fs["features"], fs["width"], fs["dim"], fs["outputs"]]),
        numbers("f4", fs["omega"]), numbers("f4", phase), *products, numbers("f4", fs["weight"]),
        numbers("f4", [fs["scale"]]), numbers("f8", fs["score"]), numbers("f8", fs["s"]))


def model_id(model):
    return content_id(
        "m-", b"eerf.model/1", model["feature_set"].encode(), model["loss"].encode(),
        numbers("i8", [model["features"], model["outputs"]]), numbers("f8", model["theta"]),
        numbers("f8", model["intercept"]), numbers("f8", [model["lambda"]]))


def xxh64(data):
    """XXH64 with seed 0."""
    p1, p2, p3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
    p4, p5, mask = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5, (1 << 64) - 1

    def rotate(v, n):
        return (v << n | v >> (64 - n)) & mask

    def mix(lane, word):
        return rotate((lane + word * p2) & mask, 31) * p1 & mask

    at, length = 0, len(data)
    if length >= 32:
        lanes = [(p1 + p2) & mask, p2, 0, -p1 & mask]
        while at + 32 <= length:
            lanes = [mix(v, w) for v, w in zip(lanes, struct.unpack_from("<4Q", data, at))]
            at += 32
        h = sum(rotate(v, n) for v, n in zip(lanes, (1, 7, 12, 18))) & mask
        for v in lanes:
            h = ((h ^ mix(0, v)) * p1 + p4) & mask
    else:
        h = p5
    h = (h + length) & mask
    while at + 8 <= length:
        h = (rotate(h ^ mix(0, struct.unpack_from("<Q", data, at)[0]), 27) * p1 + p4) & mask
        at += 8
    if at + 4 <= length:
        h = (rotate(h ^ struct.unpack_from("<I", data, at)[0] * p1 & mask, 23) * p2 + p3) & mask
        at += 4
    for byte in data[at:]:
        h = rotate(h ^ byte * p5 & mask, 11) * p1 & mask
    h = (h ^ h >> 33) * p2 & mask
    h = (h ^ h >> 29) * p3 & mask
    return h ^ h >> 32


def below(h, rate):
    return rate >= 1 or 0 < rate and h < int(rate * 2.0**64)


def sampled(seed, partition, ordinal, rate):
    return below(xxh64(struct.pack("<Qqq", seed, partition, ordinal)), rate)


def place(partition, offset, row):
    """Returns the identity of a row by its place."""
    return xxh64(struct.pack("<qii", offset, partition, row))


DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def content(values):
    """Returns the identity of a row by its content, a dict of str, bool, int and float; None is no value."""
    total = 0
    for name, value in values.items():
        if value is None:
            continue
        name = name.encode()
        if isinstance(value, (str, bool)):
            text = value if isinstance(value, str) else str(value).lower()
            if len(text) <= 40 and DECIMAL.fullmatch(text) and abs(float(text)) <= sys.float_info.max:
                value = float(text)
        if isinstance(value, (str, bool)):
            word = xxh64(text.encode()) ^ 2**64 - 1
        elif value != value:
            word = 0x7FF8000000000001
        else:
            word = struct.unpack("<Q", struct.pack("<d", value + 0.0))[0]
        product = (word ^ xxh64(name)) * (xxh64(name + b"\0") | 1)
        total += (product >> 64) ^ (product & 2**64 - 1)
    return xxh64(struct.pack("<Q", total & 2**64 - 1))


def held_out(seed, identity, fraction):
    """Reports whether models are judged by a row."""
    return below(xxh64(b"held-out" + struct.pack("<QQ", seed, identity)), fraction)


def a_fifth(seed, identity):
    """Reports whether features are judged by a sampled row."""
    return xxh64(b"a fifth" + struct.pack("<QQ", seed, identity)) % 5 == 0


class Deduplicator:
    """Keeps the rows of one partition of features that were not there before."""

    def __init__(self):
        self.next = {}

    def fresh(self, at, rows):
        """Returns a mask over rows (as from read_features) for a message with the headers at."""
        offset, end = at["source_offset"], at["first_row"] + at["row_count"]
        log = at["source_log"]
        first = self.next.get(log, (-1, 0))
        mask = np.array([(offset, row) >= first for row in rows], dtype=bool)
        self.next[log] = max(first, (offset + 1, 0) if end == at["source_rows"] else (offset, end))
        return mask

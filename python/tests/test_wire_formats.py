"""The package agrees with reader.py, the shortest form of what the formats mean."""

import datetime
import json
import math
import pickle

import numpy as np
import pyarrow as pa
import pytest
from conftest import ROOT, messy

import eerf
from eerf import columns, messages, times, written
from eerf.encoder import Encoder

MESSAGES = ROOT / "arrowio" / "wire" / "testdata"
READER = MESSAGES / "reader.py"

pytestmark = pytest.mark.skipif(not READER.exists(), reason="needs the repository")


@pytest.fixture(scope="module")
def reader():
    """The names that the reader defines."""
    names = {"__name__": "reader"}
    exec(compile(READER.read_text(encoding="utf-8"), str(READER), "exec"), names)
    return names


@pytest.mark.parametrize("name", ["feature_set", "mixed_set"])
def test_feature_sets(reader, name):
    value = (MESSAGES / f"{name}.arrow").read_bytes()
    want, have = reader["read_feature_set"](value), eerf.FeatureSet(value)
    assert have.id == want["id"] == reader["feature_set_id"](want)
    for name in ("omega", "phase", "weight", "score", "s", "index"):
        np.testing.assert_array_equal(getattr(have, name), want[name])
    x = np.random.default_rng(3).normal(size=(50, have.encoder.dim)).astype(np.float32)
    x[0] = have.threshold[-1:, 0] if name == "mixed_set" else 0  # where a box begins
    np.testing.assert_allclose(have.features(x), reader["features"](want, x), rtol=4e-7, atol=1e-7)


@pytest.mark.parametrize("feature_map", ["cosine", "arccos0", "arccos1", "arccos2", "linear"])
def test_feature_maps(reader, feature_map):
    have = eerf.FeatureSet((MESSAGES / "feature_set.arrow").read_bytes())
    omega = np.arange(4)[:, None] if feature_map == "linear" else have.omega
    have.map, have.omega = feature_map, omega
    x = np.random.default_rng(3).normal(size=(50, have.encoder.dim)).astype(np.float32)
    x[0] = 0  # where the step is a half
    doc = {"map": feature_map, "omega": omega, "phase": have.phase, "weight": have.weight, "scale": have.scale}
    np.testing.assert_allclose(have.features(x, np.float64), reader["features"](doc, x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["model", "challenger"])
def test_models(reader, name):
    value = (MESSAGES / f"{name}.arrow").read_bytes()
    want, have = reader["read_model"](value), eerf.Model(value)
    assert have.id == want["id"] == reader["model_id"](want)
    z = np.random.default_rng(4).normal(size=(40, len(have.theta))).astype(np.float32)
    f = reader["predict"](want, z)
    np.testing.assert_allclose(have.outputs(z), f, rtol=1e-6)
    assert have.predict_features(z).tolist() == reader["classes"](want, f)
    have.loss = "logistic"
    np.testing.assert_allclose(have.probabilities(z), reader["probabilities"](f), rtol=0, atol=1e-6)


def test_events(reader):
    rows = {"age": [41, None], "city": ["Rome", None], "seen": [datetime.datetime(2026, 11, 3)] * 2}
    assert eerf.event(rows) == reader["event"](rows)


def test_pointers_and_headers(reader):
    value = (MESSAGES / "current.json").read_bytes()
    assert messages.read_control(value, "eerf.current") == reader["read_control"](value, "eerf.current")
    assert messages.read_control(value, "eerf.current")["id"].startswith("fs-")
    for other in (b"hello", b"[1]", b"\xff\xff\xff\xff", value.replace(b"eerf.current", b"eerf.spec"), value.replace(b'n":2', b'n":1')):
        with pytest.raises(eerf.FormatError):
            messages.read_control(other, "eerf.current")
    headers = [("eerf-feature-set", b"old"), ("x", b"\xff")]
    headers += [(f"eerf-{k}", v) for k, v in (("feature-set", b"fs-1"), ("source-topic", b"t"), ("source-partition", b"2"), ("source-offset", b"7"),
                                             ("first-row", b"0"), ("row-count", b"3"), ("source-rows", b"9"))]  # fmt: skip
    assert eerf.topics.coordinates(headers) == reader["feature_headers"](headers)
    headers.append(("eerf-source-log", b"l.1"))
    assert eerf.topics.coordinates(headers) == reader["feature_headers"](headers)
    assert eerf.topics.coordinates(headers)["source_log"] == "l.1"


def test_duplicates(reader):
    """Rows count once in each log of events, as in reader.py."""
    package, documented = eerf.topics.Deduplicator(), reader["Deduplicator"]()
    kept = 0
    for log, offset, first, count in (("a", 5, 0, 2), ("a", 5, 2, 2), ("a", 5, 0, 2), ("b", 0, 0, 4), ("a", 5, 3, 1), ("b", 0, 0, 4), ("b", 1, 0, 3)):
        at = {"source_log": log, "source_offset": offset, "first_row": first, "row_count": count, "source_rows": 4}
        rows = range(first, first + count)
        mask = package.fresh(at, rows)
        assert (mask == documented.fresh(at, rows)).all()
        kept += mask.sum()
    assert kept == 11


@pytest.mark.parametrize("bounds", [{}, {"low": [-1.0], "high": [12.0]}])
@pytest.mark.parametrize("tail", [{}, {"tail": "log"}])
def test_the_encoder(reader, tail, bounds):
    """Row by row as in reader.py, and by columns, come to the same; that file knows datetimes, not other units."""
    table = messy(300, 9)
    days = {k: [1.65e9 + v * 1e5 for v in b] for k, b in bounds.items()}
    kinds = [
        {"name": "a", "kind": "numeric", "width": 2, "mean": [7.0], "scale": [3.0], "missing": True, **bounds},
        {"name": "yes", "kind": "bool", "width": 2, "mean": [0.5], "missing": True},
        {"name": "city", "kind": "category", "width": 4, "categories": ["Oslo", "Rome"], "other": True, "missing": True},
        {"name": "coded", "kind": "category", "width": 2, "categories": ["Oslo", "Rome"]},
        {"name": "at_ns", "kind": "time", "width": 11, "mean": [1.65e9], "scale": [1e7], "cycles": ["day", "week", "year"], "missing": True},
        {"name": "day", "kind": "time", "width": 1, "mean": [1.65e9], "scale": [1e7], **days},
        {"name": "opens", "kind": "clock", "width": 3, "mean": [4e4], "scale": [1e4], "cycles": ["day"]},
        {"name": "pixels", "kind": "vector", "width": 2, "mean": [0.1, 0.2], "scale": [1.0, 2.0], **{k: b * 2 for k, b in bounds.items()}},
    ]
    document = {"columns": kinds, "clip": 2, **tail, "standardize": "numeric", "nan": "missing", "dim": sum(c["width"] for c in kinds)}
    rows = table.set_column(table.column_names.index("at_ns"), "at_ns", table["at_ns"].cast(pa.timestamp("us"), safe=False))
    want = np.stack([reader["encode"](document, row) for row in rows.to_pylist()])
    have = Encoder(json.dumps(document).encode()).encode(rows)
    assert have.usable.all()
    np.testing.assert_allclose(have.x, want, rtol=0, atol=2e-7)


def test_text_fields_are_read_as_text():
    """Of a text format, numbers, booleans and strings stand for each other."""
    marked = lambda values, kind=None: (pa.array(values, kind), {"eerf.text": ""})  # noqa: E731
    given = {
        "number": marked([" 7.5", "true", "", None, "inf", "1e3"]),
        "flag": marked(["true", "false", "yes", None, "", "1"]),
        "code": marked([7, 8, None, 10**17, -7, 0]),
        "share": marked([0.1, 2.0, 1e21, None, 0.25, -0.0], pa.float32()),
        "truth": marked([True, False, None, True, True, True]),
    }
    table = pa.table([v for v, _ in given.values()], schema=pa.schema([pa.field(name, v.type, metadata=m) for name, (v, m) in given.items()]))
    kinds = [
        {"name": "number", "kind": "numeric", "width": 2, "mean": [1.0], "missing": True},
        {"name": "flag", "kind": "bool", "width": 2, "mean": [0.25], "missing": True},
        {"name": "code", "kind": "category", "width": 2, "categories": ["-7", "7"]},
        {"name": "share", "kind": "category", "width": 4, "categories": ["0", "0.1", "1e+21", "2"]},
        {"name": "truth", "kind": "category", "width": 1, "categories": ["true"]},
    ]
    encoder = Encoder(json.dumps({"columns": kinds, "clip": 0, "standardize": "none", "dim": 11}).encode())
    want = [
        [7.5, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1], [1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 0.25, 1, 0, 0, 0, 0, 1, 0, 0],
        [1, 1, 0.25, 1, 0, 0, 0, 0, 0, 0, 1], [1, 1, 0.25, 1, 1, 0, 0, 0, 0, 0, 1], [1000, 0, 0.25, 1, 0, 0, 1, 0, 0, 0, 1],
    ]  # fmt: skip
    np.testing.assert_array_equal(encoder.encode(table).x, np.array(want, np.float32))
    with pytest.raises(eerf.SchemaError, match="column 'number' is string, want numeric; column 'code' is int64, want category"):
        encoder.check(
            pa.schema([pa.field(f.name, f.type, metadata=f.metadata if f.name in ("flag", "share", "truth") else None) for f in table.schema])
        )


@pytest.mark.parametrize(
    ("value", "text"),
    [(3.0, "3"), (-0.0, "0"), (2.5, "2.5"), (1e-5, "1e-05"), (0.00012, "0.00012"), (123456.5, "123456.5"), (1234567.5, "1.2345675e+06"),
     (1e16, "1e+16"), (-1.5e300, "-1.5e+300"), (math.inf, "+Inf"), (math.nan, "NaN")],
)  # fmt: skip
def test_numbers_as_text(value, text):
    assert columns.number_text(value) == text


def test_texts_as_people_write_them():
    """Every text has the value that the programs read, in every form of a column."""
    with (MESSAGES.parents[1] / "encoder" / "testdata" / "forms.jsonl").open(encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    read = {"numeric": written.number, "time": written.time}
    wrong = [(c, found) for c in cases if (found := read[c["kind"]](c["text"], c["form"])) != c["value"]]
    assert len(cases) > 900
    assert wrong == []


def test_null_words_and_blanks():
    """Blanks around texts do not count, and words and numbers for missing values are null."""
    texts = pa.array([" a", "NA", "", "b\u00a0", None, "keine"])
    for column in (texts, texts.dictionary_encode(), texts.cast(pa.large_string())):
        assert columns.with_nulls(column, ["keine"]).to_pylist() == ["a", None, None, "b", None, None]
    for column in (pa.array([1, -999, None]), pa.array([1.0, -999.0, None])):
        assert columns.with_nulls(column, ["-999", "keine"]).to_pylist() == [1, None, None]
        assert columns.with_nulls(column, ["keine"]).to_pylist() == [1, -999, None]


def test_slices_of_columns():
    table = messy(60, 10)
    kinds = [
        {"name": "pixels", "kind": "vector", "width": 2, "mean": [0.1, 0.2]},
        {"name": "old", "kind": "time", "width": 1, "mean": [0.0]},
        {"name": "yes", "kind": "bool", "width": 1, "mean": [0.0]},
        {"name": "coded", "kind": "category", "width": 1, "categories": ["Oslo"]},
    ]
    encoder = Encoder(json.dumps({"columns": kinds, "clip": 0, "standardize": "none", "nan": "missing", "dim": 5}).encode())
    whole = encoder.encode(table).x
    np.testing.assert_array_equal(encoder.encode(table.slice(13, 20)).x, whole[13:33])
    np.testing.assert_array_equal(encoder.encode(pa.concat_tables([table.slice(0, 7), table.slice(7)])).x, whole)
    assert encoder.encode(table.slice(0, 0)).x.shape == (0, 5)


def test_other_units_of_time_are_as_exact():
    at = datetime.datetime(1931, 5, 6, 7, 8, 9, 123456)
    want = times.instant(at.isoformat())
    for unit in ("us", "ns"):
        found, missing = columns.seconds(pa.array([at, None], pa.timestamp(unit)), "time")
        assert (found[0], missing.tolist()) == (want, [False, True])


def test_damage_is_noticed():
    value = (MESSAGES / "feature_set.arrow").read_bytes()
    at = value.index(eerf.FeatureSet(value).omega.tobytes()[:16])
    with pytest.raises(eerf.FormatError, match="damaged"):
        eerf.FeatureSet(value[:at] + b"\x00\x00\x80\x3f" + value[at + 4 :])
    with pytest.raises(eerf.FormatError, match=r"the message has no eerf\.feature_set"):
        eerf.FeatureSet((MESSAGES / "model.arrow").read_bytes())
    with pytest.raises(eerf.FormatError, match="format version 9"):
        eerf.FeatureSet(value.replace(b'"format_version":3', b'"format_version":9'))
    with pytest.raises(eerf.FormatError, match="not an Arrow IPC stream"):
        eerf.FeatureSet(b"hello, world")
    with pytest.raises(eerf.FormatError):
        eerf.FeatureSet(b"")


def test_files_of_models(tmp_path):
    paths = [tmp_path / name for name in ("model.arrow", "bare.arrow")]
    feature_set, model = ((MESSAGES / f"{name}.arrow").read_bytes() for name in ("feature_set", "model"))
    paths[0].write_bytes(model + feature_set)
    paths[1].write_bytes(model)
    whole, bare = eerf.Model.read(paths[0]), eerf.Model.read(paths[1])
    assert eerf.FeatureSet.read(paths[0]) == whole.feature_set
    rows = {"age": [40.0, None, 33], "vip": [True, None, False], "city": ["Oslo", None, "Bern"], "pixels": np.ones((3, 2), np.float32)}
    assert whole.predict(rows).shape == (3,)
    assert pickle.loads(pickle.dumps(whole)).predict(rows).tolist() == whole.predict(rows).tolist()
    with pytest.raises(ValueError, match="was read without its feature set"):
        bare.predict(rows)
    with pytest.raises(ValueError, match="no probabilities"):
        whole.predict_probabilities(rows)
    assert eerf.Model.read(paths[1], whole.feature_set).predict(rows).tolist() == whole.predict(rows).tolist()

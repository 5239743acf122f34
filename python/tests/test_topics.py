"""Topics are read as pipelines write them."""

import base64
import json

import numpy as np
import pyarrow as pa
import pytest
from conftest import ROOT, messy, read, run, write

import eerf
from eerf import cli

MESSAGES = ROOT / "arrowio" / "wire" / "testdata"


def message(schema_key, document, columns):
    """An Arrow stream with a document."""
    table = pa.table(columns).replace_schema_metadata({schema_key: json.dumps(document)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def pointer(name, sequence):
    return json.dumps({"document": "eerf.current", "format_version": 2, "id": name, "sequence": sequence}).encode()


def export(folder, topic, messages):
    """Writes messages, (partition, key, headers, value), as featurizer topics export does."""
    (folder / topic).mkdir(parents=True)
    listed = []
    for i, (partition, key, headers, value) in enumerate(messages):
        m = {"partition": partition, "offset": i, "key": key, "headers": headers}
        if value is not None:
            m["file"] = f"{partition}-{i}.arrow"
            (folder / topic / m["file"]).write_bytes(value)
        listed.append(m)
    (folder / topic / "messages.json").write_text(json.dumps({"messages": listed}), encoding="utf-8")


@pytest.mark.skipif(not MESSAGES.exists(), reason="needs the repository")
def test_what_is_in_use(tmp_path):
    feature_set, model = ((MESSAGES / f"{name}.arrow").read_bytes() for name in ("feature_set", "model"))
    sid, mid = eerf.FeatureSet(feature_set).id, eerf.Model(model).id
    export(tmp_path, "p.feature-sets", [
        (0, "p/fs-1", None, feature_set), (0, f"p/{sid}", [], feature_set), (0, "p/current", [], pointer(sid, 7)), (0, "p/fs-1", [], None),
        (0, "other/current", [], pointer("fs-0", 99)), (0, "p/current", [], b"hello"), (0, "p/current", [], pointer("fs-1", 6)),
        (0, {"base64": base64.b64encode(b"\xff").decode()}, [], b""), (0, None, [], b""),
    ])  # fmt: skip
    export(tmp_path, "p.models", [(0, f"p/{mid}", [], model), (0, "p/current", [], pointer(mid, 7))])
    topics = eerf.Topics(eerf.Folder(tmp_path), "p")
    assert topics.feature_set().id == sid
    assert topics.feature_set(sid) == topics.feature_set()
    assert topics.model().id == mid
    assert topics.model().feature_set.id == sid
    with pytest.raises(LookupError, match="no feature set fs-1"):
        topics.feature_set("fs-1")
    with pytest.raises(LookupError, match="pipeline q has no feature set yet"):
        eerf.Topics(eerf.Folder(tmp_path), "q", {"feature-sets": "p.feature-sets"}).feature_set()
    with pytest.raises(FileNotFoundError):
        eerf.Topics(eerf.Folder(tmp_path), "q").feature_set()


def test_rows_that_are_there_twice_come_once(featurizer, tmp_path, capsys):
    rows = messy(90, 11).drop_columns(["amount", "class3"])
    found = tmp_path / "set.arrow"
    run(
        featurizer,
        "explore",
        "--data",
        write(tmp_path / "rows.arrow", rows),
        "--label",
        "class2",
        "--features",
        "8",
        "--criterion",
        "energy",
        "--out",
        found,
    )
    feature_set = eerf.FeatureSet.read(found)
    events, features = [], []

    def part(offset, first, count, total, table):
        z = feature_set.transform(table.slice(first, count))
        columns = {
            "row": pa.array(np.arange(first, first + count, dtype=np.int32)),
            "features": pa.FixedSizeListArray.from_arrays(pa.array(z.ravel()), 8),
        }
        at = {"feature-set": feature_set.id, "source-topic": "e", "source-partition": 1, "source-offset": offset, "first-row": first,
              "row-count": count, "source-rows": total}  # fmt: skip
        headers = [{"key": f"eerf-{name}", "value": str(value)} for name, value in at.items()]
        features.append((1, "k", headers, message("eerf.features", {"format_version": 1}, columns)))

    for offset, size in enumerate((40, 30, 20)):
        table = rows.slice(offset * 30, size)
        events.append((1, "k", [], eerf.event(table)))
        for first in range(0, size, 20):
            part(offset, first, min(20, size - first), size, table)
        if offset == 1:
            part(0, 20, 20, 40, rows.slice(0, 40))  # of an owner that was paused
            part(1, 0, 20, 30, table)
    export(tmp_path, "default.events", events)
    export(tmp_path, "default.features", features)
    export(
        tmp_path,
        "default.feature-sets",
        [(0, f"default/{feature_set.id}", [], feature_set.value), (0, "default/current", [], pointer(feature_set.id, 1))],
    )
    assert cli.main(["check", "--messages", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith(f"90 rows of 8 features of {feature_set.id} computed again")
    assert cli.main(["table", "--messages", str(tmp_path), "--out", str(tmp_path / "table.arrow")]) == 0
    table = read(tmp_path / "table.arrow")
    assert (table.num_rows, table.column_names) == (90, ["partition", "offset", "row", "features"])
    assert len({tuple(row.values()) for row in table.select(["partition", "offset", "row"]).to_pylist()}) == 90


def test_no_broker():
    pytest.importorskip("confluent_kafka")
    with pytest.raises(ConnectionError, match=r"default\.feature-sets at 127\.0\.0\.1:1"):
        eerf.Topics(eerf.Kafka("127.0.0.1:1", {"log_level": 0}, timeout=0.5)).feature_set()

"""JSON events are read as the stages read them."""

import json

import numpy as np
import pyarrow as pa
import pytest
from conftest import run, write

import eerf
from eerf import cli
from eerf.events import read_event
from eerf.messages import FormatError
from eerf.topics import Batch, Message

ROWS = [
    {"age": 20 + i % 50, "income": None if i % 9 == 0 else 900.5 + i % 31, "city": ["Rome", "Oslo", None][i % 3], "member": i % 4 < 2,
     "seen": f"2026-01-{1 + i % 28:02d}T08:{i % 60:02d}:00Z", "vector": [i % 5, 0.5 * (i % 7)], "address": {"zip": ["1010", "0150"][i % 2]},
     "churned": ["no", "yes"][i % 2]}
    for i in range(400)
]  # fmt: skip


def arrow(rows):
    """The same rows as an Arrow table."""
    flat = [{**{k: v for k, v in row.items() if k != "address"}, "address.zip": row["address"]["zip"]} for row in rows]
    table = pa.Table.from_pylist(flat)
    vector = pa.array(table["vector"].to_pylist(), pa.list_(pa.float64(), 2))
    return table.set_column(table.column_names.index("vector"), "vector", vector)


@pytest.fixture(scope="module")
def feature_set(featurizer, tmp_path_factory):
    folder = tmp_path_factory.mktemp("set")
    rows = write(folder / "rows.arrow", arrow(ROWS))
    run(featurizer, "explore", "--data", rows, "--label", "churned", "--features", "20", "--criterion", "correlation",
        "--include", "address.zip", "--out", folder / "set.arrow")  # fmt: skip
    return eerf.FeatureSet.read(folder / "set.arrow")


@pytest.mark.parametrize(
    "message",
    [
        json.dumps(ROWS).encode(),
        "\n".join(json.dumps(row) for row in ROWS).encode(),
        b"\0\0\0\0\x07" + json.dumps(ROWS).encode(),
    ],
    ids=["an array", "lines", "framed"],
)
def test_check_of_json(feature_set, message):
    """A message in JSON gives the features of the same rows in Arrow."""
    want = feature_set.transform(arrow(ROWS))
    rows = np.array([3, 7, 250], np.int32)
    batch = Batch({"source_partition": 1, "source_offset": 5}, rows, want[rows], pa.table({}))
    count, worst = cli.compare([batch], [Message(1, 5, None, [], message)], feature_set)
    assert (count, worst) == (3, 0)
    wrong = batch._replace(features=want[rows] + 1)
    assert cli.compare([wrong], [Message(1, 5, None, [], message)], feature_set)[1] > 0.5


def test_an_object_is_a_row(feature_set):
    assert (feature_set.transform(read_event(json.dumps(ROWS[3]).encode(), feature_set.encoder)) == feature_set.transform(arrow(ROWS[3:4]))).all()


@pytest.mark.parametrize("message", [b"\x02\x01", b"[1]", b'{"a": NaN}', b'{"a": ', b"\xffabc"])
def test_other_formats_are_refused(feature_set, message):
    with pytest.raises(FormatError, match="neither Arrow nor JSON"):
        read_event(message, feature_set.encoder)

"""python -m eerf transform."""

import subprocess
import sys

import pyarrow.parquet
import pytest
from conftest import messy, read, run, write

import eerf
from eerf import cli


@pytest.fixture(scope="module")
def model(trainer, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    rows = write(folder / "rows.arrow", messy(400, 12).drop_columns(["amount", "class3"]))
    run(trainer, "fit", "--data", rows, "--label", "class2", "--features", "20", "--criterion", "correlation", "--out", folder / "model.arrow")
    return folder


def test_transform(model, tmp_path):
    arguments = ["transform", "--model", model / "model.arrow", "--data", model / "rows.arrow", "--out", tmp_path / "out.arrow"]
    done = subprocess.run([sys.executable, "-m", "eerf", *map(str, arguments)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("400 rows of 20 features of fs-")
    out = read(tmp_path / "out.arrow")
    assert out.column_names == ["class2", "row", "features", "prediction", "probabilities"]
    assert (out["prediction"].to_pylist() == eerf.Model.read(model / "model.arrow").predict(read(model / "rows.arrow"))).all()


def test_a_set_alone(model, tmp_path):
    eerf.FeatureSet.read(model / "model.arrow").write(tmp_path / "set.arrow")
    pyarrow.parquet.write_table(read(model / "rows.arrow"), tmp_path / "rows.parquet")
    out = tmp_path / "out.parquet"
    assert cli.main(["transform", "--set", str(tmp_path / "set.arrow"), "--data", str(tmp_path / "rows.parquet"), "--out", str(out)]) == 0
    assert pyarrow.parquet.read_table(out).column_names == ["class2", "row", "features"]


def test_rows_to_predict(model, tmp_path):
    """Rows of later have features alone, without a label."""
    write(tmp_path / "new.arrow", read(model / "rows.arrow").drop_columns(["class2"]))
    out = tmp_path / "out.arrow"
    assert cli.main(["transform", "--model", str(model / "model.arrow"), "--data", str(tmp_path / "new.arrow"), "--out", str(out)]) == 0
    assert read(out).column_names == ["row", "features", "prediction", "probabilities"]
    assert len(read(out)) == 400


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--set", "none.arrow", "--data", "rows.arrow"], 1, "none.arrow"),
        (["--set", "rows.arrow", "--data", "rows.arrow"], 1, "not an Arrow IPC stream"),
        (["--model", "model.arrow", "--data", "model.arrow"], 1, "column 'a' is missing"),
        (["--data", "rows.arrow"], 2, "transform needs --set, --model or both"),
    ],
)
def test_what_goes_wrong_is_said(model, monkeypatch, capsys, arguments, code, said):
    monkeypatch.chdir(model)
    try:
        ended = cli.main(["transform", *arguments, "--out", "out.arrow"])
    except SystemExit as usage:
        ended = usage.code
    assert ended == code
    assert said in capsys.readouterr().err

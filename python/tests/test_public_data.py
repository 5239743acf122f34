"""Adult, with missing values and categories that training has not seen, and Letter: Python and the programs agree."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import ROOT, read, run, write

import eerf
from eerf.files import transformed

DATA = Path(os.environ.get("EERF_DATA") or ROOT.parent / "shared" / "data")


def adult():
    names = [f"c{i}" for i in range(14)] + ["income"]
    parts = [
        pd.read_csv(DATA / f"adult.{part}.gz", header=None, names=names, skipinitialspace=True, na_values="?", comment="|")
        for part in ("data", "test")
    ]
    learn, new = (part.assign(income=part["income"].str.rstrip(".")) for part in parts)
    learn = learn[learn["c13"] != "Germany"]  # a category that only the new rows have
    return learn, new, "income"


def letter():
    rows = pd.read_csv(DATA / "letter-recognition.data.gz", header=None, names=["letter"] + [f"x{i}" for i in range(16)])
    return rows[:6000], rows[15000:], "letter"


@pytest.mark.parametrize(("load", "error"), [(adult, 0.17), (letter, 0.35)])
def test_public_data(featurizer, trainer, tmp_path, load, error):
    try:
        learn, new, label = load()
    except FileNotFoundError as missing:
        pytest.skip(f"no public data, see lab/README.md: {missing}")
    files = {name: write(tmp_path / name, pa.Table.from_pandas(rows, preserve_index=False)) for name, rows in (("learn", learn), ("new", new))}
    model_file, set_file = tmp_path / "model.arrow", tmp_path / "set.arrow"
    run(trainer, "fit", "--data", files["learn"], "--label", label, "--features", "100", "--criterion", "correlation", "--out", model_file)
    model = eerf.Model.read(model_file)
    model.feature_set.write(set_file)
    run(trainer, "predict", "--model", model_file, "--data", files["new"], "--out", tmp_path / "predicted.arrow")
    run(featurizer, "transform", "--set", set_file, "--data", files["new"], "--out", tmp_path / "features.arrow")
    predicted, features = read(tmp_path / "predicted.arrow"), read(tmp_path / "features.arrow")
    have = transformed(model.feature_set, model, read(files["new"]))
    for want, column, most in ((features, "features", 2e-5), (predicted, "probabilities", 1e-5)):
        assert np.abs(eerf.messages.column(have, column) - eerf.messages.column(want, column)).max() <= most
    assert have["prediction"].to_pylist() == predicted["prediction"].to_pylist()
    assert (np.array(have["prediction"].to_pylist()) != new[label].to_numpy()).mean() < error

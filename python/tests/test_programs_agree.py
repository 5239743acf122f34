"""Python and the programs of eerf have the same numbers."""

import numpy as np
import pyarrow as pa
import pytest
from conftest import LABELS, messy, read, run, write

import eerf
from eerf.files import transformed

FEATURES_AGREE, PREDICTIONS_AGREE = 2e-5, 2e-5


def exclude(label, *more):
    return ",".join([*(name for name in LABELS if name not in label), *more])


def rounding(feature_set, table, kept):
    """What float32 may change in the features of the kept rows.

    The programs have the arguments of cosines in float32, Python in float64. What is rounded to float32 changes by 2^-24 of its size:
    the frequencies, which are scaled to turns, and then the sum of their products with the row. Hinges and boxes are the same.
    """
    x = np.abs(feature_set.encode(table).x.astype(float)[kept.to_numpy()])
    changed = feature_set.scale * 2 * 2**-24 * (x @ np.abs(feature_set.omega.astype(float)).T)
    return np.pad(changed, ((0, 0), (0, len(feature_set) - changed.shape[1])))


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    return write(folder / "learn.arrow", messy(1500, 1)), write(folder / "new.arrow", messy(500, 2, unseen=True))


@pytest.mark.parametrize(
    ("feature_map", "label", "without", "settings"),
    [
        ("cosine", "class2", [], []),
        ("cosine", "amount", [], ["--standardize", "all"]),
        # Columns as they come have large arguments: up to 6e2, and up to 7e4 with learned frequencies.
        ("cosine", "class3", ["wide", "unsigned"], ["--standardize", "none", "--sigma", "1e9", "--criterion", "correlation"]),
        ("cosine", "class3", ["wide", "unsigned"], ["--task", "classification", "--standardize", "none", "--sigma", "1e9"]),
        ("cosine", "class2", ["a", "written"], ["--criterion", "correlation", "--clip", "0"]),
        ("cosine", "class2", [], ["--set", "events.nan=reject", "--criterion", "energy"]),
        ("arccos0", "class2", [], ["--criterion", "residual"]),
        ("arccos1", "amount", [], ["--criterion", "residual", "--label-transform", "log1p"]),
        ("arccos2", "class2", [], ["--criterion", "correlation"]),
        ("linear", "class2", [], ["--criterion", "correlation"]),
    ],
)
def test_features(featurizer, rows, tmp_path, feature_map, label, without, settings):
    learn, new = rows
    found = tmp_path / "set.arrow"
    run(featurizer, "explore", "--data", learn, "--label", label, "--exclude", exclude([label], *without), "--features", "60",
        "--candidates", "60" if feature_map == "linear" else "120", "--map", feature_map, "--out", found, *settings)  # fmt: skip
    feature_set = eerf.FeatureSet.read(found)
    for data in (learn, new):
        out = tmp_path / "features.arrow"
        counts = run(featurizer, "transform", "--set", found, "--data", data, "--out", out)["rows"]
        want, have = read(out), transformed(feature_set, None, read(data))
        assert have["row"].to_pylist() == want["row"].to_pylist()
        assert read(data).num_rows - have.num_rows == counts["rejected"]
        difference = np.abs(eerf.messages.column(have, "features") - eerf.messages.column(want, "features"))
        if feature_map == "cosine":
            size = np.maximum(1, np.abs(eerf.messages.column(want, "features")))  # products of outliers are large
            assert (difference <= size * FEATURES_AGREE + rounding(feature_set, read(data), want["row"])).all()
        elif feature_map == "arccos0":  # a step: where the argument is next to zero, rounding decides
            assert (difference > FEATURES_AGREE).mean() < 1e-3
        else:
            relative = np.maximum(1, np.abs(eerf.messages.column(want, "features")))  # ramps and squares are not bounded
            assert (difference / relative).max() <= FEATURES_AGREE


def test_every_kind_of_column_is_compared(featurizer, rows, tmp_path):
    run(
        featurizer, "explore", "--data", rows[0], "--label", "class2", "--exclude", exclude(["class2"]), "--features", "20", "--out", tmp_path / "set"
    )
    columns = eerf.FeatureSet.read(tmp_path / "set").encoder.document["columns"]
    assert {c["kind"] for c in columns} == {"numeric", "bool", "category", "vector", "time", "clock"}
    assert {cycle for c in columns for cycle in c.get("cycles", [])} == {"day", "week", "year"}
    assert any(c.get("other") for c in columns)
    assert any(c.get("missing") for c in columns if c["kind"] == "time")
    names = run(featurizer, "inspect", "--file", tmp_path / "set")
    assert names["feature_set"]["dim"] == len(eerf.FeatureSet.read(tmp_path / "set").encoder.dimension_names())


@pytest.mark.parametrize(
    ("label", "settings"),
    [
        (["class2"], []),
        (["class2"], ["--loss", "squared"]),
        (["class3"], ["--task", "classification"]),
        (["amount"], ["--label-transform", "log"]),
        (["amount"], []),
        (["amount", "nothing"], ["--set", "events.task=regression"]),
    ],
)
def test_predictions(trainer, tmp_path, label, settings):
    rows = messy(1500, 3)
    rows = rows.set_column(rows.column_names.index("nothing"), "nothing", pa.array(np.random.default_rng(1).normal(size=1500)))
    learn, new = write(tmp_path / "learn.arrow", rows), write(tmp_path / "new.arrow", messy(400, 4, unseen=True))
    file, out = tmp_path / "model.arrow", tmp_path / "predicted.arrow"
    run(trainer, "fit", "--data", learn, "--label", ",".join(label), "--exclude", exclude(label), "--features", "50", "--criterion", "residual",
        "--passthrough", "city", "--out", file, *settings)  # fmt: skip
    run(trainer, "predict", "--model", file, "--data", new, "--out", out)
    model = eerf.Model.read(file)
    want, have = read(out), transformed(model.feature_set, model, read(new))
    assert have["row"].to_pylist() == want["row"].to_pylist()
    assert have["city"].to_pylist() == want["city"].to_pylist()
    predicted = want["prediction"].to_pylist()
    usable = model.feature_set.encode(read(new)).usable
    if model.classes is None:
        have_values = np.array(have["prediction"].to_pylist())
        # Of rows with values 1e300, cosines have large arguments, and exponentials magnify what float32 changes in them.
        allowed = PREDICTIONS_AGREE * (10 if "log" in settings else 1)
        assert (np.abs(have_values - predicted) / np.std(predicted, axis=0)).max() <= allowed
        assert np.isnan(model.predict(read(new))[~usable]).all()
    else:
        assert have["prediction"].to_pylist() == predicted
        assert model.predict(read(new))[usable].tolist() == predicted
        assert set(model.predict(read(new))[~usable]) == {None}
    assert ("probabilities" in want.column_names) == ("probabilities" in have.column_names) == model.has_probabilities
    if model.has_probabilities:
        pair = [eerf.messages.column(t, "probabilities") for t in (want, have)]
        assert np.abs(pair[0] - pair[1]).max() <= PREDICTIONS_AGREE
    if model.has_probabilities and len(model.classes) == 2:
        run(trainer, "predict", "--model", file, "--data", new, "--out", out, "--threshold", 0.3)
        at = read(out)["prediction"].to_pylist()
        assert at != predicted
        assert transformed(model.feature_set, model, read(new), 0.3)["prediction"].to_pylist() == at
        assert model.predict(read(new), threshold=0.3)[usable].tolist() == at
    for threshold in (0, 1.5) if model.has_probabilities else (0.3,):
        with pytest.raises(ValueError, match="threshold"):
            model.predict(read(new), threshold)
    model.write(tmp_path / "again.arrow")
    assert (tmp_path / "again.arrow").read_bytes() == file.read_bytes()


@pytest.mark.parametrize(("label", "agree"), [("class2", 1e-5), ("class3", 1e-5), ("amount", None)])
def test_spread_of_members(trainer, tmp_path, label, agree):
    learn, new = write(tmp_path / "learn.arrow", messy(1500, 3)), write(tmp_path / "new.arrow", messy(400, 4))
    file, out = tmp_path / "model.arrow", tmp_path / "predicted.arrow"
    run(trainer, "fit", "--data", learn, "--label", label, "--exclude", exclude([label]), "--features", "40", "--members", "3", "--candidates", "400",
        "--refine-steps", "2", "--out", file, *(["--task", "classification"] if label == "class3" else []))  # fmt: skip
    run(trainer, "predict", "--model", file, "--data", new, "--spread", "--out", out)
    model, rows = eerf.Model.read(file), read(new)
    want = np.array(read(out)["spread"].to_pylist())
    have = model.spread(rows)[model.feature_set.encode(rows).usable]
    assert want.max() > 0
    assert np.abs(have - want).max() <= (agree or PREDICTIONS_AGREE * np.std(read(out)["prediction"].to_pylist()))
    model.member_intercept = model.member_intercept[:2]  # a model from elsewhere
    with pytest.raises(ValueError, match="no spread"):
        model.spread(rows)
    run(trainer, "fit", "--data", learn, "--label", label, "--exclude", exclude([label]), "--features", "20", "--members", "1", "--out", file,
        *(["--task", "classification"] if label == "class3" else []))  # fmt: skip
    with pytest.raises(ValueError, match="no spread"):
        eerf.Model.read(file).spread(rows)

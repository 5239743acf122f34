"""EERFFeatures keeps the rules of scikit-learn, and finds what featurizer explore finds."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import LABELS, messy, run, write
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_circles
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import eerf
from eerf import EERFFeatures

pytestmark = pytest.mark.usefixtures("featurizer")


@parametrize_with_checks([EERFFeatures(), EERFFeatures(n_components=8, criterion="energy", feature_map="arccos1")])
@pytest.mark.filterwarnings("ignore")
def test_the_rules_of_scikit_learn(estimator, check):
    check(estimator)


def test_the_set_is_that_of_explore(featurizer, tmp_path):
    rows = messy(900, 5).drop_columns(["class3", "amount"])
    out = tmp_path / "set.arrow"
    arguments = ["--label", "class2", "--features", 30, "--seed", 7, "--out", out]
    said = run(featurizer, "explore", "--data", write(tmp_path / "rows.arrow", rows), *arguments)
    transformer = quietly(
        EERFFeatures(n_components=30, random_state=7), rows.drop_columns("class2"), pd.Series(rows["class2"].to_pylist(), name="class2")
    )
    assert transformer.feature_set_.id == said["feature_set"]["id"] == eerf.FeatureSet.read(out).id
    assert transformer.feature_set_.encoder.passthrough == []
    assert transformer.n_features_in_ == rows.num_columns - 1


def test_the_set_of_an_array_is_that_of_explore(featurizer, tmp_path):
    X, y = load_diabetes(return_X_y=True)
    csv = tmp_path / "rows.csv"
    pd.DataFrame(np.column_stack([X, y]), columns=[*(f"x{i}" for i in range(X.shape[1])), "y"]).to_csv(csv, index=False)
    said = run(featurizer, "explore", "--data", csv, "--label", "y", "--features", 30, "--task", "regression")
    assert quietly(EERFFeatures(n_components=30), X, y).feature_set_.id == said["feature_set"]["id"]


def test_the_number_of_threads_changes_nothing():
    X, y = load_iris(return_X_y=True)
    sets = {quietly(EERFFeatures(n_components=10, n_jobs=n), X, y).feature_set_.id for n in (None, 1, 2, -1)}
    assert len(sets) == 1


def quietly(transformer, X, y):
    """Fits without the notes on a small sample."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return transformer.fit(X, y)


@pytest.mark.parametrize(
    ("y", "task"),
    [
        ([0, 1], "binary"), ([0, 1, 2], "multiclass"), (["a", "b"], "binary"), ([True, False], "binary"),
        ([0.0, 1.0], "regression"), (range(100), "regression"), (pd.Categorical(["u", "v", "w"]), "multiclass"),
    ],
)  # fmt: skip
def test_the_task_follows_from_the_label(y, task):
    y = pd.Series(y).repeat(100).reset_index(drop=True).iloc[: 100 * len(pd.Series(y).unique())]
    X = np.random.default_rng(0).normal(size=(len(y), 3))
    assert quietly(EERFFeatures(n_components=5, criterion="correlation"), X, y).task_ == task


@pytest.mark.filterwarnings("ignore:.*above the noise level")
def test_a_pipeline_beats_the_linear_model():
    X, y = make_circles(400, noise=0.1, factor=0.5, random_state=0)
    learned = make_pipeline(EERFFeatures(n_components=40), LogisticRegression(C=100, max_iter=5000))
    assert cross_val_score(LogisticRegression(), X, y, cv=3).mean() < 0.7
    assert cross_val_score(learned, X, y, cv=3).mean() > 0.95


@pytest.mark.filterwarnings("ignore:.*above the noise level")
def test_a_search_over_settings():
    X, y = load_diabetes(return_X_y=True)
    pipeline = make_pipeline(EERFFeatures(criterion="residual"), Ridge(alpha=1e-2))
    grid = {"eerffeatures__n_components": np.array([10, 40]), "eerffeatures__feature_map": ["cosine", "arccos1"]}
    search = GridSearchCV(pipeline, grid, cv=3, n_jobs=2).fit(X, y)
    assert search.best_score_ > 0.3
    assert search.best_estimator_[0].transform(X).shape == (len(X), search.best_params_["eerffeatures__n_components"])


def test_data_frames(tmp_path):
    frame = messy(900, 6).to_pandas()
    frame["coded"] = frame["coded"].astype("category")
    frame["size"] = pd.Categorical.from_codes(np.arange(900) % 3, [10, 20, 30])
    frame["id"] = np.arange(900)
    X, y = frame.drop(columns=list(LABELS)), frame["amount"]
    transformer = quietly(EERFFeatures(n_components=12, criterion="correlation").set_output(transform="pandas"), X, y)
    assert transformer.task_ == "regression"
    assert "id" in transformer.left_out_
    assert list(transformer.feature_names_in_) == list(X.columns)
    assert transformer.feature_set_.encoder.label["columns"] == ["amount"]
    kinds = {c["name"]: c["kind"] for c in transformer.feature_set_.encoder.document["columns"]}
    assert kinds["size"] == kinds["coded"] == "category"
    assert kinds["day"] == kinds["at_ns"] == "time"
    out = transformer.transform(X)
    assert list(out.columns) == list(transformer.get_feature_names_out()) == [f"eerffeatures{i}" for i in range(12)]
    shuffled = out.iloc[::-1].to_numpy()
    np.testing.assert_allclose(transformer.transform(X.iloc[::-1]).to_numpy(), shuffled, rtol=0, atol=1e-12)
    transformer.feature_set_.write(tmp_path / "set.arrow")
    again = eerf.FeatureSet.read(tmp_path / "set.arrow")
    assert again == transformer.feature_set_
    np.testing.assert_array_equal(again.transform(X), out.to_numpy().astype(np.float32))
    with pytest.raises(ValueError, match="feature names"):
        transformer.transform(X.rename(columns={"city": "town"}))


def test_arrow_tables_are_data_frames():
    table = messy(300, 7)
    X, y = table.drop_columns(list(LABELS)), table["class2"].to_pandas()
    transformer = quietly(EERFFeatures(n_components=6, criterion="energy"), X, y)
    np.testing.assert_array_equal(transformer.transform(X).astype(np.float32), transformer.feature_set_.transform(X))


def test_several_outputs():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 4))
    y = np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2])
    transformer = quietly(EERFFeatures(n_components=20), X, y)
    assert transformer.feature_set_.document["outputs"] == 2
    named = quietly(EERFFeatures(n_components=20), X, pd.DataFrame(y, columns=["sine", "x1"]))
    assert named.feature_set_.encoder.label["columns"] == ["sine_", "x1_"]  # as x1 is a feature
    assert named.task_ == "regression"
    assert Ridge(alpha=1e-3).fit(transformer.transform(X), y).score(transformer.transform(X), y) > 0.7


def test_copies():
    X, y = load_breast_cancer(return_X_y=True)
    transformer = quietly(EERFFeatures(n_components=20, settings={"exploration.rounds": 2}, criterion="residual"), X, y)
    assert transformer.explored_["lineage"]["rounds"] == 2
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(transformer)).transform(X), transformer.transform(X))
    with pytest.raises(NotFittedError):
        clone(transformer).transform(X)
    assert transformer.transform(X.astype(np.float32)).dtype == np.float32
    assert transformer.transform(X).dtype == np.float64


def test_missing_values():
    X, y = load_iris(return_X_y=True)
    X[::7, 1] = np.nan
    transformer = quietly(EERFFeatures(n_components=10), X, y)
    assert "x1, missing" in transformer.feature_set_.encoder.dimension_names()
    assert np.isfinite(transformer.transform(X)).all()


@pytest.mark.parametrize(
    ("X", "y", "error"),
    [
        (csr_array(np.eye(4)), [0, 1, 0, 1], "[Ss]parse"),
        (np.ones((1, 2)), [1], "1 sample"),
        (pd.DataFrame({"a": [1.0]}), ["u"], "1 sample"),
        (pd.DataFrame(index=range(4)), [0, 1, 0, 1], "0 feature"),
        (np.eye(4), [0, 0, 0, 0], "one value"),
        (np.eye(4), None, "requires y"),
        (np.eye(4), [0.5, np.nan, 1, 2], "NaN"),
        (np.eye(4), ["a", None, "b", "b"], "NaN or None"),
        (np.eye(4), pd.DataFrame({"u": [1, 2, 3, np.nan], "v": [1.0, 2, 4, 3]}), "NaN or None"),
        ([[1, np.inf], [2, 3]], [0, 1], "infinity"),
        (np.eye(4), [0, 1, 0], "inconsistent numbers of samples"),
    ],
)
def test_what_cannot_be_learned_from(X, y, error):
    with pytest.raises((ValueError, TypeError), match=error):
        EERFFeatures(n_components=5).fit(X, y)


def test_lengths_of_frames_are_compared():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        EERFFeatures().fit(pd.DataFrame({"a": [1.0, 2, 3]}), [1, 2])


def test_wrong_settings_are_named():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(eerf.ExplorationError, match=r"exploration\.criterion"):
        EERFFeatures(criterion="best").fit(X, y)
    with pytest.raises(eerf.ExplorationError, match=r"exploration\.round .*unknown key"):
        EERFFeatures(settings={"exploration.round": 2}).fit(X, y)


def test_an_infinity_is_refused():
    table = messy(200, 8).drop_columns(["amount", "class3"])
    X, y = table.drop_columns("class2"), table["class2"].to_pandas()
    transformer = quietly(EERFFeatures(n_components=5, criterion="energy"), X, y)
    bad = X.set_column(0, "a", pa.array([np.inf] + [0.0] * 199))
    with pytest.raises(ValueError, match="1 rows cannot be used, row 0 for inf_feature"):
        transformer.transform(bad)


def test_no_program(monkeypatch, tmp_path):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(eerf.ProgramNotFoundError, match="no-such"):
        EERFFeatures(program=tmp_path / "no-such").fit(X, y)
    monkeypatch.setenv("EERF_FEATURIZER", str(tmp_path))
    with pytest.raises(eerf.ProgramNotFoundError, match="EERF_FEATURIZER"):
        EERFFeatures().fit(X, y)
    monkeypatch.delenv("EERF_FEATURIZER")
    monkeypatch.setattr("eerf.program._BUNDLED", tmp_path / "none")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(eerf.ProgramNotFoundError, match="install a wheel"):
        EERFFeatures().fit(X, y)


def test_the_environment_configures_nothing(monkeypatch):
    X, y = load_iris(return_X_y=True)
    want = quietly(EERFFeatures(n_components=10), X, y).feature_set_.id
    monkeypatch.setenv("EERF_EXPLORATION__FEATURES", "77")
    monkeypatch.setenv("EERF_NO__SUCH", "1")
    assert quietly(EERFFeatures(n_components=10), X, y).feature_set_.id == want


def test_many_columns():
    X = np.random.default_rng(5).normal(size=(30, 4200))
    transformer = quietly(EERFFeatures(n_components=4, criterion="energy", sample=0.9, clip=0), X, X[:, 0] > 0)
    assert transformer.transform(X).shape == (30, 4)


def test_polars():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": np.arange(200.0) % 7, "city": ["Rome", "Oslo"] * 100})
    transformer = quietly(EERFFeatures(n_components=4, criterion="energy"), frame, polars.Series("b", [0, 1] * 100))
    assert list(transformer.feature_names_in_) == ["a", "city"]
    assert transformer.transform(frame).shape == (200, 4)

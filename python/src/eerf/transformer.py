"""EERFFeatures: random features chosen by the data, as a scikit-learn transformer."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_array, check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from . import program as programs
from .encoder import FAULTS
from .feature_set import FeatureSet
from .rows import as_table

MOST_WHOLE_CLASSES = 20  # a label of at most this many whole numbers is treated as classes
FEWEST_ROWS = 2


class EERFFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Random features chosen, and by default learned, by the data and the label.

    fit explores the rows with the program featurizer. The feature set, and its id, is the one that
    `featurizer explore` finds for these rows in a file with these settings. transform uses numpy.

    X is an array of numbers [n, d], or a data frame whose columns may also be booleans, strings, categories, dates, times
    and vectors. NaN and None are missing values; infinities are refused. All columns of an array are features. From a data
    frame the program may leave out columns, such as identifiers (left_out_).

    y is one label for each row [n], or several numbers [n, K] for a regression. Rows need at least two different labels.

    Parameters:
        n_components: M, how many features are kept at most
        criterion: how they are chosen, one of those that featurizer explore --help lists
        candidates: M0, how many are drawn; 0 = ten times n_components, twenty times under adaptive
        feature_map: one of eerf.feature_set.MAPS
        distribution: what they are drawn from: gaussian, or cauchy or laplace for the cosine map
        sigma: the bandwidth; 0 = the mean distance to the 50th neighbour
        sample: share of the rows that is scored, or auto: about exploration.sample_rows (20,000) of them, fewer if the columns are many
        standardize: numeric, all or none
        clip: standardized numbers beyond it continue as logarithms; 0 = none do
        task: regression or classification; auto = classification for strings, booleans, and whole numbers (integers)
            of at most 20 different values, else regression
        label_transform: of a regression label: none, log or log1p
        random_state: seed of draws and samples, or a RandomState to take one from; None = 1, so that fit is repeatable
        settings: further keys of eerf.yaml by name, such as {"events.max_categories": 20}
        n_jobs: threads of fit; None = all cores. The result does not depend on it
        program: path of featurizer; None = see eerf.program.find

    Attributes:
        feature_set_: the FeatureSet; feature_set_.write(path) writes it for the programs of a pipeline
        explored_: the report of the exploration, a dict
        task_: regression, binary or multiclass
        scores_: the value of the criterion for each feature [M]
        left_out_: columns of a data frame that are not features, with the reason
        n_features_in_, feature_names_in_: of X

    Examples:
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.pipeline import make_pipeline
        >>> model = make_pipeline(EERFFeatures(n_components=200), LogisticRegression(max_iter=1000))  # doctest: +SKIP
    """

    def __init__(
        self,
        n_components: int = 500,
        *,
        criterion: str = "adaptive",
        candidates: int = 0,
        feature_map: str = "cosine",
        distribution: str = "gaussian",
        sigma: float = 0.0,
        sample: float | str = "auto",
        standardize: str = "numeric",
        clip: float = 5.0,
        task: str = "auto",
        label_transform: str = "none",
        random_state: int | np.random.RandomState | None = None,
        settings: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        program: str | os.PathLike[str] | None = None,
    ) -> None:
        self.n_components = n_components
        self.criterion = criterion
        self.candidates = candidates
        self.feature_map = feature_map
        self.distribution = distribution
        self.sigma = sigma
        self.sample = sample
        self.standardize = standardize
        self.clip = clip
        self.task = task
        self.label_transform = label_transform
        self.random_state = random_state
        self.settings = settings
        self.n_jobs = n_jobs
        self.program = program

    def fit(self, X: Any, y: Any) -> EERFFeatures:
        """Finds the feature set of rows X [n, d] with labels y [n] or [n, K]."""
        labels = _labels(y)
        columns = self._columns(X, y, fitting=True)
        check_consistent_length(columns, labels[0])
        names = _label_names(y, labels, set(columns.column_names))
        rows = columns
        for name, values in zip(names, labels, strict=True):
            rows = rows.append_column(name, values)
        task = self.task if self.task != "auto" else _task(labels)
        features = [] if _is_frame(X) else columns.column_names
        settings = self._settings(task, names, features, _declared(X, columns))
        found = programs.explore(rows, settings, self.program, self._threads())
        for warning in found.warnings:
            warnings.warn(warning, UserWarning, stacklevel=2)
        self.feature_set_ = found.feature_set
        self.explored_ = found.report
        self.task_ = found.feature_set.task
        self.scores_ = found.feature_set.score
        self.left_out_ = found.left_out
        self._n_features_out = len(found.feature_set)
        return self

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """Returns the features [n, M] of rows X [n, d]: float32 for an array of float32, else float64."""
        check_is_fitted(self)
        feature_set: FeatureSet = self.feature_set_
        encoded = feature_set.encode(self._columns(X, None, fitting=False))
        if not encoded.usable.all():
            row = int(np.flatnonzero(encoded.fault)[0])
            raise ValueError(
                f"{np.count_nonzero(encoded.fault)} rows cannot be used, row {row} for {FAULTS[int(encoded.fault[row])]}: "
                "an infinity, or a number beyond 1e15"
            )
        dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
        return feature_set.features(encoded.x, dtype)

    def _columns(self, X: Any, y: Any, *, fitting: bool) -> pa.Table:
        """Returns X as a table, after scikit-learn has checked it against the columns of fit."""
        if _is_frame(X):
            validate_data(self, X, "no_validation", reset=fitting, skip_check_array=True)
            table = as_table(X)
            if fitting:
                _refuse_too_few(table)
            return table
        target = {"y": y, "multi_output": True} if fitting else {}
        checked = validate_data(
            self, X, **target, reset=fitting, dtype=None, ensure_all_finite="allow-nan", order="F",
            ensure_min_samples=FEWEST_ROWS if fitting else 1,
        )  # fmt: skip
        values = checked[0] if fitting else checked
        return pa.table({f"x{i}": _array(values[:, i], f"x{i}") for i in range(values.shape[1])})

    def _threads(self) -> int | None:
        """Returns the number of threads that fit may use; None = all."""
        if self.n_jobs is None:
            return None
        return self.n_jobs if self.n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + self.n_jobs)

    def _settings(self, task: str, label: list[str], features: list[str], types: list[str]) -> dict[str, dict[str, Any]]:
        """Returns the configuration for the program, by section."""
        seed = 1 if self.random_state is None else self.random_state
        if not isinstance(seed, (int, np.integer)):
            seed = check_random_state(seed).randint(1, np.iinfo(np.int32).max)
        sections: dict[str, dict[str, Any]] = {
            "events": {
                "label": label, "features": features, "task": task, "clip": self.clip, "standardize": self.standardize,
                "label_transform": self.label_transform, "types": types,
            },
            "exploration": {
                "features": self.n_components, "candidates": self.candidates, "criterion": self.criterion, "map": self.feature_map,
                "distribution": self.distribution, "sigma": self.sigma, "sample_rate": self.sample, "seed": int(seed),
            },
        }  # fmt: skip
        for key, value in (self.settings or {}).items():
            section, _, name = key.partition(".")
            sections.setdefault(section, {})[name] = value
        return sections

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _is_frame(X: Any) -> bool:
    """Reports whether X has typed columns; sparse matrices do not."""
    return hasattr(X, "__arrow_c_stream__") or (hasattr(X, "columns") and hasattr(X, "iloc"))


def _declared(X: Any, table: pa.Table) -> list[str]:
    """Returns the types that X declares: its categories stay categories even if all of them are numbers."""
    names = [field.name for field in table.schema if pa.types.is_dictionary(field.type)]
    if hasattr(X, "iloc"):
        names += [str(name) for name, dtype in X.dtypes.items() if getattr(dtype, "name", "") == "category"]
    return [f"{name}=category" for name in names]


def _refuse_too_few(table: pa.Table) -> None:
    """Raises what scikit-learn raises for an array with too few rows or columns."""
    for have, want, what in ((table.num_columns, 1, "feature"), (table.num_rows, FEWEST_ROWS, "sample")):
        if have < want:
            raise ValueError(f"Found array with {have} {what}(s) (shape={table.shape}) while a minimum of {want} is required.")


def _array(values: npt.NDArray[Any], name: str) -> pa.Array:
    """Returns a column of an array."""
    try:
        found = pa.array(values, from_pandas=values.dtype == object)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as fault:
        raise TypeError(f"column {name}: argument must be a string or a number in every row: {fault}") from None
    if pa.types.is_nested(found.type) or pa.types.is_binary(found.type):
        raise TypeError(f"column {name}: argument must be a string or a number, not {found.type}")
    return found


def _labels(y: Any) -> list[Any]:
    """Returns the columns of the label."""
    if y is None:
        raise ValueError("EERFFeatures requires y to be passed, but the target y is None")
    if _is_frame(y) and hasattr(y, "columns"):
        return _labelled(as_table(y).combine_chunks().columns)
    if hasattr(y, "dtype") and getattr(y.dtype, "name", "") == "category":
        y = y.astype(object)
    checked = check_array(y, ensure_2d=False, dtype=None, input_name="y", estimator="EERFFeatures")
    if checked.ndim == 2 and checked.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,).",
            DataConversionWarning,
            stacklevel=3,
        )
    return _labelled([_array(column, "y") for column in (checked.T if checked.ndim == 2 else [checked])])


def _labelled(labels: list[Any]) -> list[Any]:
    """Returns the labels after checking that none is missing."""
    for values in labels:
        if values.null_count or (pa.types.is_floating(values.type) and pc.any(pc.is_nan(values)).as_py()):
            raise ValueError("Input y contains NaN or None: every row needs a label")
    return labels


def _label_names(y: Any, labels: list[Any], taken: set[str]) -> list[str]:
    """Returns names for the columns of the label: those of y, else y, or y0, y1 and so on, avoiding names of features."""
    if hasattr(y, "columns") and len(y.columns) == len(labels):
        named = [str(name) for name in y.columns]
    elif isinstance(getattr(y, "name", None), str):
        named = [y.name]
    else:
        named = ["y"] if len(labels) == 1 else [f"y{i}" for i in range(len(labels))]
    while taken.intersection(named):
        named = [name + "_" for name in named]
    return named


def _task(labels: list[Any]) -> str:
    """Returns the task for a label."""
    kind = labels[0].type
    if len(labels) > 1 or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "regression"
    if pa.types.is_integer(kind) and len(labels[0].unique()) > MOST_WHOLE_CLASSES:
        return "regression"
    return "classification"

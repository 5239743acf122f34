"""Models: linear in the features of one feature set."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import ids, messages
from .feature_set import FeatureSet
from .messages import FormatError


class Model:
    """A model, with its feature set if known.

    It is immutable, and pickles as the messages it was read from.

    Attributes:
        value: the message, as it is on the topic models
        document: its JSON document, with metrics and the ranges of rows
        id, feature_set_id: its name, and that of the set whose features it multiplies
        feature_set: that set, or None
        classes: names of the classes; None for a regression
        theta: the weights [M, K]
        intercept: [K]
        member_intercept: the intercepts of the members whose mean the model is [members, K]; None for one member
    """

    def __init__(self, value: bytes, feature_set: FeatureSet | None = None) -> None:
        self.value = value
        table, self.document = messages.read(value, "eerf.model")
        self.id: str = self.document["id"]
        self.feature_set_id: str = self.document["feature_set"]
        self.loss: str = self.document["loss"]
        self.label: dict[str, Any] = self.document["label"]
        self.classes: list[str] | None = self.label.get("classes") or None
        self.theta = messages.column(table, "theta")
        self.intercept = np.array(self.document["intercept"])
        members = self.document.get("member_intercept")
        self.member_intercept = np.reshape(members, (-1, len(self.intercept))) if members else None
        self._check()
        if feature_set is not None and feature_set.id != self.feature_set_id:
            raise FormatError(f"model {self.id} belongs to feature set {self.feature_set_id}, not to {feature_set.id}")
        self.feature_set = feature_set

    @classmethod
    def read(cls, path: str | os.PathLike[str], feature_set: FeatureSet | None = None) -> Model:
        """Reads a model from a file, with its feature set if the file contains it, as files of trainer fit do."""
        parts = messages.read_streams(Path(path).read_bytes())
        models = [part for table, part in parts if messages.has(table.schema, "eerf.model")]
        sets = [part for table, part in parts if messages.has(table.schema, "eerf.feature_set")]
        if not models:
            raise FormatError(f"{path} holds no model")
        return cls(models[0], feature_set or (FeatureSet(sets[0]) if sets else None))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the model, with its feature set, to a file for trainer predict."""
        Path(path).write_bytes(self.value + self._set().value)

    def predict(self, rows: Any, threshold: float | None = None) -> npt.NDArray[Any]:
        """Returns predictions for rows; see FeatureSet.transform and predict_features."""
        return self.predict_features(self._set().transform(rows), threshold)

    def predict_probabilities(self, rows: Any) -> npt.NDArray[np.float32]:
        """Returns the probabilities [n, classes] of rows, in the order of classes."""
        return self.probabilities(self._set().transform(rows))

    def spread(self, rows: Any, threshold: float | None = None) -> npt.NDArray[np.float64]:
        """Returns how much the members of the feature set disagree about rows.

        This is the standard deviation of their predictions, about how much another exploration of the same rows would change
        them, and not the error of the prediction: [n], or [n, K] for a regression with several outputs. For classes it is the
        standard deviation of the probability of the predicted class.
        """
        features = np.asarray(self._set().transform(rows), dtype=np.float32).astype(np.float64)
        count = int(np.bitwise_or.reduce(self._set().members)).bit_length()
        intercepts = self.member_intercept
        if intercepts is None or not len(intercepts) == count > 1 or (self.classes is not None and not self.has_probabilities):
            raise ValueError(f"model {self.id} has no spread: it is no mean of the members of its set, or has no probabilities")
        bits = (self._set().members[:, None] >> np.arange(count)) & 1
        shares = bits * len(bits[0]) / bits.sum(axis=1, keepdims=True)  # a weight of several members is divided evenly
        members = [features @ (self.theta * shares[:, j, None]) + b for j, b in enumerate(intercepts)]
        if self.classes is None:
            spread = np.std([self._in_units(f) for f in members], axis=0, ddof=1)
            return spread[:, 0] if spread.shape[1] == 1 else spread
        f = self.outputs(features)
        predicted = (f[:, 0] > self._cut(threshold)).astype(int) if f.shape[1] == 1 else f.argmax(axis=1)
        chances = [_softmax(m.astype(np.float32))[np.arange(len(f)), predicted] for m in members]
        return np.std(chances, axis=0, ddof=1)

    def outputs(self, features: npt.ArrayLike) -> npt.NDArray[Any]:
        """Returns f [n, K] of features [n, M]: float64 for a regression, float32 for classes, as in the pipeline.

        Features are rounded to float32 and summed in float64.
        """
        z = np.asarray(features, dtype=np.float32)
        if z.ndim != 2 or z.shape[1] != len(self.theta):
            raise ValueError(f"features have shape {z.shape}, want (n, {len(self.theta)})")
        f = z.astype(np.float64) @ self.theta + self.intercept
        return f if self.classes is None else f.astype(np.float32)

    def predict_features(self, features: npt.ArrayLike, threshold: float | None = None) -> npt.NDArray[Any]:
        """Returns predictions from features [n, M].

        For regression these are float64 in the units of the label, [n], or [n, K] for several outputs. For classes they are
        names [n], None for a row without features (NaN). Of two classes, the second is predicted if its probability is
        above the threshold, by default if it is the more probable one.
        """
        cut = self._cut(threshold)
        f = self.outputs(features)
        if self.classes is None:
            values = self._in_units(f)
            return values[:, 0] if values.shape[1] == 1 else values
        numbers = (f[:, 0] > cut).astype(int) if f.shape[1] == 1 else f.argmax(axis=1)
        names = np.array(self.classes, dtype=object)[numbers]
        names[np.isnan(f).any(axis=1)] = None
        return names

    def probabilities(self, features: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """Returns the probabilities [n, classes] from features [n, M]; only models with the logistic loss have them."""
        if not self.has_probabilities:
            raise ValueError(f"model {self.id} has no probabilities: its loss is {self.loss}")
        return _softmax(self.outputs(features))

    @property
    def has_probabilities(self) -> bool:
        """Whether the model predicts probabilities of classes."""
        return self.classes is not None and self.loss == "logistic"

    def _cut(self, threshold: float | None) -> np.float32:
        """Returns the output at a threshold, as training.Cut does."""
        if threshold is None:
            return np.float32(0)
        if not 0 < threshold < 1:
            raise ValueError(f"threshold {threshold}: expected a probability above 0 and below 1")
        if not self.has_probabilities or self.classes is None or len(self.classes) != 2:
            raise ValueError(f"threshold {threshold}: model {self.id} has no probabilities of two classes to decide between")
        return np.float32(np.log(threshold / (1 - threshold)))

    def _in_units(self, f: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Returns outputs of a regression in the units of the label, with its transform undone."""
        inverse = {"log": np.exp, "log1p": np.expm1}.get(self.label.get("transform") or "")
        if inverse is None:
            return f
        with np.errstate(over="ignore"):
            return np.minimum(inverse(f), np.finfo(np.float64).max)

    def _set(self) -> FeatureSet:
        if self.feature_set is None:
            raise ValueError(f"model {self.id} was read without its feature set {self.feature_set_id}; pass the set as feature_set")
        return self.feature_set

    def _check(self) -> None:
        """Raises FormatError if the content does not match the id."""
        shape = [self.document["features"], self.document["outputs"]]
        found = ids.content_id(
            "m-",
            b"eerf.model/1",
            self.feature_set_id.encode(),
            self.loss.encode(),
            ids.numbers("i8", shape),
            ids.numbers("f8", self.theta),
            ids.numbers("f8", self.intercept),
            ids.numbers("f8", [self.document["lambda"]]),
        )
        if found != self.id:
            raise FormatError(f"model {self.id} is damaged: its content has the id {found}")
        if self.theta.shape != tuple(shape) or len(self.intercept) != shape[1]:
            raise FormatError(f"model {self.id} has arrays of another shape than it declares")

    def __repr__(self) -> str:
        return f"Model({self.id}: {self.theta.shape[1]} outputs of the features of {self.feature_set_id}, loss {self.loss})"

    def __reduce__(self) -> tuple[type[Model], tuple[bytes, FeatureSet | None]]:
        return Model, (self.value, self.feature_set)


def _softmax(outputs: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Returns the probabilities [n, classes] of outputs [n, K]; one output is that of the second of two classes."""
    f = outputs.astype(np.float64)
    if f.shape[1] == 1:
        f = np.hstack([np.zeros_like(f), f])
    e = np.exp(f - f.max(axis=1, keepdims=True))
    return (e / e.sum(axis=1, keepdims=True)).astype(np.float32)

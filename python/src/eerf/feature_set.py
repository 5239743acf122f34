"""Feature sets: the M features that an exploration kept, with the encoder of their rows."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from . import ids, messages
from .encoder import Encoded, Encoder
from .messages import FormatError
from .rows import as_table

# phi by feature map, of t = omega·x and of the phase; the map linear has coordinates of x instead
_PHI: dict[str, Callable[[npt.NDArray[Any], npt.NDArray[Any]], npt.NDArray[Any]]] = {
    "cosine": lambda t, phase: np.cos(t + phase),
    "arccos0": lambda t, _: np.heaviside(t, 0.5),
    "arccos1": lambda t, _: np.maximum(t, 0),
    "arccos2": lambda t, _: np.maximum(t, 0) ** 2,
}
MAPS = (*_PHI, "linear")
KINDS = ("cosine", "ramp", "hinge", "box")
MAX_ORDER = 3  # the most factors of a hinge or box

_BLOCK = 1 << 21  # features computed at a time: 16 MiB of float64


class FeatureSet:
    """A feature set: an encoder of rows, and M features of the encoded rows.

    It is immutable, and pickles as the message it was read from.

    Attributes:
        value: the message, as it is in files and on the topic feature-sets
        document: its JSON document, with the lineage
        id: its name, a hash of what it computes
        encoder: the Encoder
        map, task: names of the feature map and of the task
        kinds: how many features of each kind there are, in their order: cosine, ramp, hinge, box; all are "cosine" if the
            map has no others
        omega, phase: of the cosines and ramps, the first p features: frequencies [p, d] and phases [p]; for the map linear
            omega has the numbers of dimensions [M, 1]
        coordinate, sign, threshold: of the hinges and boxes [M - p, 3]; a sign of 0 is no factor
        weight, score, index: [M]
        members: the sum of 2**j over the members j that have a feature [M]; all 1 in a set of one member
        s: the scores by output [M, K]
        scale: 1/sqrt(M), factor of all features
    """

    def __init__(self, value: bytes) -> None:
        self.value = value
        table, self.document = messages.read(value, "eerf.feature_set")
        self._encoder_text: bytes = table.schema.metadata[b"eerf.encoder"]
        self.encoder = Encoder(self._encoder_text)
        self.id: str = self.document["id"]
        self.map: str = self.document["map"]
        self.task: str = self.document["task"]
        self.scale: float = self.document["scale"]
        self._read_kinds(table)
        self.weight = messages.column(table, "weight")
        self.members = messages.column(table, "members")
        self.score = messages.column(table, "score")
        self.index = messages.column(table, "index")
        self.s = messages.column(table, "s")
        self._check()

    def _read_kinds(self, table: pa.Table) -> None:
        """Reads the columns that differ by kind."""
        phase = messages.column(table, "phase")
        found = self.document.get("kinds") or {"cosine": len(phase)}
        self.kinds: dict[str, int] = {kind: found.get(kind, 0) for kind in KINDS}
        p = self.kinds["cosine"] + self.kinds["ramp"]
        self.phase = phase[:p]
        mixed = "kinds" in self.document
        self.omega = _lists(table["omega"][:p], self.document["width"]) if mixed else messages.column(table, "omega")
        self.coordinate, self.sign, self.threshold = (
            _lists(table[name][p:] if name in table.column_names else [], MAX_ORDER).astype(dtype)
            for name, dtype in (("coordinate", np.int64), ("sign", np.float32), ("threshold", np.float32))
        )

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> FeatureSet:
        """Reads the feature set from a file: its own, or that of a model."""
        value = Path(path).read_bytes()
        for table, part in messages.read_streams(value):
            if messages.has(table.schema, "eerf.feature_set"):
                return cls(part)
        raise FormatError(f"{path} holds no feature set")

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the feature set to a file for the programs of eerf (featurizer transform --set, trainer fit --feature-set)."""
        Path(path).write_bytes(self.value)

    @property
    def lineage(self) -> dict[str, Any]:
        """The origin of the set."""
        lineage: dict[str, Any] = self.document["lineage"]
        return lineage

    def __len__(self) -> int:
        """Returns M, the number of features."""
        return len(self.weight)

    def encode(self, rows: Any) -> Encoded:
        """Encodes rows: x [n, d], and the faults of unusable rows."""
        return self.encoder.encode(rows)

    def transform(self, rows: Any) -> npt.NDArray[np.float32]:
        """Returns the features [n, M] of rows: an Arrow table, a data frame, a dict of columns or a list of dicts.

        A row that the pipeline would reject, with an infinity for example, has NaN in all features.
        """
        encoded = self.encode(as_table(rows))
        features = self.features(encoded.x)
        features[~encoded.usable] = np.nan
        return features

    def features(self, x: npt.ArrayLike, dtype: npt.DTypeLike = np.float32) -> npt.NDArray[Any]:
        """Returns the features [n, M] of encoded rows x [n, d], weight * phi * scale, computed in float64."""
        x = np.asarray(x)
        if x.ndim != 2 or x.shape[1] != self.encoder.dim:
            raise ValueError(f"x has shape {x.shape}, want (n, {self.encoder.dim})")
        into = np.empty((len(x), len(self)), dtype)
        if self.map == "linear":
            into[:] = x[:, self.omega[:, 0].astype(int)] * self._factor()
            return into
        step = max(1, _BLOCK // len(self))
        for at in range(0, len(x), step):
            into[at : at + step] = self._phi(x[at : at + step]) * self._factor()
        return into

    def _phi(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Returns phi [n, M]: maps of omega·x in float64, hinges and boxes in float32 as in the pipeline."""
        t = x.astype(np.float64) @ self.omega.astype(np.float64).T
        cosines, hinges = self.kinds["cosine"], self.kinds["hinge"]
        parts = [_PHI[self.map](t[:, :cosines], self.phase[:cosines])]
        if cosines < len(self):
            parts.append(np.maximum(t[:, cosines:] + self.phase[cosines:], 0))
            products = np.ones((len(x), len(self.sign)), np.float32)
            for a in range(MAX_ORDER):
                past = self.sign[:, a] * (x.astype(np.float32)[:, self.coordinate[:, a]] - self.threshold[:, a])
                past[:, hinges:] = past[:, hinges:] >= 0
                products *= np.where(self.sign[:, a] == 0, np.float32(1), np.maximum(past, 0))
            parts.append(products)
        return np.hstack(parts)

    def _factor(self) -> npt.NDArray[np.float64]:
        return self.weight.astype(np.float64) * self.scale

    def _check(self) -> None:
        """Raises FormatError if the content does not match the id, or if the map is unknown."""
        phase: Any = self.phase if self.map == "cosine" else []
        shape = [self.document[name] for name in ("features", "width", "dim", "outputs")]
        factors = self.sign != 0
        products = (
            ids.numbers("i8", list(self.kinds.values())),
            ids.numbers("i8", factors.sum(axis=1)),
            ids.numbers("i8", self.coordinate[factors]),
            ids.numbers("f4", self.sign[factors]),
            ids.numbers("f4", self.threshold[factors]),
        )
        found = ids.content_id(
            "fs-",
            b"eerf.feature_set/%d" % (2 if "kinds" in self.document else 1),
            self._encoder_text,
            self.map.encode(),
            ids.numbers("i8", shape),
            ids.numbers("f4", self.omega),
            ids.numbers("f4", phase),
            *(products if "kinds" in self.document else ()),
            ids.numbers("f4", self.weight),
            ids.numbers("f4", [self.scale]),
            ids.numbers("f8", self.score),
            ids.numbers("f8", self.s),
            *((ids.numbers("i8", self.members),) if np.any(self.members != 1) else ()),
        )
        if found != self.id:
            raise FormatError(f"feature set {self.id} is damaged: its content has the id {found}")
        if self.map not in MAPS:
            raise FormatError(f"feature set {self.id} has the map {self.map!r}, not one of {', '.join(MAPS)}")
        if self.omega.shape != (len(self.phase), shape[1]) or len(self) != shape[0] or self.encoder.dim != shape[2]:
            raise FormatError(f"feature set {self.id} has arrays of another shape than it declares")

    def __repr__(self) -> str:
        return f"FeatureSet({self.id}: {len(self)} features, {self.map}, of {len(self.encoder.columns)} columns, {self.task})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FeatureSet) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __reduce__(self) -> tuple[type[FeatureSet], tuple[bytes]]:
        return FeatureSet, (self.value,)


def _lists(values: Any, width: int) -> npt.NDArray[Any]:
    """Returns lists of at most width numbers as rows, with zeros where they are shorter."""
    rows = np.zeros((len(values), width), np.float32)
    for i, own in enumerate(values.to_pylist() if len(values) else ()):
        rows[i, : len(own)] = own
    return rows

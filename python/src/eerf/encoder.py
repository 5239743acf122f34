"""The encoder: turns columns into the dense x that feature maps read (docs/wire-formats.md, The encoder)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from . import columns, times
from .messages import FormatError, one_chunk
from .rows import as_table

MAX_MAGNITUDE = 1e15  # limit of an encoded value that is not clipped
_MAX_TAIL = 2.0**20  # limit of a value beyond the clip, in multiples of the clip

FAULTS = {1: "nan_feature", 2: "inf_feature"}  # reasons for rejecting a row; 0 = not rejected
_NAN, _INF = 1, 2

Floats = npt.NDArray[np.float64]


class SchemaError(ValueError):
    """A feature column is missing, duplicated, or of another kind."""


@dataclass
class Encoded:
    """Encoded rows: x [n, d] as float32, and fault [n], the code of each row's fault in FAULTS, or 0."""

    x: npt.NDArray[np.float32]
    fault: npt.NDArray[np.uint8]

    @property
    def usable(self) -> npt.NDArray[np.bool_]:
        """Mask of usable rows, [n]."""
        return self.fault == 0


class Encoder:
    """Turns the columns of rows into x, as the JSON document of a feature set describes.

    dim is d, columns the names of the feature columns, document the whole document.
    """

    def __init__(self, text: bytes) -> None:
        self.document: dict[str, Any] = json.loads(text)
        self.dim: int = self.document["dim"]
        self.columns: list[str] = [c["name"] for c in self.document["columns"]]
        self.label: dict[str, Any] | None = self.document.get("label")
        self.passthrough: list[str] = self.document.get("passthrough") or []
        self._clip: float = self.document["clip"]
        self._tail: str = self.document.get("tail", "")
        if self._tail not in ("", "log"):
            raise FormatError(f"an encoder with tail {self._tail!r}: this package only supports log")
        # Effects are cut like standardized dimensions.
        self._effect_limit = self._clip if self._clip > 0 and self.document["standardize"] != "none" else MAX_MAGNITUDE
        self._null_words: list[str] = self.document.get("null_values") or []
        self._nan_is_missing = self.document.get("nan") == "missing"

    def encode(self, rows: Any) -> Encoded:
        """Encodes rows (see rows.as_table). Columns match by name; extra ones are ignored."""
        table = as_table(rows)
        self.check(table.schema)
        n = table.num_rows
        into = Encoded(np.empty((n, self.dim), np.float32), np.zeros(n, np.uint8))
        at = 0
        for c in self.document["columns"]:
            values = columns.with_nulls(one_chunk(table[c["name"]]), self._null_words)
            self._encode(c, values, into.x[:, at : at + c["width"]], into.fault)
            at += c["width"]
        return into

    def check(self, schema: pa.Schema) -> None:
        """Raises SchemaError, with all faults, if rows of this schema cannot be encoded."""
        faults = []
        for c in self.document["columns"]:
            name, found = c["name"], schema.get_all_field_indices(c["name"])
            if len(found) != 1:
                faults.append(f"column {name!r} is {'there ' + str(len(found)) + ' times' if found else 'missing'}")
                continue
            field, want = schema.field(found[0]), (c["kind"], c["width"] if c["kind"] == "vector" else 1)
            got = columns.kind_of(field.type)
            if got is None or not (got[0] == "" or got == want or columns.stands_for(c, got[0], field)):
                size = f" of {want[1]}" if want[0] == "vector" else ""
                faults.append(f"column {name!r} is {field.type}, want {want[0]}{size}")
        if faults:
            raise SchemaError("; ".join(faults))

    def dimension_names(self) -> list[str]:
        """Returns a name for each dimension of x, such as "age", "age, missing" or "city=Oslo", [d]."""
        return [name for c in self.document["columns"] for name in _names(c)]

    def _encode(self, c: dict[str, Any], values: pa.Array, x: npt.NDArray[np.float32], fault: npt.NDArray[np.uint8]) -> None:
        """Writes a column into its dimensions, x [n, width], and marks rows without a usable value."""
        if c["kind"] in ("bool", "category"):
            dense, missing = _indicators(c, values, self._effect_limit)
        else:
            dense, missing = self._numbers(c, values, fault)
        if c.get("missing"):
            dense = np.column_stack([dense, missing])
        x[:] = self._scaled(c, dense, fault)

    def _numbers(self, c: dict[str, Any], values: pa.Array, fault: npt.NDArray[np.uint8]) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Returns the values [n, dimensions] of a column of numbers, or of times with cycles, and a mask of missing ones [n]."""
        if c["kind"] == "vector":
            found, missing = columns.vectors(values, c["width"])
        else:
            load = columns.numbers(values, c) if c["kind"] == "numeric" else columns.seconds(values, c["kind"], c)
            found, missing = load[0][:, None], load[1][:, None]
        nan = np.isnan(found) & ~missing
        if self._nan_is_missing:
            missing = missing | nan
        else:
            _mark(fault, nan, _NAN)
        _mark(fault, np.isinf(found) & ~missing, _INF)
        found = np.where(missing, np.asarray(c["mean"][: found.shape[1]]), np.where(np.isfinite(found), found, 0.0))
        parts = [found]
        for cycle in c.get("cycles") or []:
            place = times.place(cycle, found[:, 0])[: len(times.cycle_names(c["kind"]))]
            parts.extend(np.where(missing, 0.0, v[:, None]) for v in place)
        return np.hstack(parts), missing[:, 0]

    def _scaled(self, c: dict[str, Any], dense: Floats, fault: npt.NDArray[np.uint8]) -> Floats:
        """Returns the dimensions of a column, standardized where the encoder does so."""
        k = len(c.get("scale") or [])
        with np.errstate(over="ignore"):
            dense[:, :k] = (dense[:, :k] - np.asarray(c["mean"][:k] if k else [])) / np.asarray(c["scale"] if k else [])
        if self._clip > 0:
            if k and c.get("low"):
                v = len(c["low"])
                low, high = ((np.asarray(c[b]) - c["mean"][:v]) / c["scale"][:v] for b in ("low", "high"))
                np.clip(dense[:, :v], low, high, out=dense[:, :v])
            tails = {"numeric": 1, "vector": k}.get(c["kind"], 0) if self._tail and k else 0
            ratio = np.clip(np.abs(dense[:, :tails]) / self._clip, 1.0, _MAX_TAIL)
            np.clip(dense[:, :k], -self._clip, self._clip, out=dense[:, :k])
            dense[:, :tails] *= 1 + np.log(ratio)
        beyond = np.abs(dense) > MAX_MAGNITUDE
        _mark(fault, beyond, _INF)
        dense[beyond] = 0
        return dense


def _mark(fault: npt.NDArray[np.uint8], where: npt.NDArray[np.bool_], number: int) -> None:
    """Sets the fault of rows with a faulty value, unless they already have a fault."""
    if where.any():
        fault[where.any(axis=1) & (fault == 0)] = number


def _indicators(c: dict[str, Any], values: pa.Array, limit: float) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Returns the values [n, dimensions] of a boolean or a category, and a mask of missing ones [n]."""
    if c["kind"] == "bool":
        codes = columns.booleans(values)
        missing = codes == columns.NULL
        return np.where(missing, c["mean"][0], codes)[:, None].astype(np.float64), missing
    names = c.get("categories") or []
    codes = columns.categories(values, names)
    missing = codes == columns.NULL
    if c.get("other"):
        codes = np.where(codes == columns.UNSEEN, len(names), codes)
    dense = np.zeros((len(codes), len(names) + bool(c.get("other"))))
    hot = np.flatnonzero(codes >= 0)
    dense[hot, codes[hot]] = 1
    if c.get("effects"):
        dense = np.hstack([dense, _effects(c["effects"], values, limit)])
    return dense, missing


def _effects(f: dict[str, Any], values: pa.Array, limit: float) -> Floats:
    """Returns the label's means by category, [n, outputs], cut at a limit: 0 for other values."""
    rows = np.asarray(f["rows"], np.float64).reshape(len(f["values"]), -1)
    sums = np.asarray(f["sums"]).reshape(*rows.shape, -1).sum(axis=1)
    n = rows.sum(axis=1)[:, None]
    effects = (sums - n * np.asarray(f["mean"])) / (n + f["prior"]) / np.asarray(f["scale"])
    effects = np.vstack([np.clip(effects, -limit, limit), np.zeros(effects.shape[1])])
    codes = columns.categories(values, f["values"])
    return effects[np.where(codes >= 0, codes, len(n))]


def _effect_names(name: str, outputs: int) -> list[str]:
    """Returns the names of the dimensions of effects."""
    return [f"{name}, effect on the label"] if outputs == 1 else [f"{name}, effect on output {k + 1}" for k in range(outputs)]


_PLACES = {"day": "hour of day", "week": "day of week", "year": "day of year"}


def _names(c: dict[str, Any]) -> list[str]:
    """Returns the names of the dimensions of a column."""
    name = c["name"]
    if c["kind"] == "category":
        names = [f"{name}={v}" for v in c.get("categories") or []] + [f"{name}, other"] * bool(c.get("other"))
        names += _effect_names(name, len((c.get("effects") or {"mean": []})["mean"]))
    elif c["kind"] == "vector":
        names = [f"{name}[{i}]" for i in range(c["width"])]
    else:
        names = [name] + [f"{name}, {_PLACES[v]}{f}" for v in c.get("cycles") or [] for f in times.cycle_names(c["kind"])]
    return names + [f"{name}, missing"] * bool(c.get("missing"))

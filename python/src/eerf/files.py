"""Files of rows and results, for the command line."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pyarrow as pa

from .feature_set import FeatureSet
from .messages import FormatError
from .model import Model


def read_rows(path: str | os.PathLike[str]) -> pa.Table:
    """Reads an Arrow file or stream, or a Parquet file."""
    with open(path, "rb") as file:
        head = file.read(6)
    try:
        if head[:4] == b"PAR1":
            import pyarrow.parquet

            return pyarrow.parquet.read_table(path)
        with pa.OSFile(os.fspath(path)) as source:
            return (pa.ipc.open_file(source) if head == b"ARROW1" else pa.ipc.open_stream(source)).read_all()
    except pa.ArrowInvalid as fault:
        raise FormatError(f"{path} is not an Arrow or Parquet file: {fault}") from None


def write_rows(path: str | os.PathLike[str], table: pa.Table) -> None:
    """Writes an Arrow file, or a Parquet file if the name ends with .parquet."""
    if os.fspath(path).endswith(".parquet"):
        import pyarrow.parquet

        pyarrow.parquet.write_table(table, path)
        return
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)


def transformed(feature_set: FeatureSet, model: Model | None, rows: pa.Table, threshold: float | None = None) -> pa.Table:
    """Returns the columns that the featurize stage writes for rows.

    These are the passthrough and label columns that the rows have, row (the number of the row), features and, with a model,
    prediction and probabilities. Rows that cannot be used are left out. The threshold is that of Model.predict.
    """
    encoded = feature_set.encode(rows)
    kept = np.flatnonzero(encoded.usable)
    label = feature_set.encoder.label or {}
    copied = [*feature_set.encoder.passthrough, *label.get("columns", [])]
    names = [name for name in dict.fromkeys(copied) if name in rows.column_names]
    copies = rows.select(names).take(pa.array(kept))
    features = feature_set.features(encoded.x[kept])
    columns: dict[str, Any] = {name: copies[name] for name in names}
    columns |= {"row": pa.array(kept.astype(np.int64)), "features": _lists(features)}
    if model is not None:
        columns.update(_predictions(model, features, threshold))
    return pa.table(columns)


def _predictions(model: Model, features: Any, threshold: float | None) -> dict[str, pa.Array]:
    """Returns the columns that a model adds."""
    predicted = model.predict_features(features, threshold)
    if model.classes is None:
        return {"prediction": _lists(predicted, np.float64) if predicted.ndim == 2 else pa.array(predicted)}
    names = pa.array(model.classes, pa.string())
    found = {"prediction": pa.array(predicted, pa.string())}
    codes = pa.compute.index_in(found["prediction"], value_set=names)
    found["prediction"] = pa.DictionaryArray.from_arrays(codes, names)
    if model.has_probabilities:
        found["probabilities"] = _lists(model.probabilities(features))
    return found


def _lists(values: Any, dtype: Any = np.float32) -> pa.Array:
    """Returns numbers [n, k] as a column."""
    return pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(values, dtype).ravel()), values.shape[1])

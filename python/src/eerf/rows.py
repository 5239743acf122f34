"""Converts rows of any form to an Arrow table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def as_table(rows: Any) -> pa.Table:
    """Returns rows as a table.

    rows is an Arrow table or record batch, a data frame (of pandas, polars, or any library with the Arrow C stream
    interface), a dict of columns, or a list of dicts, one for each row. Values of a pandas category become text.
    """
    if isinstance(rows, pa.RecordBatch):
        table = pa.Table.from_batches([rows])
    elif isinstance(rows, pa.Table):
        table = rows
    elif isinstance(rows, Mapping):
        table = pa.table({str(name): _array(values) for name, values in rows.items()})
    elif _is_pandas(rows):
        table = _of_pandas(rows)
    elif hasattr(rows, "__arrow_c_stream__"):
        table = pa.table(rows)
    elif isinstance(rows, Sequence) and rows and isinstance(rows[0], Mapping):
        table = pa.Table.from_pylist(list(rows))
    else:
        raise TypeError(f"rows are {type(rows).__name__}, want an Arrow table, a data frame, a dict of columns or a list of dicts")
    return _plain(table)


def _array(values: Any) -> pa.Array | pa.ChunkedArray:
    """Returns a column. A numpy array of two dimensions becomes a column of vectors."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    if isinstance(values, np.ndarray) and values.ndim == 2:
        return pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(values).ravel()), values.shape[1])
    return pa.array(values)


def _is_pandas(rows: Any) -> bool:
    return type(rows).__module__.partition(".")[0] == "pandas" and hasattr(rows, "columns")


def _of_pandas(frame: Any) -> pa.Table:
    """Returns a pandas data frame as a table, with categories as text."""
    columns = {}
    for position, name in enumerate(frame.columns):
        series = frame.iloc[:, position]
        if getattr(series.dtype, "name", "") == "category":
            series = series.astype(object).map(str, na_action="ignore")
        columns[str(name)] = pa.array(series, from_pandas=True)
    if len(columns) != len(frame.columns):
        raise ValueError("two columns of the data frame have the same name")
    return pa.table(columns)


def _plain(table: pa.Table) -> pa.Table:
    """Returns a table without types of newer Arrow versions, and without dictionaries of anything but text."""
    for i, field in enumerate(table.schema):
        values, kind = table.column(i), field.type
        if isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
            values = values.cast(kind)
        if pa.types.is_string_view(kind):
            values = values.cast(pa.large_string())
        elif pa.types.is_dictionary(kind) and not is_text(kind):
            values = pc.cast(values, kind.value_type)
        if values is not table.column(i):
            table = table.set_column(i, pa.field(field.name, values.type, metadata=field.metadata), values)
    return table


def is_text(kind: pa.DataType) -> bool:
    """Reports whether a column of that type holds strings, or a dictionary of them."""
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(value) or pa.types.is_large_string(value) or pa.types.is_string_view(value))

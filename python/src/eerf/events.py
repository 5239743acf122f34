"""Messages of events, in the formats that this package reads: Arrow and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from . import columns
from .encoder import Encoder
from .messages import FormatError

_FRAME = 5  # a zero byte and a schema id, before JSON with a registered schema
_ARROW = b"\xff\xff\xff\xff"


class _Number(str):
    """A number as it is written, so that none of its digits are lost."""


def read_event(value: bytes, encoder: Encoder) -> pa.Table:
    """Returns the rows of a message; of JSON only the columns of the encoder.

    JSON has text, numbers and booleans next to each other in a column, so its columns become text that the encoder parses.
    """
    if value[:4] == _ARROW:
        with pa.ipc.open_stream(value) as stream:
            return stream.read_all()
    if value[:1] == b"\0":
        value = value[_FRAME:]
    try:
        found = [_leaves(row) for row in _objects(value.decode())]
    except ValueError as fault:
        raise FormatError(f"an event is neither Arrow nor JSON: {fault}") from None
    fields, arrays = [], []
    for c in encoder.document["columns"]:
        values = [row.get(c["name"]) for row in found]
        kind = pa.list_(pa.float64(), c["width"]) if c["kind"] == "vector" else pa.string()
        fields.append(pa.field(c["name"], kind, metadata=None if c["kind"] == "vector" else {columns.TEXT_FIELD: b""}))
        arrays.append(pa.array([_vector(v) if c["kind"] == "vector" else _text(v) for v in values], kind))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yields the rows of a message: an object, an array of objects, or objects one after the other."""
    decoder = json.JSONDecoder(parse_int=_Number, parse_float=_Number, parse_constant=_refuse)
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        found, at = decoder.raw_decode(text, at)
        for row in found if isinstance(found, list) else [found]:
            if not isinstance(row, dict):
                raise ValueError("a row is not an object")
            yield row


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _leaves(row: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Returns the values of a row by the names of their columns: those of nested objects have dots."""
    leaves = {}
    for name, value in row.items():
        if isinstance(value, dict):
            leaves.update(_leaves(value, f"{prefix}{name}."))
        else:
            leaves[prefix + name] = value
    return leaves


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str) else None


def _vector(value: Any) -> list[float | None] | None:
    return [float(v) if isinstance(v, _Number) else None for v in value] if isinstance(value, list) else None

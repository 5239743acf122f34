"""Messages of an eerf pipeline.

Data are Arrow IPC streams with a JSON document in the schema metadata; control documents are JSON.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

FORMAT_VERSIONS = {
    "eerf.spec": 5, "eerf.request": 2, "eerf.progress": 2, "eerf.refusal": 2, "eerf.current": 2, "eerf.block": 2,
    "eerf.checkpoint": 3, "eerf.feature_set": 3, "eerf.model": 2,
}  # fmt: skip # 1 in all others


class FormatError(ValueError):
    """A message or file is not in the expected format."""


def has(table_schema: pa.Schema, key: str) -> bool:
    """Reports whether a schema belongs to a message whose document is under that key."""
    return key.encode() in (table_schema.metadata or {})


def read(value: bytes, key: str) -> tuple[pa.Table, dict[str, Any]]:
    """Returns the table of a message, and its document under key."""
    streams = read_streams(value)
    if not streams or not has(streams[0][0].schema, key):
        raise FormatError(f"the message has no {key}")
    return streams[0][0], document(streams[0][0].schema, key)


def document(schema: pa.Schema, key: str) -> dict[str, Any]:
    """Returns the document under key. Refuses unknown format versions."""
    return _checked(json.loads(schema.metadata[key.encode()]), key)


def read_control(value: bytes, key: str) -> dict[str, Any]:
    """Returns a control document, which begins with its name."""
    try:
        found = json.loads(value)
    except ValueError:
        raise FormatError(f"the message is not the JSON document {key}") from None
    if not isinstance(found, dict) or found.get("document") != key:
        raise FormatError(f"the message is not the JSON document {key}")
    return _checked(found, key)


def _checked(found: dict[str, Any], key: str) -> dict[str, Any]:
    """Returns a document unless it is of another version."""
    want = FORMAT_VERSIONS.get(key, 1)
    if found.get("format_version") != want:
        raise FormatError(f"format version {found.get('format_version')} of {key}, want {want}")
    return found


def read_streams(value: bytes) -> list[tuple[pa.Table, bytes]]:
    """Returns the tables of the streams in a file, one after the other, each with its bytes."""
    found: list[tuple[pa.Table, bytes]] = []
    with pa.BufferReader(value) as file:
        while (start := file.tell()) < len(value):
            try:
                table = pa.ipc.open_stream(file).read_all()
            except pa.ArrowInvalid as fault:
                raise FormatError(f"not an Arrow IPC stream: {fault}") from None
            found.append((table, value[start : file.tell()]))
    return found


def column(table: pa.Table, name: str) -> npt.NDArray[Any]:
    """Returns a column without nulls: [rows], or [rows, n] for a column of fixed-size lists."""
    values = one_chunk(table[name])
    if pa.types.is_fixed_size_list(values.type):
        return np.asarray(values.flatten().to_numpy(zero_copy_only=False)).reshape(len(values), values.type.list_size)
    return np.asarray(values.to_numpy(zero_copy_only=False))


def one_chunk(values: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Returns a column in one piece."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if isinstance(values, pa.ChunkedArray):  # some versions of pyarrow return one chunk instead
        values = values.chunk(0) if values.num_chunks == 1 else pa.concat_arrays(values.chunks)
    return values

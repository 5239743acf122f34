"""Messages of an eerf pipeline: one Arrow IPC stream each, with a JSON document in the schema metadata."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

FORMAT_VERSIONS = {"eerf.spec": (4,), "eerf.checkpoint": (3,), "eerf.feature_set": (1, 2)}  # 1 in all others


class FormatError(ValueError):
    """A message or file has an unexpected format."""


def has(table_schema: pa.Schema, key: str) -> bool:
    """Reports whether a schema belongs to a message whose document is under that key."""
    return key.encode() in (table_schema.metadata or {})


def read(value: bytes, key: str) -> tuple[pa.Table, dict[str, Any]]:
    """Returns the table of a message, and its document under key."""
    streams = read_streams(value)
    if not streams or not has(streams[0][0].schema, key):
        raise FormatError(f"schema metadata {key} is missing")
    return streams[0][0], document(streams[0][0].schema, key)


def document(schema: pa.Schema, key: str) -> dict[str, Any]:
    """Returns the document under key. Refuses unknown format versions."""
    found: dict[str, Any] = json.loads(schema.metadata[key.encode()])
    want = FORMAT_VERSIONS.get(key, (1,))
    if found.get("format_version") not in want:
        raise FormatError(f"format version {found.get('format_version')} of {key}, want {' or '.join(map(str, want))}")
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

"""Ids of feature sets and models: hashes of what they compute (docs/wire-formats.md, Ids)."""

from __future__ import annotations

import hashlib
import struct
from typing import Any

import numpy as np


def content_id(prefix: str, *parts: bytes) -> str:
    """Returns the id of a list of parts."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(struct.pack("<Q", len(part)) + part)
    return prefix + digest.hexdigest()[:32]


def numbers(kind: str, values: Any) -> bytes:
    """Returns values as little-endian bytes; kind is f4, f8 or i8."""
    return np.asarray(values).astype("<" + kind).tobytes()

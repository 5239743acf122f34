"""Columns of an Arrow table as the encoder reads them: numbers, seconds, codes of categories."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from . import rows, times, written

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int64]

NULL, UNSEEN = -2, -1  # codes of values that are not a category

# Metadata of a field that was read from a text format, in which 7, "7" and true are easily confused.
TEXT_FIELD = b"eerf.text"

_NULL_WORDS = [
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
    "NULL", "NaN", "None", "n/a", "nan", "null", "?",
]  # fmt: skip
_BLANKS = "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def kind_of(kind: pa.DataType) -> tuple[str, int] | None:
    """Returns the kind of an Arrow type and its number of values per row; "" fits every kind, None means unreadable."""
    if pa.types.is_fixed_size_list(kind):
        number = pa.types.is_integer(kind.value_type) or pa.types.is_floating(kind.value_type)
        return ("vector", kind.list_size) if number and kind.list_size > 0 else None
    for test, name in _KINDS:
        if test(kind):
            return name, 1
    return None


_KINDS: list[tuple[Callable[[pa.DataType], bool], str]] = [
    (pa.types.is_null, ""),
    (pa.types.is_boolean, "bool"),
    (rows.is_text, "category"),
    (pa.types.is_date, "time"),
    (pa.types.is_timestamp, "time"),
    (pa.types.is_time, "clock"),
    (pa.types.is_integer, "numeric"),
    (pa.types.is_floating, "numeric"),
    (pa.types.is_decimal, "numeric"),
    (pa.types.is_duration, "numeric"),
]


def stands_for(column: dict[str, Any], got: str, field: pa.Field) -> bool:
    """Reports whether a field read as one kind may stand for a column of another."""
    want = column["kind"]
    if want == "vector" or got in ("vector", "time", "clock"):
        return False
    if got == "category":
        allowed = want in ("time", "clock") or column.get("text", False)
    else:
        allowed = column.get("numbers", False) or column.get("dates", "") not in ("", "dd/mm/yyyy", "mm/dd/yyyy")
    return bool(allowed) or TEXT_FIELD in (field.metadata or {})


def numbers(values: pa.Array, form: dict[str, Any] | None = None) -> tuple[Floats, Bools]:
    """Returns the numbers of a column and a mask of missing ones; both are [rows]. The form is how its text is read."""
    kind = values.type
    if rows.is_text(kind) or pa.types.is_boolean(kind):
        return _parsed(values, lambda text: written.number(text, form or {}))
    if pa.types.is_duration(kind):
        return _in_seconds(values, kind.unit)
    if pa.types.is_null(kind):
        return np.zeros(len(values)), np.ones(len(values), bool)
    if pa.types.is_integer(kind):  # checked casts refuse whole numbers that are not exact
        values = pc.cast(values, pa.float64(), safe=False)
    elif not pa.types.is_float64(kind):
        values = pc.cast(values, pa.float64())
    return _filled(values, 0.0), _nulls(values)


def vectors(values: pa.Array, width: int) -> tuple[Floats, Bools]:
    """Returns the numbers of a column of vectors and a mask of missing ones; both are [rows, width]."""
    if pa.types.is_null(values.type):
        return np.zeros((len(values), width)), np.ones((len(values), width), bool)
    elements = values.values.slice(values.offset * width, len(values) * width)  # flatten would leave out null lists
    found, missing = numbers(elements)
    return found.reshape(-1, width), missing.reshape(-1, width) | _nulls(values)[:, None]


def seconds(values: pa.Array, kind: str, form: dict[str, Any] | None = None) -> tuple[Floats, Bools]:
    """Returns the times of a column in seconds and a mask of missing ones; both are [rows]. The form is how its text is read."""
    of, form = values.type, form or {}
    if kind_of(of) == ("numeric", 1) and form.get("dates", "") not in ("", "dd/mm/yyyy", "mm/dd/yyyy"):
        found, missing = numbers(values)
        at = [None if none else written.since(v, form["dates"]) for v, none in zip(found.tolist(), missing, strict=True)]
        return np.array([v or 0.0 for v in at]), np.array([v is None for v in at], bool)
    if rows.is_text(of) or kind_of(of) not in ((kind, 1), ("", 1)):
        return _parsed(values, times.time_of_day if kind == "clock" else lambda text: written.time(text, form))
    if pa.types.is_null(of):
        return np.zeros(len(values)), np.ones(len(values), bool)
    if pa.types.is_date32(of):
        days = pc.cast(values, pa.int32())
        return _filled(days, 0).astype(np.float64) * times.DAY, _nulls(values)
    return _in_seconds(values, "ms" if pa.types.is_date64(of) else of.unit)


def _in_seconds(values: pa.Array, unit: str) -> tuple[Floats, Bools]:
    per = _PER_SECOND[unit]
    whole = pa.int32() if pa.types.is_time32(values.type) else pa.int64()
    counts = _filled(pc.cast(values, whole), 0).astype(np.int64)
    rest = np.mod(counts, per)
    return (counts - rest) // per + rest * (10**9 // per) / 1e9, _nulls(values)


def booleans(values: pa.Array) -> Codes:
    """Returns 0, 1 or NULL for each row."""
    if pa.types.is_null(values.type):
        return np.full(len(values), NULL)
    if not pa.types.is_boolean(values.type):
        codes = categories(pc.utf8_lower(pc.utf8_trim_whitespace(_texts(values))), ["false", "true"])
        return np.where(codes < 0, NULL, codes)
    return np.where(_nulls(values), NULL, _filled(values, False).astype(np.int64))


def with_nulls(values: pa.Array, words: list[str]) -> pa.Array:
    """Returns a column of texts or single numbers with null for every value that means a missing one.

    These are the empty text, the words that always do, and the given words. Blanks around texts are removed.
    """
    kind = values.type
    if rows.is_text(kind):
        texts = pc.utf8_trim(_texts(values), characters=_BLANKS)
        missing = pc.is_in(texts, value_set=pa.array(["", *_NULL_WORDS, *words], pa.large_string()))
        return pc.if_else(missing, pa.scalar(None, pa.large_string()), texts)
    if kind_of(kind) != ("numeric", 1):
        return values
    sentinels = [v for v in map(_float, words) if v is not None]
    sentinels += [float(np.float32(v)) for v in sentinels if abs(v) <= np.finfo(np.float32).max]  # as columns of float32 hold them
    if not sentinels:
        return values
    return pc.if_else(pa.array(np.isin(numbers(values)[0], sentinels)), pa.scalar(None, kind), values)


def _float(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return None if math.isnan(value) else value


def categories(values: pa.Array, names: list[str]) -> Codes:
    """Returns the code of each row's category: UNSEEN for an unknown value, NULL for a null."""
    if pa.types.is_null(values.type):
        return np.full(len(values), NULL)
    texts = _texts(values)
    found = pc.index_in(texts, value_set=pa.array(names, texts.type), skip_nulls=True)
    return np.where(_nulls(texts), NULL, _filled(found, UNSEEN).astype(np.int64))


def _texts(values: pa.Array) -> pa.Array:
    """Returns a column of strings. Numbers and booleans, which text formats may hold instead, become their text."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if rows.is_text(values.type):
        return pc.cast(values, pa.large_string())
    if pa.types.is_floating(values.type):
        short = values.type.bit_width < 64  # use the shortest decimal of such a number
        exact = (None if v is None else float(str(np.float32(v))) if short else v for v in values.to_pylist())
        return pa.array([None if v is None else number_text(v) for v in exact], pa.large_string())
    return pc.cast(values, pa.large_string())


def number_text(value: float) -> str:
    """Returns the name of a numeric class: its shortest form, without a fraction for whole numbers."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    if abs(value) < 2**53 and value == int(value):
        return str(int(value))
    sign, digits, exponent = _digits(value)
    if -4 <= exponent < 6:  # as Go's strconv decides
        text = digits.ljust(exponent + 1, "0") if exponent >= 0 else "0" * -exponent + digits
        whole = max(exponent, 0) + 1
        return sign + text[:whole] + ("." + text[whole:] if text[whole:] else "")
    return f"{sign}{digits[0]}{'.' + digits[1:] if digits[1:] else ''}e{exponent:+03d}"


def _digits(value: float) -> tuple[str, str, int]:
    """Returns the sign, the shortest digits, and the decimal exponent of the first digit."""
    mantissa, _, exponent = np.format_float_scientific(value, unique=True, trim="-").partition("e")
    return ("-" if value < 0 else ""), mantissa.lstrip("-").replace(".", ""), int(exponent)


def _parsed(values: pa.Array, parse: Callable[[str], float | None]) -> tuple[Floats, Bools]:
    """Returns the parsed texts of a column. Each distinct text is parsed once."""
    coded = pc.dictionary_encode(_texts(values))
    found = [parse(text) for text in coded.dictionary.to_pylist()] + [None]
    codes = _filled(coded.indices, len(found) - 1).astype(np.int64)
    table = np.array([math.nan if v is None else v for v in found])
    missing = np.isnan(table)[codes]
    return np.where(missing, 0.0, table[codes]), missing


def _filled(values: pa.Array, filler: Any) -> npt.NDArray[Any]:
    if values.null_count:
        values = pc.fill_null(values, pa.scalar(filler, values.type))
    return np.asarray(values.to_numpy(zero_copy_only=False))


def _nulls(values: pa.Array) -> Bools:
    return np.asarray(values.is_null().to_numpy(zero_copy_only=False), dtype=bool)

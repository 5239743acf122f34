"""Numbers and dates as people write them, read as the encoder reads them: arrowio/encoder/numbertext.go and datetext.go."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Any

from . import times

_MINUSES, _SPACES = "-\u2212\u2013\ufe63\uff0d", " \u00a0\u202f\u2009\t"
_SEPARATORS = "'\u2019" + _SPACES
_MAX_UNIT = 24
_MULTIPLES = {"k": 1e3, "K": 1e3, "M": 1e6, "mn": 1e6, "Mio": 1e6, "Mio.": 1e6, "B": 1e9, "bn": 1e9}
_NOT_IN_UNITS = set("0123456789,;:()[]{}-+_#&|\\<>=@*?!")
_CURRENCIES = [
    "US$", "AU$", "CA$", "NZ$", "HK$", "R$", "A$", "C$", "Rs.", "Rs", "kr.", "kr", "Fr.", "zł", "Kč", "AUD",
    "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "EUR", "GBP", "HKD", "HUF", "IDR", "ILS", "INR", "JPY", "KRW", "MXN",
    "MYR", "NOK", "NZD", "PHP", "PLN", "RUB", "SEK", "SGD", "THB", "TRY", "TWD", "UAH", "USD", "VND", "ZAR",
]  # fmt: skip
_EXPONENT = re.compile(r"[eE][+-]?[0-9]+")
_DIGITS = re.compile(r"[0-9]+")


def number(text: str, form: dict[str, Any]) -> float | None:
    """Returns a number with thousands separators, a currency or a unit, in the form of its column; None for other text."""
    cut = _cut_unit(text.strip(_SPACES))
    if cut is None:
        return None
    body, negative, unit, factor = cut
    if unit and unit != form.get("unit", ""):
        return None
    value = _marks(body, ",", ".") if form.get("decimal_comma") else _marks(body, ".", ",")
    return None if value is None else (-value if negative else value) * factor


def _cut_unit(text: str) -> tuple[str, bool, str, float] | None:
    """Splits a number into its digits and marks, its sign, its unit, and the factor of a suffix such as k."""
    before, signs, opened, negative = "", 0, 0, False
    while text and text[0] not in ".," and not _is_digit(text[0]):
        size = 1
        if text[0] in _MINUSES:
            signs, negative = signs + 1, True
        elif text[0] == "+":
            signs += 1
        elif text[0] == "(":
            opened, negative = opened + 1, True
        elif text[0] not in _SPACES:
            size = _currency(text)
            if not size or before:
                return None
            before = text[:size]
        text = text[size:]
    end = _number_length(text)
    body, after = text[:end], text[end:].strip(_SPACES)
    if opened:
        if not after.endswith(")"):
            return None
        after = after[:-1].rstrip(_SPACES)
    if after and after[-1] in _MINUSES:
        signs, negative, after = signs + 1, True, after[:-1].rstrip(_SPACES)
    if signs + opened > 1 or not body or not _is_unit(after):
        return None
    factor = _MULTIPLES.get(after, 1.0)
    if after in _MULTIPLES:
        after = ""
    return body, negative, f"{before} {after}".strip(), factor


def _is_digit(char: str) -> bool:
    return "0" <= char <= "9"


def _currency(text: str) -> int:
    for name in _CURRENCIES:
        if text.startswith(name):
            return len(name)
    return int(unicodedata.category(text[0]) == "Sc")


def _number_length(text: str) -> int:
    end = 0
    for i, char in enumerate(text):
        if _is_digit(char) or (char == "." and i == end):
            end = i + 1
        elif not (i == end and (char == "," or char in _SEPARATORS)):
            break
    exponent = _EXPONENT.match(text, end)
    return exponent.end() if exponent else end


def _is_unit(text: str) -> bool:
    if not text:
        return True
    known = text[0].isalpha() or unicodedata.category(text[0]) == "Sc" or text[0] in "%‰°\"'\u2032\u2033"
    return known and len(text.encode()) <= _MAX_UNIT and not _NOT_IN_UNITS.intersection(text)


def _marks(body: str, decimal: str, thousands: str) -> float | None:
    if all(_is_digit(c) or c in "eE+-" or c == decimal for c in body) and body.count(decimal) <= 1:
        return _float(body.replace(",", "."))
    whole, mark, fraction = body.rpartition(decimal)
    if not mark:
        whole, fraction = body, ""
    groups = [g for g in re.split("[" + re.escape(thousands + _SEPARATORS) + "]", whole) if g]
    if len(groups) < 2 or fraction.strip("0123456789") or not _grouped(groups):
        return None
    return _float("".join(groups) + "." + fraction)


def _float(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _grouped(groups: list[str]) -> bool:
    between = len(groups[1]) if len(groups) > 2 else 3
    return (
        all(_DIGITS.fullmatch(g) for g in groups)
        and len(groups[0]) <= 3
        and groups[0][0] != "0"
        and len(groups[-1]) == 3
        and between in (2, 3)
        and all(len(g) == between for g in groups[1:-1])
    )


_MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"]
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_PART = r"([0-9]+|[A-Za-z]+)"
_DATE = re.compile(rf"{_PART}([-/., ]) *{_PART}([-/., ]) *{_PART}")
_NUMBER_DATE = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})(?![0-9])")
_LETTERS = re.compile(r"[A-Za-z]{3,}")
_MAX_TIME = 48


def time(text: str, form: dict[str, Any]) -> float | None:
    """Returns a date or an instant in seconds since 1970, in the form of its column; None for other text."""
    found = times.instant(text)
    if found is not None:
        return found
    dates = form.get("dates", "")
    if dates not in ("", "dd/mm/yyyy", "mm/dd/yyyy"):
        value = number(text, {})
        if value is not None:
            return since(value, dates)
    return _written_time(text.strip(" "), dates == "mm/dd/yyyy")


PER_SECOND = {"seconds": 1.0, "milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}


def since(value: float, dates: str) -> float | None:
    """Returns the seconds since 1970 of a time that is a number."""
    if dates in PER_SECOND:
        return value / PER_SECOND[dates] if math.isfinite(value) else None
    if not 1900e4 <= value <= 2099e4 + 1231 or value != int(value):
        return None
    whole = int(value)
    return _seconds(whole // 10000, whole // 100 % 100, whole % 100)


def _seconds(year: int, month: int, day: int) -> float | None:
    days = times.days(year, month, day)
    return None if days is None else days * times.DAY


def _written_time(text: str, month_first: bool) -> float | None:
    if not 6 <= len(text.encode()) <= _MAX_TIME:
        return None
    name = _LETTERS.match(text)
    if name and any(day.startswith(name[0].lower()) for day in _WEEKDAYS):
        text = text[name.end() :].lstrip(".,; ")
    cut = _cut_date(text, month_first)
    if cut is None:
        return None
    seconds, rest = cut
    if not rest:
        return seconds
    if rest[0] in "Tt":
        rest = rest[1:]
    elif rest.startswith(", ") or rest[0] == " ":
        rest = rest[1:].lstrip(" ")
    else:
        return None
    for zone in ("UTC", "GMT"):
        if rest.endswith(zone) and rest != zone:
            rest = rest[: -len(zone)].rstrip(" ") + "Z"
    clock, offset = _cut_offset(rest)
    of_day = None if clock is None else _of_day(clock.strip(" "))
    if of_day is None:
        return None
    whole, nanos = of_day
    return float(int(seconds) + whole - offset) + nanos / 1e9


def _cut_date(text: str, month_first: bool) -> tuple[float, str] | None:
    compact = _NUMBER_DATE.match(text)
    if compact:
        year, month, day = (int(v) for v in compact.groups())
        seconds = _seconds(year, month, day) if 1900 <= year <= 2099 else None
        return None if seconds is None else (seconds, text[8:])
    found = _DATE.match(text)
    if not found:
        return None
    a, first, b, second, c = found.groups()
    parts = _date_of(a, b, c, month_first)
    if parts is None or first == "," or (first != second and _is_digit(a[0]) and _is_digit(b[0])):
        return None
    seconds = _seconds(*parts)
    return None if seconds is None else (seconds, text[found.end() :])


def _date_of(a: str, b: str, c: str, month_first: bool) -> tuple[int, int, int] | None:
    """Returns year, month and day."""
    if not _is_digit(c[0]):
        return None
    named = _month(a), _month(b)
    if (not _is_digit(a[0]) and not named[0]) or (not _is_digit(b[0]) and not named[1]):
        return None
    if named[0]:
        year = _year(c)
        return None if named[1] or len(b) > 2 or year is None else (year, named[0], int(b))
    if len(a) == 4:
        month = named[1] or (int(b) if len(b) <= 2 else 0)
        return (int(a), month, int(c)) if len(c) <= 2 else None
    year = _year(c)
    if len(a) > 2 or year is None:
        return None
    if named[1]:
        return year, named[1], int(a)
    if len(b) > 2:
        return None
    return (year, int(a), int(b)) if month_first else (year, int(b), int(a))


def _year(text: str) -> int | None:
    if len(text) == 2:
        return int(text) + (2000 if int(text) < 69 else 1900)
    return int(text) if len(text) == 4 else None


def _month(text: str) -> int:
    name = text.lower()
    for i, full in enumerate(_MONTHS):
        if name in (full, full[:3]) or (name == "sept" and full == "september"):
            return i + 1
    return 0


def _cut_offset(text: str) -> tuple[str | None, int]:
    """Splits a time of day from the offset after it, in seconds east of UTC."""
    if text[-1:] in ("Z", "z"):
        return text[:-1], 0
    at = max(text.rfind("+"), text.rfind("-"))
    if at < 0:
        return text, 0
    offset = times.offset(text[at + 1 :])
    if offset is None:
        return None, 0
    return text[:at], -offset if text[at] == "-" else offset


_HALVES = ("am", "a.m.", "pm", "p.m.")


def _of_day(text: str) -> tuple[int, int] | None:
    """Returns a time of day as seconds and nanoseconds: also 9:30, 153000 and 03:30 PM."""
    half = next((h for h in _HALVES if text.lower().endswith(h)), "")
    if half:
        text = text[: -len(half)].rstrip(" ")
    leading = _DIGITS.match(text)
    n = leading.end() if leading else 0
    if n == 1 and (text[1:2] == ":" or (half and len(text) == 1)):
        text = "0" + text
    elif n in (4, 6):
        text = text[:2] + ":" + text[2:4] + (":" + text[4:]).removesuffix(":")
    if half and len(text) == 2:
        text += ":00"
    found = times.clock(text)
    if found is None or not half:
        return found
    seconds, nanos = found
    hour = seconds // 3600
    if not 1 <= hour <= 12:
        return None
    return seconds - 43200 * (hour == 12) + 43200 * (half[0] == "p"), nanos

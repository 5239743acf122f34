"""Dates and times as the encoder reads them: seconds, and positions in cycles."""

from __future__ import annotations

import datetime
import re

import numpy as np
import numpy.typing as npt

DAY = 86400.0
# Start and length of each cycle in seconds: the week begins on Monday, the year is the mean Gregorian one.
CYCLES = {"day": (0.0, DAY), "week": (4 * DAY, 7 * DAY), "year": (0.0, 365.2425 * DAY)}

_CLOCK = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?P<fraction>[.,][0-9]+)?)?"
_OFFSET = r"(?:[Zz]|(?P<sign>[+-])(?P<east>[0-9:]{2,5}))?"
_DATE = r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
_INSTANT = re.compile(rf" *{_DATE}(?:[Tt ] *{_CLOCK} *{_OFFSET})? *")
_TIME_OF_DAY = re.compile(rf" *{_CLOCK} *")
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_YEARS = 400  # the calendar repeats after this many years
_DAYS = 146097


def instant(text: str) -> float | None:
    """Returns a date or an instant of ISO 8601 in seconds since 1970 (UTC if it has no offset); None for other text."""
    found = _INSTANT.fullmatch(text)
    if not found:
        return None
    seconds = days(int(found["year"]), int(found["month"]), int(found["day"]))
    if seconds is None:
        return None
    seconds *= 86400
    if found["hour"] is None:
        return float(seconds)
    of_day = _of_day(found)
    if of_day is None:
        return None
    if found["east"] is not None:
        east = offset(found["east"])
        if east is None:
            return None
        seconds += east if found["sign"] == "-" else -east
    return float(seconds + of_day[0]) + of_day[1] / 1e9


def time_of_day(text: str) -> float | None:
    """Returns a time of day of ISO 8601 in seconds since midnight; None for other text."""
    found = clock(text)
    return None if found is None else float(found[0]) + found[1] / 1e9


def clock(text: str) -> tuple[int, int] | None:
    """Returns a time of day of ISO 8601 as seconds and nanoseconds since midnight; None for other text."""
    found = _TIME_OF_DAY.fullmatch(text)
    return _of_day(found) if found else None


def days(year: int, month: int, day: int) -> int | None:
    """Returns the days from 1970 to a date. There is a year 0, as in ISO 8601."""
    try:
        return datetime.date(year or _YEARS, month, day).toordinal() - _EPOCH - (0 if year else _DAYS)
    except ValueError:
        return None


def _of_day(found: re.Match[str]) -> tuple[int, int] | None:
    """Returns the time of day of a match as seconds and nanoseconds; digits beyond the ninth are dropped."""
    hour, minute, second = int(found["hour"]), int(found["minute"]), int(found["second"] or 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    return hour * 3600 + minute * 60 + second, int((found["fraction"] or ".0")[1:10].ljust(9, "0"))


def offset(text: str) -> int | None:
    """Returns an offset such as 01, 0100 or 01:00 in seconds."""
    text = text.replace(":", "", 1)
    if len(text) not in (2, 4) or ":" in text:
        return None
    hours, minutes = int(text[:2]), int(text[2:] or 0)
    return None if hours > 23 or minutes > 59 else hours * 3600 + minutes * 60


def place(cycle: str, seconds: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], ...]:
    """Returns sine and cosine of the phase of a cycle at given times, and the phase from -1 to 1; each is [n]."""
    start, length = CYCLES[cycle]
    phase = np.mod(seconds - start, length) / length
    return np.sin(2 * np.pi * phase), np.cos(2 * np.pi * phase), 2 * phase - 1


def cycle_names(kind: str) -> tuple[str, ...]:
    """Returns what tells the dimensions of a cycle apart: a time of day is its phase already."""
    return (" (sin)", " (cos)") if kind == "clock" else (" (sin)", " (cos)", "")

# SPDX-License-Identifier: MIT
"""Values: field types and their checks, dates, text as bytes, SQL's three truth values, exact comparison.

A value is None (null), int (INTEGER, and TIME as microseconds since 1970), float (REAL), str or bytes (KEYWORD, TEXT, keys),
a tuple of str (KEYWORDS) or a tuple of float (VECTOR). A truth value is True, False or None.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from typing import Any

MICROS = 1_000_000
INT_MIN, INT_MAX = -(2**63), 2**63 - 1
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
TIME_MIN = -62_135_596_800 * MICROS  # 0001-01-01 00:00:00
TIME_MAX = 253_402_300_800 * MICROS - 1  # 9999-12-31 23:59:59.999999
KEYWORD_BYTES = 512
KEYWORDS_COUNT = 256
TEXT_BYTES = 16 * 2**20
KEY_BYTES = 512


class ModelError(Exception):
    """What the engine reports as eagre.Error."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code


@dataclass(frozen=True)
class FieldType:
    name: str
    size: int = 0

    def text(self) -> str:
        return f"{self.name}({self.size})" if self.name == "VECTOR" else self.name


INTEGER, REAL, TIME = FieldType("INTEGER"), FieldType("REAL"), FieldType("TIME")
KEYWORD, KEYWORDS, TEXT = FieldType("KEYWORD"), FieldType("KEYWORDS"), FieldType("TEXT")


def vector(size: int) -> FieldType:
    return FieldType("VECTOR", size)


DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,6}))?)?)?Z?")


def parse_date(text: str) -> int | None:
    """Microseconds since 1970, or None where the text is no date."""
    found = DATE.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    if hour > 23 or minute > 59 or second > 59:
        return None
    try:
        days = date(year, month, day).toordinal() - date(1970, 1, 1).toordinal()
    except ValueError:
        return None
    fraction = int((found.group(7) or "").ljust(6, "0"))
    return (((days * 24 + hour) * 60 + minute) * 60 + second) * MICROS + fraction


def time_of(value: Any) -> int:
    """A TIME on its way in: microseconds, an aware datetime or a date's text."""
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ModelError("EAGRE_TYPE", "a datetime without a time zone")
        value = (value - EPOCH) // timedelta(microseconds=1)
    elif isinstance(value, str):
        parsed = parse_date(value)
        if parsed is None:
            raise ModelError("EAGRE_TYPE", f"{value!r} is not a date")
        value = parsed
    if isinstance(value, bool) or not isinstance(value, int):
        raise ModelError("EAGRE_TYPE", "a time was expected")
    if not TIME_MIN <= value <= TIME_MAX:
        raise ModelError("EAGRE_RANGE", "the time is outside 0001 .. 9999")
    return value


def utf8(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise ModelError("EAGRE_ENCODING", "not valid UTF-8") from None


def as_bytes(value: str | bytes) -> bytes:
    return utf8(value) if isinstance(value, str) else value


def check_text(value: Any, most: int) -> str:
    if not isinstance(value, str):
        raise ModelError("EAGRE_TYPE", "text was expected")
    if len(utf8(value)) > most:
        raise ModelError("EAGRE_LIMIT", f"more than {most} bytes")
    return value


def check_real(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ModelError("EAGRE_TYPE", "a number was expected")
    if isinstance(value, int) and not INT_MIN <= value <= 2**64 - 1:
        raise ModelError("EAGRE_RANGE", "the integer is out of range")
    if not math.isfinite(value):
        raise ModelError("EAGRE_RANGE", "the number is not finite")
    return float(value)


def check_vector(value: Any, size: int) -> tuple[float, ...]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise ModelError("EAGRE_TYPE", "numbers were expected")
    if len(value) != size:
        raise ModelError("EAGRE_TYPE", f"{len(value)} numbers where {size} were expected")
    numbers = [check_real(number) for number in value]
    try:
        return struct.unpack(f"<{size}f", struct.pack(f"<{size}f", *numbers))
    except OverflowError:
        raise ModelError("EAGRE_RANGE", "a number is beyond f32") from None


def check(kind: FieldType, value: Any) -> Any:
    """The value as it is kept, or ModelError."""
    if value is None:
        return None
    match kind.name:
        case "INTEGER":
            if isinstance(value, bool) or not isinstance(value, int):
                raise ModelError("EAGRE_TYPE", "an integer was expected")
            if not INT_MIN <= value <= INT_MAX:
                raise ModelError("EAGRE_RANGE", "the integer is out of range")
            return value
        case "REAL":
            return check_real(value)
        case "TIME":
            return time_of(value)
        case "KEYWORD":
            return check_text(value, KEYWORD_BYTES)
        case "KEYWORDS":
            if not isinstance(value, (list, tuple)):
                raise ModelError("EAGRE_TYPE", "a list of texts was expected")
            words = tuple(dict.fromkeys(check_text(word, KEYWORD_BYTES) for word in value))
            if len(words) > KEYWORDS_COUNT:
                raise ModelError("EAGRE_LIMIT", f"more than {KEYWORDS_COUNT} keywords")
            return words
        case "TEXT":
            return check_text(value, TEXT_BYTES)
        case "VECTOR":
            return check_vector(value, kind.size)
    raise AssertionError(kind)


def check_key(integer_keys: bool, key: Any) -> int | bytes:
    """A key as it is kept: int for KEY INTEGER, bytes for KEY STRING."""
    if integer_keys:
        if isinstance(key, bool) or not isinstance(key, int):
            raise ModelError("EAGRE_TYPE", "an integer key was expected")
        if not 0 <= key < 2**64:
            raise ModelError("EAGRE_RANGE", "the key is outside 0 .. 2^64-1")
        return key
    if not isinstance(key, (str, bytes)):
        raise ModelError("EAGRE_TYPE", "a string key was expected")
    raw = as_bytes(key)
    if not raw:
        raise ModelError("EAGRE_RANGE", "the key is empty")
    if len(raw) > KEY_BYTES:
        raise ModelError("EAGRE_LIMIT", f"a key has at most {KEY_BYTES} bytes")
    return raw


Truth = bool | None


def not3(a: Truth) -> Truth:
    return None if a is None else not a


def and3(a: Truth, b: Truth) -> Truth:
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def or3(a: Truth, b: Truth) -> Truth:
    if a is True or b is True:
        return True
    return None if a is None or b is None else False


def compare(op: str, a: Any, b: Any) -> Truth:
    """Two numbers, exactly (Python compares int with float so), or two texts by bytes; null with anything is null."""
    if a is None or b is None:
        return None
    if isinstance(a, (str, bytes)) != isinstance(b, (str, bytes)):
        raise ModelError("EAGRE_TYPE", "text compared with a number")
    if isinstance(a, (str, bytes)):
        a, b = as_bytes(a), as_bytes(b)
    match op:
        case "=":
            return a == b
        case "!=":
            return a != b
        case "<":
            return a < b
        case "<=":
            return a <= b
        case ">":
            return a > b
        case ">=":
            return a >= b
    raise AssertionError(op)

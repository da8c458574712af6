# SPDX-License-Identifier: MIT
"""One Python value to one eagre_value: sixteen bytes, and a Heap of bytes that it may refer to by offset.

Nothing is allocated through cffi: values and heap are packed by struct and go in as bytes objects. Errors
are eagre.Error with the engine's codes; their sentence does not yet name the argument, `blame` adds that.
"""

from __future__ import annotations

import datetime
import operator
import struct
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from typing import Any, Union

from ._errors import Error
from ._ffi import ffi, lib

Moment = Union[int, datetime.datetime]
Key = Union[str, bytes, int]
Scalar = Union[None, int, float, str, bytes, datetime.date]
Value = Union[Scalar, "Sequence[Scalar]", "Set[str]", Any]  # Any: numpy's scalars and arrays, buffers

NULL, INT, UINT, REAL = lib.EAGRE_NULL, lib.EAGRE_INT, lib.EAGRE_UINT, lib.EAGRE_REAL
TIME, TEXT, LIST, VECTOR = lib.EAGRE_TIME, lib.EAGRE_TEXT, lib.EAGRE_LIST, lib.EAGRE_VECTOR

INT_MIN, INT_MAX, UINT_MAX = -(1 << 63), (1 << 63) - 1, (1 << 64) - 1

# An eagre_value: type, length, and eight bytes that are an int64, a uint64 (or an offset), or a double.
pack_int = struct.Struct("=IIq").pack
pack_uint = struct.Struct("=IIQ").pack
pack_real = struct.Struct("=IId").pack
PACKED_NULL = pack_uint(NULL, 0, 0)
# The value of a text of n bytes at the start of the heap, for keys.
TEXT_AT_START = [pack_uint(TEXT, n, 0) for n in range(513)]

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_EPOCH_DAY = datetime.date(1970, 1, 1).toordinal()
_DAY = 86_400_000_000

if ffi.sizeof("eagre_value") != 16 or ffi.offsetof("eagre_value", "v") != 8:
    raise ImportError("eagre: the layout of eagre_value is not the one this package packs")


class Handle(int):
    """A key resolved once, by db.handle(): for signal() and signal_many(). It means that one item, also after a delete."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Handle({int(self)})"


class Heap(bytearray):
    """The bytes that values refer to. `lists`: (offset, length) of each array of values in it, which hold offsets too."""

    lists: list[tuple[int, int]] | tuple[()] = ()

    def align(self) -> int:
        """Fill up to a multiple of 8; the new length."""
        self.extend(b"\0" * (-len(self) & 7))
        return len(self)


@contextmanager
def blame(what: str) -> Iterator[None]:
    """Put the name of the argument in front of the sentence of an Error."""
    try:
        yield
    except Error as error:
        raise named(error, what) from None


def named(error: Error, what: str) -> Error:
    """The same error, its sentence beginning with the argument's name."""
    return type(error)(error.code, f"{what}: {error.message}", error.position, error.applied)


def type_name(value: object) -> str:
    """Of which type a value is, for sentences."""
    return type(value).__name__


def encode(text: str) -> bytes:
    """UTF-8, or EAGRE_ENCODING for a lone surrogate."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise Error("EAGRE_ENCODING", f"a lone surrogate at character {error.start}: this text has no UTF-8") from None


def micros(moment: Any) -> int:
    """Microseconds since 1970 UTC of an int, an aware datetime, a date (its midnight in UTC) or a numpy.datetime64."""
    if type(moment) is int:
        return moment
    if isinstance(moment, datetime.datetime):
        if moment.utcoffset() is None:
            raise Error(
                "EAGRE_TYPE",
                f"the datetime {moment} has no time zone: give an aware one, such as datetime.now(timezone.utc), "
                "or microseconds since 1970 UTC",
            )
        delta = moment - _EPOCH
        return delta.days * _DAY + delta.seconds * 1_000_000 + delta.microseconds
    if isinstance(moment, datetime.date):
        return (moment.toordinal() - _EPOCH_DAY) * _DAY
    if _numpy_kind(moment) == "M":  # UTC by numpy's definition
        return int(moment.astype("datetime64[us]").astype("int64"))
    if not isinstance(moment, bool):
        try:
            return operator.index(moment)
        except TypeError:
            pass
    raise Error("EAGRE_TYPE", f"a moment is an int of microseconds or an aware datetime, not {type_name(moment)}")


def _numpy_kind(value: object) -> str:
    return getattr(getattr(value, "dtype", None), "kind", "")


# ---- Scalars


def _int(value: int, heap: Heap) -> bytes:
    if INT_MIN <= value <= INT_MAX:
        return pack_int(INT, 0, value)
    if 0 <= value <= UINT_MAX:
        return pack_uint(UINT, 0, value)
    raise Error("EAGRE_RANGE", f"an integer of {value.bit_length()} bits does not fit into 64")


def _real(value: float, heap: Heap) -> bytes:
    return pack_real(REAL, 0, value)


def _text(value: str, heap: Heap) -> bytes:
    return _bytes(encode(value), heap)


def _bytes(value: bytes, heap: Heap) -> bytes:
    at = len(heap)
    heap += value
    return pack_uint(TEXT, len(value), at)


def _time(value: Any, heap: Heap) -> bytes:
    return pack_int(TIME, 0, micros(value))


def _null(value: None, heap: Heap) -> bytes:
    return PACKED_NULL


def _bool(value: bool, heap: Heap) -> bytes:
    raise Error("EAGRE_TYPE", "True and False are not numbers here: give 1 or 0")


def _handle(value: Handle, heap: Heap) -> bytes:
    raise Error("EAGRE_TYPE", "a handle stands for its item in signal() and signal_many() only: give the key")


_SCALARS: dict[type, Callable[[Any, Heap], bytes]] = {
    int: _int,
    float: _real,
    str: _text,
    bytes: _bytes,
    datetime.datetime: _time,
    datetime.date: _time,
    type(None): _null,
    bool: _bool,
    Handle: _handle,
}


def scalar(value: Any, heap: Heap) -> bytes:
    """The eagre_value of a number, a text, a moment or None."""
    packer = _SCALARS.get(type(value))
    return packer(value, heap) if packer is not None else _other_scalar(value, heap)


def _other_scalar(value: Any, heap: Heap) -> bytes:
    for kind in (bool, Handle, int, float, str, bytes, datetime.date):  # subclasses: IntEnum, numpy.float64, numpy.str_
        if isinstance(value, kind):
            return _SCALARS[kind](value, heap)
    if isinstance(value, bytearray):
        return _bytes(bytes(value), heap)
    if getattr(value, "ndim", None) == 0:  # numpy's scalars
        kind_of_array = _numpy_kind(value)
        if kind_of_array == "M":
            return PACKED_NULL if value != value else _time(value, heap)
        if kind_of_array in ("b", "i", "u", "f", "U"):
            return scalar(value.item(), heap)
    try:
        return _int(operator.index(value), heap)
    except TypeError:
        raise Error("EAGRE_TYPE", f"values of type {type_name(value)} are not known") from None


# ---- Lists, vectors, anything


def pack(value: Any, heap: Heap, vectors: bool = True) -> bytes:
    """The eagre_value of any value. `vectors`: a list of numbers is a vector (a field's), not a list (a parameter's)."""
    packer = _SCALARS.get(type(value))
    if packer is not None:
        return packer(value, heap)
    if isinstance(value, (list, tuple)):
        return _sequence(value, heap, vectors)
    if isinstance(value, (set, frozenset)):
        try:
            return _list(sorted(value), heap)  # sorted, so that a set means the same in every process
        except TypeError:
            raise Error("EAGRE_TYPE", "the elements of a set must be texts") from None
    if getattr(value, "ndim", None) == 0:
        return _other_scalar(value, heap)
    if _numpy_kind(value) in ("M", "O", "U", "T") and getattr(value, "ndim", None) == 1:  # not in the buffer protocol
        return _list(list(value), heap)
    view = view_of(value)
    return _array(view, heap, vectors) if view is not None else _other_scalar(value, heap)


def _sequence(values: Sequence[Any], heap: Heap, vectors: bool) -> bytes:
    if vectors and values and all(type(x) is float or type(x) is int for x in values):
        return _vector(floats(values), heap)
    return _list(values, heap)


def _list(values: Sequence[Any], heap: Heap) -> bytes:
    n = len(values)
    start = heap.align()
    heap.extend(bytes(16 * n))
    heap[start : start + 16 * n] = b"".join([scalar(value, heap) for value in values])
    lists = heap.lists or []
    lists.append((start, n))
    heap.lists = lists
    return pack_uint(LIST, n, start)


def _vector(data: bytes, heap: Heap) -> bytes:
    at = heap.align()
    heap += data
    return pack_uint(VECTOR, len(data) // 4, at)


def _array(view: memoryview, heap: Heap, vectors: bool) -> bytes:
    code = format_of(view)
    if view.ndim != 1:
        raise Error("EAGRE_TYPE", f"an array of {view.ndim} dimensions is not one value")
    if code == "f":
        return _vector(view.tobytes(), heap)
    return _sequence(view.tolist(), heap, vectors)


def floats(values: Iterable[float]) -> bytes:
    """The bytes of a vector: f32, rounded."""
    try:
        return array("f", values).tobytes()
    except (TypeError, OverflowError) as error:
        raise Error("EAGRE_TYPE", f"a vector is made of numbers ({error})") from None


def view_of(value: Any) -> memoryview | None:
    """What the buffer protocol gives; None where there is none, and for bytes, which are texts."""
    if isinstance(value, (bytes, bytearray)):
        return None
    try:
        return memoryview(value)
    except (TypeError, ValueError):
        return None


def format_of(view: memoryview) -> str:
    """The struct code of a buffer's elements, in this machine's byte order; EAGRE_TYPE for any other."""
    code = view.format
    if code[:1] in ("@", "=", "<" if sys.byteorder == "little" else ">"):
        code = code[1:]
    if code not in ("b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "f", "d"):
        raise Error("EAGRE_TYPE", f"a buffer of format '{view.format}': int64, uint64, float64 and float32 are known")
    return code


# ---- Keys and event ids


def pack_key(key: Any) -> tuple[bytes, bytes]:
    """The eagre_value of a key or an event id, and the heap that holds its text."""
    if type(key) is str:
        text = encode(key)
        return (TEXT_AT_START[len(text)] if len(text) <= 512 else pack_uint(TEXT, len(text), 0)), text
    heap = Heap()
    value = scalar(key, heap)
    return value, bytes(heap)

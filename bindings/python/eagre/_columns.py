# SPDX-License-Identifier: MIT
"""Batches: Python columns to eagre_column, by address.

numpy arrays and other buffers are read where they lie if they have the right type, else converted; lists
are packed into blocks of their own. `at` is an address, and `keep` gets what must live until the call is over.

    int64 and narrower, 'q' 'l' 'i' ...     INT         numpy datetime64            TIME, NaT is null
    uint64 and narrower                     UINT        two dimensions of float32   VECTOR
    float64, float32 (widened)              REAL        lists of Python values      the same, or VALUES; None is null
"""

from __future__ import annotations

import datetime
import struct
import sys
from array import array
from collections.abc import Sequence
from itertools import accumulate, chain
from typing import Any

from ._errors import Error
from ._ffi import ffi, lib
from ._values import INT, LIST, REAL, TEXT, TIME, UINT, VECTOR, Handle, Heap
from ._values import blame, encode, floats, format_of, micros, named, pack, pack_uint, type_name, view_of

VALUES, NO_NULLS = lib.EAGRE_COLUMN_VALUES, lib.EAGRE_NO_NULLS

_pack_column = struct.Struct("=IIQQ").pack

if ffi.sizeof("eagre_column") != 24 or ffi.offsetof("eagre_column", "nulls_at") != 16:
    raise ImportError("eagre: the layout of eagre_column is not the one this package packs")


def address(buffer: Any) -> int:
    """Where a buffer's first byte is; the caller keeps the buffer."""
    return int(ffi.cast("uintptr_t", ffi.from_buffer(buffer)))


def rows(values: Any, what: str) -> tuple[Any, int]:
    """A column and its number of rows. What can only be iterated becomes a list."""
    if not isinstance(values, (str, bytes, bytearray, dict)):
        try:
            return values, len(values)
        except TypeError:
            pass
        try:
            values = list(values)
            return values, len(values)
        except TypeError:
            pass
    raise Error("EAGRE_TYPE", f"{what}: a column is expected (a list or an array), not {type_name(values)}")


def column(values: Any, n: int, what: str, keep: list[Any]) -> bytes:
    """The eagre_column of n rows, packed. EAGRE_INVALID for another length, EAGRE_TYPE for a type that is not known."""
    values, found = rows(values, what)
    if found != n:
        raise Error("EAGRE_INVALID", f"{what}: {found} rows, where the keys are {n}")
    with blame(what):
        kind, width, data, nulls = _column(values, keep)
    data = _aligned(data)
    keep.append(data)
    if nulls is None:
        return _pack_column(kind, width, address(data), NO_NULLS)
    keep.append(nulls)
    return _pack_column(kind, width, address(data), address(nulls))


def _aligned(data: Any) -> Any:
    """The same elements where C may read them; a slice of a file may begin anywhere."""
    return data if address(data) % 8 == 0 else memoryview(data).tobytes()


# A column in the making: type, width of a vector, buffer of the elements, buffer of one byte a row or None.
Made = tuple[int, int, Any, Any]


def _column(values: Any, keep: list[Any]) -> Made:
    if hasattr(values, "__array__") and "numpy" in sys.modules:
        return _of_array(values, keep)
    if isinstance(values, (list, tuple)):
        return _of_list(values, keep)
    view = view_of(values)
    return _of_buffer(view) if view is not None else _of_list(list(values), keep)


def _of_array(values: Any, keep: list[Any]) -> Made:
    numpy = sys.modules["numpy"]
    nulls = None
    if isinstance(values, numpy.ma.MaskedArray):
        nulls = numpy.ma.getmaskarray(values)
        values = values.filled(0) if values.dtype.kind in "iuf" else values.data
    values = numpy.asarray(values)
    kind, dimensions = values.dtype.kind, values.ndim
    if dimensions == 2 and kind == "f" and nulls is None:
        return VECTOR, values.shape[1], numpy.ascontiguousarray(values, dtype=numpy.float32), None
    if dimensions != 1:
        raise Error(
            "EAGRE_TYPE",
            f"an array of {dimensions} dimensions and type {values.dtype}: a column has one, a column of vectors two, of float32",
        )
    if kind in "OUT":
        values = values.tolist()
        if nulls is not None:
            values = [None if null else value for null, value in zip(nulls.tolist(), values)]
        return _of_list(values, keep)
    if kind == "M":
        absent = numpy.isnat(values)
        nulls = absent if nulls is None else nulls | absent
        made: tuple[int, Any] = TIME, numpy.ascontiguousarray(values.astype("datetime64[us]")).view(numpy.int64)
    elif kind == "i":
        made = INT, numpy.ascontiguousarray(values, dtype=numpy.int64)
    elif kind == "u":
        made = UINT, numpy.ascontiguousarray(values, dtype=numpy.uint64)
    elif kind == "f" and values.dtype.itemsize <= 8:
        made = REAL, numpy.ascontiguousarray(values, dtype=numpy.float64)
    else:
        raise Error("EAGRE_TYPE", f"an array of type {values.dtype}: integers, float64, float32, datetime64 and texts are known")
    if nulls is None or not nulls.any():
        return made[0], 0, made[1], None
    return made[0], 0, made[1], numpy.ascontiguousarray(nulls).view(numpy.uint8)


def _of_buffer(view: memoryview) -> Made:
    code = format_of(view)
    if view.ndim == 2 and code in "fd":
        width = view.shape[1] if view.shape else 0
        if code == "d":
            return VECTOR, width, floats(memoryview(view.tobytes()).cast("d")), None
        return VECTOR, width, view if view.c_contiguous else view.tobytes(), None
    if view.ndim != 1:
        raise Error("EAGRE_TYPE", f"a buffer of {view.ndim} dimensions: a column has one, a column of vectors two, of float32")
    if code in "fd":
        kind, wide = REAL, "d"
    else:
        kind, wide = (INT, "q") if code in "bhilq" else (UINT, "Q")
    if view.itemsize == 8:
        return kind, 0, view if view.c_contiguous else view.tobytes(), None
    return kind, 0, array(wide, view.tolist()), None


def _of_list(values: Sequence[Any], keep: list[Any]) -> Made:
    """By the types in it the shortest way, else value by value."""
    types = set(map(type, values))
    if types == {str}:
        return VALUES, 0, _texts(values, keep), None
    nulls = None
    dense = values
    if type(None) in types and len(types) == 2 and not types.isdisjoint({int, float}):
        nulls = bytes(value is None for value in values)
        dense = [0 if value is None else value for value in values]
        types.discard(type(None))
    if types == {float}:
        return REAL, 0, array("d", dense), nulls
    if types == {int}:
        try:
            return INT, 0, array("q", dense), nulls
        except OverflowError:
            pass
    if types and types <= {list, tuple} and set(map(type, chain.from_iterable(values))) <= {str}:
        return VALUES, 0, _lists(values, keep), None
    return VALUES, 0, _mixed(values, keep), None


def _words(kind: int, sizes: list[int], start: int, unit: int = 1) -> array[int]:
    """eagre_value[n], which refer to runs of `sizes` units of so many bytes, one behind the other from an address on."""
    n = len(sizes)
    halves = array("I", bytes(16 * n))
    halves[0::4] = array("I", [kind]) * n
    halves[1::4] = array("I", sizes)
    words = array("Q", halves.tobytes())
    starts = accumulate(sizes if unit == 1 else [unit * size for size in sizes], initial=start)
    words[1::2] = array("Q", list(starts)[:n])
    return words


def _texts(values: Sequence[str], keep: list[Any]) -> array[int]:
    joined = "".join(values)
    if joined.isascii():
        block = joined.encode("ascii")
        sizes = list(map(len, values))
    else:
        encoded = [encode(value) for value in values]
        block = b"".join(encoded)
        sizes = list(map(len, encoded))
    keep.append(block)
    return _words(TEXT, sizes, address(block))


def _lists(values: Sequence[Sequence[str]], keep: list[Any]) -> array[int]:
    inner = _texts(list(chain.from_iterable(values)), keep) or array("Q", [0])  # an empty array lies nowhere
    keep.append(inner)
    return _words(LIST, list(map(len, values)), address(inner), 16)


def _mixed(values: Sequence[Any], keep: list[Any]) -> array[int]:
    """Value by value into a heap; then the offsets become addresses."""
    heap = Heap()
    packed = []
    for row, value in enumerate(values):
        try:
            packed.append(pack(value, heap))
        except Error as error:
            raise named(error, f"row {row}") from None
    words = array("Q", b"".join(packed))
    heap.extend(bytes(8))  # not empty, so that also an empty list has a place
    heap.align()
    keep.append(heap)
    base = address(heap)
    inside = memoryview(heap).cast("Q")
    _relocate(words, 0, len(words) // 2, base)
    for start, n in heap.lists:
        _relocate(inside, start // 8, n, base)
    return words


def _relocate(words: Any, first: int, n: int, base: int) -> None:
    mask, shift = (0xFFFFFFFF, 0) if sys.byteorder == "little" else (0xFFFFFFFF << 32, 32)
    for i in range(first, first + 2 * n, 2):
        if (words[i] & mask) >> shift in (TEXT, LIST, VECTOR):
            words[i + 1] += base


# ---- Columns of one plain type, for signals


def doubles(values: Any, n: int, what: str) -> Any:
    """A buffer of n doubles, from a column of numbers or one number for all rows."""
    if isinstance(values, (int, float)) and not isinstance(values, bool):
        values = [values] * n
    if isinstance(values, (list, tuple)) and set(map(type, values)) <= {int, float}:
        try:
            values = array("d", values)
        except OverflowError:
            raise Error("EAGRE_RANGE", f"{what}: a number is too large") from None
    kind, data = _plain(values, n, what, (REAL, INT, UINT), "numbers are")
    return data if kind == REAL else array("d", memoryview(data).cast("B").cast("q" if kind == INT else "Q").tolist())


def moments(values: Any, n: int, what: str) -> Any:
    """A buffer of n moments (microseconds), from a column of ints, aware datetimes or datetime64, or one for all rows."""
    with blame(what):
        if isinstance(values, (int, datetime.date)):
            values = array("q", [micros(values)]) * n
        elif isinstance(values, (list, tuple)):
            values = list(map(micros, values))
    return _plain(values, n, what, (INT, TIME), "moments are")[1]


def handles(values: Any, n: int, what: str) -> Any:
    """A buffer of n handles, from a list of them or an array of 64-bit integers."""
    if isinstance(values, (list, tuple)) and set(map(type, values)) <= {Handle}:
        values = array("Q", values)
    return _plain(values, n, what, (UINT, INT), "handles, as db.handle() gives them, are")[1]


def _plain(values: Any, n: int, what: str, kinds: tuple[int, ...], expected: str) -> tuple[int, Any]:
    values, found = rows(values, what)
    if found != n:
        raise Error("EAGRE_INVALID", f"{what}: {found} rows, where {n} are expected")
    if n == 0:
        return kinds[0], bytes(8)
    with blame(what):
        kind, _, data, nulls = _column(values, [])
        if kind not in kinds or nulls is not None:
            raise Error("EAGRE_TYPE", f"{expected} expected, and none may be null")
    return kind, _aligned(data)


def values_of(values: Any, n: int, what: str, keep: list[Any]) -> Any:
    """A buffer of eagre_value[n]: event ids, from a list or an array."""
    values, found = rows(values, what)
    if found != n:
        raise Error("EAGRE_INVALID", f"{what}: {found} rows, where {n} are expected")
    with blame(what):
        kind, _, data, nulls = _column(values, keep)
        if kind == VALUES:
            return data
        if kind not in (INT, UINT) or nulls is not None:
            raise Error("EAGRE_TYPE", "event ids are integers or texts, and none may be null")
    words = array("Q", bytes(16 * n))
    words[0::2] = array("Q", pack_uint(kind, 0, 0)[:8]) * n
    words[1::2] = array("Q", memoryview(data).cast("B").cast("Q"))
    return words

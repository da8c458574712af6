# SPDX-License-Identifier: MIT
"""Answers: a Result is one immutable block of bytes, decoded where it is looked at."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Union, overload

from ._errors import Error
from ._explain import Explain
from ._ffi import ffi, lib
from ._values import INT, LIST, REAL, TEXT, TIME, UINT, VECTOR

if TYPE_CHECKING:
    import numpy

_HEADER = struct.Struct("=IIQIIqQQQQQQQQQ")
_COLUMN = struct.Struct("=IIQQQQQQ")
_INT, _UINT, _REAL, _TWO = struct.Struct("=q"), struct.Struct("=Q"), struct.Struct("=d"), struct.Struct("=QQ")

if _HEADER.size != ffi.sizeof("eagre_result") or _COLUMN.size != ffi.sizeof("eagre_result_column"):
    raise ImportError("eagre: the layout of eagre_result is not the one this package reads")

_NUMBERS = {INT: "q", TIME: "q", UINT: "Q", REAL: "d"}


class Row(Mapping[str, Any]):
    """One row of a Result: `row.key`, `row.score`, and what RETURN asked for as a mapping, `row["title"]`, `dict(row)`.

    It refers to its result, so it is small and always valid. Equal to a row with the same key, score and columns, and to any other mapping
    with the same columns.
    """

    __slots__ = ("key", "score", "_result", "_index")

    key: Any  # the item's key: str (bytes where it is not UTF-8), or int
    score: float  # what USING gave, else 0.0

    def __init__(self, result: Result, index: int, key: Any, score: float) -> None:
        self.key = key
        self.score = score
        self._result = result
        self._index = index

    def __getitem__(self, name: str) -> Any:
        try:
            return self._result._columns[name][self._index]
        except KeyError:
            return self._result.column(name)[self._index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._result.columns)

    def __len__(self) -> int:
        return len(self._result.columns)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Row) and (self.key != other.key or self.score != other.score):
            return False
        return Mapping.__eq__(self, other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        columns = "".join(f", {name}={value!r}" for name, value in self.items())
        return f"Row(key={self.key!r}, score={self.score:.6g}{columns})"


class Arrays(NamedTuple):
    """The parts of a Result as numpy arrays: read-only views of its block, but for texts, lists and string keys (objects).

    Where `nulls[name]` is True the number in `columns[name]` means nothing. Times are datetime64[us].
    """

    keys: numpy.ndarray[Any, Any]
    scores: numpy.ndarray[Any, Any]
    columns: dict[str, numpy.ndarray[Any, Any]]
    nulls: dict[str, numpy.ndarray[Any, Any]]


class Result(Sequence[Row]):
    """The rows of a statement, in order. A sequence of Row; `keys`, `scores` and `column(name)` are lists of the same length.

    Immutable and its own copy of the data: any thread may use it, also after the database is closed.
    """

    __slots__ = ("_data", "_head", "_keys", "_scores", "_columns", "_descriptions")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._head = _HEADER.unpack_from(data)
        self._keys: list[Any] | None = None
        self._scores: list[float] | None = None
        self._columns: dict[str, list[Any]] = {}
        self._descriptions: dict[str, tuple[int, ...]] | None = None
        if self._head[0] != lib.EAGRE_RESULT_MAGIC:
            raise Error("EAGRE_INTERNAL", "this is not a block of results")

    # ---- rows

    def __len__(self) -> int:
        return int(self._head[3])

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[Row, list[Row]]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        n = len(self)
        if index < 0:
            index += n
        if not 0 <= index < n:
            raise IndexError(f"row {index} of {n}")
        return Row(self, index, self.keys[index], self.scores[index])

    def __iter__(self) -> Iterator[Row]:
        return (Row(self, i, key, score) for i, (key, score) in enumerate(zip(self.keys, self.scores)))

    def __repr__(self) -> str:
        n = len(self)
        return f"<eagre.Result: {n} row{'' if n == 1 else 's'} of (key, score{''.join(', ' + name for name in self.columns)})>"

    # ---- columns

    @property
    def keys(self) -> list[Any]:
        """The items' keys: str (bytes where not UTF-8) or int."""
        if self._keys is None:
            n, at = self._head[3], self._head[7]
            if self._head[1] & lib.EAGRE_RESULT_INTEGER_KEYS:
                self._keys = list(struct.unpack_from(f"={n}Q", self._data, at))
            else:
                self._keys = self._texts(at, self._head[8], n)
        return self._keys

    @property
    def scores(self) -> list[float]:
        """The scores, always finite; 0.0 where the statement ranks by fields."""
        if self._scores is None:
            self._scores = list(struct.unpack_from(f"={self._head[3]}d", self._data, self._head[9]))
        return self._scores

    @property
    def columns(self) -> list[str]:
        """The names of what RETURN asked for, in its order."""
        return list(self._described())

    def column(self, name: str) -> list[Any]:
        """One column, a value a row: int, float, str, list of str, list of float (a vector), or None. Times are ints,
        microseconds since 1970 UTC. KeyError for a name that RETURN has not.
        """
        column = self._columns.get(name)
        if column is None:
            column = self._columns[name] = self._decode(self._described()[name])
        return column

    def arrays(self) -> Arrays:
        """The same as numpy arrays (needs numpy): no copy for numbers, times and vectors."""
        import numpy

        n = len(self)

        def view(dtype: str, count: int, at: int) -> Any:
            return numpy.frombuffer(self._data, dtype, count, at)

        def objects(values: list[Any]) -> Any:
            array = numpy.empty(len(values), dtype=object)
            array[:] = values
            return array

        columns: dict[str, Any] = {}
        nulls: dict[str, Any] = {}
        for name, (kind, width, _, _, nulls_at, data_at, _, _) in self._described().items():
            nulls[name] = view("?", n, nulls_at)
            if kind == VECTOR:
                columns[name] = view("f4", n * width, data_at).reshape(n, width)
            elif kind in _NUMBERS:
                columns[name] = view("M8[us]" if kind == TIME else _NUMBERS[kind], n, data_at)
            else:
                columns[name] = objects(self.column(name))
        integers = self._head[1] & lib.EAGRE_RESULT_INTEGER_KEYS
        keys = view("u8", n, self._head[7]) if integers else objects(self.keys)
        return Arrays(keys, view("f8", n, self._head[9]), columns, nulls)

    # ---- about the query

    @property
    def now(self) -> int:
        """The moment of the query, microseconds since 1970 UTC."""
        return int(self._head[5])

    @property
    def total(self) -> int | None:
        """With COUNT: the number of matches over all pages; else None."""
        return int(self._head[6]) if self._head[1] & lib.EAGRE_RESULT_TOTAL else None

    @property
    def relaxed(self) -> bool:
        """Whether a DIVERSITY rule could not be kept."""
        return bool(self._head[1] & lib.EAGRE_RESULT_RELAXED)

    @property
    def cursor(self) -> bytes | None:
        """For AFTER of the next page; None: there is nothing behind."""
        at, length = self._head[11], self._head[12]
        return self._data[at : at + length] if length else None

    @property
    def explain(self) -> Explain | None:
        """The report of EXPLAIN: print it, or look into its `.data`; else None."""
        at, length = self._head[13], self._head[14]
        return Explain(self._data[at : at + length], self.keys) if length else None

    # ---- decoding

    def _described(self) -> dict[str, tuple[int, ...]]:
        if self._descriptions is None:
            found: dict[str, tuple[int, ...]] = {}
            for column in _columns_of(self._data, self._head):
                found.setdefault(self._data[column[2] : column[2] + column[3]].decode(), column)
            self._descriptions = found
        return self._descriptions

    def _decode(self, column: tuple[int, ...]) -> list[Any]:
        kind, width, _, _, nulls_at, data_at, list_at, bytes_at = column
        n, data = self._head[3], self._data
        values: list[Any]
        if kind in _NUMBERS:
            values = list(struct.unpack_from(f"={n}{_NUMBERS[kind]}", data, data_at))
        elif kind == TEXT:
            values = self._texts(data_at, bytes_at, n)
        elif kind == LIST:
            bounds = struct.unpack_from(f"={n + 1}Q", data, data_at)
            texts = self._texts(list_at, bytes_at, bounds[n])
            values = [texts[start:end] for start, end in pairwise(bounds)]
        elif kind == VECTOR:
            flat = struct.unpack_from(f"={n * width}f", data, data_at)
            values = [list(flat[i : i + width]) for i in range(0, n * width, width)] if width else [[] for _ in range(n)]
        else:
            values = [None] * n
        nulls = data[nulls_at : nulls_at + n]
        if nulls.count(0) != n:
            values = [None if null else value for null, value in zip(nulls, values)]
        return values

    def _texts(self, offsets_at: int, bytes_at: int, n: int) -> list[Any]:
        """n texts: str, or bytes for one that is not UTF-8 (a key may be any bytes)."""
        bounds = struct.unpack_from(f"={n + 1}Q", self._data, offsets_at)
        block = self._data[bytes_at + bounds[0] : bytes_at + bounds[n]]
        if block.isascii():
            text = block.decode("ascii")
            return [text[start:end] for start, end in pairwise(bounds)]
        return [_text(block[start:end]) for start, end in pairwise(bounds)]


def _columns_of(data: bytes, head: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return _COLUMN.iter_unpack(data[head[10] : head[10] + head[4] * _COLUMN.size])


def _text(data: bytes) -> Any:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def item(data: bytes) -> dict[str, Any]:
    """The fields of a block of one row, as Result.column() gives them, by a shorter way."""
    found: dict[str, Any] = {}
    for kind, width, name_at, name_length, nulls_at, at, list_at, bytes_at in _columns_of(data, _HEADER.unpack_from(data)):
        value: Any = None
        if data[nulls_at]:
            pass
        elif kind == INT or kind == TIME:
            (value,) = _INT.unpack_from(data, at)
        elif kind == TEXT:
            start, end = _TWO.unpack_from(data, at)
            value = data[bytes_at + start : bytes_at + end].decode()
        elif kind == REAL:
            (value,) = _REAL.unpack_from(data, at)
        elif kind == LIST:
            start, end = _TWO.unpack_from(data, at)
            bounds = struct.unpack_from(f"={end - start + 1}Q", data, list_at + 8 * start)
            value = [data[bytes_at + a : bytes_at + b].decode() for a, b in pairwise(bounds)]
        elif kind == VECTOR:
            value = list(struct.unpack_from(f"={width}f", data, at))
        elif kind == UINT:
            (value,) = _UINT.unpack_from(data, at)
        found[data[name_at : name_at + name_length].decode()] = value
    return found

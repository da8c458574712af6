# SPDX-License-Identifier: MIT
"""The database: eagre.open() and class DB."""

from __future__ import annotations

import json
import struct
from array import array
from collections.abc import Callable, Mapping
from functools import partial
from types import TracebackType
from typing import Any

from ._calls import Scratch, answer, check, give, take
from ._columns import address, column, doubles, moments, rows, values_of
from ._columns import handles as handle_column
from ._errors import Error, fail
from ._ffi import ffi, lib
from ._result import Result, item
from ._statements import Statements, prepare, reads
from ._values import INT, INT_MAX, TEXT_AT_START, Handle, Heap, Key, Moment, Value
from ._values import blame, encode, micros, named, pack, pack_int, pack_key, scalar, type_name

_NULL = ffi.NULL
_NOW: int = lib.EAGRE_NOW
_signal, _signal_key, _run, _put = lib.eagre_signal, lib.eagre_signal_key, lib.eagre_run, lib.eagre_put
_pack_run_options = struct.Struct("=IIqq").pack
_RUN_OPTIONS_SIZE = ffi.sizeof("eagre_run_options")

# Field names packed once: more sets of names than this, and the memory of them starts anew.
_SHAPES = 256


def open(path: str | None = None, *, now: Moment | None = None, memory_limit: int = 0) -> DB:
    """Open an empty database in memory.

    path          must be None (EAGRE_UNSUPPORTED): databases live in memory
    now           sets the clock by hand: microseconds since 1970 UTC or an aware datetime; None: the wall clock
    memory_limit  bytes that the engine may use in this process before writes raise EAGRE_NO_MEMORY; 0: none

    Use it as a context manager, or call close().
    """
    options = ffi.new("eagre_options *")
    options.struct_size = ffi.sizeof("eagre_options")
    if now is not None:
        with blame("now"):
            options.now = _moment(now)
        options.flags = lib.EAGRE_OPEN_MANUAL_CLOCK
    if not isinstance(memory_limit, int) or isinstance(memory_limit, bool) or not 0 <= memory_limit < 1 << 64:
        raise Error("EAGRE_INVALID", f"memory_limit: a number of bytes is expected, not {memory_limit!r}")
    options.memory_limit = memory_limit
    place = None if path is None else ffi.new("char[]", encode(str(path)))
    options.path = _NULL if place is None else place
    out = ffi.new("eagre_db **")
    check(lambda error: lib.eagre_open(options, out, error))
    return DB(out[0])


def _moment(moment: Moment) -> int:
    """Microseconds that fit into 64 bits."""
    value = micros(moment)
    if not -INT_MAX <= value <= INT_MAX:
        raise Error("EAGRE_RANGE", "the moment does not fit into 64 bits of microseconds")
    return value


class DB:
    """A database, as open() gives it.

    Threads: every method may be called from any thread at any time; readers never wait for writers. Processes: a database
    belongs to the one that opened it; after os.fork() the child's calls raise EAGRE_FORKED. After close() calls raise
    EAGRE_CLOSED. Errors are eagre.Error; a call that raises has changed nothing.

    Moments are microseconds since 1970 UTC, or aware datetimes. Keys are str or bytes (KEY STRING) or int (KEY INTEGER).
    """

    def __init__(self, db: Any) -> None:
        self._db = ffi.gc(db, lib.eagre_close)  # a net: close() does it in time
        self._owned = [self._db]  # who takes it out closes it: one thread, without a lock that a fork could leave locked
        self._statements = Statements()
        self._signals: dict[Any, int] = {}
        self._shapes: dict[tuple[str, ...], tuple[bytes, bytes]] = {}
        self._names: dict[str, bytes] = {}

    # ---- life

    def close(self) -> None:
        """Close; waits for calls of other threads that are in progress. A second time it does nothing, nor in a forked child."""
        try:
            db = self._owned.pop()
        except IndexError:
            return
        self._db = _NULL
        ffi.gc(db, None)
        self._statements.clear()
        status = lib.eagre_close(db)
        if status not in (lib.EAGRE_OK, lib.EAGRE_CLOSED, lib.EAGRE_FORKED):
            fail(status)

    def __enter__(self) -> DB:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<eagre.DB {'closed' if self._db is _NULL else 'open'}>"

    def _open(self) -> Any:
        """The handle, or EAGRE_CLOSED."""
        db = self._db
        if db is _NULL:
            raise Error("EAGRE_CLOSED", "the database is closed")
        return db

    def set_clock(self, now: Moment | None) -> None:
        """Set the clock by hand, or give it back to the wall clock with None."""
        db = self._open()
        with blame("now"):
            value = lib.EAGRE_WALL_CLOCK if now is None else _moment(now)
        check(lambda error: lib.eagre_set_clock(db, value, error))

    # ---- statements

    def execute(self, text: str, *parameters: Value, now: Moment | None = None, deadline: float | None = None) -> Result | None:
        """Run CREATE, ALTER and DROP, several separated by ';' (each atomic; it stops at the first that fails), and return
        None. One statement that reads is run as by query().
        """
        _check_text(text)
        if parameters or reads(text):
            return self.query(text, *parameters, now=now, deadline=deadline)
        data = encode(text)
        db = self._open()
        try:
            check(lambda error: lib.eagre_exec(db, data, len(data), error))
        finally:
            self._schema_changed()
        return None

    def query(self, text: str, *parameters: Value, now: Moment | None = None, deadline: float | None = None) -> Result:
        """Run one statement and return its rows. `parameters` are ?1, ?2, ... in it.

        now       the moment of the query, unless the statement has AT or a cursor
        deadline  seconds the call may take; then EAGRE_DEADLINE

        Statements are prepared once and kept; values travel as parameters, never write them into the text.
        """
        statement = self._statements.kept(text)
        if statement is None:
            _check_text(text)
            if not reads(text):
                try:
                    return self._answer(prepare(self._open(), text), text, parameters, now, deadline)
                finally:
                    self._schema_changed()
            statement = self._statements.make(self._open(), text)
        return self._answer(statement, text, parameters, now, deadline)

    def _answer(
        self, statement: Any, text: str, parameters: tuple[Value, ...], now: Moment | None, deadline: float | None
    ) -> Result:
        packed = block = b""
        if parameters:
            heap = Heap()
            packed = b"".join([_parameter(value, i, heap) for i, value in enumerate(parameters, 1)])
            block = bytes(heap)
        n, size = len(parameters), len(block)
        options = _NULL if now is None and deadline is None else _run_options(now, deadline)
        renewed = False
        scratch = take()
        try:
            while True:
                out, needed, error = scratch.out, scratch.size, scratch.error
                status = _run(statement, packed, n, block, size, options, out, scratch.capacity, needed, error)
                if status == 0:
                    return Result(bytes(ffi.buffer(out, needed[0])))
                if status == lib.EAGRE_BUFFER_TOO_SMALL:
                    scratch.grow()
                elif status == lib.EAGRE_STALE and not renewed:
                    # A kind or signal was dropped, and perhaps made again: once more with a new statement.
                    renewed = True
                    self._schema_changed()
                    statement = self._statements.make(self._open(), text)
                else:
                    fail(status, error)
        finally:
            give(scratch)

    def _schema_changed(self) -> None:
        # New objects, not emptied ones: who is filling one now fills what nobody looks at any more.
        self._statements.clear()
        self._signals = {}

    # ---- items

    def put(self, kind: str, key: Key, fields: Mapping[str, Value]) -> None:
        """Put one item: it has these fields and no others. None is null. Atomic for every reader.

        Fields take int, float, str, aware datetimes (or microseconds, or text in a date's form), a list or set of str
        for KEYWORDS, a list of numbers or an array for VECTOR.
        """
        self._write(kind, key, fields, 0)

    def patch(self, kind: str, key: Key, fields: Mapping[str, Value]) -> None:
        """Change these fields of an item and keep the others. NotFound if there is no such item."""
        self._write(kind, key, fields, lib.EAGRE_PATCH)

    def _write(self, kind: str, key: Key, fields: Mapping[str, Value], flags: int) -> None:
        db = self._open()
        name = self._name(kind, "kind")
        if type(fields) is not dict:
            _check_fields(fields)
        shape = tuple(fields)
        names, heap_start = self._shapes.get(shape) or self._shape(shape)
        heap = Heap(heap_start)
        try:
            packed_key = scalar(key, heap)
        except Error as refused:
            raise named(refused, "key") from None
        values = b"".join([_field(field, value, heap) for field, value in fields.items()])
        scratch = take()
        try:
            status = _put(db, name, packed_key, len(shape), names, values, bytes(heap), len(heap), flags, scratch.error)
            if status < 0:
                fail(status, scratch.error)
        finally:
            give(scratch)

    def put_many(self, kind: str, keys: Any, fields: Mapping[str, Any]) -> int:
        """Put many items, given as columns of one length: lists, numpy arrays, or other buffers. Returns the number of rows.

        An array's type is checked: integers, float64 (float32 is widened), datetime64, two dimensions of float32 for
        VECTOR. In a list None is null. All is checked before anything changes; each row is atomic. Only where memory runs
        out it stops in the middle: Error.applied says how many rows were done.
        """
        return self._write_many(kind, keys, fields, 0)

    def patch_many(self, kind: str, keys: Any, fields: Mapping[str, Any]) -> int:
        """Change these fields of many items, given as columns; otherwise as put_many()."""
        return self._write_many(kind, keys, fields, lib.EAGRE_PATCH)

    def _write_many(self, kind: str, keys: Any, fields: Mapping[str, Any], flags: int) -> int:
        db = self._open()
        name = self._name(kind, "kind")
        _check_fields(fields)
        keys, n = rows(keys, "keys")
        keep: list[Any] = []
        packed_keys = column(keys, n, "keys", keep)
        columns = b"".join([column(values, n, f"column '{field}'", keep) for field, values in fields.items()])
        names, block = self._shape(tuple(fields))
        names = _at_address(names, address(block))
        scratch = take()
        try:
            error, applied = scratch.error, scratch.number
            applied[0] = 0
            status = lib.eagre_put_many(db, name, n, packed_keys, len(fields), names, columns, _NULL, 0, flags, applied, error)
            if status < 0:
                fail(status, error, int(applied[0]) if status == lib.EAGRE_NO_MEMORY else None)
            return int(applied[0])
        finally:
            give(scratch)

    def delete(self, kind: str, key: Key) -> None:
        """Delete an item; it is gone for every reader when the call returns. NotFound if there is none."""
        db, name = self._open(), self._name(kind, "kind")
        value, heap = _key(key)
        check(lambda error: lib.eagre_delete(db, name, value, heap, len(heap), error))

    def get(self, kind: str, key: Key) -> dict[str, Any]:
        """All fields of an item, None where null; times as microseconds. NotFound if there is none."""
        db, name = self._open(), self._name(kind, "kind")
        value, heap = _key(key)
        return item(answer(partial(lib.eagre_get, db, name, value, heap, len(heap))))

    def count(self, kind: str) -> int:
        """How many living items a kind has."""
        db, name = self._open(), self._name(kind, "kind")
        out = ffi.new("uint64_t *")
        check(lambda error: lib.eagre_count(db, name, out, error))
        return int(out[0])

    def handle(self, kind: str, key: Key) -> Handle:
        """Resolve a key once, for signal() and signal_many(). NotFound if there is no such item; after a delete the handle
        says so too, even if the key is put again.
        """
        db, name = self._open(), self._name(kind, "kind")
        value, heap = _key(key)
        out = ffi.new("uint64_t *")
        check(lambda error: lib.eagre_handle(db, name, value, heap, len(heap), out, error))
        return Handle(out[0])

    # ---- signals

    def signal(
        self,
        name: str,
        key: Key | Handle,
        weight: float = 1.0,
        at: Moment | None = None,
        user: Key | None = None,
        id: Key | None = None,
        kind: str | None = None,
    ) -> bool:
        """Write one event about an item. False: the event with this id was counted before, and nothing changed.

        weight  finite and above 0
        at      when it happened; None: now. A time ahead of the clock counts as now
        id      makes the event count once: an int, or a text of 1 to 64 bytes
        kind    where two kinds have a signal of this name
        user    must be None (EAGRE_UNSUPPORTED)
        """
        if user is None and type(weight) is float:
            # The short way. What it can not do, and every error, goes the long way.
            number = self._signals.get(name if kind is None else (name, kind))
            moment = _NOW if at is None else at if type(at) is int and -INT_MAX <= at <= INT_MAX else None
            event = _NULL if id is None else pack_int(INT, 0, id) if type(id) is int and 0 <= id <= INT_MAX else None
            if number is not None and moment is not None and event is not None:
                status = -1
                if type(key) is Handle:
                    if event is _NULL:
                        status = _signal(self._db, number, key, weight, moment, _NULL)
                elif type(key) is str and key.isascii() and len(key) <= 512:
                    value, text = TEXT_AT_START[len(key)], key.encode()
                    status = _signal_key(self._db, number, value, weight, moment, event, text, len(text), _NULL)
                elif type(key) is int and 0 <= key <= INT_MAX:
                    status = _signal_key(self._db, number, pack_int(INT, 0, key), weight, moment, event, b"", 0, _NULL)
                if status >= 0:
                    return status == 0
        return self._signal_long(name, key, weight, at, user, id, kind)

    def _signal_long(self, name: str, key: Any, weight: Any, at: Any, user: Any, id: Any, kind: str | None) -> bool:
        _no_user(user)
        if isinstance(key, Handle) and id is not None:
            return self.signal_many(name, handles=[key], weights=[weight], at=at, ids=[id], kind=kind) == 1
        heap = Heap()
        value: Any = _NULL
        event: Any = _NULL
        what = "weight"
        try:
            weight = _weight(weight)
            what = "at"
            moment = _NOW if at is None else _moment(at)
            what = "key"
            if not isinstance(key, Handle):
                value = scalar(key, heap)
            what = "id"
            if id is not None:
                event = scalar(id, heap)
        except Error as error:
            raise named(error, what) from None
        block = bytes(heap)
        db = self._open()

        def call(number: int, scratch: Scratch) -> int:
            error = scratch.error
            if value is _NULL:
                return _signal(db, number, key, weight, moment, error)
            return _signal_key(db, number, value, weight, moment, event, block, len(block), error)

        return self._with_signal(name, kind, call)[0] == 0

    def signal_many(
        self,
        name: str,
        keys: Any = None,
        weights: Any = None,
        at: Any = None,
        users: Any = None,
        ids: Any = None,
        handles: Any = None,
        kind: str | None = None,
    ) -> int:
        """Write many events of one signal, about `keys` or `handles` (a list or an array, one an event). Returns how many were
        counted: all, less those whose id was counted before.

        weights, at  columns, or one value for all; None: 1.0, now
        ids          a column of event ids; None: none
        users        must be None (EAGRE_UNSUPPORTED)

        All is checked before anything changes. Only where memory runs out it stops in the middle (Error.applied).
        """
        _no_user(users)
        db = self._open()
        if (keys is None) == (handles is None):
            raise Error("EAGRE_INVALID", "signal_many: give either keys or handles")
        keep: list[Any] = []
        if handles is not None:
            handles, n = rows(handles, "handles")
            target: Any = ffi.from_buffer(handle_column(handles, n, "handles"))
            key_column: Any = _NULL
        else:
            keys, n = rows(keys, "keys")
            target, key_column = _NULL, column(keys, n, "keys", keep)
        weight_data = _NULL if weights is None else ffi.from_buffer(doubles(weights, n, "weights"))
        at_data = _NULL if at is None else ffi.from_buffer(moments(at, n, "at"))
        id_data = _NULL if ids is None else ffi.from_buffer(values_of(ids, n, "ids", keep))

        def call(number: int, scratch: Scratch) -> int:
            done, error = scratch.number, scratch.error
            done[0] = 0
            return lib.eagre_signal_many(db, number, n, target, key_column, weight_data, at_data, id_data, _NULL, 0, done, error)

        return self._with_signal(name, kind, call)[1]

    def _with_signal(self, name: str, kind: str | None, call: Callable[[int, Scratch], int]) -> tuple[int, int]:
        """Make `call` with the number of a signal; once more with a new number if it was dropped and made again. Returns the
        status and what is in scratch.number.
        """
        renewed = False
        scratch = take()
        try:
            while True:
                signals = self._signals
                number = signals.get(name if kind is None else (name, kind))
                if number is None:
                    text = self._name(name, "signal")
                    of = _NULL if kind is None else self._name(kind, "kind")
                    status = lib.eagre_signal_id(self._open(), text, of, scratch.u32, scratch.error)
                    if status < 0:
                        fail(status, scratch.error)
                    number = signals[name if kind is None else (name, kind)] = scratch.u32[0]
                status = call(number, scratch)
                if status >= 0:
                    return status, int(scratch.number[0])
                if status != lib.EAGRE_STALE or renewed:
                    fail(status, scratch.error, int(scratch.number[0]) if status == lib.EAGRE_NO_MEMORY else None)
                renewed = True
                self._schema_changed()
        finally:
            give(scratch)

    # ---- about the database

    def schema(self) -> dict[str, Any]:
        """Kinds with their fields and signals, profiles with their text."""
        found: dict[str, Any] = json.loads(answer(partial(lib.eagre_schema, self._open())))
        return found

    def stats(self) -> dict[str, Any]:
        """Items and bytes per kind, cells and bytes per signal, memory in use."""
        found: dict[str, Any] = json.loads(answer(partial(lib.eagre_stats, self._open())))
        return found

    def maintain(self) -> None:
        """Do now what the background does by itself: free what was retired, sweep expired items, shrink quiet signals."""
        check(partial(lib.eagre_maintain, self._open()))

    def validate(self) -> None:
        """Walk the whole database and check every invariant; writers wait. EAGRE_INTERNAL names one that does not hold."""
        check(partial(lib.eagre_validate, self._open()))

    # ---- names

    def _name(self, name: Any, what: str) -> bytes:
        """The name of a kind or a signal for C."""
        found = self._names.get(name) if type(name) is str else None
        if found is None:
            if not isinstance(name, str):
                raise Error("EAGRE_TYPE", f"{what}: a name is expected, not {type_name(name)}")
            with blame(what):
                found = encode(name)
            if b"\0" in found:
                raise Error("EAGRE_UNKNOWN", f"{what}: there is none of the name {name!r}")
            if len(self._names) < _SHAPES:
                self._names[name] = found
        return found

    def _shape(self, shape: tuple[str, ...]) -> tuple[bytes, bytes]:
        """The names of fields: eagre_value[n], and the heap they refer to, which they begin."""
        found = self._shapes.get(shape)
        if found is None:
            heap = Heap()
            for field in shape:
                if not isinstance(field, str):
                    raise Error("EAGRE_TYPE", f"fields: names are texts, not {type_name(field)}")
            with blame("fields"):
                names = b"".join([scalar(field, heap) for field in shape])
            found = names, bytes(heap)
            if len(self._shapes) >= _SHAPES:
                self._shapes = {}
            self._shapes[shape] = found
        return found


# ---- arguments


def _check_text(text: Any) -> None:
    if not isinstance(text, str):
        raise Error("EAGRE_TYPE", f"a statement is a str, not {type_name(text)}")


def _check_fields(fields: Any) -> None:
    if not hasattr(fields, "items"):
        raise Error("EAGRE_TYPE", f"fields: a dict of names and values is expected, not {type_name(fields)}")


def _parameter(value: Any, number: int, heap: Heap) -> bytes:
    try:
        return pack(value, heap, False)
    except Error as error:
        raise named(error, f"parameter ?{number}") from None


def _field(name: str, value: Any, heap: Heap) -> bytes:
    try:
        return pack(value, heap)
    except Error as error:
        raise named(error, f"field '{name}'") from None


def _key(key: Any) -> tuple[bytes, bytes]:
    try:
        return pack_key(key)
    except Error as error:
        raise named(error, "key") from None


def _weight(weight: Any) -> float:
    if isinstance(weight, (bool, str, bytes)):
        raise Error("EAGRE_TYPE", f"a number is expected, not {type_name(weight)}")
    try:
        return float(weight)
    except (TypeError, ValueError):
        raise Error("EAGRE_TYPE", f"a number is expected, not {type_name(weight)}") from None
    except OverflowError:
        raise Error("EAGRE_RANGE", "the number is too large") from None


def _no_user(user: Any) -> None:
    if user is not None:
        raise Error("EAGRE_UNSUPPORTED", "users are reserved: this version has no signals of users")


def _run_options(now: Moment | None, deadline: float | None) -> bytes:
    flags = moment = limit = 0
    if now is not None:
        flags |= lib.EAGRE_RUN_NOW
        with blame("now"):
            moment = _moment(now)
    if deadline is not None:
        flags |= lib.EAGRE_RUN_DEADLINE
        with blame("deadline"):
            seconds = _weight(deadline)
        if not 0 <= seconds <= 1e12:
            raise Error("EAGRE_RANGE", f"deadline: {seconds} is not a number of seconds from 0 on")
        limit = int(seconds * 1e6)
    return _pack_run_options(_RUN_OPTIONS_SIZE, flags, moment, limit)


def _at_address(values: bytes, base: int) -> bytes:
    """Texts in a heap as texts at an address."""
    words = array("Q", values)
    for i in range(1, len(words), 2):
        words[i] += base
    return words.tobytes()

# SPDX-License-Identifier: MIT
# Types of the extension module: the functions and numbers of _ffi.cdef.txt. Pointers are Any.
from typing import Any

ffi: Any

class _Lib:
    EAGRE_VERSION_MAJOR: int
    EAGRE_VERSION_MINOR: int
    EAGRE_VERSION_PATCH: int
    EAGRE_ABI_VERSION: int
    EAGRE_OK: int
    EAGRE_DUPLICATE: int
    EAGRE_INTERNAL: int
    EAGRE_INVALID: int
    EAGRE_SYNTAX: int
    EAGRE_UNKNOWN: int
    EAGRE_EXISTS: int
    EAGRE_TYPE: int
    EAGRE_RANGE: int
    EAGRE_ENCODING: int
    EAGRE_NOT_FOUND: int
    EAGRE_BUFFER_TOO_SMALL: int
    EAGRE_CLOSED: int
    EAGRE_FORKED: int
    EAGRE_NO_MEMORY: int
    EAGRE_STALE: int
    EAGRE_CURSOR: int
    EAGRE_UNSUPPORTED: int
    EAGRE_LIMIT: int
    EAGRE_DEADLINE: int
    EAGRE_PARAMETER: int
    EAGRE_MOMENT: int
    EAGRE_NULL: int
    EAGRE_INT: int
    EAGRE_UINT: int
    EAGRE_REAL: int
    EAGRE_TIME: int
    EAGRE_TEXT: int
    EAGRE_LIST: int
    EAGRE_VECTOR: int
    EAGRE_COLUMN_VALUES: int
    EAGRE_NO_NULLS: int
    EAGRE_OPEN_MANUAL_CLOCK: int
    EAGRE_WALL_CLOCK: int
    EAGRE_RUN_NOW: int
    EAGRE_RUN_DEADLINE: int
    EAGRE_RESULT_MAGIC: int
    EAGRE_RESULT_INTEGER_KEYS: int
    EAGRE_RESULT_TOTAL: int
    EAGRE_RESULT_RELAXED: int
    EAGRE_PATCH: int
    EAGRE_NOW: int

    def eagre_version(self) -> Any: ...
    def eagre_abi_version(self) -> int: ...
    def eagre_status_name(self, status: int, /) -> Any: ...
    def eagre_status_text(self, status: int, /) -> Any: ...
    def eagre_open(self, options: Any, out: Any, error: Any, /) -> int: ...
    def eagre_close(self, db: Any, /) -> int: ...
    def eagre_set_clock(self, db: Any, now: int, error: Any, /) -> int: ...
    def eagre_exec(self, db: Any, text: Any, length: int, error: Any, /) -> int: ...
    def eagre_prepare(self, db: Any, text: Any, length: int, out: Any, error: Any, /) -> int: ...
    def eagre_finalize(self, stmt: Any, /) -> int: ...
    def eagre_run(
        self,
        stmt: Any,
        parameters: Any,
        n: int,
        heap: Any,
        heap_length: int,
        options: Any,
        out: Any,
        capacity: int,
        needed: Any,
        error: Any,
        /,
    ) -> int: ...
    def eagre_put(
        self,
        db: Any,
        kind: Any,
        key: Any,
        n: int,
        fields: Any,
        values: Any,
        heap: Any,
        heap_length: int,
        flags: int,
        error: Any,
        /,
    ) -> int: ...
    def eagre_put_many(
        self,
        db: Any,
        kind: Any,
        n_rows: int,
        keys: Any,
        n_fields: int,
        fields: Any,
        columns: Any,
        heap: Any,
        heap_length: int,
        flags: int,
        applied: Any,
        error: Any,
        /,
    ) -> int: ...
    def eagre_delete(self, db: Any, kind: Any, key: Any, heap: Any, heap_length: int, error: Any, /) -> int: ...
    def eagre_get(
        self,
        db: Any,
        kind: Any,
        key: Any,
        heap: Any,
        heap_length: int,
        out: Any,
        capacity: int,
        needed: Any,
        error: Any,
        /,
    ) -> int: ...
    def eagre_count(self, db: Any, kind: Any, out: Any, error: Any, /) -> int: ...
    def eagre_signal_id(self, db: Any, name: Any, kind: Any, out: Any, error: Any, /) -> int: ...
    def eagre_handle(self, db: Any, kind: Any, key: Any, heap: Any, heap_length: int, out: Any, error: Any, /) -> int: ...
    def eagre_signal(self, db: Any, signal: int, handle: int, weight: float, at: int, error: Any, /) -> int: ...
    def eagre_signal_key(
        self,
        db: Any,
        signal: int,
        key: Any,
        weight: float,
        at: int,
        id: Any,
        heap: Any,
        heap_length: int,
        error: Any,
        /,
    ) -> int: ...
    def eagre_signal_many(
        self,
        db: Any,
        signal: int,
        n: int,
        handles: Any,
        keys: Any,
        weights: Any,
        at: Any,
        ids: Any,
        heap: Any,
        heap_length: int,
        applied: Any,
        error: Any,
        /,
    ) -> int: ...
    def eagre_schema(self, db: Any, out: Any, capacity: int, needed: Any, error: Any, /) -> int: ...
    def eagre_stats(self, db: Any, out: Any, capacity: int, needed: Any, error: Any, /) -> int: ...
    def eagre_maintain(self, db: Any, error: Any, /) -> int: ...
    def eagre_validate(self, db: Any, error: Any, /) -> int: ...

lib: _Lib

# SPDX-License-Identifier: MIT
"""Memory for calls: buffers for answers and errors, used again from call to call.

A Scratch is taken from a pool and put back. List operations are atomic, so no thread shares one with
another, nor with itself: a finaliser that calls into eagre in the middle of a call takes another one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._errors import fail
from ._ffi import ffi, lib

_new_words = ffi.new_allocator(should_clear_after_alloc=False)

START = 1 << 16
# A larger buffer is not kept: one big answer should not cost memory for ever.
KEEP = 1 << 22


class Scratch:
    """One call's memory: the eagre_error, a buffer for answers, and places for out parameters."""

    __slots__ = ("error", "out", "capacity", "size", "number", "u32")

    def __init__(self) -> None:
        self.error = ffi.new("eagre_error *")
        self.error.struct_size = ffi.sizeof("eagre_error")
        self.size = ffi.new("size_t *")
        self.number = ffi.new("uint64_t *")
        self.u32 = ffi.new("uint32_t *")
        self.reserve(START)

    def reserve(self, capacity: int) -> None:
        """A buffer of at least so many bytes, aligned as the engine wants it."""
        words = (capacity + 7) // 8
        self.out = _new_words("uint64_t[]", words)
        self.capacity = words * 8

    def grow(self) -> None:
        """After EAGRE_BUFFER_TOO_SMALL: as much as the engine asked for, and some more, for data that grows meanwhile."""
        self.reserve(self.size[0] + self.size[0] // 8 + 4096)


_pool: list[Scratch] = []


def take() -> Scratch:
    """A Scratch of one's own; give it back with `give`."""
    try:
        return _pool.pop()
    except IndexError:
        return Scratch()


def give(scratch: Scratch) -> None:
    """Back into the pool."""
    if scratch.capacity > KEEP:
        scratch.reserve(START)
    _pool.append(scratch)


def answer(call: Callable[[Any, int, Any, Any], int]) -> bytes:
    """The bytes that `call(out, capacity, needed, error)` writes, with as large a buffer as it needs."""
    scratch = take()
    try:
        while True:
            status = call(scratch.out, scratch.capacity, scratch.size, scratch.error)
            if status == 0:
                return bytes(ffi.buffer(scratch.out, scratch.size[0]))
            if status != lib.EAGRE_BUFFER_TOO_SMALL:
                fail(status, scratch.error)
            scratch.grow()
    finally:
        give(scratch)


def check(call: Callable[[Any], int]) -> None:
    """Make `call(error)`; raise what it refuses."""
    scratch = take()
    try:
        status = call(scratch.error)
        if status < 0:
            fail(status, scratch.error)
    finally:
        give(scratch)

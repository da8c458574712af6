# SPDX-License-Identifier: MIT
"""Prepared statements of a database: the newest ones are kept, by their text."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from typing import Any

from ._calls import give, take
from ._errors import fail
from ._ffi import ffi, lib
from ._values import encode

_FIRST_WORD = re.compile(r"(?:\s+|--[^\n]*(?:\n|\Z))*([A-Za-z]*)")
_READING = frozenset(("RETRIEVE", "EXPLAIN", "SEARCH", "SUGGEST", "ASSEMBLE"))


def reads(text: str) -> bool:
    """Whether a statement gives rows (by its first word); others change the schema."""
    found = _FIRST_WORD.match(text)
    return found is not None and found[1].upper() in _READING


class Statements:
    """A cache of the SIZE statements used last. Threads: any.

    A statement is finalized when nobody holds it any more: neither the cache nor a call that is running it.
    """

    SIZE = 64

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()

    def kept(self, text: str) -> Any:
        """The prepared statement of a text, or None."""
        kept = self._kept
        statement = kept.get(text)
        if statement is not None:
            try:
                kept.move_to_end(text)
            except KeyError:  # another thread has just pushed it out
                pass
        return statement

    def make(self, db: Any, text: str) -> Any:
        """Prepare a statement that reads, and keep it."""
        kept = self._kept  # before preparing: should the schema change meanwhile, this goes into a cache that is gone
        statement = prepare(db, text)
        with self._lock:
            kept[text] = statement
            if len(kept) > self.SIZE:
                kept.popitem(last=False)
        return statement

    def clear(self) -> None:
        """Forget all, after a change of the schema."""
        self._kept = OrderedDict()


def prepare(db: Any, text: str) -> Any:
    """A statement that finalizes itself."""
    data = encode(text)
    out = ffi.new("eagre_stmt **")
    scratch = take()
    try:
        status = lib.eagre_prepare(db, data, len(data), out, scratch.error)
        if status < 0:
            fail(status, scratch.error)
    finally:
        give(scratch)
    return ffi.gc(out[0], lib.eagre_finalize)

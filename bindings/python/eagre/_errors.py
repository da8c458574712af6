# SPDX-License-Identifier: MIT
"""Errors: one class with a stable code, for what the engine refuses and for what the binding refuses."""

from __future__ import annotations

from typing import Any, NoReturn

from ._ffi import ffi, lib

__all__ = ["Error", "NotFound", "fail"]


class Error(Exception):
    """What eagre refuses. A call that raises has changed nothing, but for a batch that ran out of memory (`applied`).

    code      stable name, "EAGRE_TYPE": compare this, not the text
    message   a sentence that names the argument and what was expected
    position  byte offset of the fault in the statement (UTF-8), or None
    applied   rows of the batch that were done, where a batch stopped in the middle, or None
    """

    def __init__(self, code: str, message: str, position: int | None = None, applied: int | None = None) -> None:
        super().__init__(code, message, position, applied)
        self.code = code
        self.message = message
        self.position = position
        self.applied = applied

    def __str__(self) -> str:
        where = "" if self.position is None else f" at byte {self.position}"
        return f"{self.message} [{self.code}{where}]"


class NotFound(Error, KeyError):
    """EAGRE_NOT_FOUND: no such item. Also a KeyError, as of any mapping."""


def fail(status: int, error: Any = None, applied: int | None = None) -> NoReturn:
    """Raise the Error for a status that the engine gave; `error` is its eagre_error, or None."""
    code = ffi.string(lib.eagre_status_name(status)).decode()
    message, position = "", None
    if error is not None and error.code == status:
        message = ffi.string(error.text).decode("utf-8", "replace")
        position = error.position if error.position >= 0 else None
    if not message:
        message = ffi.string(lib.eagre_status_text(status)).decode()
    kind = NotFound if status == lib.EAGRE_NOT_FOUND else Error
    raise kind(code, message, position, applied)

# SPDX-License-Identifier: MIT
"""A cursor: the moment and the place of a page's end, bound to the statement and its other parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .order import Ranked, ranked
from .statement import Retrieve
from .values import ModelError


@dataclass(frozen=True)
class Cursor:
    bound_to: str
    moment: int
    position: Ranked
    waiting: tuple[Ranked, ...]
    history: tuple[Ranked, ...]


def binding(statement: Retrieve, params: Sequence[Any]) -> str:
    others = [value for index, value in enumerate(params, 1) if statement.after is None or index != statement.after.index]
    return f"{statement.text()} {others!r}"


def check_cursor(cursor: Any, statement: Retrieve, params: Sequence[Any]) -> Cursor:
    if not isinstance(cursor, Cursor) or cursor.bound_to != binding(statement, params):
        raise ModelError("EAGRE_CURSOR", "the cursor belongs to another statement")
    return cursor


def remaining(rows: list[Ranked], descending: list[bool], cursor: Cursor) -> tuple[list[Ranked], list[Ranked]]:
    """(waiting, rest) of a later page: the rows carried, as far as they still match, and what stands after the place."""
    by_item = {id(row.item): row for row in rows}
    waiting = [by_item[id(old.item)] for old in cursor.waiting if id(old.item) in by_item]
    ghost = Ranked(cursor.position.slot, cursor.position.score, cursor.position.values)
    same = [row for row in rows if row.slot != ghost.slot or row.score != ghost.score or row.values != ghost.values]
    line = ranked([*same, ghost], descending)
    return waiting, [row for row in line[line.index(ghost) + 1 :] if row not in waiting]

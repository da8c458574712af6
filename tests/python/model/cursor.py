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


def still_waiting(rows: list[Ranked], cursor: Cursor) -> list[Ranked]:
    """The rows that DIVERSITY passed over, as far as they still match."""
    by_item = {id(row.item): row for row in rows}
    return [by_item[id(old.item)] for old in cursor.waiting if id(old.item) in by_item]


def rows_behind(rows: list[Ranked], descending: list[bool], position: Ranked) -> list[Ranked]:
    """What stands behind a place in the ranking, whether or not its own row is still there."""
    ghost = Ranked(position.slot, position.score, position.values)
    others = [row for row in rows if (row.slot, row.score, row.values) != (ghost.slot, ghost.score, ghost.values)]
    line = ranked([*others, ghost], descending)
    return line[line.index(ghost) + 1 :]

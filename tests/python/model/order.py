# SPDX-License-Identifier: MIT
"""The total order of rows: score descending, then slot; or the values of ORDER BY, nulls last, then slot."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .store import Item
from .values import as_bytes


@dataclass(eq=False)
class Ranked:
    """A row in the ranking. tolerance: how far the score may be off; exact: it may not be at all."""

    slot: int
    score: float = 0.0
    values: tuple[Any, ...] = ()
    item: Item | None = None
    tolerance: float = 0.0
    exact: bool = True
    diverse: tuple[frozenset[Any], ...] = field(default_factory=tuple)  # its values, for each rule of DIVERSITY


def comparable(value: Any) -> Any:
    return as_bytes(value) if isinstance(value, str) else value


def ranked(rows: list[Ranked], descending: list[bool]) -> list[Ranked]:
    """Best first. Sorts by the last key first: Python's sort keeps the order of equals, also reversed."""
    rows = sorted(rows, key=lambda row: row.slot)
    for place in reversed(range(len(descending))):
        known = [row for row in rows if row.values[place] is not None]
        null = [row for row in rows if row.values[place] is None]
        known.sort(key=lambda row: comparable(row.values[place]), reverse=descending[place])
        rows = known + null
    return sorted(rows, key=lambda row: row.score, reverse=True)

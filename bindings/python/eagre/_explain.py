# SPDX-License-Identifier: MIT
"""The report of EXPLAIN: its JSON, and a form to read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

# What str() shows: so many rows side by side, and so much of a term's text. All of it is in `data`.
_SHOWN = 5
_WIDTH = 64


class Explain:
    """What EXPLAIN reports: the plan, the work done, and every term of the expression with its value for each row.

    `str(report)` is for reading. `report.data` is all of it, as Python objects: "plan", "work", "terms" (their text and how deep
    they lie; a term stands behind its parts) and "rows" (the score, and a value for each term).
    """

    __slots__ = ("data", "_keys")

    def __init__(self, text: bytes, keys: Sequence[Any] = ()) -> None:
        self.data: dict[str, Any] = json.loads(text)
        self._keys = keys

    def __repr__(self) -> str:
        return f"<eagre.Explain: {len(self.data.get('rows', ()))} rows, {len(self.data.get('terms', ()))} terms>"

    def __str__(self) -> str:
        lines = [f"{part:5} {_facts(self.data[part])}" for part in ("plan", "work") if part in self.data]
        return "\n".join([*lines, *self._table()])

    def _table(self) -> Iterator[str]:
        """A line for each term, indented below what it is part of, with a column for each of the first rows."""
        rows, terms = self.data.get("rows", []), self.data.get("terms", [])
        shown = rows[:_SHOWN]
        if not shown or not terms:
            return
        lines = [(_cut("  " * level + " ".join(terms[i]["text"].split()), _WIDTH), i) for level, i in _outline(terms)]
        texts = [[_number(row["values"][i]) for row in shown] for _, i in lines]
        heads = [_cut(str(key), 24) for key in self._keys[: len(shown)]] or [f"row {n}" for n in range(1, len(shown) + 1)]
        scores = [_number(row["score"]) for row in shown]
        left = max(len("score"), *(len(text) for text, _ in lines))
        wide = [max(8, *map(len, column)) for column in zip(heads, scores, *texts)]
        for text, cells in [("", heads), ("score", scores), *((text, cells) for (text, _), cells in zip(lines, texts))]:
            yield f"{text:{left}}  " + "  ".join(f"{cell:>{width}}" for cell, width in zip(cells, wide))
        if len(rows) > len(shown):
            yield f"... and {len(rows) - len(shown)} more rows"


def _facts(part: dict[str, Any]) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {value:,}" if isinstance(value, int) else f"{name} {value}" for name, value in part.items()
    )


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def _number(value: float) -> str:
    return f"{value:,.6g}"


def _outline(terms: list[dict[str, Any]]) -> Iterator[tuple[int, int]]:
    """(level, number) of each term, a whole before its parts, parts in the order of the text."""
    roots: list[tuple[int, Any]] = []  # (number, its parts, likewise)
    for number, term in enumerate(terms):
        parts: list[tuple[int, Any]] = []
        while roots and terms[roots[-1][0]]["depth"] > term["depth"]:
            parts.insert(0, roots.pop())
        roots.append((number, parts))

    def walk(nodes: list[tuple[int, Any]], level: int) -> Iterator[tuple[int, int]]:
        for number, parts in nodes:
            yield level, number
            yield from walk(parts, level + 1)

    return walk(roots, 0)

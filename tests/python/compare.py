# SPDX-License-Identifier: MIT
"""Model and engine side by side: every step goes to both, and what they answer is compared.

Scores agree within 1e-9 relatively, wider where the model says so (decayed sums: 3e-8). Rows agree in order, but for rows whose
scores can not be told apart by that. Where a match itself hangs on an inexact step (decay(s) < 0.5), only the sure rows are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import budget
from generate.steps import Get, Pages, Query, Step, outcome
from model import ModelError, Result, Retrieve
from model.order import Ranked
from model.statement import highest_param
from subjects import EngineSubject, ModelSubject, pages, plain

EVERYTHING = 1_000_000


def same_number(found: float, wanted: float, tolerance: float) -> bool:
    return found == wanted or (math.isfinite(found) and abs(found - wanted) <= tolerance + 1e-9 * abs(wanted))


def same_value(found: Any, wanted: Any, tolerance: float = 0.0) -> bool:
    if found is None or wanted is None or isinstance(wanted, (str, bytes, tuple)):
        return found == wanted or (isinstance(wanted, bytes) and isinstance(found, str) and found.encode() == wanted)
    if isinstance(wanted, int) and isinstance(found, int):
        return found == wanted
    return same_number(found, wanted, tolerance)


class Pair:
    """engine: what is checked; another model in the tests of this checker."""

    def __init__(self, now: int, engine: Any = None) -> None:
        self.engine = engine or EngineSubject(now)
        self.model = ModelSubject(now, slot_of=self.slot)
        self.unseen = 0
        self.done: list[str] = [f"db = eagre.open(now={now})"]

    def slot(self, kind: str, key: Any) -> int:
        """The engine's; an item that was put when it had expired already has none that could be asked for."""
        try:
            return self.engine.slot(kind, key)
        except ModelError:
            self.unseen -= 1
            return self.unseen

    def run(self, step: Step) -> None:
        self.done.append(step.script())
        if isinstance(step, Query):
            self.query(step.statement, step.params)
        elif isinstance(step, Pages):
            self.all_pages(step)
        else:
            self.write(step)

    def write(self, step: Step) -> None:
        found = outcome(step, self.engine)
        wanted = outcome(step, self.model)
        if isinstance(step, Get) and isinstance(wanted, dict):
            wanted = {name: plain(value) for name, value in wanted.items()}
        assert found == wanted, f"{step.script()[:1000]}\n  engine: {found!r}\n  model:  {wanted!r}"
        budget.count("writes")

    # one page

    def query(self, statement: Retrieve, params: Sequence[Any]) -> None:
        budget.count("queries")
        found, wanted = self.ask(self.engine, statement, params), self.ask(self.model, statement, params)
        if isinstance(found, str) or isinstance(wanted, str):
            budget.count("refusals")
            assert found == wanted, f"{statement.text()}\n  engine: {found}\n  model:  {wanted}"
            return
        self.same_with_other_words(statement, params, found)
        if wanted.uncertain:
            budget.count("uncertain")
            self.check_sure_rows(found, wanted)
            return
        if statement.diversity:
            wanted = self.model.retrieve(statement, params, hint=self.hint(statement, params, wanted))
            assert found.keys == wanted.keys, f"{statement.text()}\n  engine: {found.keys}\n  model:  {wanted.keys}"
            check_scores(found, {id(row.item): row for row in wanted.ranking}, wanted)
        else:
            check_order(found.keys, wanted.ranking, len(wanted.rows))
            check_scores(found, {id(row.item): row for row in wanted.ranking}, wanted)
        assert found.total == wanted.total
        assert found.relaxed == wanted.relaxed
        assert found.cursor is None or wanted.cursor is not None, "a cursor behind a page that is not full"

    def ask(self, subject: Any, statement: Retrieve, params: Sequence[Any]) -> Result | str:
        try:
            return subject.retrieve(statement, params)
        except ModelError as error:
            return error.code

    def same_with_other_words(self, statement: Retrieve, params: Sequence[Any], found: Result) -> None:
        """EXHAUSTIVE and EXPLAIN change nothing, to the bit."""
        for other in (replace(statement, exhaustive=True), replace(statement, explain=True)):
            again = self.engine.retrieve(other, params)
            assert again.rows == found.rows, other.text()
            assert (again.total, again.relaxed) == (found.total, found.relaxed), other.text()

    def hint(self, statement: Retrieve, params: Sequence[Any], wanted: Result) -> list[int | bytes]:
        """The engine's whole ranking without DIVERSITY, checked: the greedy rule then runs down the same list in both."""
        bare = replace(statement, diversity=(), limit=EVERYTHING, returns=(), after=None)
        ranking = self.engine.retrieve(bare, params[: highest_param(bare)])
        check_order(ranking.keys, wanted.ranking)
        return ranking.keys

    def check_sure_rows(self, found: Result, wanted: Result) -> None:
        possible = {item.key for item in wanted.uncertain} | {row.item.key for row in wanted.ranking}
        assert set(found.keys) <= possible
        assert len(set(found.keys)) == len(found.keys)
        if found.total is not None:
            unsure = {item.key for item in wanted.uncertain}
            sure = [row for row in wanted.ranking if row.item.key not in unsure]
            assert len(sure) <= found.total <= len(possible)

    # all pages

    def all_pages(self, step: Pages) -> None:
        budget.count("paged")
        statement, params = step.statement, [*step.params, None]
        first = self.ask(self.model, statement, params)
        engine_first = self.ask(self.engine, statement, params)
        if isinstance(first, str) or isinstance(engine_first, str):
            assert engine_first == first, f"{statement.text()}\n  engine: {engine_first}\n  model:  {first}"
            return
        if any(step.between) or self.model.kind(statement.kind).spec.expiry():
            self.pages_beside_writes(step, first)
        elif first.uncertain:
            budget.count("paged, uncertain: not compared")
        else:
            self.pages_alone(statement, step.params, first)

    def pages_alone(self, statement: Retrieve, params: Sequence[Any], first: Result) -> None:
        """Nothing is written between the pages; only the clock goes on."""
        hint = self.hint(statement, [*params, None], first)
        clock = self.model.clock

        def later() -> None:
            self.engine.set_clock(self.engine_clock + 1_000_000)
            self.engine_clock += 1_000_000

        self.engine_clock = clock
        found = pages(self.engine, statement, params, later)
        self.engine.set_clock(clock)
        cursor = None
        for page in found:
            wanted = self.model.retrieve(statement, [*params, cursor], hint=hint)
            assert page.keys == wanted.keys, f"{statement.text()}\n  engine: {page.keys}\n  model:  {wanted.keys}"
            assert (page.total, page.relaxed) == (wanted.total, wanted.relaxed)
            check_scores(page, {id(row.item): row for row in wanted.ranking}, wanted)
            cursor = wanted.cursor
            if cursor is None:
                break
        assert cursor is None or not self.model.retrieve(statement, [*params, cursor], hint=hint).rows
        assert sum(len(page.rows) for page in found) == len(first.ranking)

    def pages_beside_writes(self, step: Pages, first: Result) -> None:
        """Rows of items that nobody wrote to come once each: disjoint, and complete."""
        turns = iter(step.between)
        touched: set[Any] = set()

        def write() -> None:
            for each in next(turns, ()):
                self.done.append(each.script())
                self.write(each)
                keys = getattr(each, "keys", None) or [getattr(each, "key", None)]
                touched.update(key.encode() if isinstance(key, str) else key for key in keys)

        found = pages(self.engine, step.statement, step.params, write)
        keys = [key for page in found for key in page.keys if key not in touched]
        kind = self.model.kind(step.statement.kind)
        unsure = {item.key for item in first.uncertain}
        living = {item.key for item in kind.living(max(self.model.clock, 0))}
        wanted = {row.item.key for row in first.ranking} & living - touched - unsure
        assert len(keys) == len(set(keys)), f"{step.script()}\n  a row came twice: {keys}"
        assert set(keys) - unsure == wanted, f"{step.script()}\n  engine: {sorted(keys)}\n  model:  {sorted(wanted)}"

    def close(self) -> None:
        self.engine.close()


def check_scores(found: Result, by_item: dict[int, Ranked], wanted: Result) -> None:
    ranked = {row.item.key: row for row in by_item.values()}
    for row in found.rows:
        at = ranked[row.key]
        assert same_number(row.score, at.score, at.tolerance), f"{row.key!r}: {row.score!r} instead of {at.score!r}"
    values = {row.key: row for row in wanted.rows}
    for row in found.rows:
        if row.key in values:
            other = values[row.key]
            for name, value in row.values.items():
                expected, tolerance = other.values[name], other.tolerances.get(name, 0.0)
                expected = plain(expected)
                assert same_value(value, expected, tolerance), f"{row.key!r}: {name} is {value!r} instead of {expected!r}"


def check_order(found: list[Any], ranking: list[Ranked], limit: int = EVERYTHING) -> None:
    """found: keys in the engine's order; ranking: the model's, all of it."""
    wanted = [row.item.key for row in ranking][:limit]
    assert len(found) == len(wanted), f"{len(found)} rows instead of {len(wanted)}\n  engine: {found}\n  model:  {wanted}"
    assert len(set(found)) == len(found), f"a key comes twice: {found}"
    rows = {row.item.key: row for row in ranking}
    strangers = [key for key in found if key not in rows]
    assert not strangers, f"{strangers} do not match"
    if any(row.values for row in ranking):
        assert found == wanted, f"ORDER BY\n  engine: {found}\n  model:  {wanted}"
    shown = set(found)
    line = [rows[key] for key in found] + [row for row in ranking if row.item.key not in shown]
    best_before = math.inf  # no row may be above what surely stands before it
    for place, row in enumerate(line):
        assert row.score - row.tolerance <= best_before, f"place {place}: {row.item.key!r} ({row.score!r}) is too far down"
        best_before = min(best_before, row.score + row.tolerance)
    if not any(row.values for row in ranking):
        exact = [row for row in line if row.exact]
        for one, other in zip(exact, exact[1:], strict=False):
            assert (-one.score, one.slot) < (-other.score, other.slot), f"{one.item.key!r} before {other.item.key!r}"

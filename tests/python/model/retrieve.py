# SPDX-License-Identifier: MIT
"""RETRIEVE: compute every living item, keep what matches, sort, then fill the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .cursor import Cursor, binding, check_cursor, rows_behind, still_waiting
from .diversity import Page
from .env import Env
from .expr import Expr, Literal, Param, number, truth
from .order import Ranked, ranked
from .profiles import BUILT_IN
from .statement import OrderBy, OrderKey, Retrieve, UsingExpr, UsingProfile, signals_in
from .schema import ProfileSpec
from .store import Item, Kind
from .values import ModelError, as_bytes, time_of

VARIANTS = 6  # how often an inexact expression is computed anew, its steps moved within their error
SPREAD = 2.0  # the variants only sample what the errors can add up to
RELATIVE = 1e-9
EDGE = 0.01
DEFAULT_LIMIT = 20
MOST = 1_000_000


@dataclass(frozen=True)
class Row:
    key: int | bytes
    score: float
    values: dict[str, Any]
    tolerance: float = 0.0
    tolerances: dict[str, float] = field(default_factory=dict)


@dataclass
class Result:
    rows: list[Row]
    total: int | None
    relaxed: bool
    cursor: Any
    ranking: list[Ranked] = field(default_factory=list)  # every match, best first
    uncertain: list[Item] = field(default_factory=list)  # items whose match hangs on an inexact step

    @property
    def keys(self) -> list[int | bytes]:
        return [row.key for row in self.rows]

    @property
    def scores(self) -> list[float]:
        return [row.score for row in self.rows]


@dataclass
class Ranking:
    expr: Expr | None
    keys: tuple[OrderKey, ...]
    named: Mapping[str, float]


class Retrieval:
    """hint: all matching keys, best first. It settles what the model can not: the order of scores that may be equal."""

    def __init__(
        self,
        kind: Kind,
        clock: int,
        latest: int,
        statement: Retrieve,
        params: Sequence[Any],
        hint: Sequence[int | bytes] | None = None,
    ) -> None:
        self.kind, self.clock, self.latest, self.statement, self.params, self.hint = kind, clock, latest, statement, params, hint
        self.now = clock
        self.plan = self.ranking()
        self.check_names()
        self.limit = self.page_size()
        after = statement.after and self.parameter(statement.after)
        self.cursor: Cursor | None = None if after is None else check_cursor(after, statement, params)
        self.now = self.moment()

    def check_names(self) -> None:
        """Whatever is wrong with the statement itself shows on an item without values."""
        nobody = self.nobody()
        self.matches(nobody)
        self.row(self.rank(nobody))

    def parameter(self, param: Param) -> Any:
        if param.index > len(self.params):
            raise ModelError("EAGRE_PARAMETER", f"?{param.index} is missing")
        return self.params[param.index - 1]

    def page_size(self) -> int:
        limit = self.statement.limit
        if limit is None:
            return DEFAULT_LIMIT
        value = self.parameter(limit) if isinstance(limit, Param) else limit
        if isinstance(value, bool) or not isinstance(value, int):
            raise ModelError("EAGRE_TYPE", "LIMIT is an integer")
        if not 0 <= value <= MOST:
            raise ModelError("EAGRE_RANGE", f"LIMIT is 0 .. {MOST}")
        return value

    def ranking(self) -> Ranking:
        match self.statement.ranking:
            case UsingExpr(expr):
                return Ranking(expr, (), {})
            case OrderBy(keys):
                return Ranking(None, keys, {})
            case UsingProfile(name, arguments):
                own = self.kind.profiles.get(name)
                if own is None and name not in BUILT_IN:
                    raise ModelError("EAGRE_UNKNOWN", f"profile {name}")
                body, parameters = (own.body, own.parameters) if own else BUILT_IN[name]
                named = self.profile_parameters(dict(parameters), arguments)
                return Ranking(None, body, named) if isinstance(body, tuple) else Ranking(body, (), named)
        return Ranking(None, (), {})

    def profile_parameters(
        self, defaults: dict[str, float | None], arguments: tuple[tuple[str, Expr], ...]
    ) -> dict[str, float]:
        given = {name: number(value, self.env(self.nobody(), {})) for name, value in arguments}
        for name in given:
            if name not in defaults:
                raise ModelError("EAGRE_UNKNOWN", f"the profile has no parameter {name}")
        for name, default in defaults.items():
            if given.setdefault(name, default) is None:
                raise ModelError("EAGRE_PARAMETER", f"the profile needs {name}")
        return given

    def moment(self) -> int:
        if self.cursor is not None:
            return self.cursor.moment
        at = self.statement.at
        if at is None:
            return self.clock
        moment = time_of(self.parameter(at) if isinstance(at, Param) else at)
        returned = [item.expr for item in self.statement.returns]
        for name in signals_in([self.plan.expr, self.statement.where, returned]):
            signal = self.kind.signals.get(name)
            cells = [signal.cell(item) for item in self.kind.living(self.clock)] if signal else []
            if any((cell.newest() or 0) > moment for cell in cells):
                raise ModelError("EAGRE_MOMENT", f"the moment is before the newest event of {name}")
        return moment

    def nobody(self) -> Item:
        return Item(0 if self.kind.spec.integer_keys else b"", 0, 0)

    def env(self, item: Item, named: Mapping[str, float]) -> Env:
        return Env(self.kind, item, self.now, self.latest, self.params, named)

    def run(self) -> Result:
        excluded = self.excluded()
        uncertain: list[Item] = []
        rows = []
        living = self.kind.living(max(self.clock, self.now))
        assert len({item.slot for item in living}) == len(living), "two items in one slot"
        for item in living:
            if item.key in excluded:
                continue
            matched, sure = self.matches(item)
            if not sure:
                uncertain.append(item)
            if matched:
                rows.append(self.rank(item))
        rows = self.sorted(rows)
        page = self.page(rows)
        total = len(rows) if self.statement.count else None
        return Result([self.row(row) for row in page.placed], total, page.relaxed, self.next_cursor(page), rows, uncertain)

    def sorted(self, rows: list[Ranked]) -> list[Ranked]:
        if self.hint is None:
            return ranked(rows, [key.descending for key in self.plan.keys])
        by_key = {row.item.key: row for row in rows}
        return [by_key[key] for key in self.hint if key in by_key]

    def excluded(self) -> set[int | bytes]:
        keys = self.statement.exclude
        listed: Any = self.parameter(keys) if isinstance(keys, Param) else keys
        return {as_bytes(key) if isinstance(key, str) else key for key in listed or ()}

    def matches(self, item: Item) -> tuple[bool, bool]:
        """(does it match, is that sure)"""
        if self.statement.where is None:
            return True, True
        where = self.statement.where
        answers = self.compute(item, {}, lambda env: truth(where, env) is True)
        return answers[0], len(set(answers)) == 1

    def compute(self, item: Item, named: Mapping[str, float], what: Callable[[Env], Any], score: float = 0.0) -> list[Any]:
        """What is asked, and what it may be where an inexact step is taken differently."""
        env = self.env(item, named)
        env.score = score
        answers = [what(env)]
        if env.nearness.asked:
            answers += [what(env.of_variant(variant)) for variant in range(1, VARIANTS + 1)]
        if env.nearness.open:
            answers.append(not answers[0] if isinstance(answers[0], bool) else math.inf)
        return answers

    def rank(self, item: Item) -> Ranked:
        env = self.env(item, self.plan.named)
        row = Ranked(item.slot, item=item)
        row.diverse = tuple(values_of(env.field(rule.field)) for rule in self.statement.diversity)
        row.values = tuple(item.key if key.name == "key" else env.field(key.name) for key in self.plan.keys)
        expr = self.plan.expr
        if expr is not None:
            answers = self.compute(item, self.plan.named, lambda env: number(expr, env))
            row.score, row.tolerance, row.exact = answers[0], tolerance(answers), len(set(answers)) == 1
        return row

    def page(self, rows: list[Ranked]) -> Page:
        waiting: list[Ranked] = []
        rest = list(rows)
        if self.cursor is not None:
            waiting = still_waiting(rows, self.cursor)
            carried = {id(row) for row in waiting}
            rest = [row for row in self.behind(rows, self.cursor.position) if id(row) not in carried]
        history = list(self.cursor.history) if self.cursor else []
        page = Page(self.statement.diversity, self.limit, history, waiting, rest)
        page.position = self.cursor.position if self.cursor else None
        page.fill()
        return page

    def behind(self, rows: list[Ranked], position: Ranked) -> list[Ranked]:
        if self.hint is None:
            return rows_behind(rows, [key.descending for key in self.plan.keys], position)
        places = {key: place for place, key in enumerate(self.hint)}
        return [row for row in rows if places[row.item.key] > places[position.item.key]]

    def next_cursor(self, page: Page) -> Cursor | None:
        """Null after a page that is not full: nothing is left then."""
        if len(page.placed) < self.limit or page.position is None:
            return None
        bound = binding(self.statement, self.params)
        return Cursor(bound, self.now, page.position, tuple(page.waiting), tuple(page.history + page.placed))

    def row(self, row: Ranked) -> Row:
        values: dict[str, Any] = {}
        tolerances: dict[str, float] = {}
        for item in self.statement.returns:
            answers = self.compute(row.item, {}, lambda env, expr=item.expr: returned(expr, env), row.score)
            values[item.column()] = answers[0]
            if isinstance(answers[0], (int, float)):
                tolerances[item.column()] = tolerance([float(answer) for answer in answers]) + (
                    row.tolerance if "score" in item.expr.text() else 0.0
                )
        return Row(row.item.key, row.score, values, row.tolerance, tolerances)


def check_profile(kind: Kind, spec: ProfileSpec) -> None:
    """Every name of a profile must mean something for its kind."""
    trial = Kind(kind.spec, {}, kind.signals, {spec.name: spec})
    missing = tuple((name, Literal(0)) for name, default in spec.parameters if default is None)
    Retrieval(trial, 0, 0, Retrieve(kind.spec.name, UsingProfile(spec.name, missing)), ())


def returned(expr: Expr, env: Env) -> Any:
    """A condition is returned as its number."""
    value = expr.value(env)
    is_condition = isinstance(value, bool) or (value is None and expr.level < Literal(0).level)
    return number(expr, env) if is_condition else value


def tolerance(answers: list[float]) -> float:
    """Where the variants differ by much, a step is near an edge (x / 0, sign(0)): any value may come out."""
    spread = max(abs(answer - answers[0]) for answer in answers)
    if spread > EDGE * max(map(abs, answers)):
        return math.inf
    return RELATIVE * abs(answers[0]) + SPREAD * spread


def values_of(value: Any) -> frozenset[Any]:
    """For DIVERSITY: each keyword of a set counts, null is never limited."""
    if value is None:
        return frozenset()
    return frozenset(value) if isinstance(value, tuple) else frozenset([value])

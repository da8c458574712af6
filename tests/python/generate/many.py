# SPDX-License-Identifier: MIT
"""Scenarios over thousands of items: they fill several blocks and chunks of the engine, with holes."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from model import KindSpec, Per, Retrieve
from model.statement import highest_param
from subjects import DAY, HOUR

from .scenarios import WEIGHTS, Mix, Scenario
from .schemas import random_schema, random_value
from .steps import Clock, Create, Delete, Maintain, Pages, Put, PutMany, Query, SignalMany, Step

CHUNK = 700  # rows of one put_many


class ManyItems(Scenario):
    def __init__(self, random: Random, items: int, queries: int) -> None:
        self.items, self.queries = items, queries
        super().__init__(random, Mix())

    def __post_init__(self) -> None:
        super().__post_init__()
        schema = random_schema(self.random)
        kind = replace(schema.kinds[0], fields=tuple(spec for spec in schema.kinds[0].fields if not spec.expires))
        self.schema.kinds = [kind]
        self.schema.signals = [signal for signal in schema.signals if signal.kind == kind.name]
        self.schema.pool = self.items

    def steps(self) -> list[Step]:
        [kind] = self.schema.kinds
        found: list[Step] = [Create(spec) for spec in (kind, *self.schema.signals)]
        keys = self.schema.keys_of(kind)
        self.random.shuffle(keys)
        for first in range(0, len(keys), CHUNK):
            found.append(self.rows(kind, keys[first : first + CHUNK]))
            found += self.events(keys[: first + CHUNK], CHUNK)
        start = self.random.randrange(len(keys))
        gap = keys[start : start + self.random.choice([0, 300, 900])]  # whole blocks die
        dead = [*gap, *self.random.sample(keys, len(keys) // 10)]
        dead = list(dict.fromkeys(dead))
        found += [Delete(kind.name, key) for key in dead]
        if self.random.random() < 0.5:
            found.append(Maintain())
        back = [key for key in dead if self.random.random() < 0.5]
        found += [Put(kind.name, key, {}) for key in back[:20]] + [self.rows(kind, back[20:])]
        self.clock += self.random.choice([0, HOUR, DAY])
        found.append(Clock(self.clock))
        living = [key for key in keys if key not in set(dead) - set(back)]
        for _ in range(self.queries):
            found.append(self.pages_of_many() if self.random.random() < 0.3 else self.query_of_many())
            if self.random.random() < 0.3:
                found += self.events(living, 50)
        return found

    def rows(self, kind: KindSpec, keys: list[Any]) -> Step:
        columns = {spec.name: [random_value(self.random, spec.type) for _ in keys] for spec in kind.fields if spec.name != "look"}
        return PutMany(kind.name, keys, columns)

    def events(self, keys: list[Any], rows: int) -> list[Step]:
        return [
            SignalMany(
                signal.kind,
                signal.name,
                [self.random.choice(keys) for _ in range(rows)],
                [self.random.choice(WEIGHTS) for _ in range(rows)],
                [self.event_time(signal) or self.clock for _ in range(rows)],
            )
            for signal in self.schema.signals
        ]

    def query_of_many(self) -> Step:
        statement, params = self.statements.statement(self.clock)
        if statement.diversity:
            statement = bounded(statement, 300)
        return Query(statement, params[: highest_param(statement)])

    def pages_of_many(self) -> Step:
        statement, params = self.statements.statement(self.clock, paged=True)
        size = self.items // self.random.choice([2, 3, 5])
        if self.items > 1_000:
            statement = replace(statement, diversity=())
        return Pages(bounded(statement, min(size, 150)) if statement.diversity else replace(statement, limit=size), params)


def bounded(statement: Retrieve, limit: int) -> Retrieve:
    """The greedy rule by the letter takes limit * rows waiting * window steps."""
    rules = tuple(replace(rule, window=min(rule.window, 10)) if isinstance(rule, Per) else rule for rule in statement.diversity)
    return replace(statement, limit=limit, diversity=rules)

# SPDX-License-Identifier: MIT
"""Random RETRIEVE statements: any mix of clauses over one kind."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from model import INTEGER, KEYWORD, KEYWORDS, REAL, TEXT, TIME, KindSpec, OrderBy, OrderKey, Per, ProfileSpec, Retrieve, Return
from model import Share, UsingExpr, UsingProfile
from model.calls import KEY, SCORE
from model.expr import Arithmetic, Field, Literal, Param
from model.profiles import BUILT_IN
from model.statement import highest_param
from subjects import DAY, NOW, YEAR

from .exprs import PLAIN, Exprs
from .schemas import Schema


class Statements:
    def __init__(self, random: Random, schema: Schema) -> None:
        self.random, self.schema = random, schema
        self.profiles: list[ProfileSpec] = []

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def profile(self, name: str) -> ProfileSpec:
        kind = self.random.choice(self.schema.kinds)
        make = Exprs(self.random, self.schema, kind)
        make.may_param = False
        if self.chance(0.25):
            return ProfileSpec(name, kind.name, self.order(kind))
        parameters = tuple((each, self.random.choice([None, 0.0, 2.5])) for each in ("p", "q")[: self.random.randint(0, 2)])
        make.names = [each for each, _ in parameters]
        return ProfileSpec(name, kind.name, make.number(3), parameters)

    def order(self, kind: KindSpec) -> tuple[OrderKey, ...]:
        names = [*self.schema.fields_of(kind, INTEGER, REAL, TIME, KEYWORD, TEXT), "created", "key"]
        chosen = self.random.sample(names, self.random.randint(1, min(3, len(names))))
        return tuple(OrderKey(name, self.chance(0.5), self.chance(0.3)) for name in chosen)

    def ranking(self, make: Exprs, kind: KindSpec) -> Any:
        sort = self.random.random()
        if sort < 0.1:
            return None
        if sort < 0.25:
            return OrderBy(self.order(kind))
        own = [profile for profile in self.profiles if profile.kind == kind.name]
        if sort < 0.35 and own:
            profile = self.random.choice(own)
            given = [name for name, default in profile.parameters if default is None or self.chance(0.5)]
            return UsingProfile(profile.name, tuple((name, make.literal(self.random.choice(PLAIN))) for name in given))
        if sort < 0.42:
            return UsingProfile(self.random.choice(sorted(BUILT_IN)))
        return UsingExpr(make.number(3))

    def rule(self, kind: KindSpec) -> Per | Share | None:
        names = self.schema.fields_of(kind, KEYWORD, KEYWORDS, INTEGER)
        if not names:
            return None
        name = self.random.choice(names)
        if self.chance(0.3):
            return Share(name, self.random.choice([0.1, 0.25, 0.3, 0.5, 0.6, 1.0]))
        return Per(name, self.random.randint(1, 2), self.random.choice([1, 2, 3, 4, 10, 1000]))

    def returns(self, make: Exprs, kind: KindSpec) -> tuple[Return, ...]:
        chosen = [Return(Field(field.name)) for field in kind.fields if self.chance(0.3)]
        chosen += [Return(each) for each in (KEY, SCORE, Field("created")) if self.chance(0.15)]
        for place in range(self.random.randint(0, 2)):
            value = make.condition(1) if self.chance(0.2) else make.number(2)
            if self.chance(0.1):
                value = Arithmetic("*", SCORE, Literal(2))
            chosen.append(Return(value, None if self.chance(0.3) else f"e{place}"))
        names = [each.column() for each in chosen]
        return tuple(each for place, each in enumerate(chosen) if each.column() not in names[:place])

    def exclude(self, make: Exprs, kind: KindSpec) -> Any:
        keys = [self.random.choice(self.schema.keys_of(kind)) for _ in range(self.random.randint(0, 4))]
        return make.param(keys) if self.chance(0.5) or "a b\0c" in keys else tuple(keys)

    def moment(self, make: Exprs, kind: KindSpec, clock: int) -> Any:
        """Whether AT an earlier moment brings back what was forgotten is not said: with FORGETS it is not asked."""
        moments = [clock, clock + 1, clock + DAY, clock + 30 * DAY, "2150-05-05", "2199-01-01 12:00"]
        if not any(signal.forgets for signal in self.schema.signals_of(kind)):
            moments += [clock - DAY, NOW - YEAR, clock - 1, "2023-12-31 23:00"]
        moment = self.random.choice(moments)
        return make.param(moment) if self.chance(0.5) else moment if isinstance(moment, str) else max(0, moment)

    def statement(self, clock: int, paged: bool = False) -> tuple[Retrieve, list[Any]]:
        """The statement and its parameters; of a paged one AFTER is the last and not among them."""
        kind = self.random.choice(self.schema.kinds)
        make = Exprs(self.random, self.schema, kind)
        rules = [self.rule(kind) for _ in range(self.random.randint(1, 2))] if self.chance(0.3) else []
        limit: Any = self.random.choice([1, 2, 3, 5] if paged else [None, 0, 1, 2, 3, 7, 20, 1_000_000])
        if limit is not None and self.chance(0.3):
            limit = make.param(limit)
        statement = Retrieve(
            kind=kind.name,
            ranking=self.ranking(make, kind),
            where=make.condition(3) if self.chance(0.5) else None,
            exclude=self.exclude(make, kind) if self.chance(0.15) else None,
            diversity=tuple(rule for rule in rules if rule is not None),
            returns=self.returns(make, kind) if self.chance(0.4) else (),
            count=self.chance(0.3),
            limit=limit,
            at=self.moment(make, kind, clock) if self.chance(0.15) else None,
        )
        params = make.params[: highest_param(statement)]
        if paged:
            statement = replace(statement, after=Param(len(params) + 1))
        return statement, params

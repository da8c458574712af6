# SPDX-License-Identifier: MIT
"""A random schema and a list of random steps over it."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from model import INTEGER, REAL, FieldSpec, KindSpec, SignalSpec
from subjects import DAY, HOUR, MINUTE, NOW, YEAR

from .schemas import SIGNALS, Schema, random_fields, random_schema, random_signal, random_value
from .statements import Statements
from .steps import (
    AddField, Clock, Count, Create, Delete, Drop, Get, Maintain, Pages, Patch, Put, PutMany, Query, Replace, Signal, SignalMany, Step,
)  # fmt: skip

WEIGHTS = [1.0, 1.0, 0.5, 2.0, 0.125, 7.25, 1000.0, 0.1, 1e-6]
IDS = [None, None, None, 1, 2, 3, 2**53, 2**64 - 1, "1", "x", "y" * 64]
SECOND = 1_000_000
LATEST = 254 * YEAR  # events later than 2225 count as of then


@dataclass
class Mix:
    """What a scenario is made of: how often each sort of step, and how far the clock may go."""

    steps: tuple[int, int] = (8, 50)
    queries: int = 20
    pages: int = 6
    signals: int = 24
    puts: int = 14
    others: int = 10
    clocks: int = 8
    jumps: bool = False  # of the clock: years, back and forth


@dataclass
class Scenario:
    random: Random
    mix: Mix
    schema: Schema = field(init=False)
    clock: int = NOW
    highest: int = NOW

    def __post_init__(self) -> None:
        self.schema = random_schema(self.random)
        self.statements = Statements(self.random, self.schema)
        self.added = 0
        self.living: dict[str, list[Any]] = {kind.name: [] for kind in self.schema.kinds}  # roughly
        self.dead: dict[str, list[Any]] = {kind.name: [] for kind in self.schema.kinds}

    def steps(self) -> list[Step]:
        found: list[Step] = [Create(spec) for spec in (*self.schema.kinds, *self.schema.signals)]
        found += [self.new_profile() for _ in range(self.random.randint(0, 2))]
        for kind in self.schema.kinds:
            found += [self.put(kind) for _ in range(self.random.choice([0, 3, 8, 14]))]
        makers = (
            [self.query] * self.mix.queries + [self.pages] * self.mix.pages + [self.signal] * self.mix.signals
            + [self.any_put] * self.mix.puts + [self.other] * self.mix.others + [self.move_clock] * self.mix.clocks
            + [self.add_field, self.change_profiles, self.change_signals]
        )  # fmt: skip
        for _ in range(self.random.randint(*self.mix.steps)):
            found.append(self.random.choice(makers)())
        found += [Count(kind.name) for kind in self.schema.kinds]
        found += [self.query() for _ in range(3)]
        return found

    def kind(self) -> KindSpec:
        return self.random.choice(self.schema.kinds)

    def key(self, kind: KindSpec) -> Any:
        dead = self.dead[kind.name]
        key = self.random.choice(dead if dead and self.random.random() < 0.4 else self.schema.keys_of(kind))
        self.living[kind.name].append(key)
        return key

    def known_key(self, kind: KindSpec, doubt: float = 0.05) -> Any:
        """Mostly of an item that is there."""
        keys = self.living[kind.name]
        return self.random.choice(keys) if keys and self.random.random() >= doubt else self.random.choice(self.schema.keys_of(kind))

    def put(self, kind: KindSpec) -> Step:
        return Put(kind.name, self.key(kind), random_fields(self.random, kind, self.clock))

    def any_put(self) -> Step:
        kind = self.kind()
        if self.random.random() < 0.7:
            return self.put(kind)
        rows = self.random.randint(0, 5)
        keys = [self.key(kind) for _ in range(rows)]
        columns = {
            spec.name: [random_value(self.random, spec.type) for _ in range(rows)]
            for spec in kind.fields
            if self.random.random() < 0.6 and not spec.expires
        }
        return PutMany(kind.name, keys, columns)

    def other(self) -> Step:
        kind = self.kind()
        sort = self.random.random()
        if sort < 0.4:
            return Patch(kind.name, self.known_key(kind), random_fields(self.random, kind, self.clock, 0.3))
        if sort < 0.6:
            key = self.known_key(kind)
            self.living[kind.name] = [other for other in self.living[kind.name] if other != key]
            self.dead[kind.name].append(key)
            return Delete(kind.name, key)
        if sort < 0.85:
            return Get(kind.name, self.known_key(kind))
        return Count(kind.name) if sort < 0.92 else Maintain()

    def add_field(self) -> Step:
        kind = self.kind()
        self.added += 1
        spec = FieldSpec(f"added{self.added}", self.random.choice([INTEGER, REAL]))
        place = self.schema.kinds.index(kind)
        self.schema.kinds[place] = KindSpec(kind.name, (*kind.fields, spec), kind.integer_keys)
        return AddField(kind.name, spec)

    def new_profile(self) -> Step:
        """Now and then in the place of a built-in one."""
        profile = self.statements.profile(self.random.choice(["own0", "own1", "new", "trending"]))
        if all((old.name, old.kind) != (profile.name, profile.kind) for old in self.statements.profiles):
            self.statements.profiles.append(profile)
        return Create(profile)  # or it exists already

    def change_profiles(self) -> Step:
        profiles = self.statements.profiles
        if not profiles or self.random.random() < 0.4:
            return self.new_profile()
        old = profiles.pop(self.random.randrange(len(profiles)))
        if self.random.random() < 0.4:
            return Drop(old)
        new = self.statements.profile(old.name)
        if new.kind == old.kind:
            profiles.append(new)
        else:
            profiles.append(old)
        return Replace(new)

    def change_signals(self) -> Step:
        """Drops one, or makes one; maybe of the name of one that was dropped."""
        signals = self.schema.signals
        if signals and self.random.random() < 0.5:
            return Drop(signals.pop(self.random.randrange(len(signals))))
        kind = self.kind()
        free = [name for name in SIGNALS if name not in [signal.name for signal in self.schema.signals_of(kind)]]
        if not free:
            return Count(kind.name)
        signal = random_signal(self.random, self.random.choice(free), kind.name)
        signals.append(signal)
        return Create(signal)

    def signal(self) -> Step:
        if not self.schema.signals:
            return self.any_put()
        signal: SignalSpec = self.random.choice(self.schema.signals)
        kind = next(kind for kind in self.schema.kinds if kind.name == signal.kind)
        if self.random.random() < 0.7:
            event_id = self.random.choice(IDS)
            return Signal(kind.name, signal.name, self.known_key(kind), self.random.choice(WEIGHTS), self.event_time(signal), event_id)
        rows = self.random.randint(0, 12)
        keys = [self.known_key(kind, 0.01) for _ in range(self.random.randint(1, 3))]
        return SignalMany(
            kind.name,
            signal.name,
            [self.random.choice(keys) for _ in range(rows)],
            None if self.random.random() < 0.5 else [self.random.choice(WEIGHTS) for _ in range(rows)],
            None if self.random.random() < 0.3 else [self.event_time(signal) or self.clock for _ in range(rows)],
            None if self.random.random() < 0.7 else [self.random.choice(IDS[3:]) for _ in range(rows)],
        )

    def event_time(self, signal: SignalSpec) -> int | None:
        """Now, a little late, at a window's edge, far in the past, ahead of the clock."""
        sort = self.random.random()
        if sort < 0.3:
            return None
        if sort < 0.5:
            at = self.clock - self.random.randint(0, 7_200) * SECOND
        elif sort < 0.7 and signal.windows:
            at = self.clock - self.random.choice(signal.windows) * SECOND + self.random.choice([-SECOND, -1, 0, 1, SECOND])
        elif sort < 0.85:
            at = self.clock - self.random.choice([MINUTE, HOUR, DAY, 7 * DAY, 30 * DAY, YEAR, 40 * YEAR])
        else:
            at = self.clock + self.random.choice([1, SECOND, HOUR, 10 * YEAR])
        return max(0, at)

    def move_clock(self) -> Step:
        """Whether FORGETS and EXPIRES hold after a step back is not said, so with them the clock only goes forward."""
        forward = [0, 1, SECOND, 59 * SECOND, MINUTE, HOUR, 25 * HOUR, 8 * DAY, 31 * DAY, YEAR]
        moves = [*forward, 100 * YEAR] if self.mix.jumps else forward
        settled = any(signal.forgets for signal in self.schema.signals) or any(kind.expiry() for kind in self.schema.kinds)
        if not settled:
            moves = moves + [-1, -SECOND, -HOUR, -DAY] + ([-10 * YEAR] * 3 if self.mix.jumps else [])
        self.clock = min(max(self.clock + self.random.choice(moves), 20 * YEAR), LATEST)
        return Clock(self.clock)

    def query(self) -> Step:
        return Query(*self.statements.statement(self.clock))

    def pages(self) -> Step:
        statement, params = self.statements.statement(self.clock, paged=True)
        turns: list[list[Step]] = []
        if self.random.random() < 0.3:
            turns = [[self.write() for _ in range(self.random.randint(0, 2))] for _ in range(self.random.randint(1, 3))]
        return Pages(statement, params, turns)

    def write(self) -> Step:
        return self.random.choice([self.signal, self.any_put, self.other])()

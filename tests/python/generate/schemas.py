# SPDX-License-Identifier: MIT
"""Random schemas, and keys and values that fit them. Pools are small, so that things meet."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from model import INTEGER, KEYWORD, KEYWORDS, REAL, TEXT, TIME, FieldSpec, FieldType, KindSpec, SignalSpec, vector
from model.values import TIME_MAX, TIME_MIN
from subjects import DAY, HOUR, MINUTE, NOW, YEAR

STRING_KEYS = [*(f"k{n}" for n in range(12)), "é", "it's", "K1", "a b\0c", "z" * 512]
INTEGER_KEYS = [*range(12), 2**31, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1]
WORDS = ["", "a", "b", "A", "ab", "é", "\U0001f600", "it's", "drama", 'say "x"', "z" * 512]
INTEGERS = [0, 1, 2, 3, 5, 60, 90, -1, -7, 2**31, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]
REALS = [0.0, 1.0, 0.5, -2.5, 3.25, 1e-3, 7.7, 1e15, -1e300, 1e300, 5e-324, 9007199254740993.0]
TIMES = [NOW, NOW - DAY, NOW - HOUR, NOW - 7 * DAY, NOW + DAY, NOW - 40 * YEAR, NOW - 54 * YEAR - 14 * DAY, 0, 1, -1, TIME_MIN, TIME_MAX]
DATES = ["2023-12-31", "2024-01-01 00:00", "2024-01-01T12:30:15", "1969-12-31 23:59:59.999999Z", "0001-01-01", "9999-12-31"]
HALF_LIVES = [30, 46, 46, 60, 600, 3_600, 86_400, 604_800, 2_592_000, 3_650 * 86_400]
POWERS = [0.25, 0.5, 1.0, 2.5, 10.0]
# in turn: 60 buckets, 48, 48, 48 (60 s), 60 (7 s), 48, 48, 48, 48
WINDOWS = [60, 3_600, 5_760, 2_880, 420, 86_400, 604_800, 2_592_000, 31_536_000]
SIGNALS = ["view", "like", "dislike", "share", "comment"]


@dataclass
class Schema:
    kinds: list[KindSpec]
    signals: list[SignalSpec]
    pool: int = 0  # keys to draw from; 0: the few odd ones above

    def signals_of(self, kind: KindSpec) -> list[SignalSpec]:
        return [signal for signal in self.signals if signal.kind == kind.name]

    def fields_of(self, kind: KindSpec, *types: FieldType) -> list[str]:
        return [field.name for field in kind.fields if field.type in types]

    def keys_of(self, kind: KindSpec) -> list[Any]:
        if self.pool:
            return list(range(self.pool)) if kind.integer_keys else [f"k{n}" for n in range(self.pool)]
        return INTEGER_KEYS if kind.integer_keys else STRING_KEYS


def random_kind(random: Random, name: str) -> KindSpec:
    fields = [
        FieldSpec("minutes", INTEGER, "duration" if random.random() < 0.5 else None),
        FieldSpec("votes", INTEGER),
        FieldSpec("rating", REAL),
        FieldSpec("gross", REAL),
        FieldSpec("released", TIME, "created" if random.random() < 0.5 else None),
        FieldSpec("director", KEYWORD, "author" if random.random() < 0.5 else None),
        FieldSpec("genres", KEYWORDS),
        FieldSpec("name", random.choice([TEXT, KEYWORD]), "title" if random.random() < 0.5 else None),
        FieldSpec("look", vector(3)),
        FieldSpec("odd name", random.choice([INTEGER, KEYWORD])),
    ]
    kept = [field for field in fields if random.random() < 0.7] or fields[:1]
    if random.random() < 0.25:
        kept.append(FieldSpec("until", TIME, expires=True))
    return KindSpec(name, tuple(kept), random.random() < 0.4)


def random_signal(random: Random, name: str, kind: str) -> SignalSpec:
    windows = tuple(random.sample(WINDOWS, random.randint(0, 4)))
    sort = random.random()
    if sort < 0.7:
        return SignalSpec(name, kind, half_life=random.choice(HALF_LIVES), windows=windows, forgets=random.random() < 0.3)
    return SignalSpec(name, kind, power=random.choice(POWERS) if sort < 0.85 else None, windows=windows)


def random_schema(random: Random) -> Schema:
    kinds = [random_kind(random, name) for name in (["film", "person"] if random.random() < 0.3 else ["film"])]
    signals = [
        random_signal(random, name, kind.name) for kind in kinds for name in random.sample(SIGNALS, random.randint(0, 3))
    ]
    return Schema(kinds, signals)


def random_value(random: Random, kind: FieldType) -> Any:
    """A value that fits, as a caller may give it."""
    if random.random() < 0.15:
        return None
    match kind.name:
        case "INTEGER":
            return random.choice(INTEGERS) if random.random() < 0.5 else random.randint(0, 9)
        case "REAL":
            return random.choice([*REALS, random.randint(-3, 3)]) if random.random() < 0.5 else random.randint(0, 40) / 8
        case "TIME":
            return random.choice([*TIMES, *DATES]) if random.random() < 0.6 else NOW - random.randint(0, 100) * HOUR
        case "KEYWORD" | "TEXT":
            return random.choice(WORDS)
        case "KEYWORDS":
            return [random.choice(WORDS) for _ in range(random.randint(0, 4))]
    return [random.choice([0.0, 1.0, -0.5, 0.1, 3]) for _ in range(kind.size)]


def random_fields(random: Random, kind: KindSpec, clock: int, share: float = 0.8) -> dict[str, Any]:
    fields = {}
    for field in kind.fields:
        if random.random() < share:
            value = random_value(random, field.type)
            if field.expires and value is not None:  # mostly still to come
                value = clock + random.choice([MINUTE, MINUTE, HOUR, 25 * HOUR, 400 * DAY, -1])
            fields[field.name] = value
    return fields

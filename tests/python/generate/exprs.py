# SPDX-License-Identifier: MIT
"""Random numeric expressions and conditions over one kind; some literals become parameters."""

from __future__ import annotations

from random import Random
from typing import Any

from model import INTEGER, KEYWORD, KEYWORDS, REAL, TEXT, TIME, KindSpec, SignalSpec
from model.calls import Age, Call, Count, Decay, If, Last, Recency, Rise, Sum, Velocity
from model.expr import (
    Arithmetic, Comparison, Expr, Field, In, IsNull, Key, Literal, Logic, Negate, Not, Param, Span,
)  # fmt: skip
from model.schema import ALL, Window, duration

from .schemas import DATES, INTEGERS, REALS, TIMES, WORDS, Schema

SPANS = ["30s", "1m", "90m", "1h", "24h", "7d", "2w", "365d"]
PLAIN = [0, 1, 2, 3, 10, 0.5, 0.25, 1.5, 100, -1, -2.5]
COMPARISONS = ["=", "!=", "<", "<=", ">", ">="]


class Exprs:
    """params gathers what the parameters stand for."""

    def __init__(self, random: Random, schema: Schema, kind: KindSpec) -> None:
        self.random, self.schema, self.kind = random, schema, kind
        self.signals: list[SignalSpec] = schema.signals_of(kind)
        self.params: list[Any] = []
        self.names: list[str] = []  # parameters of a profile
        self.may_param = True

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def param(self, value: Any) -> Param:
        """Mostly a new one; now and then one that is there already."""
        if value is not None and value in self.params and self.chance(0.5):
            same = self.params.index(value)
            if type(self.params[same]) is type(value):
                return Param(same + 1)
        self.params.append(value)
        return Param(len(self.params))

    def literal(self, value: Any) -> Expr:
        if not self.may_param:
            return Literal("ab" if value in (None, "a b\0c") else value)  # no statement holds a NUL
        if value in (None, "a b\0c") or self.chance(0.3):
            return self.param(value)
        return Literal(value)

    def fields(self, *types: Any) -> list[str]:
        return self.schema.fields_of(self.kind, *types)

    # numbers

    def constant(self) -> Expr:
        sort = self.random.random()
        if sort < 0.1:
            return self.span()
        if sort < 0.25:
            return self.literal(self.random.choice(INTEGERS))
        if sort < 0.4:
            return self.literal(self.random.choice(REALS))
        if sort < 0.45 and self.names:
            return Field(self.random.choice(self.names))
        return self.literal(self.random.choice(PLAIN))

    def span(self) -> Span:
        text = self.random.choice(SPANS)
        return Span(text, duration(text))

    def window(self, signal: SignalSpec, all_too: bool = True) -> Window | None:
        choices = [*signal.windows, *([ALL] if all_too else [])]
        return self.random.choice(choices) if choices else None

    def reading(self) -> Expr:
        signal = self.random.choice(self.signals)
        sort = self.random.randint(0, 6)
        bounded = self.window(signal, all_too=False)
        if sort <= 1:
            return Decay(signal.name)
        if sort == 2:
            return Age(Last(signal.name))
        if sort == 3 and bounded is not None:
            return Velocity(signal.name, bounded)
        if sort == 4 and bounded is not None:
            return Rise(signal.name, bounded, self.random.choice(signal.windows))
        if sort == 5:
            return Sum(signal.name, self.window(signal) or ALL)
        return Count(signal.name, self.window(signal) or ALL)

    def time(self) -> Expr:
        names = self.fields(TIME)
        if names and self.chance(0.8):
            return Field(self.random.choice(names))
        return Field("created")

    def atom(self) -> Expr:
        sort = self.random.random()
        names = self.fields(INTEGER, REAL)
        if sort < 0.4 and self.signals:
            return self.reading()
        if sort < 0.7 and names:
            return Field(self.random.choice(names))
        if sort < 0.78:
            return Age(self.time())
        if sort < 0.86:
            return Recency(self.time(), self.span())
        if sort < 0.9:
            return Call("random", (self.constant(),))
        return self.constant()

    def number(self, depth: int = 2) -> Expr:
        if depth <= 0 or self.chance(0.25):
            return self.atom()
        sort = self.random.random()
        if sort < 0.5:
            return Arithmetic(self.random.choice("+-*/"), self.number(depth - 1), self.number(depth - 1))
        if sort < 0.57:
            operand = self.number(depth - 1)
            return operand if isinstance(operand, (Literal, Span)) else Negate(operand)
        if sort < 0.67:
            return If(self.condition(depth - 1), self.number(depth - 1), self.number(depth - 1))
        if sort < 0.72:
            return Arithmetic(self.random.choice("+*"), self.condition(depth - 1), self.number(depth - 1))
        return self.call(depth)

    def call(self, depth: int) -> Call:
        name = self.random.choice(["min", "max", "abs", "sign", "sqrt", "log1p", "exp", "pow", "wilson"])
        arity = {"min": self.random.randint(2, 4), "max": self.random.randint(2, 4), "pow": 2, "wilson": 2}.get(name, 1)
        return Call(name, tuple(self.number(depth - 1) for _ in range(arity)))

    # conditions

    def condition(self, depth: int = 2) -> Expr:
        if depth <= 0 or self.chance(0.4):
            return self.predicate(depth)
        sort = self.random.random()
        if sort < 0.25:
            return Not(self.condition(depth - 1))
        return Logic("AND" if sort < 0.65 else "OR", self.condition(depth - 1), self.condition(depth - 1))

    def predicate(self, depth: int) -> Expr:
        makers = [self.about_number, self.about_number, self.about_key, lambda: self.about_expression(depth)]
        if self.fields(TIME):
            makers.append(self.about_time)
        if self.fields(KEYWORD, TEXT):
            makers += [self.about_text] * 2
        if self.fields(KEYWORDS):
            makers += [self.about_keywords] * 2
        if self.signals:
            makers.append(self.about_signal)
        return self.random.choice(makers)()

    def compare(self, operand: Expr, value: Any, null: float = 0.05, ops: list[str] = COMPARISONS) -> Comparison:
        if self.may_param and self.chance(null):
            value = None
        op, right = self.random.choice(ops), self.literal(value)
        return Comparison(op, right, operand) if self.chance(0.1) else Comparison(op, operand, right)

    def test(self, operand: Expr, values: list[Any], ops: list[str] = COMPARISONS) -> Expr:
        """A comparison, IN or IS NULL, with values of the pool."""
        sort = self.random.random()
        if sort < 0.15:
            return IsNull(operand, self.chance(0.4))
        if sort < 0.5:
            chosen = [self.random.choice(values) for _ in range(self.random.randint(1, 4))]
            negated = self.chance(0.3)
            if self.may_param and self.chance(0.4):
                chosen = chosen[: self.random.randint(0, len(chosen))] + [None] * self.chance(0.15)
                return In(operand, self.param(chosen), negated)
            return In(operand, tuple(self.literal(value) for value in chosen), negated)
        return self.compare(operand, self.random.choice(values), ops=ops)

    def about_number(self) -> Expr:
        names = self.fields(INTEGER, REAL)
        if not names:
            return self.about_key()
        left = Field(self.random.choice(names))
        if len(names) > 1 and self.chance(0.2):
            return Comparison(self.random.choice(COMPARISONS), left, Field(self.random.choice(names)))
        return self.test(left, [*INTEGERS, *REALS, *PLAIN])

    def about_time(self) -> Expr:
        left = Field(self.random.choice(self.fields(TIME)))
        if self.chance(0.2):
            return Comparison(self.random.choice(COMPARISONS), left, self.time())
        return self.test(left, [*TIMES, *DATES])

    def about_text(self) -> Expr:
        return self.test(Field(self.random.choice(self.fields(KEYWORD, TEXT))), WORDS)

    def about_keywords(self) -> Expr:
        return self.test(Field(self.random.choice(self.fields(KEYWORDS))), WORDS, ["=", "!="])

    def about_key(self) -> Expr:
        return self.test(Key(), self.schema.keys_of(self.kind))

    def about_signal(self) -> Expr:
        if self.chance(0.2):
            return IsNull(Last(self.random.choice(self.signals).name), self.chance(0.5))
        return self.test(self.reading(), [0, 1, 2, 3, 0.5, 0.731, 10])

    def about_expression(self, depth: int) -> Expr:
        return Comparison(self.random.choice(COMPARISONS), self.number(depth - 1), self.number(depth - 1))

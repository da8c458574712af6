# SPDX-License-Identifier: MIT
"""Function calls of the language, and short constructors for tests: decay("view"), count("view", "24h"), F("minutes") ..."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import functions as fn
from .env import Env
from .expr import Comparison, Expr, Field, In, IsNull, Key, Literal, Param, Score, Span, expr, number, truth
from .schema import ALL, Window, duration, name_text, window, window_text
from .signals import Cell
from .values import MICROS, ModelError

HOUR = 3_600
DECAY_ERROR = 3e-8  # what a decayed sum of many events may be off by, relatively
FUNCTION_ERROR = 1e-11  # the same for exp2, log and what is made of them
ROUNDING = 1e-14  # where the order of a few operations is not said
TINY = 1e-290  # below it a result may lose its digits


@dataclass(frozen=True)
class Decay(Expr):
    signal: str
    optional: bool = False

    def text(self) -> str:
        return f"decay({name_text(self.signal)})"

    def value(self, env: Env) -> float:
        cell = env.cell(self.signal, self.optional)
        if cell is None:
            return 0.0
        error = DECAY_ERROR if cell.spec.half_life is not None else FUNCTION_ERROR
        return cell.floored(env.near(self.text(), cell.decay(env.now), error))


@dataclass(frozen=True)
class Count(Expr):
    signal: str
    window: Window
    optional: bool = False  # in built-in profiles: 0 where the signal is missing

    def text(self) -> str:
        return f"count({name_text(self.signal)}, {window_text(self.window)})"

    def value(self, env: Env) -> float:
        cell = env.cell(self.signal, self.optional)
        return 0.0 if cell is None else counted(env, cell, self.window)


def counted(env: Env, cell: Cell, window: Window) -> float:
    if cell.leaving(window, env.now, env.latest):
        env.nearness.open = True
    return float(cell.count(window, env.now))


@dataclass(frozen=True)
class Sum(Expr):
    signal: str
    window: Window

    def text(self) -> str:
        return f"sum({name_text(self.signal)}, {window_text(self.window)})"

    def value(self, env: Env) -> float:
        cell = env.cell(self.signal, False)
        value = cell.sum(self.window, env.now)
        if cell.leaving(self.window, env.now, env.latest):
            env.nearness.open = True
        return env.near(self.text(), value, 1e-12, 1e-12 * cell.sum(ALL, env.now))


@dataclass(frozen=True)
class Velocity(Expr):
    signal: str
    window: Window
    optional: bool = False

    def text(self) -> str:
        return f"velocity({name_text(self.signal)}, {window_text(self.window)})"

    def value(self, env: Env) -> float:
        if self.window == ALL:
            raise ModelError("EAGRE_UNKNOWN", "velocity over all time")
        cell = env.cell(self.signal, self.optional)
        if cell is None:
            return 0.0
        return env.near(self.text(), counted(env, cell, self.window) / (int(self.window) / HOUR), ROUNDING)


@dataclass(frozen=True)
class Rise(Expr):
    signal: str
    short: Window
    long: Window

    def text(self) -> str:
        return f"rise({name_text(self.signal)}, {window_text(self.short)}, {window_text(self.long)})"

    def value(self, env: Env) -> float:
        if ALL in (self.short, self.long):
            raise ModelError("EAGRE_UNKNOWN", "rise over all time")
        cell = env.cell(self.signal, False)
        a, b = int(self.short), int(self.long)
        value = (counted(env, cell, a) + 1) / (counted(env, cell, b) * a / b + 1)
        return env.near(self.text(), value, ROUNDING)


@dataclass(frozen=True)
class Last(Expr):
    signal: str

    def text(self) -> str:
        return f"last({name_text(self.signal)})"

    def value(self, env: Env) -> int | None:
        return env.cell(self.signal, False).last(env.now)

    def is_time(self, env: Env) -> bool:
        return True


@dataclass(frozen=True)
class Age(Expr):
    """Of a TIME field or last(s), in seconds; a null counts from 1970, the future is 0."""

    operand: Expr

    def text(self) -> str:
        return f"age({self.operand.text()})"

    def value(self, env: Env) -> float:
        return seconds_since(self.operand, env)


def seconds_since(operand: Expr, env: Env) -> float:
    if not operand.is_time(env):
        raise ModelError("EAGRE_TYPE", f"{operand.text()} is no time")
    return max(0, env.now - (operand.value(env) or 0)) / MICROS


@dataclass(frozen=True)
class Recency(Expr):
    operand: Expr
    half_life: Span

    def text(self) -> str:
        return f"recency({self.operand.text()}, {self.half_life.text()})"

    def value(self, env: Env) -> float:
        age, half_life = seconds_since(self.operand, env), self.half_life.seconds
        if self.operand.value(env) is None:
            return 0.0
        return env.near(self.text(), fn.recency(age, half_life), FUNCTION_ERROR, TINY)


@dataclass(frozen=True)
class If(Expr):
    condition: Expr
    then: Expr
    other: Expr

    def text(self) -> str:
        return f"if({self.condition.text()}, {self.then.text()}, {self.other.text()})"

    def value(self, env: Env) -> float:
        then, other = number(self.then, env), number(self.other, env)
        return then if truth(self.condition, env) is True else other


FUNCTIONS: dict[str, tuple[Callable[..., float], float]] = {
    "abs": (abs, 0),
    "sign": (fn.sign, 0),
    "sqrt": (fn.sqrt, 0),
    "log1p": (fn.log1p, FUNCTION_ERROR),
    "exp": (fn.exp, FUNCTION_ERROR),
    "pow": (fn.power, FUNCTION_ERROR),
    "wilson": (fn.wilson, FUNCTION_ERROR),
    "min": (min, 0),
    "max": (max, 0),
}


@dataclass(frozen=True)
class Call(Expr):
    """One of FUNCTIONS, or random(seed)."""

    name: str
    arguments: tuple[Expr, ...]

    def text(self) -> str:
        return f"{self.name}({', '.join(argument.text() for argument in self.arguments)})"

    def value(self, env: Env) -> float:
        arguments = [number(argument, env) for argument in self.arguments]
        if self.name == "random":
            return fn.random01(arguments[0], env.slot())
        function, error = FUNCTIONS[self.name]
        value = float(function(*arguments))
        return env.near(self.text(), value, error, TINY) if error else value


# Short forms for tests.

F = Field
KEY, SCORE = Key(), Score()


def P(index: int) -> Param:
    return Param(index)


def span(text: str) -> Span:
    return Span(text, duration(text))


def decay(signal: str) -> Decay:
    return Decay(signal)


def count(signal: str, over: Window) -> Count:
    return Count(signal, window(over))


def total(signal: str, over: Window) -> Sum:
    return Sum(signal, window(over))


def velocity(signal: str, over: Window) -> Velocity:
    return Velocity(signal, window(over))


def rise(signal: str, short: Window, long: Window) -> Rise:
    return Rise(signal, window(short), window(long))


def last(signal: str) -> Last:
    return Last(signal)


def age(operand: str | Expr) -> Age:
    return Age(F(operand) if isinstance(operand, str) else operand)


def recency(operand: str | Expr, half_life: str) -> Recency:
    return Recency(F(operand) if isinstance(operand, str) else operand, span(half_life))


def call(name: str, *arguments: Any) -> Call:
    return Call(name, tuple(expr(argument) for argument in arguments))


def if_(condition: Expr, then: Any, other: Any) -> If:
    return If(condition, expr(then), expr(other))


def compare(op: str, left: Any, right: Any) -> Comparison:
    return Comparison(op, expr(left), expr(right))


def eq(left: Any, right: Any) -> Comparison:
    return compare("=", left, right)


def ne(left: Any, right: Any) -> Comparison:
    return compare("!=", left, right)


def lt(left: Any, right: Any) -> Comparison:
    return compare("<", left, right)


def le(left: Any, right: Any) -> Comparison:
    return compare("<=", left, right)


def gt(left: Any, right: Any) -> Comparison:
    return compare(">", left, right)


def ge(left: Any, right: Any) -> Comparison:
    return compare(">=", left, right)


def in_(operand: Any, *choices: Any, negated: bool = False) -> In:
    if len(choices) == 1 and isinstance(choices[0], Param):
        return In(expr(operand), choices[0], negated)
    return In(expr(operand), tuple(Literal(c) if not isinstance(c, Expr) else c for c in choices), negated)


def is_null(operand: Any, negated: bool = False) -> IsNull:
    return IsNull(expr(operand), negated)

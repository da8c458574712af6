# SPDX-License-Identifier: MIT
"""Expressions: each node says itself in eagre's language (text) and computes itself (value).

A value is None, int, float, str, bytes, a tuple of str, or (of a condition) True, False, None. Arithmetic takes `number(node)`:
f64, null and a null condition as 0. `env` answers what a node asks of the row at hand (see env.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from . import functions as fn
from .env import Env
from .schema import name_text
from .values import ModelError, Truth, and3, as_bytes, compare, not3, or3, time_of

OR, AND, NOT, COMPARE, ADD, MULTIPLY, NEGATE, ATOM = range(1, 9)


class Expr:
    """Operators build arithmetic; comparisons have names (eq, lt, ...), since == compares nodes."""

    level = ATOM

    def text(self) -> str:
        raise NotImplementedError

    def value(self, env: Env) -> Any:
        raise NotImplementedError

    def is_time(self, env: Env) -> bool:
        return False

    def inner(self, child: Expr, least: int) -> str:
        return child.text() if child.level >= least else f"({child.text()})"

    def __add__(self, other: Any) -> Expr:
        return Arithmetic("+", self, expr(other))

    def __radd__(self, other: Any) -> Expr:
        return Arithmetic("+", expr(other), self)

    def __sub__(self, other: Any) -> Expr:
        return Arithmetic("-", self, expr(other))

    def __rsub__(self, other: Any) -> Expr:
        return Arithmetic("-", expr(other), self)

    def __mul__(self, other: Any) -> Expr:
        return Arithmetic("*", self, expr(other))

    def __rmul__(self, other: Any) -> Expr:
        return Arithmetic("*", expr(other), self)

    def __truediv__(self, other: Any) -> Expr:
        return Arithmetic("/", self, expr(other))

    def __rtruediv__(self, other: Any) -> Expr:
        return Arithmetic("/", expr(other), self)

    def __neg__(self) -> Expr:
        return Negate(self)

    def __and__(self, other: Expr) -> Expr:
        return Logic("AND", self, other)

    def __or__(self, other: Expr) -> Expr:
        return Logic("OR", self, other)

    def __invert__(self) -> Expr:
        return Not(self)


def expr(value: Any) -> Expr:
    return value if isinstance(value, Expr) else Literal(value)


def number(node: Expr, env: Env) -> float:
    value = node.value(env)
    if value is None:
        return 0.0
    if isinstance(value, datetime):
        value = time_of(value)
    if not isinstance(value, (int, float)):
        raise ModelError("EAGRE_TYPE", f"{node.text()} is no number")
    return fn.finite(float(value))


def truth(node: Expr, env: Env) -> Truth:
    value = node.value(env)
    if value is not None and not isinstance(value, bool):
        raise ModelError("EAGRE_TYPE", f"{node.text()} is no condition")
    return value


@dataclass(frozen=True)
class Literal(Expr):
    """An integer, a real or a text; a negative one is its literal with a minus before it."""

    literal: int | float | str

    @property
    def level(self) -> int:  # type: ignore[override]
        negative = not isinstance(self.literal, str) and str(self.literal).startswith("-")
        return NEGATE if negative else ATOM

    def text(self) -> str:
        if isinstance(self.literal, str):
            return "'" + self.literal.replace("'", "''") + "'"
        return repr(self.literal)

    def value(self, env: Env) -> Any:
        return self.literal


@dataclass(frozen=True)
class Span(Expr):
    """A duration where a number is wanted: its seconds."""

    written: str
    seconds: int

    def text(self) -> str:
        return self.written

    def value(self, env: Env) -> Any:
        return self.seconds


@dataclass(frozen=True)
class Param(Expr):
    """?1, ?2, ..."""

    index: int

    def text(self) -> str:
        return f"?{self.index}"

    def value(self, env: Env) -> Any:
        value = env.param(self.index)
        return time_of(value) if isinstance(value, datetime) else value


@dataclass(frozen=True)
class Field(Expr):
    """A field, a role, or a parameter of the profile (which hides a field of its name)."""

    name: str

    def text(self) -> str:
        return name_text(self.name)

    def value(self, env: Env) -> Any:
        return env.field(self.name)

    def is_time(self, env: Env) -> bool:
        return env.is_time(self.name)


@dataclass(frozen=True)
class Key(Expr):
    def text(self) -> str:
        return "key"

    def value(self, env: Env) -> Any:
        return env.key()


@dataclass(frozen=True)
class Score(Expr):
    """In RETURN only."""

    def text(self) -> str:
        return "score"

    def value(self, env: Env) -> Any:
        return env.score


@dataclass(frozen=True)
class Arithmetic(Expr):
    op: str
    left: Expr
    right: Expr

    @property
    def level(self) -> int:  # type: ignore[override]
        return ADD if self.op in "+-" else MULTIPLY

    def text(self) -> str:
        return f"{self.inner(self.left, self.level)} {self.op} {self.inner(self.right, self.level + 1)}"

    def value(self, env: Env) -> float:
        a, b = number(self.left, env), number(self.right, env)
        match self.op:
            case "+":
                return fn.finite(a + b)
            case "-":
                return fn.finite(a - b)
            case "*":
                return fn.finite(a * b)
        return fn.divide(a, b)


@dataclass(frozen=True)
class Negate(Expr):
    """Before anything but a literal, which takes its minus itself."""

    operand: Expr
    level = NEGATE

    def text(self) -> str:
        literal = isinstance(self.operand, (Literal, Span))
        return f"-({self.operand.text()})" if literal else f"-{self.inner(self.operand, ATOM)}"

    def value(self, env: Env) -> float:
        return -number(self.operand, env)


@dataclass(frozen=True)
class Comparison(Expr):
    op: str
    left: Expr
    right: Expr
    level = COMPARE

    def text(self) -> str:
        return f"{self.inner(self.left, ADD)} {self.op} {self.inner(self.right, ADD)}"

    def value(self, env: Env) -> Truth:
        a, b = side(self.left, env), side(self.right, env)
        if isinstance(a, tuple):
            return contains(self.op, a, b)
        if isinstance(b, tuple):
            return contains(self.op, b, a)
        if self.left.is_time(env):
            b = as_time(b)
        if self.right.is_time(env):
            a = as_time(a)
        return compare(self.op, a, a if env.alike(a, b) else b)


def side(node: Expr, env: Env) -> Any:
    """A condition beside a comparison is its number."""
    value = number(node, env) if node.level < ADD else node.value(env)
    if isinstance(value, list):
        raise ModelError("EAGRE_TYPE", "a list where one value was expected")
    return value


def as_time(value: Any) -> Any:
    return time_of(value) if isinstance(value, str) else value


def contains(op: str, words: tuple[str, ...], word: Any) -> Truth:
    """KEYWORDS: = is contains, != its NOT."""
    if op not in ("=", "!="):
        raise ModelError("EAGRE_TYPE", f"{op} of a set")
    if word is None:
        return None
    if not isinstance(word, (str, bytes)):
        raise ModelError("EAGRE_TYPE", "a set compared with a number")
    found = as_bytes(word) in [as_bytes(w) for w in words]
    return found if op == "=" else not found


@dataclass(frozen=True)
class In(Expr):
    """x IN (a, b, ...) or x IN ?n; negated: NOT IN."""

    operand: Expr
    choices: tuple[Expr, ...] | Param
    negated: bool = False
    level = COMPARE

    def text(self) -> str:
        if isinstance(self.choices, Param):
            listed = self.choices.text()
        else:
            listed = "(" + ", ".join(choice.text() for choice in self.choices) + ")"
        return f"{self.inner(self.operand, ADD)} {'NOT IN' if self.negated else 'IN'} {listed}"

    def value(self, env: Env) -> Truth:
        if isinstance(self.choices, Param):
            values: Any = self.choices.value(env)
            if values is not None and not isinstance(values, (list, tuple)):
                raise ModelError("EAGRE_TYPE", "a list was expected")
            choices: Sequence[Any] | None = values
        else:
            choices = [choice.value(env) for choice in self.choices]
        if choices is None:
            return None
        found: Truth = False
        for choice in choices:
            found = or3(found, Comparison("=", Known(self.operand, side(self.operand, env)), Literal(choice)).value(env))
        return not3(found) if self.negated else found


@dataclass(frozen=True)
class Known(Expr):
    """A node whose value is known already; still a time where the node is."""

    node: Expr
    known: Any

    def value(self, env: Env) -> Any:
        return self.known

    def is_time(self, env: Env) -> bool:
        return self.node.is_time(env)


@dataclass(frozen=True)
class IsNull(Expr):
    operand: Expr
    negated: bool = False
    level = COMPARE

    def text(self) -> str:
        return f"{self.inner(self.operand, ADD)} {'IS NOT NULL' if self.negated else 'IS NULL'}"

    def value(self, env: Env) -> bool:
        return (side(self.operand, env) is None) != self.negated


@dataclass(frozen=True)
class Logic(Expr):
    op: str
    left: Expr
    right: Expr

    @property
    def level(self) -> int:  # type: ignore[override]
        return AND if self.op == "AND" else OR

    def text(self) -> str:
        return f"{self.inner(self.left, self.level)} {self.op} {self.inner(self.right, self.level + 1)}"

    def value(self, env: Env) -> Truth:
        join = and3 if self.op == "AND" else or3
        return join(truth(self.left, env), truth(self.right, env))


@dataclass(frozen=True)
class Not(Expr):
    operand: Expr
    level = NOT

    def text(self) -> str:
        return f"NOT {self.inner(self.operand, NOT + 1)}"

    def value(self, env: Env) -> Truth:
        return not3(truth(self.operand, env))

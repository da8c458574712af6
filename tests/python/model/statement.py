# SPDX-License-Identifier: MIT
"""RETRIEVE as data; text() says it in eagre's language."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from .expr import Expr, Literal, Param
from .schema import name_text


@dataclass(frozen=True)
class OrderKey:
    name: str  # a field, a role, or "key"
    descending: bool = False
    explicit: bool = False  # say ASC too

    def text(self) -> str:
        name = "key" if self.name == "key" else name_text(self.name)
        return name + (" DESC" if self.descending else " ASC" if self.explicit else "")


@dataclass(frozen=True)
class UsingProfile:
    name: str
    arguments: tuple[tuple[str, Expr], ...] = ()

    def text(self) -> str:
        arguments = ", ".join(f"{name_text(name)} = {value.text()}" for name, value in self.arguments)
        return f"USING {name_text(self.name)}" + (f"({arguments})" if self.arguments else "")


@dataclass(frozen=True)
class UsingExpr:
    expr: Expr

    def text(self) -> str:
        return f"USING {self.expr.text()}"


@dataclass(frozen=True)
class OrderBy:
    keys: tuple[OrderKey, ...]

    def text(self) -> str:
        return "ORDER BY " + ", ".join(key.text() for key in self.keys)


@dataclass(frozen=True)
class Per:
    """At most `most` rows of one value in any `window` consecutive rows."""

    field: str
    most: int
    window: int

    def text(self) -> str:
        return f"{name_text(self.field)} {self.most} PER {self.window}"


@dataclass(frozen=True)
class Share:
    """At most max(1, floor(share * LIMIT)) rows of one value on a page."""

    field: str
    share: float

    def text(self) -> str:
        return f"{name_text(self.field)} SHARE {self.share!r}"


@dataclass(frozen=True)
class Return:
    expr: Expr
    alias: str | None = None

    def text(self) -> str:
        return self.expr.text() + (f" AS {name_text(self.alias)}" if self.alias else "")

    def column(self) -> str:
        return self.alias or self.expr.text()


@dataclass(frozen=True)
class Retrieve:
    kind: str
    ranking: UsingProfile | UsingExpr | OrderBy | None = None
    where: Expr | None = None
    exclude: Param | tuple[int | str, ...] | None = None
    diversity: tuple[Per | Share, ...] = ()
    returns: tuple[Return, ...] = ()
    count: bool = False
    limit: int | Param | None = None
    after: Param | None = None
    at: int | str | Param | None = None
    exhaustive: bool = False
    explain: bool = False

    def text(self) -> str:
        parts = ["EXPLAIN"] if self.explain else []
        parts += ["RETRIEVE", name_text(self.kind)]
        if self.ranking is not None:
            parts.append(self.ranking.text())
        if self.where is not None:
            parts.append("WHERE " + self.where.text())
        if isinstance(self.exclude, Param):
            parts.append("EXCLUDE " + self.exclude.text())
        elif self.exclude is not None:
            parts.append("EXCLUDE (" + ", ".join(Literal(key).text() for key in self.exclude) + ")")
        if self.diversity:
            parts.append("DIVERSITY " + ", ".join(rule.text() for rule in self.diversity))
        if self.returns:
            parts.append("RETURN " + ", ".join(item.text() for item in self.returns))
        if self.count:
            parts.append("COUNT")
        for word, value in (("LIMIT", self.limit), ("AFTER", self.after), ("AT", self.at)):
            if value is not None:
                parts.append(f"{word} {value.text() if isinstance(value, Param) else Literal(value).text()}")
        if self.exhaustive:
            parts.append("EXHAUSTIVE")
        return " ".join(parts)


def highest_param(node: Any) -> int:
    """The n of the highest ?n in a statement; 0 without any."""
    if isinstance(node, Param):
        return node.index
    if isinstance(node, (tuple, list)):
        return max(map(highest_param, node), default=0)
    return max((highest_param(getattr(node, part.name)) for part in fields(node)), default=0) if is_dataclass(node) else 0


def signals_in(node: Any) -> set[str]:
    """Names of the signals an expression uses."""
    if isinstance(node, (tuple, list)):
        return set().union(*map(signals_in, node))
    if not is_dataclass(node):
        return set()
    found = set().union(*(signals_in(getattr(node, part.name)) for part in fields(node)))
    return found | ({node.signal} if hasattr(node, "signal") else set())

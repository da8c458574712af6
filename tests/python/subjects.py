# SPDX-License-Identifier: MIT
"""One face over model and engine, so that a test says what it wants once. Statements are data (model.statement); the engine gets
their text. Keys come back as int or bytes, sets and vectors as tuples, errors as ModelError with the code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

import pytest

from model import KindSpec, Model, ModelError, ProfileSpec, Result, Retrieve, Row, SignalSpec
from model.calls import KEY, SCORE
from model.expr import Expr, Field
from model.schema import FieldSpec
from model.statement import Return, UsingExpr
from model.values import MICROS, as_bytes

try:
    import eagre
except ImportError as error:
    eagre, MISSING = None, str(error)
else:
    MISSING = ""

NOW = 1_704_067_200 * MICROS  # 2024-01-01 00:00:00, a whole number of days since 1970
MINUTE, HOUR, DAY = 60 * MICROS, 3_600 * MICROS, 86_400 * MICROS
YEAR = 365 * DAY

Spec = KindSpec | SignalSpec | ProfileSpec


class Subject(Protocol):
    def create(self, *specs: Spec) -> None: ...
    def replace(self, spec: ProfileSpec) -> None: ...
    def drop(self, spec: Spec) -> None: ...
    def set_clock(self, now: int) -> None: ...
    def put(self, kind: str, key: Any, fields: Mapping[str, Any]) -> None: ...
    def put_many(self, kind: str, keys: Sequence[Any], columns: Mapping[str, Sequence[Any]]) -> None: ...
    def patch(self, kind: str, key: Any, fields: Mapping[str, Any]) -> None: ...
    def delete(self, kind: str, key: Any) -> None: ...
    def get(self, kind: str, key: Any) -> dict[str, Any]: ...
    def count(self, kind: str) -> int: ...
    def signal(self, name: str, key: Any, weight: float = 1.0, at: Any = None, id: Any = None, kind: str | None = None) -> bool: ...
    def signal_many(
        self, name: str, keys: Sequence[Any], weights: Any = None, at: Any = None, ids: Any = None, kind: str | None = None
    ) -> int: ...
    def retrieve(self, statement: Retrieve, params: Sequence[Any] = ()) -> Result: ...


class ModelSubject(Model):
    """The model takes several specs at a time; nothing else differs."""

    def create(self, *specs: Spec) -> None:
        for spec in specs:
            super().create(spec)

    def maintain(self) -> None:
        pass

    def close(self) -> None:
        pass


@contextmanager
def translated() -> Any:
    try:
        yield
    except eagre.Error as error:
        raise ModelError(error.code, str(error)) from error


def plain(value: Any) -> Any:
    """As the model keeps it."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        return value
    return tuple(plain(part) for part in value)


def plain_key(key: Any) -> int | bytes:
    return int(key) if isinstance(key, int) else as_bytes(key)


class EngineSubject:
    def __init__(self, now: int) -> None:
        self.db = eagre.open(now=now)

    def create(self, *specs: Spec) -> None:
        for spec in specs:
            with translated():
                self.db.execute(spec.text())

    def replace(self, spec: ProfileSpec) -> None:
        with translated():
            self.db.execute(spec.text("ALTER"))

    def drop(self, spec: Spec) -> None:
        with translated():
            self.db.execute(spec.drop_text())

    def add_fields(self, kind: str, *fields: FieldSpec) -> None:
        with translated():
            self.db.execute(f"ALTER ITEM {kind} ADD " + ", ".join(field.text() for field in fields))

    def set_clock(self, now: int) -> None:
        self.db.set_clock(now)

    def put(self, kind: str, key: Any, fields: Mapping[str, Any]) -> None:
        with translated():
            self.db.put(kind, key, dict(fields))

    def put_many(self, kind: str, keys: Sequence[Any], columns: Mapping[str, Sequence[Any]]) -> None:
        with translated():
            self.db.put_many(kind, keys, dict(columns))

    def patch(self, kind: str, key: Any, fields: Mapping[str, Any]) -> None:
        with translated():
            self.db.patch(kind, key, dict(fields))

    def delete(self, kind: str, key: Any) -> None:
        with translated():
            self.db.delete(kind, key)

    def get(self, kind: str, key: Any) -> dict[str, Any]:
        with translated():
            return {name: plain(value) for name, value in self.db.get(kind, key).items()}

    def count(self, kind: str) -> int:
        with translated():
            return self.db.count(kind)

    def signal(
        self, name: str, key: Any, weight: float = 1.0, at: Any = None, id: Any = None, kind: str | None = None
    ) -> bool:
        with translated():
            return self.db.signal(name, key, weight=weight, at=at, id=id, kind=kind)

    def signal_many(
        self, name: str, keys: Sequence[Any], weights: Any = None, at: Any = None, ids: Any = None, kind: str | None = None
    ) -> int:
        with translated():
            return self.db.signal_many(name, keys, weights=weights, at=at, ids=ids, kind=kind)

    def retrieve(self, statement: Retrieve, params: Sequence[Any] = ()) -> Result:
        columns = [item.column() for item in statement.returns]
        with translated():
            found = self.db.query(statement.text(), *params)
            rows = [
                Row(plain_key(row.key), row.score, {column: plain(row[column]) for column in columns}) for row in found
            ]
        return Result(rows, found.total, found.relaxed, found.cursor)

    def slot(self, kind: str, key: Any) -> int:
        with translated():
            return int(self.db.handle(kind, key)) & 0xFFFF_FFFF

    def maintain(self) -> None:
        self.db.maintain()

    def close(self) -> None:
        """Every test ends with a walk over all invariants."""
        self.db.validate()
        self.db.close()


def open_subject(name: str, now: int) -> ModelSubject | EngineSubject:
    if name == "model":
        return ModelSubject(now)
    need_engine()
    return EngineSubject(now)


def need_engine() -> None:
    if eagre is None:
        pytest.skip(f"the engine is not installed: {MISSING}")


def refused(*codes: str) -> AbstractContextManager[Any]:
    """The block must be refused with one of the codes."""
    return expect_code(codes)


@contextmanager
def expect_code(codes: tuple[str, ...]) -> Any:
    with pytest.raises(ModelError) as caught:
        yield caught
    assert caught.value.code in codes, f"{caught.value} instead of {' or '.join(codes)}"


# Short questions, for tests of single values.


def scores(db: Subject, kind: str, expr: Expr, params: Sequence[Any] = (), **clauses: Any) -> dict[int | bytes, float]:
    statement = Retrieve(kind, UsingExpr(expr), limit=1_000_000, **clauses)
    return {row.key: row.score for row in db.retrieve(statement, params).rows}


def score(db: Subject, kind: str, expr: Expr, params: Sequence[Any] = (), **clauses: Any) -> float:
    """Of the only item."""
    found = list(scores(db, kind, expr, params, **clauses).values())
    assert len(found) == 1
    return found[0]


def returned(db: Subject, kind: str, expr: Expr, params: Sequence[Any] = ()) -> Any:
    """The value RETURN gives of the only item."""
    alias = None if isinstance(expr, Field) or expr in (KEY, SCORE) else "value"
    rows = db.retrieve(Retrieve(kind, returns=(Return(expr, alias),)), params).rows
    assert len(rows) == 1
    return next(iter(rows[0].values.values()))


def matching(db: Subject, kind: str, condition: Expr, params: Sequence[Any] = ()) -> list[int | bytes]:
    """Keys that pass WHERE, sorted."""
    return sorted(db.retrieve(Retrieve(kind, where=condition, limit=1_000_000), params).keys)


def pages(
    db: Subject, statement: Retrieve, params: Sequence[Any], between: Callable[[], None] = lambda: None, most: int = 500
) -> list[Result]:
    """All pages of a statement whose AFTER is its last parameter; most: more are a fault."""
    found: list[Result] = []
    cursor = None
    while True:
        found.append(db.retrieve(statement, [*params, cursor]))
        cursor = found[-1].cursor
        if cursor is None:
            return found
        assert found[-1].rows, "a cursor behind an empty page"
        assert len(found) < most, "pages without an end"
        between()

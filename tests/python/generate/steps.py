# SPDX-License-Identifier: MIT
"""Operations as data. apply() does one on a subject and gives what it answered; script() says it as Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model import ModelError, ProfileSpec, Retrieve
from model.schema import FieldSpec, KindSpec, SignalSpec


def outcome(step: Step, subject: Any) -> Any:
    """What apply gives, or the code of the refusal."""
    try:
        return step.apply(subject)
    except ModelError as error:
        return error.code


def listed(*arguments: Any, **named: Any) -> str:
    said = [repr(argument) for argument in arguments] + [f"{name}={value!r}" for name, value in named.items() if value is not None]
    return "(" + ", ".join(said) + ")"


@dataclass(frozen=True)
class Step:
    def apply(self, subject: Any) -> Any:
        raise NotImplementedError

    def script(self) -> str:
        raise NotImplementedError


@dataclass(frozen=True)
class Create(Step):
    spec: KindSpec | SignalSpec | ProfileSpec

    def apply(self, subject: Any) -> Any:
        return subject.create(self.spec)

    def script(self) -> str:
        return f"db.execute({self.spec.text()!r})"


@dataclass(frozen=True)
class Drop(Step):
    spec: KindSpec | SignalSpec | ProfileSpec

    def apply(self, subject: Any) -> Any:
        return subject.drop(self.spec)

    def script(self) -> str:
        return f"db.execute({self.spec.drop_text()!r})"


@dataclass(frozen=True)
class Replace(Step):
    spec: ProfileSpec

    def apply(self, subject: Any) -> Any:
        return subject.replace(self.spec)

    def script(self) -> str:
        return f"db.execute({self.spec.text('ALTER')!r})"


@dataclass(frozen=True)
class AddField(Step):
    kind: str
    field: FieldSpec

    def apply(self, subject: Any) -> Any:
        return subject.add_fields(self.kind, self.field)

    def script(self) -> str:
        return f"db.execute('ALTER ITEM {self.kind} ADD {self.field.text()}')"


@dataclass(frozen=True)
class Clock(Step):
    to: int

    def apply(self, subject: Any) -> Any:
        return subject.set_clock(self.to)

    def script(self) -> str:
        return f"db.set_clock({self.to})"


@dataclass(frozen=True)
class Put(Step):
    kind: str
    key: Any
    fields: Mapping[str, Any]

    def apply(self, subject: Any) -> Any:
        return subject.put(self.kind, self.key, self.fields)

    def script(self) -> str:
        return "db.put" + listed(self.kind, self.key, self.fields)


@dataclass(frozen=True)
class Patch(Step):
    kind: str
    key: Any
    fields: Mapping[str, Any]

    def apply(self, subject: Any) -> Any:
        return subject.patch(self.kind, self.key, self.fields)

    def script(self) -> str:
        return "db.patch" + listed(self.kind, self.key, self.fields)


@dataclass(frozen=True)
class PutMany(Step):
    kind: str
    keys: Sequence[Any]
    columns: Mapping[str, Sequence[Any]]

    def apply(self, subject: Any) -> Any:
        return subject.put_many(self.kind, self.keys, self.columns)

    def script(self) -> str:
        return "db.put_many" + listed(self.kind, self.keys, self.columns)


@dataclass(frozen=True)
class Delete(Step):
    kind: str
    key: Any

    def apply(self, subject: Any) -> Any:
        return subject.delete(self.kind, self.key)

    def script(self) -> str:
        return "db.delete" + listed(self.kind, self.key)


@dataclass(frozen=True)
class Get(Step):
    kind: str
    key: Any

    def apply(self, subject: Any) -> Any:
        return subject.get(self.kind, self.key)

    def script(self) -> str:
        return "db.get" + listed(self.kind, self.key)


@dataclass(frozen=True)
class Count(Step):
    kind: str

    def apply(self, subject: Any) -> Any:
        return subject.count(self.kind)

    def script(self) -> str:
        return "db.count" + listed(self.kind)


@dataclass(frozen=True)
class Signal(Step):
    kind: str
    name: str
    key: Any
    weight: float = 1.0
    at: int | None = None
    id: int | str | None = None

    def apply(self, subject: Any) -> Any:
        return subject.signal(self.name, self.key, weight=self.weight, at=self.at, id=self.id, kind=self.kind)

    def script(self) -> str:
        return "db.signal" + listed(self.name, self.key, weight=self.weight, at=self.at, id=self.id, kind=self.kind)


@dataclass(frozen=True)
class SignalMany(Step):
    kind: str
    name: str
    keys: Sequence[Any]
    weights: Sequence[float] | None = None
    at: Sequence[int] | None = None
    ids: Sequence[int | str] | None = None

    def apply(self, subject: Any) -> Any:
        return subject.signal_many(self.name, self.keys, weights=self.weights, at=self.at, ids=self.ids, kind=self.kind)

    def script(self) -> str:
        return "db.signal_many" + listed(self.name, self.keys, weights=self.weights, at=self.at, ids=self.ids, kind=self.kind)


@dataclass(frozen=True)
class Maintain(Step):
    def apply(self, subject: Any) -> Any:
        return subject.maintain()

    def script(self) -> str:
        return "db.maintain()"


@dataclass(frozen=True)
class Query(Step):
    """Compared by compare.check_query, not by its outcome."""

    statement: Retrieve
    params: Sequence[Any]

    def script(self) -> str:
        arguments = "".join(f", {value!r}" for value in self.params)
        return f"db.query({self.statement.text()!r}{arguments})"


@dataclass(frozen=True)
class Pages(Step):
    """All pages; between two of them the writes of `between` happen, one list for each turn. AFTER is the last parameter."""

    statement: Retrieve
    params: Sequence[Any]
    between: Sequence[Sequence[Step]] = ()

    def script(self) -> str:
        arguments = "".join(f", {value!r}" for value in self.params)
        writes = "".join(f"\n    # between: {step.script()}" for turn in self.between for step in turn)
        return f"pages of db.query({self.statement.text()!r}{arguments}, cursor){writes}"

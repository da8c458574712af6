# SPDX-License-Identifier: MIT
"""The whole model: kinds, items, signals, and the verbs of the Python face. Where the engine raises eagre.Error it raises
ModelError with the same code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .retrieve import Result, Retrieval, check_profile
from .schema import FieldSpec, KindSpec, ProfileSpec, SignalSpec
from .signals import Signal, check_event
from .statement import Retrieve
from .store import Item, Kind
from .values import ModelError, check_key, time_of

SlotSource = Callable[[str, int | bytes], int]


class Model:
    """slot_of tells the slot of a new item; by default slots count first puts."""

    def __init__(self, now: int = 0, slot_of: SlotSource | None = None) -> None:
        self.clock = self.latest = now
        self.kinds: dict[str, Kind] = {}
        self.puts = 0
        self.slot_of = slot_of or self.count_put

    def count_put(self, kind: str, key: int | bytes) -> int:
        self.puts += 1
        return self.puts - 1

    def set_clock(self, now: int) -> None:
        self.clock = now
        self.latest = max(self.latest, now)

    # schema

    def create(self, spec: KindSpec | SignalSpec | ProfileSpec) -> None:
        if isinstance(spec, KindSpec):
            if spec.name in self.kinds:
                raise ModelError("EAGRE_EXISTS", f"kind {spec.name}")
            self.kinds[spec.name] = Kind(spec)
            return
        kind = self.kind(spec.kind)
        names: Mapping[str, Any] = kind.signals if isinstance(spec, SignalSpec) else kind.profiles
        if spec.name in names:
            raise ModelError("EAGRE_EXISTS", spec.name)
        if isinstance(spec, SignalSpec):
            kind.signals[spec.name] = Signal(spec)
        else:
            check_profile(kind, spec)
            kind.profiles[spec.name] = spec

    def add_fields(self, kind: str, *fields: FieldSpec) -> None:
        old = self.kind(kind).spec
        self.kind(kind).spec = KindSpec(old.name, old.fields + fields, old.integer_keys)

    def replace(self, spec: ProfileSpec) -> None:
        """ALTER PROFILE."""
        if spec.name not in self.kind(spec.kind).profiles:
            raise ModelError("EAGRE_UNKNOWN", f"profile {spec.name}")
        check_profile(self.kind(spec.kind), spec)
        self.kind(spec.kind).profiles[spec.name] = spec

    def drop(self, spec: KindSpec | SignalSpec | ProfileSpec) -> None:
        if isinstance(spec, KindSpec):
            names: dict[str, Any] = self.kinds
        else:
            kind = self.kind(spec.kind)
            names = kind.signals if isinstance(spec, SignalSpec) else kind.profiles
        if names.pop(spec.name, None) is None:
            raise ModelError("EAGRE_UNKNOWN", spec.name)

    def kind(self, name: str) -> Kind:
        if name not in self.kinds:
            raise ModelError("EAGRE_UNKNOWN", f"kind {name}")
        return self.kinds[name]

    # items

    def find(self, kind: Kind, key: Any) -> Item | None:
        """The living item of that key."""
        item = kind.items.get(check_key(kind.spec.integer_keys, key))
        return None if item is None or kind.gone(item, self.clock) else item

    def need(self, kind: Kind, key: Any) -> Item:
        item = self.find(kind, key)
        if item is None:
            raise ModelError("EAGRE_NOT_FOUND", f"{kind.spec.name} {key!r}")
        return item

    def put(self, kind_name: str, key: Any, fields: Mapping[str, Any]) -> None:
        self.put_rows(kind_name, [(key, fields)])

    def put_many(self, kind_name: str, keys: Sequence[Any], columns: Mapping[str, Sequence[Any]]) -> None:
        if any(len(column) != len(keys) for column in columns.values()):
            raise ModelError("EAGRE_INVALID", "columns of unequal length")
        self.kind(kind_name).check_fields(dict.fromkeys(columns))
        self.put_rows(kind_name, [(key, {name: column[row] for name, column in columns.items()}) for row, key in enumerate(keys)])

    def put_rows(self, kind_name: str, rows: Sequence[tuple[Any, Mapping[str, Any]]]) -> None:
        """All rows are checked before the first changes anything."""
        kind = self.kind(kind_name)
        checked = [(check_key(kind.spec.integer_keys, key), kind.check_fields(dict(fields))) for key, fields in rows]
        for key, fields in checked:
            item = self.find(kind, key)
            if item is None:
                if key in kind.items:  # expired: what is put is a new item
                    kind.remove(kind.items[key])
                item = kind.items[key] = Item(key, self.slot_of(kind_name, key), self.clock)
            item.fields = kind.whole(fields)

    def patch(self, kind_name: str, key: Any, fields: Mapping[str, Any]) -> None:
        kind = self.kind(kind_name)
        changes = kind.check_fields(dict(fields))
        item = self.need(kind, key)
        item.fields = {**item.fields, **changes}

    def delete(self, kind_name: str, key: Any) -> None:
        kind = self.kind(kind_name)
        kind.remove(self.need(kind, key))

    def get(self, kind_name: str, key: Any) -> dict[str, Any]:
        kind = self.kind(kind_name)
        return kind.whole(self.need(kind, key).fields)

    def count(self, kind_name: str) -> int:
        return len(self.kind(kind_name).living(self.clock))

    # signals

    def signal_kind(self, name: str, kind: str | None) -> Kind:
        if kind is not None:
            found = [self.kind(kind)] if name in self.kind(kind).signals else []
        else:
            found = [each for each in self.kinds.values() if name in each.signals]
        if not found:
            raise ModelError("EAGRE_UNKNOWN", f"signal {name}")
        if len(found) > 1:
            raise ModelError("EAGRE_INVALID", f"several kinds have a signal {name}")
        return found[0]

    def signal(
        self, name: str, key: Any, weight: float = 1.0, at: Any = None, id: Any = None, kind: str | None = None
    ) -> bool:
        return self.signal_many(name, [key], [weight], None if at is None else [at], None if id is None else [id], kind) == 1

    def signal_many(
        self,
        name: str,
        keys: Sequence[Any],
        weights: Sequence[float] | None = None,
        at: Sequence[Any] | None = None,
        ids: Sequence[Any] | None = None,
        kind: str | None = None,
    ) -> int:
        """How many were applied. All rows are checked before the first changes anything."""
        of = self.signal_kind(name, kind)
        if any(column is not None and len(column) != len(keys) for column in (weights, at, ids)):
            raise ModelError("EAGRE_INVALID", "columns of unequal length")
        events = []
        for row, key in enumerate(keys):
            moment = None if at is None or at[row] is None else time_of(at[row])
            weight = 1.0 if weights is None else weights[row]
            events.append((self.need(of, key), *check_event(weight, moment, None if ids is None else ids[row])))
        applied = 0
        for item, weight, moment, event_id in events:
            at_time = self.clock if moment is None else moment
            applied += of.signals[name].apply(item, self.clock, weight, at_time, event_id)
        return applied

    # statements

    def retrieve(
        self, statement: Retrieve, params: Sequence[Any] = (), hint: Sequence[int | bytes] | None = None
    ) -> Result:
        return Retrieval(self.kind(statement.kind), self.clock, self.latest, statement, params, hint).run()

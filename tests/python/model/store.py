# SPDX-License-Identifier: MIT
"""What a kind holds: items by key, signals, profiles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .schema import KindSpec, ProfileSpec
from .signals import Signal
from .values import ModelError, check


@dataclass(eq=False)
class Item:
    """Compared by identity: an item that is deleted and put again is a new one."""

    key: int | bytes
    slot: int
    first_put: int
    fields: dict[str, Any] = field(default_factory=dict)


@dataclass
class Kind:
    spec: KindSpec
    items: dict[int | bytes, Item] = field(default_factory=dict)
    signals: dict[str, Signal] = field(default_factory=dict)
    profiles: dict[str, ProfileSpec] = field(default_factory=dict)

    def gone(self, item: Item, moment: int) -> bool:
        """EXPIRES: from that moment on."""
        expiry = self.spec.expiry()
        until = item.fields.get(expiry.name) if expiry else None
        return until is not None and until <= moment

    def living(self, moment: int) -> list[Item]:
        return [item for item in self.items.values() if not self.gone(item, moment)]

    def remove(self, item: Item) -> None:
        del self.items[item.key]
        for signal in self.signals.values():
            signal.cells.pop(item, None)

    def check_fields(self, fields: dict[str, Any]) -> dict[str, Any]:
        types = {spec.name: spec.type for spec in self.spec.fields}
        for name in fields:
            if name not in types:
                raise ModelError("EAGRE_UNKNOWN", f"{self.spec.name} has no field {name}")
        return {name: check(types[name], value) for name, value in fields.items()}

    def whole(self, fields: dict[str, Any]) -> dict[str, Any]:
        return {spec.name: fields.get(spec.name) for spec in self.spec.fields}

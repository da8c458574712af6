# SPDX-License-Identifier: MIT
"""What an expression may ask of the row it is computed for."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from .signals import Cell
from .values import TIME, ModelError

if TYPE_CHECKING:
    from .store import Item, Kind

LARGEST = 1.7976931348623157e308


@dataclass
class Nearness:
    """How far a result may be off. Variant 0 computes as written; each other variant moves every inexact step by its allowed
    error, up or down, the same step of the same item always alike. What the variants differ by is the tolerance."""

    variant: int = 0
    asked: bool = False
    open: bool = False  # anything may come out

    def near(self, place: str, value: float, relative: float, absolute: float) -> float:
        self.asked = True
        if self.variant == 0:
            return value
        pair, other = divmod(self.variant - 1, 2)  # the second of a pair moves each step the other way
        bits = zlib.crc32(f"{pair}|{place}".encode())
        up = bits & 1 ^ other
        error = (abs(value) * relative + absolute) * (16 + (bits >> 1 & 15)) / 31  # never quite alike: two steps may cancel out
        moved = value + error if up else value - error
        return 0.0 if value * moved < 0 or (value == 0 and not up) else max(-LARGEST, min(LARGEST, moved))


@dataclass
class Env:
    kind: Kind
    item: Item
    now: int
    latest: int  # moment the clock has stood at
    params: Sequence[Any] = ()
    named: Mapping[str, float] = field(default_factory=dict)  # parameters of the profile
    score: float = 0.0
    nearness: Nearness = field(default_factory=Nearness)

    def of_variant(self, variant: int) -> Env:
        return replace(self, nearness=Nearness(variant))

    def near(self, label: str, value: float, relative: float, absolute: float = 0.0) -> float:
        return self.nearness.near(f"{self.item.slot}|{label}", value, relative, absolute)

    def alike(self, a: Any, b: Any) -> bool:
        """Two numbers that inexact steps may make equal: so they are in every other variant."""
        if self.nearness.variant % 2 == 0 or not (isinstance(a, float) or isinstance(b, float)):
            return False
        return isinstance(a, (int, float)) and isinstance(b, (int, float)) and abs(a - b) <= 1e-7 * max(abs(a), abs(b))

    def param(self, index: int) -> Any:
        if index > len(self.params):
            raise ModelError("EAGRE_PARAMETER", f"?{index} is missing")
        return self.params[index - 1]

    def field(self, name: str) -> Any:
        if name in self.named:
            return self.named[name]
        spec = self.kind.spec.field(name)
        if spec is not None:
            return self.item.fields.get(spec.name)
        if name == "created":
            return self.item.first_put
        raise ModelError("EAGRE_UNKNOWN", f"{self.kind.spec.name} has no field or role {name}")

    def is_time(self, name: str) -> bool:
        if name in self.named:
            return False
        spec = self.kind.spec.field(name)
        return spec.type == TIME if spec is not None else name == "created"

    def key(self) -> int | bytes:
        return self.item.key

    def slot(self) -> int:
        return self.item.slot

    def cell(self, signal: str, optional: bool) -> Cell | None:
        """The item's cell; None only where an optional signal is missing."""
        found = self.kind.signals.get(signal)
        if found is None:
            if optional:
                return None
            raise ModelError("EAGRE_UNKNOWN", f"{self.kind.spec.name} has no signal {signal}")
        return found.cell(self.item)

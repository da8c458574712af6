# SPDX-License-Identifier: MIT
"""Signals, the slow way: a plain list of events for each (item, signal), read anew at each question."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from .schema import ALL, SignalSpec, Window
from .values import MICROS, ModelError

FLOOR = 2.0**-64  # below it a decay reads exactly 0
DAY = 86_400
LARGEST = 1.7976931348623157e308


@dataclass(frozen=True)
class Event:
    at: int  # microseconds since 1970
    weight: float


def bucket(seconds: int) -> int:
    """Seconds in one bucket of a window."""
    return seconds // 48 if seconds % 48 == 0 else seconds // 60


def inside(seconds: int, event: int, moment: int) -> bool:
    """Does a window of so many seconds hold the event at the moment? (Both in microseconds.)"""
    b = bucket(seconds)
    x, y = event // MICROS, moment // MICROS
    return y // b - x // b <= seconds // b


@dataclass
class Cell:
    """One item's events of one signal."""

    spec: SignalSpec
    events: list[Event] = field(default_factory=list)

    def add(self, event: Event, clock: int) -> None:
        if self.forgotten(clock):
            self.events.clear()
        self.events.append(event)

    def newest(self) -> int | None:
        return max((event.at for event in self.events), default=None)

    def moment(self, now: int) -> int:
        """The clock may stand before the newest event: the moment is then that event's time."""
        newest = self.newest()
        return now if newest is None else max(now, newest)

    def half_life_sum(self, now: int) -> float:
        moment = self.moment(now)
        life = self.spec.half_life * MICROS
        try:
            return math.fsum(event.weight * 2.0 ** (-(moment - event.at) / life) for event in self.events)
        except OverflowError:
            return LARGEST

    def forgotten(self, now: int) -> bool:
        """FORGETS: the decay reads 0 and the longest window is empty."""
        if not self.spec.forgets or self.spec.half_life is None or self.half_life_sum(now) >= FLOOR:
            return False
        moment = self.moment(now)
        longest = max(self.spec.windows, default=None)
        return longest is None or not any(inside(longest, event.at, moment) for event in self.events)

    def remembered(self, now: int) -> list[Event]:
        return [] if self.forgotten(now) else self.events

    def within(self, window: Window, now: int) -> list[Event]:
        events = self.remembered(now)
        if window == ALL:
            return events
        if window not in self.spec.windows:
            raise ModelError("EAGRE_UNKNOWN", f"signal {self.spec.name} has no window of {window} s")
        moment = self.moment(now)
        return [event for event in events if inside(int(window), event.at, moment)]

    def leaving(self, window: Window, now: int, latest: int) -> list[Event]:
        """Events in a window that had left it at the latest moment the clock has stood at: their memory may be given back."""
        if window == ALL:
            return []
        moment = self.moment(latest)
        return [event for event in self.within(window, now) if not inside(int(window), event.at, moment)]

    def decay(self, now: int) -> float:
        """The decayed sum before the floor is applied (see floored)."""
        if not self.events:
            return 0.0
        if self.spec.half_life is not None:
            return self.half_life_sum(now)
        if self.spec.power is not None:
            days = (self.moment(now) - self.newest()) / MICROS / DAY
            return max(days, 0.01) ** -self.spec.power
        return self.sum(ALL, now)

    def floored(self, value: float) -> float:
        return 0.0 if self.spec.half_life is not None and value < FLOOR else value

    def count(self, window: Window, now: int) -> int:
        return len(self.within(window, now))

    def sum(self, window: Window, now: int) -> float:
        try:
            return math.fsum(event.weight for event in self.within(window, now))
        except OverflowError:
            return LARGEST

    def last(self, now: int) -> int | None:
        return max((event.at for event in self.remembered(now)), default=None)


@dataclass
class Signal:
    """One declared signal: its cells by item, and the event ids it has seen."""

    spec: SignalSpec
    cells: dict[Any, Cell] = field(default_factory=dict)
    seen: set[int | bytes] = field(default_factory=set)

    def cell(self, item: Any) -> Cell:
        """For reading: an empty one where nothing was written."""
        return self.cells.get(item) or Cell(self.spec)

    def apply(self, item: Any, clock: int, weight: float, at: int, event_id: int | bytes | None) -> bool:
        """False where the id was seen before: nothing changes then."""
        if event_id is not None:
            if event_id in self.seen:
                return False
            self.seen.add(event_id)
        self.cells.setdefault(item, Cell(self.spec)).add(Event(min(at, clock), weight), clock)
        return True


def check_event(weight: Any, at: int | None, event_id: Any) -> tuple[float, int | None, int | bytes | None]:
    if isinstance(weight, bool) or not isinstance(weight, (int, float)):
        raise ModelError("EAGRE_TYPE", "the weight is no number")
    if not math.isfinite(weight) or weight <= 0:
        raise ModelError("EAGRE_RANGE", "a weight is finite and above 0")
    if at is not None and at < 0:
        raise ModelError("EAGRE_RANGE", "an event before 1970")
    if isinstance(event_id, str):
        event_id = event_id.encode()
    if isinstance(event_id, bytes):
        if not 1 <= len(event_id) <= 64:
            raise ModelError("EAGRE_RANGE", "an id has 1 .. 64 bytes")
    elif isinstance(event_id, int):
        if not 0 <= event_id < 2**64:
            raise ModelError("EAGRE_RANGE", "an id is 0 .. 2^64-1")
    elif event_id is not None:
        raise ModelError("EAGRE_TYPE", "an id is an integer or a text")
    return float(weight), at, event_id

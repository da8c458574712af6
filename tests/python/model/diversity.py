# SPDX-License-Identifier: MIT
"""DIVERSITY, as literally as possible: each place takes the best remaining row that breaks no rule; if none is left that fits,
the best remaining row stands there and the page is relaxed. At most CARRIED rows wait: one more, and the best of them is placed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from .order import Ranked
from .statement import Per, Share

CARRIED = 1_000


@dataclass
class Page:
    rules: Sequence[Per | Share]
    limit: int
    history: list[Ranked]  # rows of the pages before, oldest first
    waiting: list[Ranked]  # rows passed over so far, best first
    rest: list[Ranked]  # rows not looked at yet, best first
    placed: list[Ranked] = field(default_factory=list)
    relaxed: bool = False
    position: Ranked | None = None  # the last row taken from rest

    def fill(self) -> None:
        while len(self.placed) < self.limit:
            row = self.next()
            if row is None:
                return
            self.placed.append(row)

    def next(self) -> Ranked | None:
        for row in self.waiting:
            if self.fits(row):
                self.waiting.remove(row)
                return row
        while self.rest:
            row = self.position = self.rest.pop(0)
            if self.fits(row):
                return row
            self.waiting.append(row)
            if len(self.waiting) > CARRIED:
                break
        if self.waiting:
            self.relaxed = True
            return self.waiting.pop(0)
        return None

    def fits(self, row: Ranked) -> bool:
        return all(self.keeps(place, rule, row) for place, rule in enumerate(self.rules))

    def keeps(self, place: int, rule: Per | Share, row: Ranked) -> bool:
        if isinstance(rule, Per):
            before = (self.history + self.placed)[-(rule.window - 1) :] if rule.window > 1 else []
            most = rule.most
        else:
            before = self.placed
            most = max(1, math.floor(rule.share * self.limit))
        return all(sum(value in other.diverse[place] for other in before) < most for value in row.diverse[place])

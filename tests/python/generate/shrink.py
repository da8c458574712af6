# SPDX-License-Identifier: MIT
"""Makes a failing list of steps short: leaves out steps, then clauses, fields and rows, as long as it still fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from model.statement import highest_param

from .steps import Pages, Patch, Put, PutMany, Query, SignalMany, Step

CLAUSES = {"where": None, "exclude": None, "count": False, "at": None, "ranking": None}
Fails = Callable[[list[Step]], bool]


def shrink(steps: list[Step], fails: Fails, seconds: float = 20) -> list[Step]:
    end = time.monotonic() + seconds
    size = max(1, len(steps) // 2)
    while time.monotonic() < end:
        shorter = without_runs(steps, fails, size, end)
        if len(shorter) == len(steps) and size == 1:
            simple = simpler(steps, fails, end)
            if simple == steps:
                break
            shorter = simple
        steps, size = shorter, max(1, size // 2)
    return steps


def without_runs(steps: list[Step], fails: Fails, size: int, end: float) -> list[Step]:
    place = len(steps) - size
    while place > -size and time.monotonic() < end:
        shorter = steps[: max(place, 0)] + steps[max(place, 0) + size :]
        if fails(shorter):
            steps = shorter
        place -= size
    return steps


def simpler(steps: list[Step], fails: Fails, end: float) -> list[Step]:
    for place in range(len(steps)):
        again = True
        while again and time.monotonic() < end:
            again = False
            for step in smaller(steps[place]):
                changed = [*steps[:place], step, *steps[place + 1 :]]
                if fails(changed):
                    steps, again = changed, True
                    break
    return steps


def smaller(step: Step) -> Iterator[Step]:
    if isinstance(step, (Query, Pages)):
        yield from smaller_statement(step)
    elif isinstance(step, (Put, Patch)):
        for name in step.fields:
            yield replace(step, fields={other: value for other, value in step.fields.items() if other != name})
    elif isinstance(step, PutMany):
        for name in step.columns:
            yield replace(step, columns={other: column for other, column in step.columns.items() if other != name})
        for row in range(len(step.keys)):
            columns = {name: [*column[:row], *column[row + 1 :]] for name, column in step.columns.items()}
            yield replace(step, keys=[*step.keys[:row], *step.keys[row + 1 :]], columns=columns)
    elif isinstance(step, SignalMany):
        for row in range(len(step.keys)):
            keys, weights, at, ids = (
                None if column is None else [*column[:row], *column[row + 1 :]]
                for column in (step.keys, step.weights, step.at, step.ids)
            )
            yield replace(step, keys=keys, weights=weights, at=at, ids=ids)


def smaller_statement(step: Query | Pages) -> Iterator[Step]:
    statement = step.statement
    options = [replace(statement, **{name: least}) for name, least in CLAUSES.items() if getattr(statement, name) != least]
    for name in ("returns", "diversity"):
        parts = getattr(statement, name)
        options += [replace(statement, **{name: parts[:place] + parts[place + 1 :]}) for place in range(len(parts))]
    for option in options:
        if isinstance(step, Pages):
            yield replace(step, statement=option)
        else:
            yield replace(step, statement=option, params=step.params[: highest_param(option)])
    if isinstance(step, Pages):
        for turn, writes in enumerate(step.between):
            for place in range(len(writes)):
                between = [list(each) for each in step.between]
                del between[turn][place]
                yield replace(step, between=between)

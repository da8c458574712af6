# SPDX-License-Identifier: MIT
"""Bugs to plant into a second model, to see whether the comparison finds them. Each is a name and what to replace where."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from model import calls, cursor, diversity, env, expr, functions, order, retrieve, signals, store, values

Replacement = tuple[Any, str, Any]
MICROS = values.MICROS


def wrong_window(seconds: int, event: int, moment: int) -> bool:
    b = signals.bucket(seconds)
    return moment // MICROS // b - event // MICROS // b < seconds // b


def exact_window(seconds: int, event: int, moment: int) -> bool:
    return moment - event <= seconds * MICROS


def sixty_buckets(seconds: int) -> int:
    return max(1, seconds // 60)


def float_compare(op: str, a: Any, b: Any) -> Any:
    def inexact(value: Any) -> Any:
        return float(value) if isinstance(value, int) else value

    return values.compare(op, inexact(a), inexact(b))


def null_is_false(op: str, a: Any, b: Any) -> Any:
    return values.compare(op, a, b) if a is not None and b is not None else False


def compare_code_units(op: str, a: Any, b: Any) -> Any:
    def units(value: Any) -> Any:
        return value.encode("utf-16-be") if isinstance(value, str) else value

    return values.compare(op, units(a), units(b))


def slots_descending(rows: list[Any], descending: list[bool]) -> list[Any]:
    return order.ranked(rows, descending) if descending else sorted(rows, key=lambda row: (-row.score, -row.slot))


def nulls_first(rows: list[Any], descending: list[bool]) -> list[Any]:
    found = order.ranked(rows, descending)
    if not descending or not descending[0]:
        return found
    return [row for row in found if row.values[0] is None] + [row for row in found if row.values[0] is not None]


def keeps(change: Callable[[Any, Any], tuple[list[Any], int]]) -> Callable[..., bool]:
    def check(self: Any, place: int, rule: Any, row: Any) -> bool:
        before, most = change(self, rule)
        return all(sum(value in other.diverse[place] for other in before) < most for value in row.diverse[place])

    return check


def window_of(self: Any, length: int) -> list[Any]:
    return (self.history + self.placed)[-length:] if length > 0 else []


def per_too_long(self: Any, rule: Any) -> tuple[list[Any], int]:
    if hasattr(rule, "window"):
        return window_of(self, rule.window), rule.most
    return self.placed, max(1, math.floor(rule.share * self.limit))


def per_on_one_page(self: Any, rule: Any) -> tuple[list[Any], int]:
    if hasattr(rule, "window"):
        return self.placed[-(rule.window - 1) :] if rule.window > 1 else [], rule.most
    return self.placed, max(1, math.floor(rule.share * self.limit))


def share_rounds_up(self: Any, rule: Any) -> tuple[list[Any], int]:
    if hasattr(rule, "window"):
        return window_of(self, rule.window - 1), rule.most
    return self.placed, max(1, math.ceil(rule.share * self.limit))


def skip_the_rest(self: Any) -> Any:
    """Greedy, but a page ends where nothing fits."""
    row = real_next(self)
    if self.relaxed:
        self.waiting.insert(0, row)
        self.relaxed = False
        return None
    return row


real_next = diversity.Page.next
real_add, real_apply, real_sum = signals.Cell.add, signals.Signal.apply, signals.Cell.sum
real_moment, real_page, real_field = retrieve.Retrieval.moment, retrieve.Retrieval.page, env.Env.field


def one_id_for_all(self: Any, item: Any, clock: int, weight: float, at: int, event_id: Any) -> bool:
    return real_apply(self, item, clock, weight, at, None if event_id is None else (id(item), event_id))


def unpinned(self: Any) -> int:
    return self.clock if self.cursor is not None else real_moment(self)


def forgetful_page(self: Any, rows: Any) -> Any:
    page = real_page(self, rows)
    page.waiting = []
    return page


def whole_total(self: Any) -> Any:
    result = real_run(self)
    if result.total is not None:
        result.total = len(result.rows)
    return result


real_run = retrieve.Retrieval.run


def age_of_cell(self: Any, env: Any) -> float:
    return (env.now - (self.operand.value(env) or 0)) / MICROS


def in_without_null(self: Any, env: Any) -> Any:
    return bool(real_in(self, env))


real_in = expr.In.value

BUGS: dict[str, list[Replacement]] = {
    "a window one bucket short": [(signals, "inside", wrong_window)],
    "a window without buckets": [(signals, "inside", exact_window)],
    "always 60 buckets": [(signals, "bucket", sixty_buckets)],
    "a moment before the newest event": [(signals.Cell, "moment", lambda self, now: now)],
    "late events count as of now": [
        (signals.Cell, "add", lambda self, event, clock: real_add(self, signals.Event(clock, event.weight), clock))
    ],
    "future events keep their time": [
        (signals.Signal, "apply", lambda self, item, clock, *rest: real_apply(self, item, 2**62, *rest))
    ],
    "ids count once per item": [(signals.Signal, "apply", one_id_for_all)],
    "no floor": [(signals.Cell, "floored", lambda self, value: value)],
    "nothing is forgotten": [(signals.Cell, "forgotten", lambda self, now: False)],
    "sums count events": [(signals.Cell, "sum", lambda self, window, now: float(self.count(window, now)))],
    "a sum off by 1e-8": [(signals.Cell, "sum", lambda self, window, now: real_sum(self, window, now) * (1 + 1e-8))],
    "velocity per minute": [(calls, "HOUR", 60)],
    "ages below 0": [(calls.Age, "value", age_of_cell)],
    "integers compared as reals": [(expr, "compare", float_compare)],
    "null compares as false": [(expr, "compare", null_is_false)],
    "null or true is null": [(expr, "or3", lambda a, b: None if a is None or b is None else a or b)],
    "null and false is null": [(expr, "and3", lambda a, b: None if a is None or b is None else a and b)],
    "not null is true": [(expr, "not3", lambda a: not a)],
    "NOT IN passes null": [(expr.In, "value", in_without_null)],
    "text in code units": [(expr, "compare", compare_code_units)],
    "x / 0 is large": [(functions, "divide", lambda a, b: functions.LARGEST if b == 0 else functions.finite(a / b))],
    "pow of a negative": [(calls, "FUNCTIONS", {**calls.FUNCTIONS, "pow": (lambda a, b: functions.power(abs(a), b), 1e-11)})],
    "sqrt of a negative": [(calls, "FUNCTIONS", {**calls.FUNCTIONS, "sqrt": (lambda x: math.sqrt(abs(x)), 0)})],
    "ties by slot, the wrong way": [(retrieve, "ranked", slots_descending)],
    "nulls first, descending": [(retrieve, "ranked", nulls_first)],
    "PER one row too long": [(diversity.Page, "keeps", keeps(per_too_long))],
    "PER forgets the page before": [(diversity.Page, "keeps", keeps(per_on_one_page))],
    "SHARE rounds up": [(diversity.Page, "keeps", keeps(share_rounds_up))],
    "a page ends where no row fits": [(diversity.Page, "next", skip_the_rest)],
    "rows passed over are lost": [(retrieve.Retrieval, "page", forgetful_page)],
    "a cursor without its moment": [(retrieve.Retrieval, "moment", unpinned)],
    "a page repeats its last row": [(cursor, "ranked", lambda rows, descending: [rows[-1], *order.ranked(rows[:-1], descending)])],
    "total of the page": [(retrieve.Retrieval, "run", whole_total)],
    "LIMIT is 10 by default": [(retrieve, "DEFAULT_LIMIT", 10)],
    "EXCLUDE does nothing": [(retrieve.Retrieval, "excluded", lambda self: set())],
    "expired a moment late": [
        (store.Kind, "gone", lambda self, item, moment: self.spec.expiry() is not None
            and (item.fields.get(self.spec.expiry().name) or 2**63) < moment)
    ],
    "a deleted item's signals stay": [
        (store.Kind, "remove", lambda self, item: self.items.pop(item.key)),
        (store.Item, "__eq__", lambda self, other: self.key == other.key),
        (store.Item, "__hash__", lambda self: hash(self.key)),
    ],
    "put keeps the fields it does not name": [(store.Kind, "whole", lambda self, fields: dict(fields))],
    "keywords keep repeats": [(values, "dict", type("Kept", (), {"fromkeys": staticmethod(list)}))],
}  # fmt: skip

# Where a bug shows soonest, if not in the mix of everything.
SHOWS_IN = {
    "a window one bucket short": "signals",
    "a window without buckets": "signals",
    "always 60 buckets": "items",
    "a moment before the newest event": "clock jumps",
    "no floor": "statements",
    "nothing is forgotten": "clock jumps",
    "integers compared as reals": "clock jumps",
    "text in code units": "statements",
    "pow of a negative": "statements",
    "sqrt of a negative": "items",
    "PER forgets the page before": "items",
    "SHARE rounds up": "statements",
    "rows passed over are lost": "items",
    "a page repeats its last row": "items",
    "expired a moment late": "statements",
}

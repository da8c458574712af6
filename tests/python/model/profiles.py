# SPDX-License-Identifier: MIT
"""The built-in profiles."""

from __future__ import annotations

from .calls import F, Count, Velocity, age, call, count, gt, if_, rise
from .expr import Expr
from .schema import ALL, Window, window
from .statement import OrderKey



def net(over: Window) -> Expr:
    return count("like", over) - Count("dislike", window(over), optional=True)


def controversial() -> Expr:
    p, n = count("like", ALL), count("dislike", ALL)
    return if_(gt(p, 0) & gt(n, 0), call("pow", p + n, call("min", p, n) / call("max", p, n, 1)), 0)


Body = Expr | tuple[OrderKey, ...]
Parameters = tuple[tuple[str, float | None], ...]

BUILT_IN: dict[str, tuple[Body, Parameters]] = {
    "trending": (Velocity("view", 86_400) + 2 * Velocity("share", 86_400, optional=True), ()),
    "new": ((OrderKey("created", descending=True),), ()),
    "old": ((OrderKey("created"),), ()),
    "shortest": ((OrderKey("duration"),), ()),
    "longest": ((OrderKey("duration", descending=True),), ()),
    "title_az": ((OrderKey("title"),), ()),
    "title_za": ((OrderKey("title", descending=True),), ()),
    "hot": (call("sign", net(ALL)) * call("log1p", call("abs", net(ALL))) - age("created") / 45_000, ()),
    "rising": (rise("view", "1h", "24h"), ()),
    "top_hour": (net("1h"), ()),
    "top_day": (net("24h"), ()),
    "top_week": (net("7d"), ()),
    "top_month": (net("30d"), ()),
    "top_year": (net("365d"), ()),
    "top_all": (net(ALL), ()),
    "most_viewed": (count("view", ALL), ()),
    "most_liked": (count("like", ALL), ()),
    "most_commented": (count("comment", ALL), ()),
    "most_shared": (count("share", ALL), ()),
    "controversial": (controversial(), ()),
    "hidden_gems": (
        call("wilson", count("like", ALL), Count("dislike", ALL, optional=True))
        / (1 + call("log1p", count("view", ALL))),
        (),
    ),
    "shuffle": (call("random", F("seed")), (("seed", 0.0),)),
}

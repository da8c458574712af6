# SPDX-License-Identifier: MIT
"""Signals: every formula against values worked out by hand, in the model and in the engine."""

from __future__ import annotations

import math

import pytest

from conftest import Open
from model import KEYWORD, TIME, FieldSpec, KindSpec, SignalSpec
from model.calls import age, count, decay, eq, gt, last, lt, rise, total, velocity
from model.schema import duration
from subjects import DAY, HOUR, MINUTE, NOW, YEAR, Subject, matching, refused, returned, score

FILM = KindSpec("film", (FieldSpec("director", KEYWORD), FieldSpec("released", TIME, role="created")))
SECOND = 1_000_000


def near(value: float, error: float = 1e-9) -> object:
    return pytest.approx(value, rel=error, abs=0)


def decayed(value: float) -> object:
    """What a decayed sum promises."""
    return near(value, 3e-8)


def windows(*names: str) -> tuple[int, ...]:
    return tuple(map(duration, names))


def one_film(db: Subject, *signals: SignalSpec) -> None:
    db.create(FILM, *signals)
    db.put("film", "a", {})


def view(half_life: str = "7d", *over: str, forgets: bool = False) -> SignalSpec:
    return SignalSpec("view", "film", half_life=duration(half_life), windows=windows(*over), forgets=forgets)


def test_half_life(db: Subject) -> None:
    one_film(db, view("7d"))
    db.signal("view", "a", at=NOW - 7 * DAY)
    db.signal("view", "a", weight=2.0)
    # 1 * 2^-1 + 2 * 2^0
    assert score(db, "film", decay("view")) == decayed(2.5)
    db.set_clock(NOW + 14 * DAY)
    # all of it after two half-lives: 2.5 / 4
    assert score(db, "film", decay("view")) == decayed(0.625)


def test_half_life_in_parts(db: Subject) -> None:
    one_film(db, view("46s"))
    db.signal("view", "a", weight=3.0, at=NOW - 69 * SECOND)
    # 69 / 46 = 1.5 half-lives: 3 / 2^1.5 = 3 / 2.8284271247461903
    assert score(db, "film", decay("view")) == decayed(1.0606601717798212)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_late_events_count_as_in_order(db: Subject, order: tuple[int, ...]) -> None:
    one_film(db, view("1h", "1h", "24h"))
    events = [(NOW - 2 * HOUR, 4.0), (NOW - HOUR, 2.0), (NOW - 30 * MINUTE, 1.0)]
    for place in order:
        at, weight = events[place]
        db.signal("view", "a", weight=weight, at=at)
    # 4 / 4 + 2 / 2 + 1 / sqrt(2)
    assert score(db, "film", decay("view")) == decayed(2.7071067811865475)
    # the first is outside 1h; the second is exactly an hour old, inside
    assert score(db, "film", count("view", "1h")) == 2
    assert score(db, "film", total("view", "1h")) == near(3)
    assert score(db, "film", total("view", "24h")) == near(7)
    assert returned(db, "film", last("view")) == NOW - 30 * MINUTE


def test_decay_without_events_is_0(db: Subject) -> None:
    one_film(db, view("1h", "1h"), SignalSpec("access", "film", power=0.5), SignalSpec("save", "film"))
    for name in ("view", "access", "save"):
        assert score(db, "film", decay(name)) == 0
        assert score(db, "film", count(name, "all")) == 0
        assert score(db, "film", total(name, "all")) == 0
        assert returned(db, "film", last(name)) is None


def test_decay_floor(db: Subject) -> None:
    one_film(db, view("1h"))
    db.signal("view", "a")
    db.set_clock(NOW + 63 * HOUR)
    assert score(db, "film", decay("view")) == decayed(2.0**-63)
    db.set_clock(NOW + 65 * HOUR)
    assert score(db, "film", decay("view")) == 0
    db.signal("view", "a", weight=2.0)
    assert score(db, "film", decay("view")) == decayed(2)


def test_power_decay(db: Subject) -> None:
    one_film(db, SignalSpec("access", "film", power=0.5))
    db.signal("access", "a", weight=9.0, at=NOW - 16 * DAY)
    # 16^-0.5; the weight does not matter
    assert score(db, "film", decay("access")) == near(0.25)
    db.signal("access", "a", at=NOW - 4 * DAY)
    db.signal("access", "a", at=NOW - 9 * DAY)
    # only the newest matters: 4^-0.5
    assert score(db, "film", decay("access")) == near(0.5)
    assert score(db, "film", total("access", "all")) == near(11)
    db.signal("access", "a")
    # age 0 counts as 0.01 days: 0.01^-0.5
    assert score(db, "film", decay("access")) == near(10)
    db.set_clock(NOW + 864 * SECOND)
    assert score(db, "film", decay("access")) == near(10)
    db.set_clock(NOW + 3456 * SECOND)
    # 0.04^-0.5
    assert score(db, "film", decay("access")) == near(5)


def test_no_decay_is_the_sum_of_weights(db: Subject) -> None:
    one_film(db, SignalSpec("save", "film"))
    db.signal("save", "a", weight=1.5, at=NOW - 10 * YEAR)
    db.signal("save", "a", weight=2.25)
    assert score(db, "film", decay("save")) == near(3.75)
    db.set_clock(NOW + 50 * YEAR)
    assert score(db, "film", decay("save")) == near(3.75)


def test_window_edges_by_48_buckets(db: Subject) -> None:
    one_film(db, view("7d", "24h"))
    # 24h = 86400 s = 48 buckets of 1800 s; NOW stands at a bucket's start
    db.signal("view", "a", at=NOW - 86_400 * SECOND)  # 48 buckets back: inside
    db.signal("view", "a", at=NOW - 86_400 * SECOND - 1)  # a microsecond earlier: 49 back, outside
    assert score(db, "film", count("view", "24h")) == 1
    # never more than one bucket too long: until the next bucket begins
    db.set_clock(NOW + 1_800 * SECOND - 1)
    assert score(db, "film", count("view", "24h")) == 1
    db.set_clock(NOW + 1_800 * SECOND)
    assert score(db, "film", count("view", "24h")) == 0
    assert score(db, "film", count("view", "all")) == 2


def test_window_edges_by_60_buckets(db: Subject) -> None:
    one_film(db, view("1h", "1m"))
    # 60 s: 60 / 48 is not whole, so 60 buckets of 1 s
    db.signal("view", "a", at=NOW - 60 * SECOND)
    db.signal("view", "a", weight=3.0, at=NOW - 60 * SECOND - 1)
    db.signal("view", "a", weight=5.0, at=NOW)
    assert score(db, "film", count("view", "1m")) == 2
    assert score(db, "film", total("view", "1m")) == near(6)
    db.set_clock(NOW + 999_999)  # still the same second
    assert score(db, "film", count("view", "1m")) == 2
    db.set_clock(NOW + SECOND)
    assert score(db, "film", total("view", "1m")) == near(5)
    db.set_clock(NOW + 61 * SECOND)
    assert score(db, "film", total("view", "1m")) == 0


def test_all_windows_of_a_signal(db: Subject) -> None:
    one_film(db, view("7d", "1h", "24h", "7d", "30d", "365d"))
    for days in (0.01, 0.5, 3, 20, 200, 1_000):
        db.signal("view", "a", weight=2.0, at=NOW - int(days * DAY))
    found = [score(db, "film", count("view", over)) for over in ("1h", "24h", "7d", "30d", "365d", "all")]
    assert found == [1, 2, 3, 4, 5, 6]
    assert score(db, "film", total("view", "30d")) == near(8)


def test_a_window_has_one_name(db: Subject) -> None:
    one_film(db, view("7d", "7d"))
    db.signal("view", "a")
    assert score(db, "film", count("view", "7d")) == 1
    with refused("EAGRE_UNKNOWN"):
        score(db, "film", count("view", "24h"))


def test_velocity_and_rise(db: Subject) -> None:
    one_film(db, view("7d", "1h", "24h"))
    # nothing yet: (0 + 1) / (0 + 1)
    assert score(db, "film", velocity("view", "24h")) == 0
    assert score(db, "film", rise("view", "1h", "24h")) == near(1)
    for hour in range(1, 25):
        db.signal("view", "a", at=NOW - hour * HOUR)
    for _ in range(3):
        db.signal("view", "a", weight=7.0)
    # 27 in 24 hours, of which 4 in the last (that of an hour ago is inside); weights do not matter
    assert score(db, "film", velocity("view", "24h")) == near(1.125)
    assert score(db, "film", velocity("view", "1h")) == near(4)
    # (4 + 1) / (27 / 24 + 1) = 5 / 2.125
    assert score(db, "film", rise("view", "1h", "24h")) == near(2.3529411764705883)


def test_last_and_its_age(db: Subject) -> None:
    one_film(db, view())
    assert score(db, "film", age(last("view"))) == near(NOW / 1e6)
    db.signal("view", "a", at=NOW - 90 * SECOND)
    db.signal("view", "a", at=NOW - 200 * SECOND)
    assert returned(db, "film", last("view")) == NOW - 90 * SECOND
    assert score(db, "film", age(last("view"))) == 90


def test_future_event_counts_as_now_and_is_kept_so(db: Subject) -> None:
    one_film(db, view("7d", "24h"))
    db.signal("view", "a", at=NOW + 10 * YEAR)
    assert returned(db, "film", last("view")) == NOW
    assert score(db, "film", decay("view")) == decayed(1)
    db.set_clock(NOW + 7 * DAY)
    assert score(db, "film", decay("view")) == decayed(0.5)
    assert score(db, "film", count("view", "24h")) == 0


def test_clock_before_the_newest_event(db: Subject) -> None:
    one_film(db, view("7d", "1h"))
    db.signal("view", "a")
    db.signal("view", "a", at=NOW - 7 * DAY)
    db.set_clock(NOW - YEAR)
    # the moment is that of the newest event
    assert score(db, "film", decay("view")) == decayed(1.5)
    assert score(db, "film", count("view", "1h")) == 1
    assert score(db, "film", age(last("view"))) == 0
    # an event of "now" is a late one then: a year old, 2^-(365 / 7)
    db.signal("view", "a")
    assert returned(db, "film", last("view")) == NOW
    assert score(db, "film", decay("view")) == decayed(1.5 + 2 ** -(365 / 7))


def test_forgets(db: Subject) -> None:
    one_film(db, view("60s", "1h", forgets=True))
    db.signal("view", "a")
    db.set_clock(NOW + 61 * MINUTE)
    # 61 half-lives: above the floor, though the window is empty
    assert score(db, "film", count("view", "all")) == 1
    db.set_clock(NOW + 70 * MINUTE)
    assert score(db, "film", count("view", "all")) == 0
    assert returned(db, "film", last("view")) is None
    db.signal("view", "a")
    assert score(db, "film", count("view", "all")) == 1


def test_forgets_waits_for_the_longest_window(db: Subject) -> None:
    one_film(db, view("60s", "1h", "24h", forgets=True))
    db.signal("view", "a")
    db.set_clock(NOW + 5 * HOUR)
    assert score(db, "film", decay("view")) == 0
    assert score(db, "film", count("view", "all")) == 1
    db.set_clock(NOW + 25 * HOUR)
    assert score(db, "film", count("view", "all")) == 0


def test_without_forgets_all_counts_for_ever(db: Subject) -> None:
    one_film(db, view("60s", "1h"))
    db.signal("view", "a", weight=2.0)
    db.set_clock(NOW + 30 * YEAR)
    assert score(db, "film", decay("view")) == 0
    assert score(db, "film", total("view", "all")) == near(2)
    assert returned(db, "film", last("view")) == NOW


def test_event_ids_count_once_per_signal(db: Subject) -> None:
    one_film(db, view("7d", "24h"), SignalSpec("like", "film"))
    db.put("film", "b", {})
    assert db.signal("view", "a", id=7)
    assert not db.signal("view", "a", id=7)
    assert not db.signal("view", "b", weight=3.0, id=7)  # of the signal, not of the item
    assert db.signal("like", "a", id=7)
    assert db.signal("view", "a", id=b"7")  # the text 7 is not the number 7
    assert not db.signal("view", "a", id="7")
    for big in (0, 2**53, 2**53 + 1, 2**63, 2**64 - 1):
        assert db.signal("view", "b", id=big)
        assert not db.signal("view", "b", id=big)
    assert matching(db, "film", eq(count("view", "all"), 2)) == [b"a"]
    assert matching(db, "film", eq(count("view", "all"), 5)) == [b"b"]


def test_a_new_item_has_no_signals_of_the_old(db: Subject) -> None:
    one_film(db, view("7d", "24h"))
    db.signal("view", "a")
    db.put("film", "a", {"director": "Wong"})  # on a living key: the same item
    assert score(db, "film", count("view", "all")) == 1
    db.delete("film", "a")
    db.put("film", "a", {})
    for expr in (decay("view"), count("view", "24h"), count("view", "all"), total("view", "all")):
        assert score(db, "film", expr) == 0
    assert returned(db, "film", last("view")) is None


def test_signals_of_unknown_items_are_refused(db: Subject) -> None:
    one_film(db, view())
    with refused("EAGRE_NOT_FOUND"):
        db.signal("view", "b")
    db.put("film", "b", {})
    db.delete("film", "b")
    with refused("EAGRE_NOT_FOUND"):
        db.signal("view", "b")
    with refused("EAGRE_UNKNOWN"):
        db.signal("viwe", "a")


def test_large_and_small_weights(db: Subject) -> None:
    one_film(db, view("7d", "24h"))
    for weight in (1e-9, 1e9, 1e-9):
        db.signal("view", "a", weight=weight)
    assert score(db, "film", decay("view")) == decayed(1e9)
    assert score(db, "film", total("view", "24h")) == near(1e9)
    assert math.isfinite(score(db, "film", decay("view") * 1e308))


def test_a_clock_before_any_event_of_another_item(opened: Open) -> None:
    """The newest event of one item does not move another's moment."""
    db = opened()
    db.create(FILM, view("7d"))
    for key in ("a", "b"):
        db.put("film", key, {})
    db.signal("view", "a", at=NOW - 7 * DAY)
    db.signal("view", "b")
    db.set_clock(NOW - 7 * DAY)
    assert matching(db, "film", gt(decay("view"), 0.75) & lt(decay("view"), 1.25)) == [b"a", b"b"]
    db.set_clock(NOW)
    assert matching(db, "film", gt(decay("view"), 0.75)) == [b"b"]

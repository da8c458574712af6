# SPDX-License-Identifier: MIT
"""Signals over long times, bursts, clocks that jump: the engine against sums written out here."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import pytest

from subjects import NOW

eagre = pytest.importorskip("eagre")

SECOND, MINUTE, HOUR, DAY = 1_000_000, 60_000_000, 3_600_000_000, 86_400_000_000
YEAR = 365 * DAY


@pytest.fixture
def db() -> Iterator[Any]:
    with eagre.open(now=NOW) as opened:
        opened.execute("CREATE ITEM film (title TEXT, day TIME)")
        opened.put("film", "a", {"title": "A"})
        yield opened
        opened.validate()


def value(db: Any, expression: str) -> float:
    return float(db.query(f"RETRIEVE film USING {expression} WHERE key = 'a' LIMIT 1").scores[0])


def decayed(events: list[tuple[int, float]], half_life: int, now: int) -> float:
    return math.fsum(w * 2.0 ** (-(now - t) / half_life) for t, w in events)


def test_a_short_half_life_over_many_hours_and_a_burst(db: Any) -> None:
    db.execute("CREATE SIGNAL view ON film HALF LIFE 46s WINDOWS 1h, 24h")
    events = [(NOW + i * MINUTE, 1.0) for i in range(14 * 60)]
    for at, _ in events:
        db.set_clock(at)
        db.signal("view", "a")
    burst = events[-1][0] + 7 * SECOND
    db.set_clock(burst)
    for _ in range(500):
        db.signal("view", "a")
    events += [(burst, 1.0)] * 500
    assert value(db, "decay(view)") == pytest.approx(decayed(events, 46 * SECOND, burst), rel=3e-8)
    assert value(db, "count(view, 24h)") == 14 * 60 + 500
    assert value(db, "count(view, all)") == 14 * 60 + 500


def test_thirty_idle_days(db: Any) -> None:
    db.execute("CREATE SIGNAL view ON film HALF LIFE 7d WINDOWS 1h, 24h, 7d, 30d, 365d")
    db.signal_many("view", ["a"] * 64)
    db.set_clock(NOW + 30 * DAY)
    assert value(db, "decay(view)") == pytest.approx(64 * 2 ** (-30 / 7), rel=1e-12)
    assert [value(db, f"count(view, {w})") for w in ("1h", "24h", "7d", "30d", "365d", "all")] == [0, 0, 0, 64, 64, 64]
    db.maintain()
    assert value(db, "count(view, 30d)") == 64
    db.set_clock(NOW + 31 * DAY)
    assert value(db, "count(view, 30d)") == 0


def test_ten_years_with_a_half_life_of_a_minute(db: Any) -> None:
    db.execute("CREATE SIGNAL view ON film HALF LIFE 1m WINDOWS 1h")
    now, events = NOW, []
    draw = random.Random(1)
    while now < NOW + 10 * YEAR:
        db.set_clock(now)
        weight = draw.uniform(0.1, 3)
        db.signal("view", "a", weight=weight)
        events.append((now, weight))
        assert value(db, "decay(view)") == pytest.approx(decayed(events[-50:], MINUTE, now), rel=3e-8)
        now += draw.choice([SECOND, 20 * SECOND, HOUR, 40 * DAY])
    assert value(db, "sum(view, all)") == pytest.approx(math.fsum(w for _, w in events), rel=1e-9)


@pytest.mark.parametrize("spread", [0, 40 * DAY])
def test_a_million_events_in_two_orders(spread: int) -> None:
    """Half-life of 30 s keeps the fewest bits; 3e-8 is promised."""
    draw = random.Random(2)
    half_life = "30s" if spread == 0 else "7d"
    times = [NOW - draw.randrange(spread) if spread else NOW - 5 * SECOND for _ in range(1_000_000)]
    exact = math.fsum(2.0 ** (-(NOW - t) / ((30 if spread == 0 else 7 * 86_400) * SECOND)) for t in times)
    with eagre.open(now=NOW) as db:
        db.execute("CREATE ITEM film (title TEXT)")
        db.execute(f"CREATE SIGNAL view ON film HALF LIFE {half_life} WINDOWS 24h")
        for key, order in (("a", times), ("b", times[::-1])):
            db.put("film", key, {})
            handle = db.handle("film", key)
            for first in range(0, len(order), 100_000):
                part = order[first : first + 100_000]
                db.signal_many("view", handles=[handle] * len(part), at=part)
        scores = db.query("RETRIEVE film USING decay(view)").scores
        assert scores == pytest.approx([exact, exact], rel=3e-8)
        assert db.query("RETRIEVE film USING count(view, all)").scores == [1_000_000, 1_000_000]


def test_an_event_ten_years_ahead_counts_as_now(db: Any) -> None:
    db.execute("CREATE SIGNAL view ON film HALF LIFE 1h WINDOWS 1h")
    db.signal("view", "a", at=NOW + 10 * YEAR)
    assert value(db, "decay(view)") == 1.0
    assert db.query("RETRIEVE film RETURN last(view)")[0]["last(view)"] == NOW
    db.set_clock(NOW + HOUR)
    assert value(db, "decay(view)") == pytest.approx(0.5, rel=1e-12)


def test_a_clock_stepped_back(db: Any) -> None:
    db.execute("CREATE SIGNAL view ON film HALF LIFE 1h WINDOWS 1h, 24h")
    db.signal("view", "a")
    for jump in (-10 * YEAR, -DAY, -1, 0):
        db.set_clock(NOW + jump)
        assert value(db, "decay(view)") == 1.0
        assert value(db, "count(view, 1h)") == 1
        assert value(db, "age(last(view))") == 0.0
    db.set_clock(NOW - DAY)
    db.signal("view", "a")  # at the clock, a day before the first
    db.set_clock(NOW)
    assert value(db, "count(view, 24h)") == 2
    assert value(db, "count(view, 1h)") == 1


def test_clocks_that_jump_between_any_two_operations() -> None:
    draw = random.Random(3)
    for seed in range(100):
        with eagre.open(now=NOW) as db:
            db.execute("CREATE ITEM film (day TIME)")
            db.execute("CREATE SIGNAL view ON film HALF LIFE 30s WINDOWS 1h, 365d")
            db.execute("CREATE SIGNAL access ON film POWER DECAY 0.5")
            for i in range(12):
                db.set_clock(NOW + draw.randrange(-10 * YEAR, 100 * YEAR))
                db.put("film", f"k{draw.randrange(3)}", {"day": draw.randrange(NOW - 60 * YEAR, NOW + 100 * YEAR)})
                db.signal(draw.choice(["view", "access"]), list(db.query("RETRIEVE film"))[0].key, weight=draw.uniform(0.01, 100))
                rows = db.query(
                    "RETRIEVE film USING decay(view) + decay(access) + recency(day, 1h) + velocity(view, 1h) RETURN age(day), age(last(view)), score"
                )
                assert all(math.isfinite(s) and s >= 0 for s in rows.scores), seed
                assert rows.scores == sorted(rows.scores, reverse=True)
                assert all(row["age(day)"] >= 0 and row["age(last(view))"] >= 0 for row in rows)
            db.validate()


def test_the_first_and_the_last_day(db: Any) -> None:
    first, last = "0001-01-01", "9999-12-31 23:59:59.999999"
    db.put("film", "first", {"day": first})
    db.put("film", "last", {"day": last})
    assert db.query("RETRIEVE film ORDER BY day WHERE day IS NOT NULL").keys == ["first", "last"]
    assert db.query("RETRIEVE film WHERE day <= '0001-01-01'").keys == ["first"]
    assert db.query("RETRIEVE film WHERE day >= ?1", last).keys == ["last"]
    ages = db.query("RETRIEVE film USING age(day) WHERE day IS NOT NULL")
    assert ages.keys == ["first", "last"] and ages.scores == [63_839_664_000.0, 0.0]
    for bad in ("0000-12-31", "10000-01-01", "2023-02-29", "2023-13-01"):
        with pytest.raises(eagre.Error) as raised:
            db.put("film", "x", {"day": bad})
        assert raised.value.code in ("EAGRE_TYPE", "EAGRE_RANGE")


def test_a_read_without_writes_falls_exactly(db: Any) -> None:
    db.execute("CREATE SIGNAL view ON film HALF LIFE 24h")
    db.signal("view", "a", weight=3.0)
    start = value(db, "decay(view)")
    for halves in range(1, 60):
        db.set_clock(NOW + halves * DAY)
        assert value(db, "decay(view)") == start * 2.0**-halves
    db.set_clock(NOW + 6 * HOUR)
    assert value(db, "decay(view)") == pytest.approx(start * 2**-0.25, rel=1e-15)
    db.set_clock(NOW + 66 * DAY)
    assert value(db, "decay(view)") == 0.0


def test_at_moves_the_clock_never_the_data(db: Any) -> None:
    db.execute("CREATE SIGNAL view ON film HALF LIFE 1h WINDOWS 1h")
    db.signal("view", "a")
    assert db.query("RETRIEVE film USING decay(view) AT ?1", NOW + HOUR).scores == [0.5]
    with pytest.raises(eagre.Error) as raised:
        db.query("RETRIEVE film USING decay(view) AT ?1", NOW - 1)
    assert raised.value.code == "EAGRE_MOMENT"
    assert db.query("RETRIEVE film AT ?1", NOW - 1).keys == ["a"]

# SPDX-License-Identifier: MIT
"""Memory comes back: churn with a constant live set leaves it flat."""

from __future__ import annotations

import gc
import os
from typing import Any

import pytest

from subjects import DAY, HOUR, MINUTE, NOW

# A sanitizer keeps what was freed for a while.
pytestmark = pytest.mark.skipif(bool(os.environ.get("EAGRE_SANITIZED")), reason="memory under a sanitizer says nothing")

ROUNDS, EARLY, GROWTH = 50, 5, 1.02
NOISE = 2 << 20  # bytes: of the interpreter and of both allocators
ITEMS = 3_000
TABLES = 10_000  # bytes a round, 3 a key: tables of keys are built anew now and then, and differ in size


def resident() -> int:
    gc.collect()
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def churn(db: Any, one_round: Any, kept: int = 0) -> None:
    """From an early round to the last the process grows by at most 2 %, and so does what the engine counts itself.

    kept: bytes a round may add for good, such as the shell of what was dropped."""
    early = (0, 0)
    for number in range(ROUNDS):
        one_round(number)
        db.maintain()
        if number == EARLY - 1:
            early = (resident(), db.stats()["memory_used"])
    db.validate()
    late = (resident(), db.stats()["memory_used"])
    print(f"process {early[0]} -> {late[0]}, engine {early[1]} -> {late[1]}")
    assert late[0] <= GROWTH * early[0] + NOISE
    assert late[1] <= GROWTH * early[1] + kept * (ROUNDS - EARLY)


@pytest.fixture
def db(eagre: Any) -> Any:
    with eagre.open(now=NOW) as opened:
        opened.execute("CREATE ITEM film (title TEXT, director KEYWORD, genres KEYWORDS, n INTEGER, until TIME EXPIRES)")
        opened.execute("CREATE SIGNAL view ON film HALF LIFE 1h WINDOWS 1h, 24h, 7d")
        yield opened


def columns(number: int) -> dict[str, Any]:
    return {
        "title": [f"title {number} of {row} " + "x" * (row % 90) for row in range(ITEMS)],
        "director": [f"director {number % 3} {row % 100}" for row in range(ITEMS)],
        "genres": [[f"g{row % 5}", f"h{number % 4}"] for row in range(ITEMS)],
        "n": list(range(ITEMS)),
    }


@pytest.mark.parametrize("keys", ["the same keys", "new keys"])
def test_items_come_and_go(db: Any, keys: str) -> None:
    def one_round(number: int) -> None:
        names = [f"k{row}" if keys == "the same keys" else f"k{number}-{row}" for row in range(ITEMS)]
        db.put_many("film", names, columns(number))
        db.signal_many("view", names[: ITEMS // 2])
        found = db.query("RETRIEVE film USING decay(view) WHERE director = ?1 LIMIT 50", "director 1 5").keys
        assert len(found) == (ITEMS // 100 if number % 3 == 1 else 0)
        for name in names:
            db.delete("film", name)
        assert db.count("film") == 0

    churn(db, one_round, TABLES if keys == "new keys" else 0)


def test_rewritten_items(db: Any) -> None:
    names = [f"k{row}" for row in range(ITEMS)]

    def one_round(number: int) -> None:
        db.put_many("film", names, columns(number))
        for name in names[::3]:
            db.patch("film", name, {"title": f"patched in {number}"})

    churn(db, one_round)


def test_expired_items(db: Any) -> None:
    def one_round(number: int) -> None:
        start = NOW + number * DAY
        db.set_clock(start)
        names = [f"k{number}-{row}" for row in range(ITEMS)]
        db.put_many("film", names, columns(number) | {"until": [start + HOUR] * ITEMS})
        db.signal_many("view", names)
        db.set_clock(start + HOUR)
        assert db.count("film") == 0

    churn(db, one_round, TABLES)


def test_signals_grow_and_rest(db: Any) -> None:
    """Rings come when a cell is active and go when it is quiet."""
    names = [f"k{row}" for row in range(ITEMS)]
    db.put_many("film", names, {})

    def one_round(number: int) -> None:
        for minute in range(20):
            db.set_clock(NOW + number * 30 * DAY + minute * 10 * MINUTE)
            db.signal_many("view", names[number % 3 :: 3])
        db.set_clock(NOW + (number + 1) * 30 * DAY)

    churn(db, one_round)
    assert db.stats()["kinds"][0]["signals"][0]["rings"] == 0


def test_a_quiet_signal_is_small(db: Any) -> None:
    names = [f"k{row}" for row in range(20_000)]
    db.put_many("film", names, {})
    db.signal_many("view", names)
    db.signal_many("view", names, at=NOW - 3 * HOUR)
    db.maintain()
    [signal] = db.stats()["kinds"][0]["signals"]
    assert signal["cells"] == 20_000
    assert signal["bytes"] / signal["cells"] <= 128


def test_forgotten_cells_are_given_back(db: Any) -> None:
    db.execute("CREATE SIGNAL glance ON film HALF LIFE 30s WINDOWS 1h FORGETS")
    names = [f"k{row}" for row in range(ITEMS)]
    db.put_many("film", names, {})
    db.signal_many("glance", names)
    db.set_clock(NOW + 2 * HOUR)
    db.maintain()
    glance = next(signal for signal in db.stats()["kinds"][0]["signals"] if signal["name"] == "glance")
    assert glance["cells"] == 0
    assert set(db.query("RETRIEVE film USING count(glance, all)").scores) == {0.0}


def test_statements_and_answers(db: Any) -> None:
    names = [f"k{row}" for row in range(ITEMS)]
    db.put_many("film", names, columns(0))

    def one_round(number: int) -> None:
        for turn in range(100):
            db.query(f"RETRIEVE film USING n + {number * 100 + turn} RETURN title, genres LIMIT 50")
        cursor = None
        for _ in range(10):
            page = db.query("RETRIEVE film USING n DIVERSITY director 1 PER 10 LIMIT 20 AFTER ?1", cursor)
            cursor = page.cursor

    churn(db, one_round, kept=100 * 32)


def test_schemas_come_and_go(db: Any) -> None:
    def one_round(number: int) -> None:
        db.execute("CREATE ITEM post (title TEXT, tag KEYWORD) KEY INTEGER; CREATE SIGNAL like ON post HALF LIFE 1h WINDOWS 1h")
        db.execute("CREATE PROFILE loved ON post AS decay(like)")
        db.put_many("post", list(range(500)), {"title": ["x" * 100] * 500, "tag": [f"t{row}" for row in range(500)]})
        db.signal_many("like", list(range(500)))
        assert len(db.query("RETRIEVE post USING loved LIMIT 500")) == 500
        db.execute("DROP SIGNAL like ON post; DROP ITEM post")

    churn(db, one_round, kept=16_384)

# SPDX-License-Identifier: MIT
"""What a call costs from Python: ns per event, us per put and per query, by one thread.

    .venv/bin/python bench/bench_python.py [items, 10000 if not given]

Each line is measured in 101 short rounds; printed are the best and the median round (per call), so that a busy machine shows as
a gap between them. "floor" lines are what Python itself takes for such a call. Answers are checked where they are timed.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import eagre
from dataset import NOW, Dataset

ROUNDS = 101


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    print(f"eagre {eagre.__version__}, Python {platform.python_version()}, {platform.machine()}, {n:,} items")
    with eagre.open(now=NOW * 1_000_000) as db:
        load(db, n)
        print(f"{'':44}{'best':>10}{'median':>10}")
        print("ns")
        floor()
        signals(db, n)
        print("us")
        items(db, n)
        queries(db)
        db.validate()


def line(name: str, calls: int, run: Callable[[], Any], unit: float = 1.0, each: int = 1) -> None:
    """Time ROUNDS runs of `calls` calls, each of them about `each` things."""
    run()
    rounds = []
    for _ in range(ROUNDS):
        begun = time.perf_counter_ns()
        run()
        rounds.append((time.perf_counter_ns() - begun) / calls / each / unit)
    rounds.sort()
    print(f"  {name:42}{rounds[0]:>10,.1f}{rounds[len(rounds) // 2]:>10,.1f}")


def load(db: eagre.DB, n: int) -> None:
    data = Dataset(n)
    db.execute(
        "CREATE ITEM film (title TEXT, author KEYWORD, genre KEYWORD, created TIME, minutes INTEGER, rating REAL);"
        "CREATE ITEM numbered (minutes INTEGER) KEY INTEGER;"
        "CREATE SIGNAL view ON film HALF LIFE 7d WINDOWS 1h, 24h, 7d;"
        "CREATE SIGNAL seen ON numbered HALF LIFE 7d WINDOWS 1h, 24h, 7d;"
        "CREATE PROFILE evening(w = 2) ON film AS w * velocity(view, 24h) + decay(view) + recency(created, 30d)"
    )
    columns = {
        "title": data.titles(0, n),
        "author": data.authors(0, n),
        "genre": data.categories(0, n),
        "created": data.created(0, n),
        "minutes": data.minutes(0, n),
        "rating": data.ratings(0, n),
    }
    db.put_many("film", [f"f{i}" for i in range(n)], columns)
    db.put_many("numbered", np.arange(n), {"minutes": columns["minutes"]})
    viewed, at = data.views()
    db.signal_many("view", keys=[f"f{i}" for i in viewed.tolist()], at=at)


def floor() -> None:
    def function(name: str, key: Any, weight: float = 1.0, at: Any = None) -> bool:
        return True

    def calls() -> None:
        for _ in range(1_000):
            function("view", "f1")

    line("floor: a Python function of such arguments", 1_000, calls)


def signals(db: eagre.DB, n: int) -> None:
    some = range(0, n, max(1, n // 1_000))
    keys = [f"f{i}" for i in some]
    numbers = list(some)
    handles = [db.handle("film", key) for key in keys]
    signal = db.signal
    now = NOW * 1_000_000

    def by_handle() -> None:
        for handle in handles:
            signal("view", handle)

    def by_key() -> None:
        for key in keys:
            signal("view", key)

    def by_number() -> None:
        for number in numbers:
            signal("seen", number)

    def with_time() -> None:
        for handle in handles:
            signal("view", handle, 2.0, now)

    ids = iter(range(1 << 62))

    def with_id() -> None:
        for key in keys:
            signal("view", key, id=next(ids))

    line("signal by handle", len(handles), by_handle)
    line("signal by handle, weight and time given", len(handles), with_time)
    line("signal by key, text", len(keys), by_key)
    line("signal by key, integer", len(numbers), by_number)
    line("signal by key with an event id", len(keys), with_id)

    rng = np.random.default_rng(1)
    batch = 1_000
    picked = [rng.integers(0, n, batch) for _ in range(2)]
    all_handles = np.fromiter((db.handle("film", f"f{i}") for i in range(n)), dtype=np.uint64, count=n)
    by_handles = [all_handles[one] for one in picked]
    by_keys = [[f"f{i}" for i in one.tolist()] for one in picked]
    weights = np.ones(batch)
    line("signal_many, 1,000 handles, an event", 2, lambda: [db.signal_many("view", handles=one) for one in by_handles], each=batch)
    line(
        "signal_many, 1,000 handles and weights",
        2,
        lambda: [db.signal_many("view", handles=one, weights=weights) for one in by_handles],
        each=batch,
    )
    line("signal_many, 1,000 integer keys (numpy)", 2, lambda: [db.signal_many("seen", keys=one) for one in picked], each=batch)
    line("signal_many, 1,000 text keys (a list)", 2, lambda: [db.signal_many("view", keys=one) for one in by_keys], each=batch)


def items(db: eagre.DB, n: int) -> None:
    data = Dataset(n)
    m = min(n, 200)
    keys = [f"f{i}" for i in range(m)]
    rows = [
        {"title": title, "author": author, "genre": genre, "created": created, "minutes": minutes, "rating": rating}
        for title, author, genre, created, minutes, rating in zip(
            data.titles(0, m),
            data.authors(0, m),
            data.categories(0, m),
            data.created(0, m).tolist(),
            data.minutes(0, m).tolist(),
            data.ratings(0, m).tolist(),
        )
    ]
    columns = {name: [row[name] for row in rows] for name in rows[0]}

    def put() -> None:
        for key, row in zip(keys, rows):
            db.put("film", key, row)

    def get() -> None:
        for key in keys:
            db.get("film", key)

    def patch() -> None:
        for key in keys:
            db.patch("film", key, {"rating": 8.0})

    def handle() -> None:
        for key in keys:
            db.handle("film", key)

    line("get, 6 fields", m, get, 1e3)
    assert db.get("film", keys[0]) == rows[0]
    line("handle", m, handle, 1e3)
    line("patch of one field", m, patch, 1e3)
    line("put of 6 fields", m, put, 1e3)
    line(f"put_many of {m:,} items, 6 fields, an item", 1, lambda: db.put_many("film", keys, columns), 1e3, m)


def queries(db: eagre.DB) -> None:
    def ask(text: str, *parameters: Any) -> Callable[[], None]:
        def run() -> None:
            for _ in range(3):
                db.query(text, *parameters)

        return run

    def walk() -> None:
        for _ in range(3):
            for row in db.query("RETRIEVE film USING count(view, 24h) RETURN title LIMIT 20"):
                row.key, row.score, row["title"]

    line("query LIMIT 0: the way there and back", 3, ask("RETRIEVE numbered LIMIT 0"), 1e3)
    line("query slot order, 20 rows", 3, ask("RETRIEVE numbered LIMIT 20"), 1e3)
    line("query count(view, 24h), 20 rows", 3, ask("RETRIEVE film USING count(view, 24h) RETURN title LIMIT 20"), 1e3)
    line("the same, and each row's key, score, title", 3, walk, 1e3)
    line("query decay(view), 20 rows", 3, ask("RETRIEVE film USING decay(view) RETURN title LIMIT 20"), 1e3)
    line("query evening, genre = ?1, 2 an author", 3, ask(
        "RETRIEVE film USING evening WHERE genre = ?1 DIVERSITY author 2 PER 20 RETURN title LIMIT 20", "c7"), 1e3)  # fmt: skip
    line("query order by title", 3, ask("RETRIEVE film ORDER BY title LIMIT 20"), 1e3)
    result = db.query("RETRIEVE film USING count(view, 24h) LIMIT 1000000")
    assert len(result) == db.count("film") and result.scores == sorted(result.scores, reverse=True)


if __name__ == "__main__":
    main()

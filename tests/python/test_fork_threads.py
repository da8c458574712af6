# SPDX-License-Identifier: MIT
"""Threads share a database; a child of fork does not."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import budget
from subjects import DAY, HOUR, NOW

SCHEMA = """
    CREATE ITEM pair (a INTEGER, b INTEGER, x REAL, k KEYWORD, s KEYWORDS, w TEXT, t TIME, v VECTOR(2));
    CREATE SIGNAL view ON pair HALF LIFE 1h WINDOWS 1h, 24h;
    CREATE SIGNAL save ON pair NO DECAY
"""


@pytest.fixture
def db(eagre: Any) -> Any:
    with eagre.open(now=NOW) as opened:
        opened.execute(SCHEMA)
        yield opened
        opened.validate()


class Crew:
    """Threads that run until the time is over or one of them fails."""

    def __init__(self, share: float = 0.2) -> None:
        self.until = time.monotonic() + max(0.5, budget.seconds() * share)
        self.failures: list[BaseException] = []
        self.turns = 0

    def run(self, *workers: Callable[[random.Random], None]) -> None:
        def work(worker: Callable[[random.Random], None], seed: int) -> None:
            draw = random.Random(seed)
            try:
                while time.monotonic() < self.until and not self.failures:
                    worker(draw)
                    self.turns += 1
            except BaseException as error:
                self.failures.append(error)

        threads = [threading.Thread(target=work, args=(worker, seed)) for seed, worker in enumerate(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.failures:
            raise self.failures[0]


def whole(number: int) -> dict[str, Any]:
    """Fields that belong together."""
    return {
        "a": number, "b": number, "x": float(number), "k": f"k{number % 50}", "s": [f"k{number % 50}", "all"],
        "w": f"text {number} " * (number % 40), "t": NOW + number, "v": [float(number % 1000), 0.5],
    }  # fmt: skip


def check_whole(row: Any) -> None:
    number = row["a"]
    assert row["b"] == number
    assert row["x"] == float(number)
    assert row["k"] == f"k{number % 50}"
    assert list(row["s"]) == [f"k{number % 50}", "all"]
    assert row["w"] == f"text {number} " * (number % 40)
    assert row["t"] == NOW + number
    assert row["v"][0] == float(number % 1000)


@pytest.mark.parametrize("how", ["put", "put_many", "patch"])
def test_no_reader_sees_half_a_put(db: Any, how: str) -> None:
    keys = [f"p{row}" for row in range(40)]
    for number, key in enumerate(keys):
        db.put("pair", key, whole(number))
    returned = "RETURN a, b, x, k, s, w, t, v LIMIT 40"

    def write(draw: random.Random) -> None:
        number = draw.randrange(10**6)
        if how == "put_many":
            rows = [whole(number + row) for row in range(len(keys))]
            db.put_many("pair", keys, {name: [row[name] for row in rows] for name in rows[0]})
        else:
            getattr(db, how)("pair", draw.choice(keys), whole(number))

    def read(draw: random.Random) -> None:
        for row in db.query(f"RETRIEVE pair {returned}"):
            check_whole(row)
        for row in db.query(f"RETRIEVE pair USING a WHERE k = ?1 {returned}", f"k{draw.randrange(50)}"):
            check_whole(row)
            assert row.score == float(row["a"])
        # conditions that only half a put could meet
        assert db.query("RETRIEVE pair WHERE a != b OR a != x OR t != ?1 + a AND a < 0", NOW).keys == []
        assert db.query("RETRIEVE pair WHERE s != 'all' OR s IS NULL OR w IS NULL").keys == []
        ordered = db.query(f"RETRIEVE pair ORDER BY a {returned}")
        assert [row["b"] for row in ordered] == sorted(row["b"] for row in ordered)
        got = db.get("pair", draw.choice(keys))
        check_whole(got)

    crew = Crew()
    crew.run(write, read, read, write)
    assert crew.turns > 20


def test_patches_of_different_fields_are_not_lost(db: Any) -> None:
    db.put("pair", "p", {"a": 0, "b": 0})
    counts = {"a": 0, "b": 0}

    def patch(name: str) -> Callable[[random.Random], None]:
        def turn(draw: random.Random) -> None:
            counts[name] += 1
            db.patch("pair", "p", {name: counts[name]})
            assert db.get("pair", "p")[name] == counts[name]

        return turn

    Crew(0.1).run(patch("a"), patch("b"))
    got = db.get("pair", "p")
    assert (got["a"], got["b"]) == (counts["a"], counts["b"])


def test_signals_of_many_threads_add_up(db: Any) -> None:
    keys = [f"p{row}" for row in range(8)]
    db.put_many("pair", keys, {})
    handles = {key: db.handle("pair", key) for key in keys}
    sent = [dict.fromkeys(keys, 0) for _ in range(4)]

    def sender(me: int) -> Callable[[random.Random], None]:
        def turn(draw: random.Random) -> None:
            at = NOW - draw.randrange(DAY // 2)
            if draw.random() < 0.5:
                key = draw.choice(keys)
                db.signal("view", handles[key] if me % 2 else key, weight=0.5, at=at)
                sent[me][key] += 1
            else:
                chosen = [draw.choice(keys) for _ in range(200)]
                db.signal_many("view", chosen, weights=0.5, at=[at - place * 1_000_000 for place in range(200)])
                for key in chosen:
                    sent[me][key] += 1

        return turn

    def read(draw: random.Random) -> None:
        before = {key: sum(each[key] for each in sent) for key in keys}
        found = db.query("RETRIEVE pair RETURN count(view, all) AS n, sum(view, 24h) AS w, decay(view) AS d")
        for row in found:
            assert row["n"] >= before[row.key]  # what had returned is seen
            assert 0 <= row["d"] <= row["n"]
            assert row["w"] <= 0.5 * (row["n"] + 1_000)

    Crew().run(*map(sender, range(4)), read)
    for row in db.query("RETRIEVE pair RETURN count(view, all) AS n, count(view, 24h) AS day, sum(view, 24h) AS w"):
        total = sum(each[row.key] for each in sent)
        assert (row["n"], row["day"], row["w"]) == (total, total, total / 2)


def test_an_id_counts_once_whoever_sends_it(db: Any) -> None:
    db.put_many("pair", ["p", "q"], {})
    ids = list(range(3_000))
    counted = [0] * 4

    def sender(me: int) -> None:
        mine = ids[:]
        random.Random(me).shuffle(mine)
        for event in mine[:1_500]:
            counted[me] += db.signal("save", "p" if event % 2 else "q", id=event)
        for first in range(1_500, 3_000, 100):
            part = mine[first : first + 100]
            counted[me] += db.signal_many("save", ["p" if event % 2 else "q" for event in part], ids=part)

    threads = [threading.Thread(target=sender, args=(me,)) for me in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(counted) == len(ids)
    assert db.query("RETRIEVE pair USING count(save, all)").scores == [1_500, 1_500]


def test_items_come_and_go_beside_readers(db: Any) -> None:
    """A row is of the item it names; a dead item's signals are never a new one's."""
    keys = [f"p{row}" for row in range(30)]

    def write(draw: random.Random) -> None:
        place = draw.randrange(len(keys))
        key = keys[place]
        try:
            db.put("pair", key, {"a": place, "w": key})
            if draw.random() < 0.5:
                db.signal("view", key)
            db.delete("pair", key)
        except eagre_error(db) as error:
            assert error.code == "EAGRE_NOT_FOUND"  # another writer was faster

    def read(draw: random.Random) -> None:
        for row in db.query("RETRIEVE pair USING count(view, all) RETURN a, w LIMIT 30"):
            assert row["w"] == row.key
            assert keys[row["a"]] == row.key
            assert row.score <= 2
        assert db.query("RETRIEVE pair WHERE count(view, all) > 2").keys == []
        if draw.random() < 0.1:
            db.maintain()

    Crew().run(write, write, read, read)
    db.maintain()
    for key in keys:
        db.put("pair", key, {})
    assert set(db.query("RETRIEVE pair USING count(view, all) LIMIT 100").scores) == {0.0}
    db.maintain()


def eagre_error(db: Any) -> type[Exception]:
    import eagre

    return eagre.Error


def test_pages_beside_writers(db: Any) -> None:
    """Rows that nobody touches come once each, whatever happens around them."""
    still = [f"still{row:03}" for row in range(60)]
    moving = [f"moving{row}" for row in range(30)]
    db.put_many("pair", still, {"a": list(range(60)), "k": [f"k{row % 4}" for row in range(60)]})

    def write(draw: random.Random) -> None:
        key = draw.choice(moving)
        db.put("pair", key, {"a": draw.randrange(60), "k": f"k{draw.randrange(4)}"})
        if draw.random() < 0.3:
            try:
                db.delete("pair", draw.choice(moving))
            except eagre_error(db):
                pass

    def page(draw: random.Random) -> None:
        rule = draw.choice(["", "DIVERSITY k 1 PER 3", "DIVERSITY k SHARE 0.5"])
        ranking = draw.choice(["USING a", "ORDER BY a DESC, key", "USING random(3)"])
        statement = f"RETRIEVE pair {ranking} {rule} LIMIT {draw.choice([3, 7, 20])} AFTER ?1"
        found: list[str] = []
        cursor = None
        while True:
            result = db.query(statement, cursor)
            found += result.keys
            cursor = result.cursor
            if cursor is None:
                break
        of_still = [key for key in found if key.startswith("still")]
        assert sorted(of_still) == still
        assert len(set(of_still)) == len(of_still)

    Crew().run(write, page, page)


def test_the_schema_grows_beside_readers(db: Any) -> None:
    db.put_many("pair", [f"p{row}" for row in range(50)], {"a": list(range(50))})
    made = [0]

    def change(draw: random.Random) -> None:
        if made[0] >= 60:
            time.sleep(0.01)
            return
        number = made[0] = made[0] + 1
        db.execute(f"ALTER ITEM pair ADD extra{number} INTEGER")
        db.execute(f"CREATE SIGNAL mark{number} ON pair HALF LIFE 1h")
        db.execute(f"CREATE PROFILE best{number} ON pair AS a + decay(mark{number})")
        db.patch("pair", "p7", {f"extra{number}": number})
        db.signal(f"mark{number}", "p7", weight=100.0)
        assert db.query(f"RETRIEVE pair USING best{number} LIMIT 1").keys == ["p7"]
        assert db.query(f"RETRIEVE pair WHERE extra{number} = {number}").keys == ["p7"]

    def read(draw: random.Random) -> None:
        assert len(db.query("RETRIEVE pair USING a LIMIT 100")) == 50
        number = made[0]
        if number > 1:
            assert db.query(f"RETRIEVE pair USING best{number - 1} LIMIT 1").keys == ["p7"]

    Crew(0.1).run(change, read, read)


def test_many_short_threads(db: Any) -> None:
    db.put("pair", "p", {"a": 1})

    def one() -> None:
        db.signal("save", "p")
        assert db.query("RETRIEVE pair USING a").scores == [1]

    rounds = 25 if os.environ.get("EAGRE_SANITIZED") else 100
    for _ in range(rounds):
        threads = [threading.Thread(target=one) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert db.query("RETRIEVE pair USING count(save, all)").scores == [rounds * 10]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork(db: Any, eagre: Any) -> None:
    """While threads write: each child is refused everything and ends by itself; the parent goes on."""
    db.put_many("pair", [f"p{row}" for row in range(20)], {})
    stop = threading.Event()

    def write(key: str) -> None:
        while not stop.is_set():
            db.signal("save", "p1")
            db.put("pair", key, {"a": 1})
            db.delete("pair", key)
            db.query("RETRIEVE pair USING count(save, all)")

    threads = [threading.Thread(target=write, args=(key,)) for key in ("mine", "yours")]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10 if os.environ.get("EAGRE_SANITIZED") else 30):
            child = os.fork()
            if child == 0:
                os._exit(refused_everywhere(db, eagre))
            assert wait(child, 20) == 0
            db.put("pair", "of the parent", {"a": 2})
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert db.get("pair", "of the parent")["a"] == 2
    db.maintain()


def refused_everywhere(db: Any, eagre: Any) -> int:
    calls: list[Callable[[], Any]] = [
        lambda: db.query("RETRIEVE pair"),
        lambda: db.query("RETRIEVE pair USING a + 1 LIMIT 3"),
        lambda: db.execute("CREATE ITEM other (a INTEGER)"),
        lambda: db.put("pair", "x", {}),
        lambda: db.put_many("pair", ["x"], {}),
        lambda: db.patch("pair", "p1", {}),
        lambda: db.delete("pair", "p1"),
        lambda: db.get("pair", "p1"),
        lambda: db.count("pair"),
        lambda: db.signal("save", "p1"),
        lambda: db.signal_many("save", ["p1"]),
        lambda: db.handle("pair", "p1"),
        lambda: db.set_clock(NOW + HOUR),
        db.maintain, db.validate, db.stats, db.schema,
    ]  # fmt: skip
    for place, call in enumerate(calls):
        try:
            call()
            return 10 + place
        except eagre.Error as error:
            if error.code != "EAGRE_FORKED":
                return 100 + place
    db.close()
    return 0


def wait(child: int, seconds: float) -> int:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return -1000

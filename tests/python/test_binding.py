# SPDX-License-Identifier: MIT
"""The Python face: what a caller of the package can rely on. What the engine answers is tested elsewhere."""

from __future__ import annotations

import contextlib
import datetime
import gc
import os
import pathlib
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from subjects import NOW

eagre = pytest.importorskip("eagre")
numpy = pytest.importorskip("numpy")

HOUR = 3_600_000_000
UTC = datetime.timezone.utc

SCHEMA = """
CREATE ITEM film (title TEXT, director KEYWORD AS author, genres KEYWORDS, released TIME AS created, minutes INTEGER,
                  rating REAL, look VECTOR(3));
CREATE ITEM post (title TEXT) KEY INTEGER;
CREATE SIGNAL view ON film HALF LIFE 7d WINDOWS 1h, 24h;
CREATE SIGNAL like ON film NO DECAY;
CREATE SIGNAL like ON post NO DECAY;
"""


@pytest.fixture
def films() -> Iterator[Any]:
    with eagre.open(now=NOW) as db:
        db.execute(SCHEMA)
        yield db
        db.validate()


@contextlib.contextmanager
def refused(code: str, words: str | None = None) -> Iterator[None]:
    with pytest.raises(eagre.Error, match=words) as caught:
        yield
    assert caught.value.code == code, caught.value


# ---- open and close


def test_open_and_close() -> None:
    db = eagre.open()
    assert "open" in repr(db)
    db.execute(SCHEMA)
    result_of_then = db.query("RETRIEVE film RETURN title")
    db.close()
    db.close()
    assert "closed" in repr(db) and len(result_of_then) == 0 and result_of_then.columns == ["title"]
    calls = [
        lambda: db.execute("DROP ITEM film"),
        lambda: db.query("RETRIEVE film RETURN title"),
        lambda: db.put("film", "a", {}),
        lambda: db.put_many("film", ["a"], {}),
        lambda: db.patch("film", "a", {}),
        lambda: db.get("film", "a"),
        lambda: db.delete("film", "a"),
        lambda: db.count("film"),
        lambda: db.handle("film", "a"),
        lambda: db.signal("view", "a"),
        lambda: db.signal("view", eagre.Handle(1)),
        lambda: db.signal_many("view", ["a"]),
        lambda: db.set_clock(1),
        db.schema,
        db.stats,
        db.maintain,
        db.validate,
    ]
    for call in calls:
        with refused("EAGRE_CLOSED"):
            call()


def test_signal_after_close_by_the_short_way(films: Any) -> None:
    films.put("film", "a", {})
    handle = films.handle("film", "a")
    assert films.signal("view", "a") and films.signal("view", handle)
    other = eagre.open()
    other.execute("CREATE ITEM film (title TEXT); CREATE SIGNAL view ON film NO DECAY")
    other.put("film", "a", {})
    handle = other.handle("film", "a")
    other.signal("view", handle)
    other.close()
    for key in ("a", handle):
        with refused("EAGRE_CLOSED"):
            other.signal("view", key)


def test_garbage_is_collected_in_any_order() -> None:
    for _ in range(3):
        db = eagre.open()
        db.execute(SCHEMA)
        db.query("RETRIEVE film")
        statements = db._statements
        del db
        gc.collect()
        del statements
        gc.collect()


def test_a_path_is_not_supported_yet(tmp_path: Any) -> None:
    with refused("EAGRE_UNSUPPORTED"):
        eagre.open(tmp_path / "films")
    with refused("EAGRE_UNSUPPORTED"):
        eagre.open("films")


@pytest.mark.parametrize("limit", [-1, 1 << 64, True, 1.5, "1"])
def test_open_refuses(limit: Any) -> None:
    with refused("EAGRE_INVALID", "memory_limit"):
        eagre.open(memory_limit=limit)


def test_clock() -> None:
    with eagre.open(now=datetime.datetime(2024, 1, 1, tzinfo=UTC)) as db:
        db.execute(SCHEMA)
        assert db.query("RETRIEVE film").now == NOW
        db.set_clock(NOW + 5)
        assert db.query("RETRIEVE film").now == NOW + 5
        db.set_clock(None)
        assert abs(db.query("RETRIEVE film").now - datetime.datetime.now(UTC).timestamp() * 1e6) < 60e6
        assert db.query("RETRIEVE film", now=7).now == 7
        assert db.query("RETRIEVE film", now=datetime.datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)).now == 1_000_000
        with refused("EAGRE_TYPE", "now: .*no time zone"):
            db.set_clock(datetime.datetime(2024, 1, 1))
        with refused("EAGRE_RANGE", "now"):
            db.set_clock(2**63)
        with refused("EAGRE_TYPE", "now"):
            db.query("RETRIEVE film", now="yesterday")


def test_memory_limit() -> None:
    with eagre.open() as probe:
        used = probe.stats()
    assert isinstance(used, dict)


# ---- statements


def test_execute(films: Any) -> None:
    assert films.execute("CREATE ITEM a (x INTEGER); CREATE ITEM b (x INTEGER);") is None
    assert films.execute("  -- a comment\n ALTER ITEM a ADD y REAL") is None
    assert isinstance(films.execute("-- reads\nRETRIEVE a"), eagre.Result)
    assert isinstance(films.execute("RETRIEVE a WHERE x = ?1", 5), eagre.Result)
    assert len(films.query("DROP ITEM b")) == 0
    with refused("EAGRE_UNKNOWN"):
        films.count("b")
    with refused("EAGRE_TYPE", "a statement is a str"):
        films.execute(b"RETRIEVE a")
    with refused("EAGRE_TYPE", "a statement is a str"):
        films.query(7)
    with refused("EAGRE_ENCODING"):
        films.query("RETRIEVE a WHERE x = '\ud800'")


def test_errors_have_a_position(films: Any) -> None:
    with pytest.raises(eagre.Error) as caught:
        films.query("RETRIEVE film WHERE rating = = 3")
    assert caught.value.code == "EAGRE_SYNTAX" and caught.value.position == 29
    assert str(caught.value).endswith("[EAGRE_SYNTAX at byte 29]")
    with pytest.raises(eagre.Error) as caught:
        films.query("RETRIEVE film WHERE title = 'é' AND nothing = 3")
    assert caught.value.code == "EAGRE_UNKNOWN" and caught.value.position == len("RETRIEVE film WHERE title = 'é' AND ".encode())


def test_parameters(films: Any) -> None:
    films.put("film", "a", {"title": "A", "minutes": 90, "released": "2020-01-01", "genres": ["drama", "noir"], "rating": 7.5})
    films.put("film", "b", {"title": "B"})
    films.put("post", 2**64 - 1, {"title": "P"})

    def keys(condition: str, *parameters: Any) -> Any:
        return films.query(f"RETRIEVE film WHERE {condition}", *parameters).keys

    assert keys("minutes = ?1", 90) == ["a"]
    assert keys("minutes = ?1", numpy.int32(90)) == ["a"]
    assert keys("minutes < ?1", 90.5) == ["a"]
    assert keys("title = ?1", "A") == ["a"]
    assert keys("title = ?2 AND minutes = ?1", 90, "A") == ["a"]
    assert keys("title = ?1", None) == []
    assert keys("title IN ?1", ["A", "B", None]) == ["a", "b"]
    assert keys("title IN ?1", {"B"}) == ["b"]
    assert keys("minutes IN ?1", [1, 90]) == ["a"]
    assert keys("minutes IN ?1", numpy.array([1, 90])) == ["a"]
    assert keys("minutes IN ?1", []) == []
    assert keys("genres = ?1", "noir") == ["a"]
    assert keys("released >= ?1", datetime.date(2020, 1, 1)) == ["a"]
    assert keys("released > ?1", datetime.datetime(2020, 1, 1, tzinfo=UTC)) == []
    assert keys("key = ?1", b"b") == ["b"]
    assert films.query("RETRIEVE film EXCLUDE ?1", ["a"]).keys == ["b"]
    assert films.query("RETRIEVE post EXCLUDE ?1", [2**64 - 1]).keys == []
    with refused("EAGRE_TYPE", r"parameter \?2: True"):
        keys("title = ?1 AND minutes = ?2", "A", True)
    with refused("EAGRE_ENCODING", r"parameter \?1"):
        keys("title = ?1", "\ud800")
    with refused("EAGRE_RANGE", r"parameter \?1"):
        keys("minutes = ?1", 2**64)
    with refused("EAGRE_PARAMETER"):
        keys("minutes = ?1")


def test_pages(films: Any) -> None:
    films.put_many("film", [f"f{i:02}" for i in range(28)], {"minutes": [1] * 28})
    text = "RETRIEVE film USING minutes COUNT LIMIT 20 AFTER ?1"
    first = films.query(text, None)
    assert len(first) == 20 and first.total == 28 and isinstance(first.cursor, bytes)
    second = films.query(text, first.cursor)
    assert second.keys == [f"f{i:02}" for i in range(20, 28)] and second.cursor is None
    assert films.query("RETRIEVE film").total is None
    with refused("EAGRE_CURSOR"):
        films.query(text, first.cursor[:-1])


def test_results_larger_than_the_buffer(films: Any) -> None:
    title = "x" * 1_000
    films.put_many("film", [f"f{i}" for i in range(3_000)], {"title": [title] * 3_000})
    result = films.query("RETRIEVE film RETURN title LIMIT 3000")
    assert result.column("title") == [title] * 3_000
    films.put("film", "long", {"title": "y" * 5_000_000})
    assert len(films.get("film", "long")["title"]) == 5_000_000
    assert len(films.query("RETRIEVE film LIMIT 1")) == 1


def test_deadline(films: Any) -> None:
    assert len(films.query("RETRIEVE film", deadline=10)) == 0
    for wrong in (-1, float("nan"), float("inf")):
        with refused("EAGRE_RANGE", "deadline"):
            films.query("RETRIEVE film", deadline=wrong)
    with refused("EAGRE_TYPE", "deadline"):
        films.query("RETRIEVE film", deadline="soon")


def test_explain(films: Any) -> None:
    films.put("film", "a", {"minutes": 90})
    assert films.query("RETRIEVE film").explain is None
    report = films.query("EXPLAIN RETRIEVE film USING minutes + decay(view)").explain
    assert isinstance(report.data, dict) and "decay(view)" in str(report) and "90" in str(report)


def test_statements_are_kept_and_forgotten(films: Any) -> None:
    kept = films._statements
    text = "RETRIEVE film WHERE minutes = 1"
    films.query(text)
    first = kept.kept(text)
    films.query(text)
    assert kept.kept(text) is first
    for i in range(kept.SIZE):
        films.query(f"RETRIEVE film WHERE minutes = {i + 2}")
    assert kept.kept(text) is None and len(kept._kept) == kept.SIZE
    films.execute("ALTER ITEM film ADD extra INTEGER")
    assert len(kept._kept) == 0
    films.query(text)
    with refused("EAGRE_EXISTS"):
        films.query("CREATE ITEM film (x INTEGER)")
    assert len(kept._kept) == 0


def test_profiles_are_replaced(films: Any) -> None:
    films.put("film", "a", {"minutes": 90})
    films.execute("CREATE PROFILE mine ON film AS minutes")
    assert films.query("RETRIEVE film USING mine").scores == [90.0]
    films.execute("ALTER PROFILE mine ON film AS minutes + 1")
    assert films.query("RETRIEVE film USING mine").scores == [91.0]


def test_dropped_and_made_again(films: Any) -> None:
    films.put("film", "a", {})
    films.signal("view", "a")
    text = "RETRIEVE film USING decay(view)"
    assert films.query(text).scores == pytest.approx([1.0])
    stale = films._statements.kept(text)
    numbers = films._signals
    films.execute("DROP SIGNAL view ON film")
    with refused("EAGRE_UNKNOWN"):
        films.query(text)
    films.execute("CREATE SIGNAL view ON film HALF LIFE 7d WINDOWS 1h, 24h")
    # As if another thread had put what is stale into the caches in between: it is found out and renewed.
    films._statements._kept[text] = stale
    films._signals.update(numbers)
    assert films.query(text).scores == [0.0]
    films._signals.update(numbers)
    assert films.signal("view", "a")
    films._signals.update(numbers)
    assert films.signal_many("view", ["a"]) == 1
    assert films.query(text).scores == pytest.approx([2.0])


# ---- items


def test_put_and_get(films: Any) -> None:
    moment = datetime.datetime(2020, 1, 1, tzinfo=UTC)
    films.put(
        "film", "a", {"title": "né", "director": "D", "genres": ("x", "y", "x"), "released": moment, "minutes": 90, "rating": 7}
    )
    assert films.get("film", "a") == {
        "title": "né",
        "director": "D",
        "genres": ["x", "y"],
        "released": 1_577_836_800_000_000,
        "minutes": 90,
        "rating": 7.0,
        "look": None,
    }
    films.patch("film", "a", {"look": [1, 2, 3], "title": None})
    got = films.get("film", "a")
    assert got["look"] == [1.0, 2.0, 3.0] and got["title"] is None and got["director"] == "D"
    films.put("film", "a", {})
    assert set(films.get("film", "a").values()) == {None}
    films.put("film", b"\xff\x00", {"genres": []})
    assert films.get("film", b"\xff\x00")["genres"] == [] and films.query("RETRIEVE film").keys == ["a", b"\xff\x00"]
    assert films.count("film") == 2
    films.delete("film", "a")
    assert films.count("film") == 1


@pytest.mark.parametrize("key", [0, 1, 2**53 + 1, 2**63, 2**64 - 1])
def test_integer_keys(films: Any, key: int) -> None:
    films.put("post", key, {"title": "t"})
    assert films.get("post", key) == {"title": "t"} and films.query("RETRIEVE post").keys == [key]
    assert films.signal("like", key, kind="post") and films.signal("like", numpy.uint64(key), kind="post")
    assert films.query("RETRIEVE post USING decay(like)").scores == [2.0]


def test_not_found(films: Any) -> None:
    calls: list[Any] = [
        lambda: films.get("film", "no"),
        lambda: films.delete("film", "no"),
        lambda: films.patch("film", "no", {}),
        lambda: films.handle("film", "no"),
        lambda: films.signal("view", "no"),
        lambda: films.signal_many("view", ["no"]),
    ]
    for call in calls:
        with pytest.raises(eagre.NotFound) as caught:
            call()
        assert caught.value.code == "EAGRE_NOT_FOUND" and isinstance(caught.value, KeyError)


def test_put_refuses_by_name(films: Any) -> None:
    for key, fields, code, words in (
        ("a", {"minutes": True}, "EAGRE_TYPE", "field 'minutes': True"),
        ("a", {"minutes": 2**64}, "EAGRE_RANGE", "field 'minutes'"),
        ("a", {"title": "\ud800"}, "EAGRE_ENCODING", "field 'title'"),
        ("a", {"released": datetime.datetime(2020, 1, 1)}, "EAGRE_TYPE", "field 'released': .*time zone"),
        ("a", {"minutes": "x"}, "EAGRE_TYPE", "minutes"),
        ("a", {"minutes": 1.5}, "EAGRE_TYPE", "minutes"),
        ("a", {"look": [1, 2]}, "EAGRE_TYPE", "look"),
        ("a", {"nothing": 1}, "EAGRE_UNKNOWN", "nothing"),
        ("a", {7: 1}, "EAGRE_TYPE", "fields"),
        (5, {}, "EAGRE_TYPE", "key"),
        (None, {}, "EAGRE_TYPE", "key"),
        (True, {}, "EAGRE_TYPE", "key"),
        (["a"], {}, "EAGRE_TYPE", "key"),
        (eagre.Handle(1), {}, "EAGRE_TYPE", "key: a handle"),
        ("\ud800", {}, "EAGRE_ENCODING", "key"),
    ):
        with refused(code, words):
            films.put("film", key, fields)
    for fields_of_no_use in (None, ["title"], "title"):
        with refused("EAGRE_TYPE", "fields: a dict"):
            films.put("film", "a", fields_of_no_use)
        with refused("EAGRE_TYPE", "fields: a dict"):
            films.put_many("film", ["a"], fields_of_no_use)
    assert films.count("film") == 0
    for kind, code in (
        (7, "EAGRE_TYPE"),
        ("no", "EAGRE_UNKNOWN"),
        ("film\0x", "EAGRE_UNKNOWN"),
        ("\ud800", "EAGRE_ENCODING"),
        ("", "EAGRE_UNKNOWN"),
    ):
        with refused(code):
            films.put(kind, "a", {})


def test_put_many(films: Any) -> None:
    keys = ["a", "b", b"c"]
    done = films.put_many(
        "film",
        keys,
        {
            "title": ["A", None, "Ç"],
            "genres": [["x"], [], None],
            "released": numpy.array(["2020-01-01", "NaT", "2021-01-01"], dtype="M8[D]"),
            "minutes": numpy.array([90, 91, 92], dtype=numpy.int32),
            "rating": numpy.array([1, 2, 3], dtype=numpy.float32),
            "look": numpy.arange(9, dtype=numpy.float32).reshape(3, 3),
        },
    )
    assert done == 3
    result = films.query("RETRIEVE film RETURN title, genres, released, minutes, rating, look")
    assert result.keys == ["a", "b", "c"]
    assert result.column("title") == ["A", None, "Ç"] and result.column("genres") == [["x"], [], None]
    assert result.column("released") == [1_577_836_800_000_000, None, 1_609_459_200_000_000]
    assert result.column("minutes") == [90, 91, 92] and result.column("rating") == [1.0, 2.0, 3.0]
    assert result.column("look") == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]
    assert films.patch_many("film", (k for k in ("a", "b")), {"minutes": [1, 2]}) == 2
    assert [films.get("film", k)["minutes"] for k in keys] == [1, 2, 92]
    assert films.put_many("film", [], {"title": []}) == 0
    for genres in ([[]], [()], [set()]):
        assert films.put_many("film", ["a"], {"genres": genres}) == 1
        assert films.get("film", "a")["genres"] == []
    assert films.put_many("post", numpy.arange(5, dtype=numpy.uint64), {}) == 5 == films.count("post")


def test_put_many_refuses_whole(films: Any) -> None:
    for keys, columns, code, words in (
        (["a", "b"], {"minutes": [1]}, "EAGRE_INVALID", "column 'minutes': 1 rows"),
        (["a", "b"], {"minutes": [1, True]}, "EAGRE_TYPE", "column 'minutes': row 1"),
        (["a", "b"], {"minutes": numpy.array([True, False])}, "EAGRE_TYPE", "column 'minutes'"),
        (["a", "b"], {"minutes": 7}, "EAGRE_TYPE", "column 'minutes'"),
        (["a", "b"], {"title": "ab"}, "EAGRE_TYPE", "column 'title'"),
        (["a", "b"], {"minutes": [1, 1.5]}, "EAGRE_TYPE", "minutes"),
        (["a", "b"], {"look": numpy.zeros((2, 2), dtype="f4")}, "EAGRE_TYPE", "look"),
        (["a", "b"], {"nothing": [1, 2]}, "EAGRE_UNKNOWN", "nothing"),
        ("ab", {}, "EAGRE_TYPE", "keys"),
        (["a", 5], {}, "EAGRE_TYPE", "key"),
        (["a", ""], {}, "EAGRE_RANGE", "key"),
    ):
        with refused(code, words):
            films.put_many("film", keys, columns)
    assert films.count("film") == 0


# ---- signals


def test_signals(films: Any) -> None:
    films.put_many("film", ["a", "é"], {})
    handle = films.handle("film", "a")
    assert isinstance(handle, eagre.Handle) and isinstance(handle, int) and repr(handle).startswith("Handle(")
    assert films.signal("view", "a") and films.signal("view", b"a", 2) and films.signal("view", handle, weight=3.0)
    assert films.signal("view", "é", numpy.float32(0.5), datetime.datetime(2024, 1, 1, tzinfo=UTC))
    assert films.signal("view", "é", at=NOW - HOUR // 2) and films.signal("view", handle, at=NOW)
    result = films.query("RETRIEVE film USING sum(view, 1h)")
    assert dict(zip(result.keys, result.scores)) == {"a": 7.0, "é": 1.5}


def test_event_ids(films: Any) -> None:
    films.put("film", "a", {})
    handle = films.handle("film", "a")
    for event in (0, 2**53 + 1, 2**64 - 1, "x", b"\xff", "é" * 32):
        assert films.signal("view", "a", id=event) is True
        assert films.signal("view", "a", id=event) is False
        assert films.signal("view", handle, id=event) is False
    assert films.signal("view", handle, id="of the handle") is True
    assert films.signal_many("view", ["a"] * 3, ids=["x", "y", "y"]) == 1
    assert films.signal_many("view", ["a"] * 2, ids=numpy.array([0, 1])) == 1
    assert films.query("RETRIEVE film USING count(view, all)").scores == [9.0]
    for wrong in ("", "x" * 65):
        with refused("EAGRE_RANGE"):
            films.signal("view", "a", id=wrong)
    for wrong_type in (1.5, True, ["x"]):
        with refused("EAGRE_TYPE", "id"):
            films.signal("view", "a", id=wrong_type)


def test_signal_many(films: Any) -> None:
    films.put_many("film", ["a", "b"], {})
    films.put_many("post", [1, 2], {})
    handles = [films.handle("film", key) for key in ("a", "b")]
    assert films.signal_many("view", ["a", "b", "a"]) == 3
    assert films.signal_many("view", keys=("a", b"b"), weights=[1, 2.5], at=[NOW, NOW - 1]) == 2
    assert films.signal_many("view", handles=handles, weights=2, at=NOW) == 2
    assert films.signal_many("view", handles=numpy.array(handles, dtype=numpy.uint64), weights=numpy.ones(2)) == 2
    assert films.signal_many("like", keys=numpy.array([1, 2, 2]), kind="post") == 3
    assert films.signal_many("view", []) == 0 and films.signal_many("view", handles=[]) == 0
    assert films.query("RETRIEVE film USING sum(view, all)").scores == [1 + 2.5 + 2 + 1, 2 + 1 + 2 + 1]
    assert films.query("RETRIEVE post USING decay(like)").scores == [2.0, 1.0]


def test_signals_refuse_by_name(films: Any) -> None:
    films.put("film", "a", {})
    wrong: list[tuple[dict[str, Any], str, str | None]] = [
        ({"weight": 0.0}, "EAGRE_RANGE", "weight"),
        ({"weight": -1.0}, "EAGRE_RANGE", "weight"),
        ({"weight": float("nan")}, "EAGRE_RANGE", "weight"),
        ({"weight": True}, "EAGRE_TYPE", "weight"),
        ({"weight": "1"}, "EAGRE_TYPE", "weight"),
        ({"weight": None}, "EAGRE_TYPE", "weight"),
        ({"weight": 10**400}, "EAGRE_RANGE", "weight"),
        ({"at": datetime.datetime(2024, 1, 1)}, "EAGRE_TYPE", "at: .*time zone"),
        ({"at": 2**63}, "EAGRE_RANGE", "at"),
        ({"at": -(2**63)}, "EAGRE_RANGE", "at"),
        ({"at": -1}, "EAGRE_RANGE", None),
        ({"user": "ana"}, "EAGRE_UNSUPPORTED", "users"),
    ]
    for options, code, words in wrong:
        with refused(code, words):
            films.signal("view", "a", **options)
    for key, code in (
        (5, "EAGRE_TYPE"),
        (None, "EAGRE_TYPE"),
        (True, "EAGRE_TYPE"),
        ("", "EAGRE_RANGE"),
        ("x" * 513, "EAGRE_LIMIT"),
    ):
        with refused(code):
            films.signal("view", key)
    with refused("EAGRE_UNKNOWN"):
        films.signal("like", "a")  # two kinds have it
    assert films.signal("like", "a", kind="film")
    with refused("EAGRE_UNKNOWN"):
        films.signal("no", "a")
    with refused("EAGRE_TYPE"):
        films.signal(7, "a")
    wrong = [
        ({"keys": ["a"], "handles": [1]}, "EAGRE_INVALID", "either keys or handles"),
        ({}, "EAGRE_INVALID", "either keys or handles"),
        ({"keys": ["a", "a"], "weights": [1.0]}, "EAGRE_INVALID", "weights: 1 rows"),
        ({"keys": ["a", "a"], "weights": [1.0, None]}, "EAGRE_TYPE", "weights"),
        ({"keys": ["a", "a"], "weights": [1.0, -1.0]}, "EAGRE_RANGE", "1"),
        ({"keys": ["a"], "at": [1.5]}, "EAGRE_TYPE", "at"),
        ({"keys": ["a"], "ids": [1.5]}, "EAGRE_TYPE", "id"),
        ({"keys": ["a"], "users": ["ana"]}, "EAGRE_UNSUPPORTED", "users"),
        ({"handles": ["a"]}, "EAGRE_TYPE", "handles"),
        ({"keys": "a"}, "EAGRE_TYPE", "keys"),
    ]
    for options, code, words in wrong:
        with refused(code, words):
            films.signal_many("view", **options)
    assert films.query("RETRIEVE film USING count(view, all)").scores == [0.0]


def test_handles_mean_one_item(films: Any) -> None:
    films.put("film", "a", {})
    handle = films.handle("film", "a")
    films.delete("film", "a")
    films.put("film", "a", {})
    with pytest.raises(eagre.NotFound):
        films.signal("view", handle)
    assert films.handle("film", "a") != handle


# ---- about


def test_schema_and_stats(films: Any) -> None:
    films.put("film", "a", {"title": "x"})
    films.signal("view", "a")
    assert "film" in str(films.schema()) and "look" in str(films.schema())
    assert "film" in str(films.stats()) and "view" in str(films.stats())
    films.maintain()


# ---- threads, forks, processes


def test_many_threads(films: Any) -> None:
    """Statements are evicted and finalized while others run them; buffers are not mixed up; nothing is lost."""
    keys = [f"f{i}" for i in range(50)]
    films.put_many("film", keys, {"minutes": list(range(50)), "title": [f"title of {key}" for key in keys]})
    rounds, failures = 300, []

    def work(me: int) -> None:
        try:
            for i in range(rounds):
                k = (me * 7 + i) % 50
                films.signal("view", keys[k])
                result = films.query(f"RETRIEVE film WHERE minutes = ?1 RETURN title LIMIT {1 + i % 100}", k)
                assert result.keys == [keys[k]] and result[0]["title"] == f"title of {keys[k]}"
                assert films.get("film", keys[k])["minutes"] == k
                if me == 0 and i % 50 == 0:
                    films.execute(f"ALTER ITEM film ADD extra{i} INTEGER")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(me,)) for me in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert sum(films.query("RETRIEVE film USING count(view, all) LIMIT 50").scores) == 4 * rounds


def test_close_under_fire() -> None:
    """close() waits for calls in progress; later ones are refused."""
    for _ in range(20):
        db = eagre.open()
        db.execute(SCHEMA)
        db.put("film", "a", {})
        handle = db.handle("film", "a")
        codes: list[str] = []

        def work() -> None:
            try:
                while True:
                    db.signal("view", handle)
                    db.query("RETRIEVE film USING decay(view)")
            except eagre.Error as error:
                codes.append(error.code)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        db.close()
        for thread in threads:
            thread.join()
        assert codes == ["EAGRE_CLOSED"] * 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork(films: Any) -> None:
    films.put("film", "a", {})
    handle = films.handle("film", "a")
    films.signal("view", handle)
    films.query("RETRIEVE film")
    child = os.fork()
    if child == 0:
        wrong = 1
        try:
            calls = [
                lambda: films.signal("view", handle),
                lambda: films.signal("view", "a"),
                lambda: films.query("RETRIEVE film"),
                lambda: films.put("film", "b", {}),
                lambda: films.execute("DROP ITEM film"),
                films.stats,
                eagre.open,
            ]
            codes = set()
            for call in calls:
                try:
                    call()
                    codes.add("none")
                except eagre.Error as error:
                    codes.add(error.code)
            films.close()
            wrong = 0 if codes == {"EAGRE_FORKED"} else 2
        finally:
            os._exit(wrong)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert films.signal("view", handle) and len(films.query("RETRIEVE film")) == 1


def test_spawned_process_is_independent() -> None:
    script = "import eagre\nwith eagre.open() as db: db.execute('CREATE ITEM a (x INTEGER)'); print(db.count('a'))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "0\n"


def test_interpreter_ends_with_an_open_database() -> None:
    script = (
        "import eagre, threading, time\n"
        "db = eagre.open(); db.execute('CREATE ITEM a (x INTEGER)'); db.put('a', 'k', {'x': 1})\n"
        "def work():\n    while True: db.query('RETRIEVE a')\n"
        "threading.Thread(target=work, daemon=True).start(); time.sleep(0.1)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


# ---- the package


def test_names() -> None:
    assert set(eagre.__all__) <= set(dir(eagre))
    for name in eagre.__all__:
        if name != "__version__":
            assert getattr(eagre, name).__doc__, name
    for name, member in vars(eagre.DB).items():
        if callable(member) and not name.startswith("_"):
            assert member.__doc__, name


def test_ffi_source_is_what_cffi_makes() -> None:
    cffi = pytest.importorskip("cffi")
    script = pathlib.Path(__file__).resolve().parents[2] / "bindings" / "python" / "generate_ffi.py"
    if cffi.__version__ != "2.1.1":
        pytest.skip(f"the checked-in file is by cffi 2.1.1, this is {cffi.__version__}")
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_of_the_header_is_missing() -> None:
    root = pathlib.Path(__file__).resolve().parents[2]
    header = re.sub(r"/\*.*?\*/", "", (root / "abi" / "include" / "eagre" / "eagre.h").read_text(), flags=re.S)
    known = (root / "bindings" / "python" / "eagre" / "_ffi.cdef.txt").read_text()
    functions = set(re.findall(r"\b(eagre_\w+)\(", header)) - {"eagre_attach"}
    numbers = set(re.findall(r"^#define (EAGRE_\w+) \S", header, re.M)) - {"EAGRE_API"}
    assert len(functions) > 20 and len(numbers) > 40
    assert {name for name in functions | numbers if not re.search(rf"\b{name}\b", known)} == set()

# SPDX-License-Identifier: MIT
"""Pages: cursors, limits, ties, keys at the edges of their ranges."""

from __future__ import annotations

from typing import Any

import pytest

from subjects import NOW

eagre = pytest.importorskip("eagre")


def pages(db: Any, statement: str, *params: Any) -> list[list[Any]]:
    """All pages of a statement whose cursor is its last parameter."""
    out, cursor = [], None
    while True:
        result = db.query(statement, *params, cursor)
        out.append(result.keys)
        cursor = result.cursor
        if cursor is None or not result.keys:
            return out


@pytest.fixture
def db() -> Any:
    with eagre.open(now=NOW) as opened:
        opened.execute("CREATE ITEM film (title TEXT, director KEYWORD, rating REAL)")
        opened.execute("CREATE SIGNAL view ON film HALF LIFE 7d WINDOWS 24h")
        yield opened
        opened.validate()


def test_equal_scores_in_slot_order(db: Any) -> None:
    keys = [f"k{i}" for i in range(28)]
    db.put_many("film", keys, {"rating": [1.0] * 28})
    first, second = pages(db, "RETRIEVE film USING rating LIMIT 20 AFTER ?1")
    assert first + second == keys and len(first) == 20


@pytest.mark.parametrize("limit", [0, 1, 7, 28, 29, 1_000_000])
def test_limits(db: Any, limit: int) -> None:
    db.put_many("film", [f"k{i}" for i in range(28)], {"rating": [float(i) for i in range(28)]})
    result = db.query("RETRIEVE film USING rating COUNT LIMIT ?1", limit)
    assert len(result) == min(limit, 28) and result.total == 28
    assert result.keys == [f"k{i}" for i in range(27, -1, -1)][:limit]
    assert limit != 0 or result.cursor is None


@pytest.mark.parametrize("limit", [-1, 1_000_001, 2**40])
def test_limits_out_of_range(db: Any, limit: int) -> None:
    with pytest.raises(eagre.Error) as raised:
        db.query("RETRIEVE film LIMIT ?1", limit)
    assert raised.value.code in ("EAGRE_RANGE", "EAGRE_LIMIT")


def test_an_empty_kind(db: Any) -> None:
    result = db.query("RETRIEVE film USING decay(view) WHERE rating > 3 DIVERSITY director 1 PER 5 RETURN title COUNT")
    assert (result.keys, result.total, result.cursor, result.relaxed) == ([], 0, None, False)


def test_behind_the_end(db: Any) -> None:
    db.put_many("film", [f"k{i}" for i in range(10)], {"rating": [float(i) for i in range(10)]})
    cursor = db.query("RETRIEVE film USING rating LIMIT 5 AFTER ?1", None).cursor
    for i in range(10):
        db.delete("film", f"k{i}")
    result = db.query("RETRIEVE film USING rating LIMIT 5 AFTER ?1", cursor)
    assert result.keys == [] and result.cursor is None


def test_pages_are_disjoint_while_scores_move(db: Any) -> None:
    keys = [f"k{i}" for i in range(100)]
    db.put_many("film", keys, {"rating": [float(i) for i in range(100)]})
    seen: list[str] = []
    cursor = None
    while True:
        result = db.query("RETRIEVE film USING rating LIMIT 9 AFTER ?1", cursor)
        seen += result.keys
        # What was shown falls to the bottom, what is to come at the bottom rises to the top.
        for key in result.keys[:3]:
            db.patch("film", key, {"rating": -1.0})
        cursor = result.cursor
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 100


def test_a_cursor_pins_the_moment(db: Any) -> None:
    db.put_many("film", ["a", "b", "c"], {"rating": [3.0, 2.0, 1.0]})
    first = db.query("RETRIEVE film USING rating LIMIT 1 AFTER ?1", None)
    db.set_clock(NOW + 86_400_000_000)
    second = db.query("RETRIEVE film USING rating LIMIT 1 AFTER ?1", first.cursor)
    assert second.now == first.now == NOW and second.keys == ["b"]


@pytest.mark.parametrize("order", ["ORDER BY title", "ORDER BY title DESC, rating", "ORDER BY director, key DESC", "USING rating", ""])
@pytest.mark.parametrize("diversity", ["", "DIVERSITY director 1 PER 3", "DIVERSITY director SHARE 0.5"])
def test_pages_together_are_everything(db: Any, order: str, diversity: str) -> None:
    for i in range(60):
        title = None if i % 7 == 0 else f"title {i % 5}" * (1 + 40 * (i % 3))
        db.put("film", f"k{i}", {"title": title, "director": None if i % 11 == 0 else f"d{i % 4}", "rating": None if i % 5 == 0 else i % 9})
    whole = db.query(f"RETRIEVE film {order} LIMIT 1000").keys
    parts = [key for page in pages(db, f"RETRIEVE film {order} {diversity} LIMIT 7 AFTER ?1") for key in page]
    assert sorted(parts) == sorted(whole) and len(set(parts)) == 60
    if not diversity:
        assert parts == whole


def test_cursors_belong_to_their_statement(db: Any) -> None:
    db.put_many("film", [f"k{i}" for i in range(10)], {"rating": [float(i) for i in range(10)]})
    cursor = db.query("RETRIEVE film USING rating WHERE rating > ?1 LIMIT 2 AFTER ?2", 1, None).cursor
    wrong = [
        ("RETRIEVE film USING rating WHERE rating > ?1 LIMIT 2 AFTER ?2", (2, cursor)),  # another parameter
        ("RETRIEVE film USING rating + 1 WHERE rating > ?1 LIMIT 2 AFTER ?2", (1, cursor)),  # another statement
        ("RETRIEVE film USING rating WHERE rating > ?1 LIMIT 2 AFTER ?2", (1, cursor[:-1])),  # cut short
        ("RETRIEVE film USING rating WHERE rating > ?1 LIMIT 2 AFTER ?2", (1, cursor[:20] + bytes([cursor[20] ^ 1]) + cursor[21:])),
        ("RETRIEVE film USING rating WHERE rating > ?1 LIMIT 2 AFTER ?2", (1, b"")),
    ]
    for statement, params in wrong:
        with pytest.raises(eagre.Error) as raised:
            db.query(statement, *params)
        assert raised.value.code == "EAGRE_CURSOR"
    with eagre.open(now=NOW) as other:
        other.execute("CREATE ITEM film (rating REAL)")
        with pytest.raises(eagre.Error) as raised:
            other.query("RETRIEVE film USING rating WHERE rating > ?1 LIMIT 2 AFTER ?2", 1, cursor)
        assert raised.value.code == "EAGRE_CURSOR"


def test_keys_at_the_edges() -> None:
    keys = [0, 1, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]
    with eagre.open(now=NOW) as db:
        db.execute("CREATE ITEM film (n INTEGER) KEY INTEGER")
        db.execute("CREATE SIGNAL view ON film HALF LIFE 7d")
        for key in keys:
            db.put("film", key, {"n": min(key, 2**63 - 1)})
        assert db.query("RETRIEVE film ORDER BY key DESC").keys == keys[::-1]
        for key in keys:
            assert db.query("RETRIEVE film WHERE key = ?1", key).keys == [key]
            assert db.signal("view", key)
            assert db.get("film", key)["n"] == min(key, 2**63 - 1)
        assert db.query("RETRIEVE film WHERE n = 9007199254740993").keys == [2**53 + 1]
        assert db.query("RETRIEVE film WHERE n > 9007199254740992.0 AND n < ?1", 2**63 - 1).keys == [2**53 + 1]
        assert db.query("RETRIEVE film ORDER BY key WHERE key IN ?1", [2**64 - 1, 0, 5]).keys == [0, 2**64 - 1]
        for key in keys:
            db.delete("film", key)
        assert db.count("film") == 0 and db.query("RETRIEVE film").keys == []
        for bad in (-1, 2**64):
            with pytest.raises(eagre.Error) as raised:
                db.put("film", bad, {})
            assert raised.value.code == "EAGRE_RANGE"
        db.validate()


def test_min_of_limit_and_matches_under_diversity(db: Any) -> None:
    db.put_many("film", [f"k{i}" for i in range(30)], {"director": ["one"] * 25 + ["two"] * 5, "rating": [float(30 - i) for i in range(30)]})
    result = db.query("RETRIEVE film USING rating DIVERSITY director 1 PER 2 LIMIT 20")
    assert len(result) == 20 and result.relaxed
    assert [k for k in result.keys[:10]] == ["k0", "k25", "k1", "k26", "k2", "k27", "k3", "k28", "k4", "k29"]

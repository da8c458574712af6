# SPDX-License-Identifier: MIT
"""Bad input: a clear error with a stable code that names the argument, and nothing has changed."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from subjects import NOW

eagre = pytest.importorskip("eagre")


@pytest.fixture
def db() -> Any:
    with eagre.open(now=NOW) as opened:
        opened.execute("CREATE ITEM film (title TEXT, director KEYWORD, genres KEYWORDS, minutes INTEGER, rating REAL, released TIME, look VECTOR(3))")
        opened.execute("CREATE SIGNAL view ON film HALF LIFE 7d WINDOWS 24h")
        opened.put("film", "a", {"title": "A", "minutes": 90})
        opened.signal("view", "a")
        yield opened


def state(db: Any) -> Any:
    rows = db.query("RETRIEVE film ORDER BY key RETURN title, director, genres, minutes, rating, released, count(view, all) COUNT LIMIT 100")
    return [(row.key, dict(row)) for row in rows], rows.total, json.dumps(db.schema())


Act = Callable[[Any], Any]

# what is done, the code, and a word of the sentence
CASES: list[tuple[str, Act, str, str]] = [
    ("kind", lambda d: d.put("flim", "b", {}), "EAGRE_UNKNOWN", "flim"),
    ("field", lambda d: d.put("film", "b", {"titel": "B"}), "EAGRE_UNKNOWN", "titel"),
    ("signal", lambda d: d.signal("veiw", "a"), "EAGRE_UNKNOWN", "veiw"),
    ("profile", lambda d: d.query("RETRIEVE film USING trendy"), "EAGRE_UNKNOWN", "trendy"),
    ("role", lambda d: d.execute("CREATE ITEM x (a TEXT AS headline)"), "EAGRE_UNKNOWN", "headline"),
    ("function", lambda d: d.query("RETRIEVE film USING decoy(view)"), "EAGRE_UNKNOWN", "decoy"),
    ("window", lambda d: d.query("RETRIEVE film USING count(view, 1h)"), "EAGRE_UNKNOWN", "view"),
    ("text for an integer", lambda d: d.put("film", "b", {"minutes": "ninety"}), "EAGRE_TYPE", "minutes"),
    ("real for an integer", lambda d: d.put("film", "b", {"minutes": 90.5}), "EAGRE_TYPE", "minutes"),
    ("integer for a text", lambda d: d.put("film", "b", {"title": 300}), "EAGRE_TYPE", "title"),
    ("text for a set", lambda d: d.put("film", "b", {"genres": "drama"}), "EAGRE_TYPE", "genres"),
    ("a number in a set", lambda d: d.put("film", "b", {"genres": ["drama", 3]}), "EAGRE_TYPE", "genres"),
    ("no date", lambda d: d.put("film", "b", {"released": "yesterday"}), "EAGRE_TYPE", "released"),
    ("overflow", lambda d: d.put("film", "b", {"minutes": 2**63}), "EAGRE_RANGE", "minutes"),
    ("far overflow", lambda d: d.put("film", "b", {"minutes": 2**70}), "EAGRE_RANGE", "minutes"),
    ("NaN", lambda d: d.put("film", "b", {"rating": math.nan}), "EAGRE_RANGE", "rating"),
    ("infinity", lambda d: d.put("film", "b", {"rating": -math.inf}), "EAGRE_RANGE", "rating"),
    ("vector of 2", lambda d: d.put("film", "b", {"look": [1.0, 2.0]}), "EAGRE_TYPE", "look"),
    ("vector with NaN", lambda d: d.put("film", "b", {"look": [1.0, 2.0, math.nan]}), "EAGRE_RANGE", "look"),
    ("bad UTF-8", lambda d: d.put("film", "b", {"title": b"\xff\xfe"}), "EAGRE_ENCODING", "title"),
    ("lone surrogate", lambda d: d.put("film", "b", {"title": "\ud800"}), "EAGRE_ENCODING", "title"),
    ("empty key", lambda d: d.put("film", "", {}), "EAGRE_RANGE", "key"),
    ("long key", lambda d: d.put("film", "k" * 513, {}), "EAGRE_LIMIT", "key"),
    ("integer key", lambda d: d.put("film", 7, {}), "EAGRE_TYPE", "key"),
    ("long keyword", lambda d: d.put("film", "b", {"director": "d" * 513}), "EAGRE_LIMIT", "director"),
    ("many keywords", lambda d: d.put("film", "b", {"genres": [f"g{i}" for i in range(257)]}), "EAGRE_LIMIT", "genres"),
    ("patch of nothing", lambda d: d.patch("film", "b", {"minutes": 1}), "EAGRE_NOT_FOUND", "film"),
    ("delete of nothing", lambda d: d.delete("film", "b"), "EAGRE_NOT_FOUND", "film"),
    ("signal about nothing", lambda d: d.signal("view", "b"), "EAGRE_NOT_FOUND", "film"),
    ("weight 0", lambda d: d.signal("view", "a", weight=0.0), "EAGRE_RANGE", "weight"),
    ("weight below 0", lambda d: d.signal("view", "a", weight=-1.0), "EAGRE_RANGE", "weight"),
    ("weight NaN", lambda d: d.signal("view", "a", weight=math.nan), "EAGRE_RANGE", "weight"),
    ("weight infinite", lambda d: d.signal("view", "a", weight=math.inf), "EAGRE_RANGE", "weight"),
    ("before 1970", lambda d: d.signal("view", "a", at=-5), "EAGRE_RANGE", "at:"),
    ("empty id", lambda d: d.signal("view", "a", id=b""), "EAGRE_RANGE", "id:"),
    ("long id", lambda d: d.signal("view", "a", id=b"x" * 65), "EAGRE_RANGE", "id:"),
    ("user", lambda d: d.signal("view", "a", user="ana"), "EAGRE_UNSUPPORTED", "user"),
    ("kind user", lambda d: d.put("user", "ana", {}), "EAGRE_UNSUPPORTED", "user"),
    ("unequal columns", lambda d: d.put_many("film", ["b", "c"], {"title": ["B"]}), "EAGRE_INVALID", "title"),
    ("one bad row", lambda d: d.put_many("film", ["b", "c", "d"], {"minutes": [1, "x", 3]}), "EAGRE_TYPE", "row 1"),
    ("one unknown key", lambda d: d.signal_many("view", ["a", "b", "a"]), "EAGRE_NOT_FOUND", "row 1"),
    ("one bad weight", lambda d: d.signal_many("view", ["a", "a"], weights=[1.0, 0.0]), "EAGRE_RANGE", "weight"),
    ("missing parameter", lambda d: d.query("RETRIEVE film WHERE minutes < ?1"), "EAGRE_PARAMETER", "parameter"),
    ("one parameter too many", lambda d: d.query("RETRIEVE film", 1), "EAGRE_PARAMETER", "parameter"),
    ("text for a number", lambda d: d.query("RETRIEVE film WHERE minutes < ?1", "x"), "EAGRE_TYPE", "?1"),
    ("number for a text", lambda d: d.query("RETRIEVE film WHERE title = ?1", 3), "EAGRE_TYPE", "?1"),
    ("one for a list", lambda d: d.query("RETRIEVE film WHERE minutes IN ?1", 3), "EAGRE_TYPE", "?1"),
    ("a long statement", lambda d: d.query("RETRIEVE film WHERE title = '" + "x" * 1_000_000 + "'"), "EAGRE_LIMIT", "statement"),
    ("deep", lambda d: d.query("RETRIEVE film USING " + "(" * 10_000 + "1" + ")" * 10_000), "EAGRE_LIMIT", "nested"),
    ("a name that is taken", lambda d: d.execute("CREATE ITEM film (a TEXT)"), "EAGRE_EXISTS", "film"),
    ("a field that is there", lambda d: d.execute("ALTER ITEM film ADD title TEXT"), "EAGRE_EXISTS", "title"),
    ("a signal that is there", lambda d: d.execute("CREATE SIGNAL view ON film NO DECAY"), "EAGRE_EXISTS", "view"),
    ("order of a set", lambda d: d.query("RETRIEVE film ORDER BY genres"), "EAGRE_TYPE", "genres"),
    ("text as a number", lambda d: d.query("RETRIEVE film USING title + 1"), "EAGRE_TYPE", "title"),
    ("a number as a condition", lambda d: d.query("RETRIEVE film WHERE minutes"), "EAGRE_TYPE", "condition"),
    ("SEARCH", lambda d: d.query("SEARCH film ?1", "x"), "EAGRE_UNSUPPORTED", "SEARCH"),
    ("FOR USER", lambda d: d.query("RETRIEVE film FOR USER ?1", "x"), "EAGRE_UNSUPPORTED", "USER"),
    ("a path", lambda d: eagre.open("somewhere"), "EAGRE_UNSUPPORTED", "path"),
]


@pytest.mark.parametrize("act,code,word", [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_refused(db: Any, act: Act, code: str, word: str) -> None:
    before = state(db)
    with pytest.raises(eagre.Error) as raised:
        act(db)
    assert raised.value.code == code
    assert word.lower() in str(raised.value).lower()
    assert state(db) == before
    db.validate()


@pytest.mark.parametrize(
    "statement,position",
    [
        ("RETRIEVE film WHERE minutes <", 29),
        ("RETRIEVE film USING decay(veiw) LIMIT 5", 26),
        ("RETRIEVE film LIMIT 5 WHERE minutes < 3", 22),
        ("RETRIEVE film USING 1 + * 2", 24),
        ("CREATE ITEM x (a TEXT, b TXET)", 25),
    ],
)
def test_positions(db: Any, statement: str, position: int) -> None:
    with pytest.raises(eagre.Error) as raised:
        db.query(statement)
    assert raised.value.position == position


def test_what_was_dropped_is_stale(db: Any) -> None:
    statement = "RETRIEVE film USING decay(view)"
    assert db.query(statement).keys == ["a"]
    db.execute("DROP SIGNAL view ON film")
    with pytest.raises(eagre.Error) as raised:
        db.query(statement)
    assert raised.value.code in ("EAGRE_STALE", "EAGRE_UNKNOWN")
    db.execute("DROP ITEM film")
    with pytest.raises(eagre.Error) as raised:
        db.count("film")
    assert raised.value.code == "EAGRE_UNKNOWN"


def test_a_memory_limit_refuses_writes_before_they_change_anything() -> None:
    with eagre.open(now=NOW, memory_limit=8_000_000) as db:
        db.execute("CREATE ITEM film (title TEXT)")
        db.execute("CREATE SIGNAL view ON film HALF LIFE 7d WINDOWS 24h")
        done = 0
        with pytest.raises(eagre.Error) as raised:
            for done in range(100_000):
                db.put("film", f"k{done}", {"title": "x" * 500})
        assert raised.value.code == "EAGRE_NO_MEMORY"
        assert db.count("film") == done
        db.validate()
        for i in range(done):
            db.delete("film", f"k{i}")
        db.maintain()
        db.put("film", "again", {"title": "fits"})
        db.validate()
    eagre.open().close()  # the limit is the process's: none again

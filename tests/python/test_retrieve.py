# SPDX-License-Identifier: MIT
"""RETRIEVE's clauses by hand, in the model and in the engine."""

from __future__ import annotations

from typing import Any

import pytest

from model import INTEGER, KEYWORD, KEYWORDS, REAL, TEXT, TIME, FieldSpec, KindSpec, OrderBy, OrderKey, Per, Retrieve, Return, Share
from model import SignalSpec, UsingExpr, UsingProfile
from model.calls import F, P, count, decay, eq, gt, in_, last
from model.expr import Expr, expr
from subjects import DAY, HOUR, NOW, EngineSubject, Subject, pages, refused

FILM = KindSpec(
    "film",
    (
        FieldSpec("title", TEXT),
        FieldSpec("director", KEYWORD, role="author"),
        FieldSpec("genres", KEYWORDS),
        FieldSpec("year", INTEGER),
        FieldSpec("rating", REAL),
        FieldSpec("until", TIME, expires=True),
    ),
)
VIEW = SignalSpec("view", "film", half_life=7 * 86_400, windows=(86_400,))
RATING = UsingExpr(F("rating"))


@pytest.fixture
def films(db: Subject) -> Subject:
    db.create(FILM, VIEW)
    return db


def put_rated(db: Subject, directors: str, **fields: Any) -> None:
    """One film for each letter, named a0, b1, ...: its director, rated down from 100."""
    for place, director in enumerate(directors):
        values = {"rating": 100.0 - place, "director": None if director == "-" else director, **fields}
        db.put("film", f"{director}{place}", values)


def keys(db: Subject, **clauses: Any) -> list[str]:
    return [key.decode() for key in db.retrieve(Retrieve("film", **clauses)).keys if isinstance(key, bytes)]


def test_an_empty_kind(films: Subject) -> None:
    for ranking in (None, RATING, UsingExpr(decay("view")), OrderBy((OrderKey("title"),))):
        found = films.retrieve(Retrieve("film", ranking, count=True))
        assert (found.rows, found.total, found.relaxed, found.cursor) == ([], 0, False, None)


def test_the_default_limit_is_20(films: Subject) -> None:
    put_rated(films, "a" * 25)
    assert len(keys(films)) == 20
    assert len(keys(films, limit=25)) == 25
    assert len(keys(films, limit=1_000_000)) == 25
    assert keys(films, limit=0) == []


def test_slot_order_without_a_ranking(films: Subject) -> None:
    put_rated(films, "cab")
    assert keys(films) == ["c0", "a1", "b2"]
    assert films.retrieve(Retrieve("film")).scores == [0, 0, 0]


def test_equal_scores_stand_in_slot_order_on_every_page(films: Subject) -> None:
    for place in range(28):
        films.put("film", f"k{place:02}", {"rating": 7.0})
    found = pages(films, Retrieve("film", RATING, limit=20, after=P(1)), [])
    assert [len(page.rows) for page in found] == [20, 8]
    assert [key for page in found for key in page.keys] == [b"k%02d" % place for place in range(28)]


def test_order_by(films: Subject) -> None:
    for key, (title, year) in {"a": ("x", 2), "b": (None, 3), "c": ("x", 1), "d": ("X", None), "e": ("", 3)}.items():
        films.put("film", key, {"title": title, "year": year})
    assert keys(films, ranking=OrderBy((OrderKey("title"),))) == ["e", "d", "a", "c", "b"]
    assert keys(films, ranking=OrderBy((OrderKey("title", descending=True),))) == ["a", "c", "d", "e", "b"]  # nulls last still
    assert keys(films, ranking=OrderBy((OrderKey("title"), OrderKey("year")))) == ["e", "d", "c", "a", "b"]
    assert keys(films, ranking=OrderBy((OrderKey("year", descending=True), OrderKey("key", descending=True)))) == ["e", "b", "a", "c", "d"]
    assert keys(films, ranking=OrderBy((OrderKey("key", descending=True),))) == ["e", "d", "c", "b", "a"]
    with refused("EAGRE_UNKNOWN"):
        keys(films, ranking=OrderBy((OrderKey("colour"),)))


def test_order_by_large_integers(films: Subject) -> None:
    for key, year in {"a": 2**53 + 1, "b": 2**53, "c": 2**63 - 1, "d": -(2**63), "e": None}.items():
        films.put("film", key, {"year": year})
    assert keys(films, ranking=OrderBy((OrderKey("year"),))) == ["d", "b", "a", "c", "e"]
    assert keys(films, ranking=OrderBy((OrderKey("year", descending=True),))) == ["c", "a", "b", "d", "e"]


@pytest.mark.parametrize("listed", [P(1), ("b1", "nobody", "d3")])
def test_exclude(films: Subject, listed: Any) -> None:
    put_rated(films, "abcd")
    params = [["b1", "nobody", "d3"]] if listed == P(1) else []
    found = films.retrieve(Retrieve("film", RATING, exclude=listed, count=True, limit=1), params)
    assert (found.keys, found.total) == ([b"a0"], 2)


def test_exclude_nothing(films: Subject) -> None:
    put_rated(films, "ab")
    assert films.retrieve(Retrieve("film", exclude=P(1)), [[]]).keys == [b"a0", b"b1"]


def test_total_counts_all_pages(films: Subject) -> None:
    put_rated(films, "aaaaaaabbb")
    statement = Retrieve("film", RATING, where=eq(F("director"), "a"), count=True, limit=3, after=P(1))
    found = pages(films, statement, [])
    assert [page.total for page in found] == [7, 7, 7]
    assert films.retrieve(Retrieve("film")).total is None


def test_diversity_per_window(films: Subject) -> None:
    put_rated(films, "aaabbc")
    found = films.retrieve(Retrieve("film", RATING, diversity=(Per("director", 1, 2),)))
    # a0; then the best that is not a: b3; a1; b4; a2; c5
    assert found.keys == [b"a0", b"b3", b"a1", b"b4", b"a2", b"c5"]
    assert not found.relaxed


def test_diversity_is_relaxed_where_nothing_fits(films: Subject) -> None:
    put_rated(films, "aaab")
    found = films.retrieve(Retrieve("film", RATING, diversity=(Per("director", 1, 3),)))
    # a0, b3, then nothing fits: the best remaining, a1, and a2
    assert found.keys == [b"a0", b"b3", b"a1", b"a2"]
    assert found.relaxed
    first = films.retrieve(Retrieve("film", RATING, diversity=(Per("director", 1, 3),), limit=2))
    assert (first.keys, first.relaxed) == ([b"a0", b"b3"], False)


def test_diversity_per_the_author_role(films: Subject) -> None:
    put_rated(films, "aab")
    assert keys(films, ranking=RATING, diversity=(Per("author", 1, 2),)) == ["a0", "b2", "a1"]


def test_diversity_with_null_and_numbers(films: Subject) -> None:
    put_rated(films, "--a-", year=None)
    assert keys(films, ranking=RATING, diversity=(Per("director", 1, 4),)) == ["-0", "-1", "a2", "-3"]  # null is never limited
    films.put("film", "x", {"rating": 50.0, "year": 1999})
    films.put("film", "y", {"rating": 49.0, "year": 1999})
    films.put("film", "z", {"rating": 48.0, "year": 2000})
    found = keys(films, ranking=RATING, where=gt(F("year"), 0), diversity=(Per("year", 1, 2),))
    assert found == ["x", "z", "y"]


def test_diversity_of_sets(films: Subject) -> None:
    """Each value counts."""
    for key, genres, rating in (("a", ["x", "y"], 9), ("b", ["y", "z"], 8), ("c", ["z"], 7), ("d", [], 6), ("e", ["x"], 5)):
        films.put("film", key, {"genres": genres, "rating": rating})
    # a has x, y; b shares y; c fits; d has none; then within 3 rows of a: nothing; b breaks z of c and y of a ...
    found = films.retrieve(Retrieve("film", RATING, diversity=(Per("genres", 1, 3),)))
    assert found.keys == [b"a", b"c", b"d", b"e", b"b"]
    assert not found.relaxed


def test_diversity_share(films: Subject) -> None:
    put_rated(films, "aaaaabbbcc")
    # floor(0.4 * 5) = 2 of one value on a page
    found = films.retrieve(Retrieve("film", RATING, diversity=(Share("director", 0.4),), limit=5))
    assert found.keys == [b"a0", b"a1", b"b5", b"b6", b"c8"]
    # floor(0.1 * 5) = 0, but at least 1
    found = films.retrieve(Retrieve("film", RATING, diversity=(Share("director", 0.1),), limit=3))
    assert (found.keys, found.relaxed) == ([b"a0", b"b5", b"c8"], False)
    # floor(0.29 * 100) is 28 in f64
    found = films.retrieve(Retrieve("film", RATING, diversity=(Share("director", 0.1),), limit=5))
    assert (found.keys, found.relaxed) == ([b"a0", b"b5", b"c8", b"a1", b"a2"], True)


def test_two_rules(films: Subject) -> None:
    for key, director, year, rating in (("a", "p", 1, 9), ("b", "p", 2, 8), ("c", "q", 1, 7), ("d", "q", 2, 6), ("e", "p", 3, 5)):
        films.put("film", key, {"director": director, "year": year, "rating": rating})
    rules = (Per("director", 1, 2), Per("year", 1, 2))
    # a (p1); b is p, c is 1; d (q2) fits; then e (p3)? no: a (p1) is gone, b is 2; e fits; c (q1); b
    found = films.retrieve(Retrieve("film", RATING, diversity=rules))
    assert found.keys == [b"a", b"d", b"e", b"c", b"b"]
    assert not found.relaxed


def test_diversity_reaches_over_pages(films: Subject) -> None:
    put_rated(films, "aaaabbbbcc")
    rule = (Per("director", 1, 3),)
    whole = films.retrieve(Retrieve("film", RATING, diversity=rule))
    for size in (1, 2, 3, 4):
        found = pages(films, Retrieve("film", RATING, diversity=rule, limit=size, after=P(1)), [])
        assert [key for page in found for key in page.keys] == whole.keys


def test_a_share_is_of_each_page(films: Subject) -> None:
    put_rated(films, "aaaabb")
    found = pages(films, Retrieve("film", RATING, diversity=(Share("director", 0.5),), limit=2, after=P(1)), [])
    assert [page.keys for page in found if page.rows] == [[b"a0", b"b4"], [b"a1", b"b5"], [b"a2", b"a3"]]
    assert [page.relaxed for page in found if page.rows] == [False, False, True]


def test_at_most_1000_rows_wait(films: Subject) -> None:
    """1,001 rows in a row that do not fit: the best of them takes the place, though one that fits comes behind."""
    films.put_many("film", [f"a{place:04}" for place in range(1_002)], {"director": ["a"] * 1_002, "rating": list(range(2_002, 1_000, -1))})
    films.put("film", "b", {"director": "b", "rating": 1})
    found = films.retrieve(Retrieve("film", RATING, diversity=(Per("director", 1, 2),), limit=3))
    assert (found.keys, found.relaxed) == ([b"a0000", b"a0001", b"b"], True)
    films.delete("film", "a1001")
    found = films.retrieve(Retrieve("film", RATING, diversity=(Per("director", 1, 2),), limit=3))
    assert (found.keys, found.relaxed) == ([b"a0000", b"b", b"a0001"], False)


def test_expiry(films: Subject) -> None:
    films.put("film", "a", {"until": NOW + HOUR})
    films.put("film", "b", {"until": None})
    films.signal("view", "a")
    films.set_clock(NOW + HOUR - 1)
    assert keys(films) == ["a", "b"]
    later = films.retrieve(Retrieve("film", at=NOW + 2 * HOUR))
    assert later.keys == [b"b"]  # the moment is later than the clock
    films.set_clock(NOW + HOUR)
    assert keys(films) == ["b"]
    assert films.count("film") == 1
    for attempt in (lambda: films.get("film", "a"), lambda: films.patch("film", "a", {}), lambda: films.signal("view", "a"), lambda: films.delete("film", "a")):
        with refused("EAGRE_NOT_FOUND"):
            attempt()
    films.put("film", "a", {"year": 1})  # a new item
    assert films.count("film") == 2
    assert films.retrieve(Retrieve("film", where=eq(count("view", "all"), 0), count=True)).total == 2


def test_patch_can_postpone_expiry(films: Subject) -> None:
    films.put("film", "a", {"until": NOW + HOUR})
    films.patch("film", "a", {"until": None})
    films.set_clock(NOW + DAY)
    assert keys(films) == ["a"]
    films.patch("film", "a", {"until": NOW})
    assert keys(films) == []


def moment(db: Subject, at: Any, what: Expr, params: tuple[Any, ...] = ()) -> list[float]:
    return db.retrieve(Retrieve("film", UsingExpr(what), at=at), params).scores


def test_at(films: Subject) -> None:
    films.put("film", "a", {})
    films.signal("view", "a", at=NOW - DAY)
    week = NOW + 6 * DAY
    for at in (week, "2024-01-07", "2024-01-07 00:00:00Z"):
        assert moment(films, at, decay("view")) == pytest.approx([0.5], rel=3e-8)
    assert moment(films, P(1), decay("view"), (week,)) == pytest.approx([0.5], rel=3e-8)
    assert moment(films, P(1), decay("view"), ("2024-01-07",)) == pytest.approx([0.5], rel=3e-8)
    assert moment(films, NOW - DAY, decay("view")) == pytest.approx([1], rel=3e-8)  # at the newest event
    assert moment(films, NOW - 2 * DAY, F("rating")) == [0]  # no signal is used
    for used in (decay("view"), count("view", "all")):
        with refused("EAGRE_MOMENT"):
            moment(films, NOW - DAY - 1, used)
    with refused("EAGRE_MOMENT"):
        films.retrieve(Retrieve("film", where=gt(decay("view"), 0), at=NOW - 2 * DAY))
    with refused("EAGRE_MOMENT"):
        films.retrieve(Retrieve("film", returns=(Return(last("view"), "seen"),), at=NOW - 2 * DAY))


def test_a_cursor_pins_its_moment(films: Subject) -> None:
    for place in range(6):
        films.put("film", f"k{place}", {})
        films.signal("view", f"k{place}", weight=10.0 - place)
    statement = Retrieve("film", UsingExpr(decay("view")), limit=2, after=P(1))

    def later() -> None:
        films.set_clock(NOW + 30 * DAY)
        films.signal("view", "k0", weight=100.0)

    found = pages(films, statement, [], later)
    assert [key for page in found for key in page.keys if page.rows] == [b"k0", b"k1", b"k2", b"k3", b"k4", b"k5"]
    # the scores of all pages are of the first one's moment
    assert [score for page in found for score in page.scores] == pytest.approx([10, 9, 8, 7, 6, 5], rel=3e-8)


def test_cursors_are_bound(films: Subject) -> None:
    put_rated(films, "abcdef")
    statement = Retrieve("film", RATING, where=gt(F("rating"), P(1)), limit=P(2), after=P(3))
    cursor = films.retrieve(statement, [0, 2, None]).cursor
    assert films.retrieve(statement, [0, 2, cursor]).keys == [b"c2", b"d3"]
    for wrong in ([1, 2, cursor], [0, 3, cursor]):
        with refused("EAGRE_CURSOR"):
            films.retrieve(statement, wrong)
    other = Retrieve("film", RATING, where=gt(F("rating"), P(1)), limit=P(2), after=P(3), count=True)
    with refused("EAGRE_CURSOR"):
        films.retrieve(other, [0, 2, cursor])


def test_a_deleted_row_does_not_break_the_pages(films: Subject) -> None:
    put_rated(films, "abcdef")
    statement = Retrieve("film", RATING, limit=2, after=P(1))
    cursor = films.retrieve(statement, [None]).cursor
    films.delete("film", "b1")  # the last of the page
    films.delete("film", "c2")
    assert films.retrieve(statement, [cursor]).keys == [b"d3", b"e4"]


def test_profiles_come_before_expressions(films: Subject) -> None:
    put_rated(films, "ab")
    assert films.retrieve(Retrieve("film", UsingExpr(F("rating")))).scores == [100, 99]
    with refused("EAGRE_UNKNOWN"):
        films.retrieve(Retrieve("film", UsingProfile("nothing_of_that_name")))


def test_a_list_of_a_million(films: Subject) -> None:
    put_rated(films, "abc")
    listed = ["a0", *(f"nobody{place}" for place in range(50_000))]
    assert films.retrieve(Retrieve("film", exclude=P(1)), [listed]).keys == [b"b1", b"c2"]
    assert films.retrieve(Retrieve("film", where=in_(F("year"), P(1))), [list(range(50_000))]).keys == []
    films.patch("film", "b1", {"year": 49_999})
    assert films.retrieve(Retrieve("film", where=in_(F("year"), P(1))), [list(range(50_000))]).keys == [b"b1"]


def test_explain_and_exhaustive_change_nothing(engine: EngineSubject) -> None:
    engine.create(FILM, VIEW)
    put_rated(engine, "aabbc")
    engine.signal("view", "b3")
    plain = Retrieve("film", UsingExpr(decay("view") * 10 + F("rating")), diversity=(Per("director", 1, 2),), count=True)
    first = engine.retrieve(plain)
    for other in ({"exhaustive": True}, {"explain": True}, {"exhaustive": True, "explain": True}):
        again = engine.retrieve(Retrieve(**{**vars(plain), **other}))
        assert (again.rows, again.total, again.relaxed) == (first.rows, first.total, first.relaxed)
    report = engine.db.query(Retrieve(**{**vars(plain), "explain": True}).text()).explain
    for word in ("decay(view)", "rating", "10"):
        assert word in str(report)
    assert engine.db.query(plain.text()).explain is None


def test_a_column_is_called_by_its_text(engine: EngineSubject) -> None:
    engine.create(FILM, VIEW)
    put_rated(engine, "a")
    row = next(iter(engine.db.query('RETRIEVE film RETURN title, count(view,  all) + 1, rating AS "how good", decay( view )')))
    assert row["count(view,  all) + 1"] == 1
    assert row["how good"] == 100.0
    assert row["decay( view )"] == 0
    assert expr(1).text() == "1"

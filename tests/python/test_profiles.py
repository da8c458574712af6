# SPDX-License-Identifier: MIT
"""The built-in profiles, by hand."""

from __future__ import annotations

import pytest

from model import INTEGER, TEXT, TIME, FieldSpec, KindSpec, Retrieve, SignalSpec, UsingProfile
from model.calls import P
from model.expr import expr
from subjects import DAY, HOUR, NOW, Subject, refused

FILM = KindSpec("film", (FieldSpec("title", TEXT), FieldSpec("created", TIME), FieldSpec("duration", INTEGER)))
ALL_WINDOWS = (3_600, 86_400, 604_800, 2_592_000, 31_536_000)


def signal(name: str) -> SignalSpec:
    return SignalSpec(name, "film", half_life=604_800, windows=ALL_WINDOWS)


def ranking(db: Subject, profile: str) -> dict[int | bytes, float]:
    found = db.retrieve(Retrieve("film", UsingProfile(profile)))
    return dict(zip(found.keys, found.scores, strict=True))


@pytest.fixture
def films(db: Subject) -> Subject:
    """a: 3 likes, 1 dislike, 10 views, 2 shares; b: 2 dislikes, 1 comment; c: nothing. A day old each."""
    db.create(FILM, *map(signal, ("view", "like", "dislike", "share", "comment")))
    for key in "abc":
        db.put("film", key, {"created": NOW - DAY})
    for name, key, times in (("like", "a", 3), ("dislike", "a", 1), ("view", "a", 10), ("share", "a", 2), ("dislike", "b", 2), ("comment", "b", 1)):
        for turn in range(times):
            db.signal(name, key, weight=5.0, at=NOW - 2 * HOUR * turn)
    return db


def test_trending(films: Subject) -> None:
    # views 0 .. 18 hours ago: 10 / 24; shares: 2 * 2 / 24
    assert ranking(films, "trending") == pytest.approx({b"a": 14 / 24, b"b": 0, b"c": 0})


def test_hot(films: Subject) -> None:
    # n = 2: ln 3 = 1.0986122886681098; n = -2: -ln 3; n = 0: 0; each minus 86400 / 45000 = 1.92
    assert ranking(films, "hot") == pytest.approx({b"a": -0.8213877113318902, b"c": -1.92, b"b": -3.0186122886681098})
    assert list(ranking(films, "hot")) == [b"a", b"c", b"b"]


def test_rising(films: Subject) -> None:
    # one view in the last hour, 10 in 24: (1 + 1) / (10 / 24 + 1); without any: 1
    assert ranking(films, "rising") == pytest.approx({b"a": 2 / (10 / 24 + 1), b"b": 1, b"c": 1})


def test_top(films: Subject) -> None:
    # likes of 0, 2, 4 hours ago, a dislike of now; b: dislikes of 0 and 2 hours ago
    assert ranking(films, "top_hour") == {b"a": 0, b"c": 0, b"b": -1}
    for name in ("top_day", "top_week", "top_month", "top_year", "top_all"):
        assert ranking(films, name) == {b"a": 2, b"c": 0, b"b": -2}


def test_most(films: Subject) -> None:
    assert ranking(films, "most_viewed") == {b"a": 10, b"b": 0, b"c": 0}
    assert ranking(films, "most_liked") == {b"a": 3, b"b": 0, b"c": 0}
    assert ranking(films, "most_commented") == {b"b": 1, b"a": 0, b"c": 0}
    assert ranking(films, "most_shared") == {b"a": 2, b"b": 0, b"c": 0}


def test_controversial(films: Subject) -> None:
    # (3 + 1)^(1 / 3) = 1.5874010519681994; b has no like
    assert ranking(films, "controversial") == pytest.approx({b"a": 1.5874010519681994, b"b": 0, b"c": 0})


def test_hidden_gems(films: Subject) -> None:
    # wilson(3, 1): p = 0.75, n = 4, z^2 = 3.8416: (0.75 + 0.4802 - 1.96 sqrt((0.1875 + 0.2401) / 4)) / 1.9604 = 0.30063605...
    # over 1 + ln 11 = 3.3978952727983707
    found = ranking(films, "hidden_gems")
    assert found[b"a"] == pytest.approx(0.088477139)
    assert (found[b"b"], found[b"c"]) == pytest.approx((0, 0), abs=1e-15)


def test_shuffle(films: Subject) -> None:
    def order(*arguments: object) -> list[int | bytes]:
        given = (("seed", P(1)),) if arguments else ()
        return films.retrieve(Retrieve("film", UsingProfile("shuffle", given)), arguments).keys

    assert order() == order(0) == films.retrieve(Retrieve("film", UsingProfile("shuffle", (("seed", expr(0)),)))).keys
    assert order(5) == order(5)
    assert len({tuple(order(seed)) for seed in range(40)}) == 6  # all orders of three come up
    with refused("EAGRE_UNKNOWN"):
        films.retrieve(Retrieve("film", UsingProfile("shuffle", (("sede", expr(0)),))))


def test_missing_secondary_signals_count_0(db: Subject) -> None:
    db.create(FILM, signal("view"), signal("like"))
    db.put("film", "a", {})
    db.signal("view", "a")
    db.signal("like", "a")
    assert ranking(db, "trending") == pytest.approx({b"a": 1 / 24})
    assert ranking(db, "top_all") == {b"a": 1}
    assert ranking(db, "hidden_gems")[b"a"] == pytest.approx(0.20654329147389294 / 1.6931471805599454)


@pytest.mark.parametrize("profile", ["most_commented", "controversial", "most_shared"])
def test_missing_main_signals_are_named(db: Subject, profile: str) -> None:
    db.create(FILM, signal("view"), signal("like"))
    db.put("film", "a", {})
    with refused("EAGRE_UNKNOWN") as caught:
        ranking(db, profile)
    missing = {"most_commented": "comment", "controversial": "dislike", "most_shared": "share"}[profile]
    assert missing in str(caught.value)


@pytest.mark.parametrize("profile", ["title_az", "longest"])
def test_missing_roles_are_named(db: Subject, profile: str) -> None:
    db.create(KindSpec("film", (FieldSpec("plot", INTEGER),)))
    db.put("film", "a", {})
    with refused("EAGRE_UNKNOWN") as caught:
        ranking(db, profile)
    assert {"title_az": "title", "longest": "duration"}[profile] in str(caught.value)


@pytest.mark.parametrize("lacking", ["view", "share"])
def test_windows_a_profile_needs(db: Subject, lacking: str) -> None:
    """trending asks 24h of both; a secondary signal that is there must have it too."""
    other = {"view": "share", "share": "view"}[lacking]
    db.create(FILM, signal(other), SignalSpec(lacking, "film", half_life=604_800, windows=(3_600,)))
    db.put("film", "a", {})
    with refused("EAGRE_UNKNOWN") as caught:
        ranking(db, "trending")
    assert lacking in str(caught.value)

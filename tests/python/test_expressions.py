# SPDX-License-Identifier: MIT
"""Operators, functions and their edges, null, conditions, profiles: values worked out by hand, in the model and in the engine."""

from __future__ import annotations

import math
from typing import Any

import pytest

from model import INTEGER, KEYWORD, KEYWORDS, REAL, TEXT, TIME, FieldSpec, KindSpec, OrderKey, ProfileSpec, SignalSpec
from model.calls import (
    F, KEY, P, SCORE, age, call, count, eq, ge, gt, if_, in_, is_null, le, lt, ne, recency, span,
)  # fmt: skip
from model.expr import Expr, expr
from model.statement import Retrieve, Return, UsingExpr, UsingProfile
from model.values import parse_date
from subjects import DAY, NOW, Subject, matching, returned, score

LARGEST = 1.7976931348623157e308
THING = KindSpec(
    "thing",
    (
        FieldSpec("n", INTEGER),
        FieldSpec("x", REAL),
        FieldSpec("t", TIME),
        FieldSpec("k", KEYWORD),
        FieldSpec("tags", KEYWORDS),
        FieldSpec("words", TEXT),
    ),
)


@pytest.fixture
def one(db: Subject) -> Subject:
    """One thing: n = 6, x = 0.5, t = a day ago; k, tags and words are null."""
    db.create(THING)
    db.put("thing", "a", {"n": 6, "x": 0.5, "t": NOW - DAY})
    return db


@pytest.fixture
def null(db: Subject) -> Subject:
    """One thing without any value."""
    db.create(THING)
    db.put("thing", "a", {})
    return db


N, X, T, K, TAGS, WORDS = F("n"), F("x"), F("t"), F("k"), F("tags"), F("words")
BIG = F("x") * 0 + 1e308


@pytest.mark.parametrize(
    ("what", "value"),
    [
        (expr(7), 7.0),
        (N + X * 4, 8.0),  # 6 + 0.5 * 4
        ((N + X) * 4, 26.0),
        (N - 2 - 1, 3.0),  # to the left
        (N - (expr(2) - 1), 5.0),
        (N / 4 / 3, 0.5),
        (-N * 2, -12.0),
        (2 * -N, -12.0),
        (N - -3, 9.0),
        (-(N + 1), -7.0),
        (-(-N), 6.0),
        (1 / N, 1 / 6),
        (N / 0, 0.0),
        (N / (X - 0.5), 0.0),
        (BIG * 10, LARGEST),
        (-BIG * 10, -LARGEST),
        (BIG + BIG, LARGEST),
        (-BIG - BIG, -LARGEST),
        (BIG / 1e-10, LARGEST),
        (call("min", N, X, 3), 0.5),
        (call("max", N, X, 3), 6.0),
        (call("min", *range(16)), 0.0),
        (call("abs", -N), 6.0),
        (call("sign", N), 1.0),
        (call("sign", -X), -1.0),
        (call("sign", N - 6), 0.0),
        (call("sqrt", N * 6), 6.0),
        (call("sqrt", -N), 0.0),
        (call("log1p", X), 0.4054651081081644),  # ln 1.5
        (call("log1p", expr(-1)), -36.7368005696771),  # ln 2^-53
        (call("log1p", -N), -36.7368005696771),
        (call("exp", X), 1.6487212707001282),
        (call("exp", expr(1000)), LARGEST),
        (call("exp", expr(-1000)), 0.0),
        (call("pow", N, X), 2.449489742783178),  # sqrt 6
        (call("pow", N, 0), 1.0),
        (call("pow", 0, 0), 1.0),
        (call("pow", 0, N), 0.0),
        (call("pow", 0, -N), 0.0),
        (call("pow", -N, 3), -216.0),
        (call("pow", -N, -2), 1 / 36),
        (call("pow", -N, X), 0.0),  # no whole exponent
        (call("pow", 10, 400), LARGEST),
        (call("pow", -10, 401), -LARGEST),
        (call("pow", -10, 400), LARGEST),
        # 8 for, 2 against: p = 0.8, n = 10, z^2 = 3.8416; (0.8 + 0.19208 - 1.96 sqrt((0.16 + 0.09604) / 10)) / 1.38416
        (call("wilson", 8, 2), 0.4901568467207235),
        (call("wilson", 0, 0), 0.0),
        (call("wilson", -5, 0), 0.0),
        # 1 for: (1 + 1.9208 - 1.96 sqrt(0.9604)) / 4.8416 = 1 / 4.8416
        (call("wilson", 1, -3), 0.20654329147389294),
        (if_(gt(N, 5), 1, 2), 1.0),
        (if_(gt(N, 6), 1, 2), 2.0),
        (age("t"), 86_400.0),
        (span("1d") / age("t"), 1.0),
        (recency("t", "1d"), 0.5),
        (recency("t", "12h"), 0.25),
        # conditions are 0 or 1 in arithmetic
        (gt(N, 5) + eq(N, 6), 2.0),
        ((gt(N, 5) & lt(N, 6)) * 10, 0.0),
        (~gt(N, 5) + 1, 1.0),
        (span("2w") + span("7d") + span("24h") + span("30m") + span("45s"), 1_902_645.0),
    ],
    ids=lambda each: each.text()[:50] if isinstance(each, Expr) else "",
)
def test_values(one: Subject, what: Expr, value: float) -> None:
    assert score(one, "thing", what) == pytest.approx(value, rel=1e-12, abs=0)


@pytest.mark.parametrize(
    ("what", "value"),
    [
        (N + 3, 3.0),
        (N * 3 + X, 0.0),
        (3 / N, 0.0),
        (N + 0, 0.0),
        (-N, 0.0),
        (call("max", N, -3), 0.0),
        (call("exp", X), 1.0),
        (age("t"), NOW / 1e6),  # counts from 1970
        (recency("t", "3650d"), 0.0),
        (if_(gt(N, 5), 1, 2), 2.0),
        (if_(~gt(N, 5), 1, 2), 2.0),  # not null is null
        (gt(N, 5) + 7, 7.0),
        (call("wilson", N, X), 0.0),
    ],
    ids=lambda each: each.text()[:50] if isinstance(each, Expr) else "",
)
def test_null_in_arithmetic_is_0(null: Subject, what: Expr, value: float) -> None:
    assert score(null, "thing", what) == pytest.approx(value, rel=1e-12, abs=0)


def test_a_null_score_is_0(null: Subject) -> None:
    assert score(null, "thing", N) == 0


def test_age_in_the_future_is_0(one: Subject) -> None:
    one.patch("thing", "a", {"t": NOW + DAY})
    assert score(one, "thing", age("t")) == 0
    assert score(one, "thing", recency("t", "1h")) == 1


@pytest.mark.parametrize(
    ("condition", "passes"),
    [
        (eq(N, 6), True),
        (eq(N, 6.0), True),
        (ne(N, 6), False),
        (gt(N, 5.999999999999999), True),
        (le(N, 5.999999999999999), False),
        (eq(X, 0.5), True),
        (lt(X, 1), True),
        (ge(T, "2023-12-31"), True),
        (gt(T, "2023-12-31"), False),
        (eq(T, "2023-12-31T00:00Z"), True),
        (eq(T, "2023-12-31 00:00:00.000000"), True),
        (lt(T, "2023-12-31 00:00:00.000001"), True),
        (eq(T, NOW - DAY), True),
        (lt(age("t"), span("1d")), False),
        (le(age("t"), span("1d")), True),
        (in_(N, 1, 6, 7), True),
        (in_(N, 1, 6.5), False),
        (in_(N, 1, 2, negated=True), True),
        (in_(T, "2023-12-31", "2020-01-01"), True),
        (in_(K, "a"), False),  # null
        (in_(K, "a", negated=True), False),  # null still
        (is_null(K), True),
        (is_null(N), False),
        (is_null(K, negated=True), False),
        (is_null(N + 1), False),
        (eq(K, "a"), False),
        (~eq(K, "a"), False),
        (eq(K, "a") | eq(N, 6), True),
        (~(eq(K, "a") & eq(N, 6)), False),  # not (null and true)
        (~(eq(K, "a") & eq(N, 7)), True),  # not (null and false)
        (eq(TAGS, "a"), False),
        (ne(TAGS, "a"), False),
        (eq(N, 7) | eq(N, 6) & eq(N, 5), False),  # AND before OR
        ((eq(N, 6) | eq(N, 7)) & eq(N, 5), False),
        (eq(N, 6) | eq(N, 7) & eq(N, 5), True),
        (eq(KEY, "a"), True),
        (in_(KEY, "b", "a"), True),
        (gt(KEY, "A"), True),
        (gt(N + X, 6), True),
        (eq(gt(N, 5), 1), True),
        (eq(eq(K, "a"), 0), True),  # a null condition is 0 as a number
    ],
    ids=lambda each: each.text()[:50] if isinstance(each, Expr) else "",
)
def test_conditions(one: Subject, condition: Expr, passes: bool) -> None:
    assert matching(one, "thing", condition) == ([b"a"] if passes else [])


@pytest.mark.parametrize(
    ("condition", "parameter", "passes"),
    [
        (eq(N, P(1)), 6, True),
        (eq(N, P(1)), 6.0, True),
        (eq(N, P(1)), None, False),
        (ne(N, P(1)), None, False),
        (is_null(P(1)), None, True),
        (gt(N + P(1), 5), None, True),  # null is 0 there
        (in_(N, P(1)), [], False),
        (in_(N, P(1), negated=True), [], True),
        (in_(K, P(1)), [], False),
        (in_(K, P(1), negated=True), [], True),
        (in_(N, P(1)), [1, 6], True),
        (in_(N, P(1)), [1, None], False),
        (in_(N, P(1), negated=True), [1, None], False),  # null: 6 might be in it
        (in_(N, P(1)), [6, None], True),
        (in_(N, P(1)), [5.5, 6.0], True),
        (ge(T, P(1)), "2023-12-31", True),
        (lt(N, P(1)), 2**63 - 1, True),
        (lt(N, P(1)), 2**64 - 1, True),
        (eq(KEY, P(1)), "a", True),
        (in_(KEY, P(1)), ["x", "a"], True),
    ],
)
def test_parameters(one: Subject, condition: Expr, parameter: Any, passes: bool) -> None:
    assert matching(one, "thing", condition, [parameter]) == ([b"a"] if passes else [])


def test_whole_numbers_compare_exactly(db: Subject) -> None:
    db.create(THING)
    big = 2**53
    for key, value in {"a": big, "b": big + 1, "c": big + 2, "d": 2**63 - 1, "e": -(2**63)}.items():
        db.put("thing", key, {"n": value, "x": float(big)})
    assert matching(db, "thing", eq(N, big + 1)) == [b"b"]
    assert matching(db, "thing", gt(N, float(big))) == [b"b", b"c", b"d"]
    assert matching(db, "thing", eq(N, X)) == [b"a"]  # integer and real fields too
    assert matching(db, "thing", gt(N, X)) == [b"b", b"c", b"d"]
    assert matching(db, "thing", in_(N, big + 1, float(big + 2))) == [b"b", b"c"]
    assert matching(db, "thing", eq(N, 2**63 - 1)) == [b"d"]
    assert matching(db, "thing", lt(N, 9.223372036854775807e18)) == [b"a", b"b", b"c", b"d", b"e"]  # that is 2^63
    assert matching(db, "thing", eq(N, -(2**63))) == [b"e"]
    assert matching(db, "thing", eq(N, P(1)), [-(2**63)]) == [b"e"]
    assert matching(db, "thing", eq(N + 0, big + 0.0)) == [b"a", b"b"]  # arithmetic is in f64


def test_text_compares_by_bytes(db: Subject) -> None:
    db.create(THING)
    for key, word in {"a": "Zoo", "b": "apple", "c": "äpfel", "d": "", "e": "\U0001f600", "f": "\uffee"}.items():
        db.put("thing", key, {"k": word, "words": word})
    for field in (K, WORDS):
        assert matching(db, "thing", lt(field, "apple")) == [b"a", b"d"]
        assert matching(db, "thing", gt(field, "b")) == [b"c", b"e", b"f"]
        assert matching(db, "thing", gt(field, "\uffee")) == [b"e"]  # U+1F600 is above in bytes
        assert matching(db, "thing", eq(field, "")) == [b"d"]
        assert matching(db, "thing", in_(field, "Zoo", "", "none")) == [b"a", b"d"]
        assert matching(db, "thing", ne(field, "äpfel")) == [b"a", b"b", b"d", b"e", b"f"]


def test_keywords(db: Subject) -> None:
    db.create(THING)
    for key, tags in {"a": ["x", "y", "x"], "b": ["y"], "c": [], "d": None}.items():
        db.put("thing", key, {"tags": tags})
    assert matching(db, "thing", eq(TAGS, "x")) == [b"a"]
    assert matching(db, "thing", ne(TAGS, "x")) == [b"b", b"c"]
    assert matching(db, "thing", in_(TAGS, "x", "z")) == [b"a"]
    assert matching(db, "thing", in_(TAGS, "x", "z", negated=True)) == [b"b", b"c"]
    assert matching(db, "thing", in_(TAGS, P(1)), [["y", None]]) == [b"a", b"b"]
    assert matching(db, "thing", in_(TAGS, P(1), negated=True), [["x", None]]) == []
    assert matching(db, "thing", is_null(TAGS)) == [b"d"]
    assert db.get("thing", "a")["tags"] == ("x", "y")


def test_random_is_the_stated_function(one: Subject) -> None:
    """Slot 0 and seed 0: splitmix64 of (0 xor splitmix64 of 0), its upper 53 bits."""
    slot = 0 if not hasattr(one, "slot") else one.slot("thing", "a")
    mask = 2**64 - 1

    def mix(z: int) -> int:
        z = (z + 0x9E3779B97F4A7C15) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    assert mix(0) == 0xE220A8397B1DCDAF  # the first value of splitmix64 seeded with 0
    assert score(one, "thing", call("random", 0)) == (mix(mix(slot)) >> 11) * 2.0**-53
    bits = 0x3FF8000000000000  # 1.5 as f64
    assert score(one, "thing", call("random", 1.5)) == (mix(bits ^ mix(slot)) >> 11) * 2.0**-53
    assert score(one, "thing", call("random", P(1)), [1.5]) == score(one, "thing", call("random", 1.5))


def test_returned_values(one: Subject) -> None:
    assert returned(one, "thing", N) == 6
    assert returned(one, "thing", T) == NOW - DAY
    assert returned(one, "thing", KEY) in (b"a", "a")
    assert returned(one, "thing", N * 2 + X) == 12.5
    assert returned(one, "thing", gt(N, 5)) == 1
    assert returned(one, "thing", F("created")) == NOW  # no such field: the time of the first put
    for null in (K, TAGS, WORDS):
        assert returned(one, "thing", null) is None
    statement = Retrieve("thing", UsingExpr(N * 2), returns=(Return(SCORE), Return(SCORE / 4, "quarter")))
    assert one.retrieve(statement).rows[0].values == {"score": 12.0, "quarter": 3.0}


def test_created_is_the_first_put(db: Subject) -> None:
    db.create(THING)
    db.put("thing", "a", {"n": 1})
    db.set_clock(NOW + DAY)
    db.put("thing", "a", {"n": 2})
    db.put("thing", "b", {})
    assert matching(db, "thing", eq(age("created"), 86_400)) == [b"a"]
    assert db.retrieve(Retrieve("thing", UsingProfile("new"))).keys == [b"b", b"a"]
    db.delete("thing", "a")
    db.put("thing", "a", {})
    assert matching(db, "thing", eq(age("created"), 0)) == [b"a", b"b"]


def test_roles(db: Subject) -> None:
    fields = (FieldSpec("name", TEXT, role="title"), FieldSpec("out", TIME, role="created"), FieldSpec("mins", INTEGER, role="duration"))
    db.create(KindSpec("show", fields))
    for key, mins in {"a": 30, "b": None, "c": 10}.items():
        db.put("show", key, {"name": key.upper(), "out": NOW - DAY * ord(key), "mins": mins})
    for name, keys in {
        "new": [b"a", b"b", b"c"], "old": [b"c", b"b", b"a"], "title_az": [b"a", b"b", b"c"], "title_za": [b"c", b"b", b"a"],
        "shortest": [b"c", b"a", b"b"], "longest": [b"a", b"c", b"b"],
    }.items():  # fmt: skip
        found = db.retrieve(Retrieve("show", UsingProfile(name)))
        assert found.keys == keys, name
        assert found.scores == [0, 0, 0]
    assert matching(db, "show", eq(F("title"), "A")) == [b"a"]


def test_own_profiles(db: Subject) -> None:
    db.create(THING)
    for key, n in {"a": 1, "b": 3, "c": 2}.items():
        db.put("thing", key, {"n": n, "x": 10.0 * n})
    db.create(
        ProfileSpec("most", "thing", N * F("factor") + F("plus"), (("factor", None), ("plus", 0.5))),
        ProfileSpec("up", "thing", (OrderKey("n"),)),
        ProfileSpec("new", "thing", X),  # in place of the built-in one
    )
    used = db.retrieve(Retrieve("thing", UsingProfile("most", (("factor", P(1)),))), [2])
    assert (used.keys, used.scores) == ([b"b", b"c", b"a"], [6.5, 4.5, 2.5])
    used = db.retrieve(Retrieve("thing", UsingProfile("most", (("factor", expr(-1)), ("plus", expr(4))))))
    assert (used.keys, used.scores) == ([b"a", b"c", b"b"], [3, 2, 1])
    assert db.retrieve(Retrieve("thing", UsingProfile("up"))).keys == [b"a", b"c", b"b"]
    assert db.retrieve(Retrieve("thing", UsingProfile("new"))).scores == [30, 20, 10]


def test_dates() -> None:
    """The model's own reading of dates."""
    assert parse_date("1970-01-01") == 0
    assert parse_date("0001-01-01") == -62_135_596_800_000_000
    assert parse_date("9999-12-31 23:59:59.999999Z") == 253_402_300_799_999_999
    assert parse_date("2000-02-29T12:30") == 951_827_400_000_000
    assert parse_date("2024-01-01 00:00:00.5") == NOW + 500_000
    for wrong in ("1900-02-29", "2024-1-1", "2024-01-01T24:00", "2024-01-01 1:00", "0000-01-01", "2024-01-01+01:00", "", "now"):
        assert parse_date(wrong) is None
    assert math.isclose(score_of_hot(), 0.6931471805599453 - 1.92)


def score_of_hot() -> float:
    """ln 2 - 86400 / 45000: one like, a day old."""
    return math.log1p(1) - 86_400 / 45_000


def test_counts_in_conditions(db: Subject) -> None:
    db.create(THING, SignalSpec("view", "thing", half_life=86_400, windows=(3_600,)))
    for key, views in {"a": 0, "b": 1, "c": 2}.items():
        db.put("thing", key, {})
        for _ in range(views):
            db.signal("view", key)
    assert matching(db, "thing", ge(count("view", "1h"), 1)) == [b"b", b"c"]
    assert matching(db, "thing", eq(count("view", "1h"), 0)) == [b"a"]
    assert matching(db, "thing", in_(count("view", "all"), 0, 2)) == [b"a", b"c"]

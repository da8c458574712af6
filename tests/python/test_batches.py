# SPDX-License-Identifier: MIT
"""Batches: the same as one at a time; checked whole before anything changes."""

from __future__ import annotations

import random
from typing import Any

import numpy
import pytest

from generate.schemas import Schema, random_schema, random_value
from model import INTEGER, KEYWORD, KEYWORDS, REAL, TEXT, TIME, FieldSpec, KindSpec, ModelError, Retrieve, Return, SignalSpec, vector
from model.calls import KEY, F, count, decay, eq, last, total
from subjects import DAY, HOUR, NOW, EngineSubject, Subject, matching, refused, scores

ITEM = KindSpec(
    "item",
    (
        FieldSpec("n", INTEGER), FieldSpec("x", REAL), FieldSpec("t", TIME), FieldSpec("k", KEYWORD),
        FieldSpec("s", KEYWORDS), FieldSpec("w", TEXT), FieldSpec("v", vector(2)),
    ),
)  # fmt: skip
VIEW = SignalSpec("view", "item", half_life=7 * 86_400, windows=(3_600, 86_400))
GOOD = {"n": 1, "x": 0.5, "t": NOW, "k": "a", "s": ["a"], "w": "text", "v": [1.0, 2.0]}
BAD = [
    ("n", "one", "EAGRE_TYPE"), ("n", 2**63, "EAGRE_RANGE"), ("n", 1.5, "EAGRE_TYPE"), ("x", float("nan"), "EAGRE_RANGE"),
    ("x", float("-inf"), "EAGRE_RANGE"), ("t", "soon", "EAGRE_TYPE"), ("t", 2**62, "EAGRE_RANGE"), ("k", 5, "EAGRE_TYPE"),
    ("k", "x" * 513, "EAGRE_LIMIT"), ("k", "\ud800", "EAGRE_ENCODING"), ("s", "a", "EAGRE_TYPE"), ("s", ["a", 1], "EAGRE_TYPE"),
    ("s", [str(i) for i in range(257)], "EAGRE_LIMIT"), ("w", 3, "EAGRE_TYPE"), ("v", [1.0], "EAGRE_TYPE"), ("v", [1.0, 1e39], "EAGRE_RANGE"),
]  # fmt: skip
EVERYTHING = Retrieve("item", returns=(Return(KEY), *(Return(F(spec.name)) for spec in ITEM.fields), Return(count("view", "all"), "views"),
    Return(last("view"), "seen")), limit=100_000)  # fmt: skip


def state(db: Subject) -> list[Any]:
    return [(row.key, row.values) for row in db.retrieve(EVERYTHING).rows]


@pytest.fixture
def items(db: Subject) -> Subject:
    db.create(ITEM, VIEW)
    db.put("item", "old", GOOD)
    db.signal("view", "old")
    return db


@pytest.mark.parametrize(("field", "value", "code"), BAD, ids=lambda each: repr(each)[:20])
def test_a_bad_row_changes_nothing(items: Subject, field: str, value: Any, code: str) -> None:
    before = state(items)
    for place in (0, 7, 19):
        columns = {name: [good] * 20 for name, good in GOOD.items()}
        columns[field] = [*columns[field]]
        columns[field][place] = value
        with refused(code):
            items.put_many("item", ["old", *(f"new{n}" for n in range(19))], columns)
    with refused(code):
        items.put("item", "old", {field: value, "n": 2} if field != "n" else {field: value})
    with refused(code):
        items.patch("item", "old", {field: value})
    assert state(items) == before
    assert items.count("item") == 1


def test_null_fits_everywhere(items: Subject) -> None:
    items.put("item", "old", dict.fromkeys(GOOD))
    assert items.get("item", "old") == dict.fromkeys(GOOD)
    items.put_many("item", ["a", "b"], {name: [None, good] for name, good in GOOD.items()})
    assert items.get("item", "a") == dict.fromkeys(GOOD)
    assert items.get("item", "b")["s"] == ("a",)


@pytest.mark.parametrize("wrong", ["keys", "columns"])
def test_columns_of_unequal_length(items: Subject, wrong: str) -> None:
    before = state(items)
    with refused("EAGRE_INVALID"):
        items.put_many("item", ["a", "b", "c"] if wrong == "keys" else ["a"], {"n": [1, 2], "x": [1.0, 2.0]})
    for columns in ({"weights": [1.0]}, {"at": [NOW]}, {"ids": [1, 2, 3]}):
        with refused("EAGRE_INVALID"):
            items.signal_many("view", ["old", "old"], **columns)
    assert state(items) == before


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({"weights": [1.0, 0.0]}, "EAGRE_RANGE"), ({"weights": [1.0, float("inf")]}, "EAGRE_RANGE"),
        ({"at": [NOW, -1]}, "EAGRE_RANGE"), ({"ids": ["x", ""]}, "EAGRE_RANGE"), ({"ids": ["x", "y" * 65]}, "EAGRE_RANGE"),
    ],
)  # fmt: skip
def test_a_bad_event_changes_nothing(items: Subject, columns: dict[str, Any], code: str) -> None:
    before = state(items)
    with refused(code):
        items.signal_many("view", ["old", "old"], **columns)
    with refused("EAGRE_NOT_FOUND"):
        items.signal_many("view", ["old", "nobody"], ids=["x", "y"])
    assert state(items) == before
    # an id of a batch that was refused is free
    assert items.signal("view", "old", id="x")


def test_an_id_is_free_when_its_event_fails(items: Subject) -> None:
    with refused("EAGRE_NOT_FOUND"):
        items.signal("view", "nobody", id=5)
    assert items.signal("view", "old", id=5)
    assert not items.signal("view", "old", id=5)


def test_ids_within_a_batch(items: Subject) -> None:
    assert items.signal_many("view", ["old"] * 6, ids=[1, 2, 1, "1", "1", 2], weights=[1.0, 2.0, 4.0, 8.0, 16.0, 32.0]) == 3
    assert scores(items, "item", total("view", "all")) == {b"old": 12.0}  # the first of each, and the event before
    assert items.signal_many("view", ["old"] * 2, ids=[2, 3]) == 1


def test_a_key_twice_in_a_batch(items: Subject) -> None:
    items.put_many("item", ["a", "b", "a"], {"n": [1, 2, 3], "k": ["x", "y", None]})
    assert (items.count("item"), items.get("item", "a")["n"], items.get("item", "a")["k"]) == (3, 3, None)
    assert matching(items, "item", eq(F("k"), "x")) == []


def test_empty_batches(items: Subject) -> None:
    items.put_many("item", [], {})
    items.put_many("item", [], {"n": []})
    assert items.signal_many("view", []) == 0
    with refused("EAGRE_UNKNOWN"):
        items.put_many("item", [], {"colour": []})


def test_a_batch_is_as_its_rows(engine: EngineSubject) -> None:
    """Random rows, put and signalled in one database singly, in another by the batch."""
    draw = random.Random(4)
    other = EngineSubject(NOW)
    for db in (engine, other):
        db.create(ITEM, VIEW)
    for _ in range(20):
        keys = [f"k{draw.randrange(400)}" for _ in range(draw.randrange(300))]
        columns = {spec.name: [random_value(draw, spec.type) for _ in keys] for spec in ITEM.fields}
        for row, key in enumerate(keys):
            engine.put("item", key, {name: column[row] for name, column in columns.items()})
        other.put_many("item", keys, columns)
        events = [draw.choice(keys) for _ in range(200)] if keys else []
        weights = [draw.choice([0.5, 1.0, 3.0]) for _ in events]
        at = [NOW - draw.randrange(3 * DAY) for _ in events]
        for event in zip(events, weights, at, strict=True):
            engine.signal("view", event[0], weight=event[1], at=event[2])
        other.signal_many("view", events, weights=weights, at=at)
    assert state(engine) == state(other)
    for expr in (decay("view"), total("view", "24h"), count("view", "1h")):
        assert scores(engine, "item", expr) == scores(other, "item", expr)
    other.close()


def test_handles_are_as_keys(engine: EngineSubject) -> None:
    engine.create(ITEM, VIEW)
    keys = [f"k{n}" for n in range(500)]
    engine.put_many("item", keys, {})
    twins = [f"twin{n}" for n in range(500)]
    engine.put_many("item", twins, {})
    handles = [engine.db.handle("item", key) for key in twins]
    draw = random.Random(5)
    chosen = [draw.randrange(500) for _ in range(5_000)]
    at = [NOW - draw.randrange(2 * DAY) for _ in chosen]
    assert engine.signal_many("view", [keys[n] for n in chosen], at=at) == 5_000
    given = numpy.array([int(handles[n]) for n in chosen], dtype=numpy.uint64)
    assert engine.db.signal_many("view", handles=given, at=numpy.array(at)) == 5_000
    for expr in (decay("view"), count("view", "1h"), total("view", "24h"), last("view") + 0):
        found = scores(engine, "item", expr)
        assert [found[key.encode()] for key in keys] == [found[key.encode()] for key in twins]


def test_a_dead_handle_in_a_batch_changes_nothing(engine: EngineSubject) -> None:
    engine.create(ITEM, VIEW)
    engine.put_many("item", ["a", "b"], {})
    handles = [engine.db.handle("item", key) for key in ("a", "b", "a")]
    engine.delete("item", "b")
    engine.put("item", "b", {})  # the key lives again, the handle does not
    with pytest.raises(Exception) as caught:
        engine.db.signal_many("view", handles=handles)
    assert caught.value.code == "EAGRE_NOT_FOUND"
    assert scores(engine, "item", count("view", "all")) == {b"a": 0.0, b"b": 0.0}
    assert engine.db.signal_many("view", handles=handles[:1]) == 1


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8"])
def test_integer_arrays(engine: EngineSubject, dtype: str) -> None:
    engine.create(ITEM)
    limits = numpy.iinfo(dtype)
    values = numpy.array([limits.min, 0, 1, limits.max], dtype=dtype)
    engine.put_many("item", ["a", "b", "c", "d"], {"n": values, "x": values})
    assert [engine.get("item", key)["n"] for key in "abcd"] == values.tolist()
    assert [engine.get("item", key)["x"] for key in "abcd"] == [float(value) for value in values.tolist()]


def test_arrays_that_do_not_fit(engine: EngineSubject) -> None:
    engine.create(ITEM, VIEW)
    engine.put("item", "a", GOOD)
    before = state(engine)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"n": numpy.array([1.0, 2.0])}, "EAGRE_TYPE"),
        ({"n": numpy.array([2**64 - 1, 1], dtype="u8")}, "EAGRE_RANGE"),
        ({"x": numpy.array([1.0, numpy.nan])}, "EAGRE_RANGE"),
        ({"x": numpy.array([1.0, numpy.inf], dtype="f4")}, "EAGRE_RANGE"),
        ({"k": numpy.array([1, 2])}, "EAGRE_TYPE"),
        ({"v": numpy.zeros((2, 3), dtype="f4")}, "EAGRE_TYPE"),
        ({"n": numpy.array([1, 2, 3])}, "EAGRE_INVALID"),
        ({"n": numpy.array(["1", "2"])}, "EAGRE_TYPE"),
    ]
    for columns, code in wrong:
        with pytest.raises(Exception) as caught:
            engine.db.put_many("item", ["a", "b"], columns)
        assert caught.value.code == code, columns
    for keys in (numpy.array([1.0, 2.0]), numpy.array([1, 2])):
        with refused("EAGRE_TYPE", "EAGRE_INVALID"):
            engine.put_many("item", keys, {})
    assert state(engine) == before


def test_arrays_in_any_layout(engine: EngineSubject) -> None:
    """Strided, reversed, read-only, big-endian: by value, never by what lies in memory."""
    engine.create(ITEM)
    base = numpy.arange(12, dtype="i8")
    frozen = base[:4].copy()
    frozen.flags.writeable = False
    for values in (base[::3], base[::-1][:4], frozen, base[:4].astype(">i8"), memoryview(base[:4])):
        engine.db.put_many("item", ["a", "b", "c", "d"], {"n": values})
        assert [engine.get("item", key)["n"] for key in "abcd"] == [int(value) for value in numpy.asarray(values)]


def test_one_clock_for_a_batch(items: Subject) -> None:
    items.put_many("item", ["a", "b"], {})
    items.signal_many("view", ["a", "b", "a"], at=[NOW + HOUR, NOW, NOW + DAY])
    seen = {row.key: row.values["seen"] for row in items.retrieve(EVERYTHING).rows}
    assert (seen[b"a"], seen[b"b"]) == (NOW, NOW)


def test_random_schemas_take_what_fits(db: Subject) -> None:
    draw = random.Random(6)
    for number in range(30):
        schema: Schema = random_schema(draw)
        kind = KindSpec(f"kind{number}", schema.kinds[0].fields, schema.kinds[0].integer_keys)
        db.create(kind)
        keys = draw.sample(schema.keys_of(schema.kinds[0]), 8)
        db.put_many(kind.name, keys, {spec.name: [random_value(draw, spec.type) for _ in keys] for spec in kind.fields if not spec.expires})
        assert db.count(kind.name) == 8
        assert set(db.get(kind.name, keys[0])) == {spec.name for spec in kind.fields}
        for key in keys[:4]:
            db.delete(kind.name, key)
            with pytest.raises(ModelError):
                db.get(kind.name, key)
        assert db.count(kind.name) == 4

# SPDX-License-Identifier: MIT
"""How the binding packs Python values and reads result blocks: the bytes themselves, without an engine's help."""

from __future__ import annotations

import datetime
import enum
import struct
from array import array
from fractions import Fraction
from typing import Any

import pytest

eagre = pytest.importorskip("eagre")
numpy = pytest.importorskip("numpy")

from eagre import _columns, _values  # noqa: E402
from eagre._ffi import ffi, lib  # noqa: E402
from eagre._values import INT, LIST, NULL, REAL, TEXT, TIME, UINT, VECTOR, Heap  # noqa: E402

UTC = datetime.timezone.utc


def read(value: bytes, heap: Any, base: int = 0) -> Any:
    """The (type, value) that an eagre_value and its heap say."""
    kind, length = struct.unpack_from("=II", value)
    (word,) = struct.unpack_from({INT: "=q", TIME: "=q", REAL: "=d"}.get(kind, "=Q"), value, 8)
    at = word - base if kind in (TEXT, LIST, VECTOR) else 0
    if kind == TEXT:
        return kind, bytes(heap[at : at + length])
    if kind == VECTOR:
        assert at % 4 == 0
        return kind, struct.unpack_from(f"={length}f", heap, at)
    if kind == LIST:
        assert at % 8 == 0
        return kind, [read(bytes(heap[at + 16 * i : at + 16 * i + 16]), heap, base) for i in range(length)]
    return kind, None if kind == NULL else word


def packed(value: Any, **options: Any) -> Any:
    heap = Heap(b"abc")  # something is there already, and it is not aligned
    return read(_values.pack(value, heap, **options), bytes(heap))


class Colour(enum.IntEnum):
    RED = 3


@pytest.mark.parametrize(
    ("value", "kind", "wanted"),
    [
        (None, NULL, None),
        (0, INT, 0),
        (-(2**63), INT, -(2**63)),
        (2**63 - 1, INT, 2**63 - 1),
        (2**63, UINT, 2**63),
        (2**64 - 1, UINT, 2**64 - 1),
        (2**53 + 1, INT, 2**53 + 1),
        (1.5, REAL, 1.5),
        ("", TEXT, b""),
        ("né\0e", TEXT, "né\0e".encode()),
        (b"\xff\x00", TEXT, b"\xff\x00"),
        (bytearray(b"x"), TEXT, b"x"),
        (Colour.RED, INT, 3),
        (numpy.int8(-5), INT, -5),
        (numpy.uint64(2**64 - 1), UINT, 2**64 - 1),
        (numpy.float64(0.1), REAL, 0.1),
        (numpy.float32(0.5), REAL, 0.5),
        (numpy.str_("x"), TEXT, b"x"),
        (numpy.array(7), INT, 7),
        (datetime.date(1970, 1, 2), TIME, 86_400_000_000),
        (datetime.datetime(1970, 1, 1, 0, 0, 1, 5, UTC), TIME, 1_000_005),
        (datetime.datetime(1, 1, 1, tzinfo=UTC), TIME, -62_135_596_800_000_000),
        (datetime.datetime(9999, 12, 31, 23, 59, 59, 999_999, UTC), TIME, 253_402_300_799_999_999),
        (datetime.datetime(1970, 1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1))), TIME, 0),
        (numpy.datetime64("1970-01-02"), TIME, 86_400_000_000),
        (numpy.datetime64("NaT"), NULL, None),
    ],
)
def test_scalar(value: Any, kind: int, wanted: Any) -> None:
    assert packed(value) == (kind, wanted)


def test_lists() -> None:
    assert packed(["a", "né"]) == (LIST, [(TEXT, b"a"), (TEXT, "né".encode())])
    assert packed(("x",)) == (LIST, [(TEXT, b"x")])
    assert packed({"b", "a", "c"}) == (LIST, [(TEXT, b"a"), (TEXT, b"b"), (TEXT, b"c")])
    assert packed([]) == (LIST, [])
    assert packed([1, None, "a", 0.5], vectors=False) == (LIST, [(INT, 1), (NULL, None), (TEXT, b"a"), (REAL, 0.5)])
    assert packed(numpy.array([1, 2]), vectors=False) == (LIST, [(INT, 1), (INT, 2)])
    assert packed(numpy.array(["1970-01-02"], dtype="M8[D]"), vectors=False) == (LIST, [(TIME, 86_400_000_000)])
    assert packed(numpy.array(["a", "b"])) == (LIST, [(TEXT, b"a"), (TEXT, b"b")])


@pytest.mark.parametrize(
    "value",
    [
        [1, 2.5],
        (1.0, 2.5),
        array("f", [1, 2.5]),
        array("d", [1, 2.5]),
        numpy.array([1, 2.5]),
        numpy.array([1, 2.5], dtype=numpy.float32),
        numpy.array([1, 0, 2.5, 0], dtype=numpy.float32)[::2],
        memoryview(array("f", [1, 2.5])),
    ],
)
def test_vector(value: Any) -> None:
    assert packed(value) == (VECTOR, (1.0, 2.5))


@pytest.mark.parametrize(
    ("value", "code", "words"),
    [
        (True, "EAGRE_TYPE", "give 1 or 0"),
        (numpy.bool_(True), "EAGRE_TYPE", "give 1 or 0"),
        (["a", True], "EAGRE_TYPE", "give 1 or 0"),
        (2**64, "EAGRE_RANGE", "64"),
        (-(2**63) - 1, "EAGRE_RANGE", "64"),
        ("\ud800", "EAGRE_ENCODING", "surrogate at character 0"),
        (["ok", "a\udfff"], "EAGRE_ENCODING", "surrogate at character 1"),
        (datetime.datetime(2024, 1, 1), "EAGRE_TYPE", "no time zone"),
        (object(), "EAGRE_TYPE", "object"),
        (Fraction(1, 2), "EAGRE_TYPE", "Fraction"),
        ({"a": 1}, "EAGRE_TYPE", "dict"),
        ([["a"]], "EAGRE_TYPE", "list"),
        ({"a", 1}, "EAGRE_TYPE", "set"),
        (numpy.zeros((2, 2)), "EAGRE_TYPE", "2 dimensions"),
        (numpy.zeros(2, dtype=">f4"), "EAGRE_TYPE", "format"),
        (numpy.zeros(2, dtype="?"), "EAGRE_TYPE", "format"),
        (eagre.Handle(5), "EAGRE_TYPE", "handle"),
    ],
)
def test_refused(value: Any, code: str, words: str) -> None:
    with pytest.raises(eagre.Error, match=words) as caught:
        packed(value)
    assert caught.value.code == code


# ---- columns


def unpacked(values: Any) -> Any:
    """(type, [values], nulls) of a column, read through its addresses."""
    keep: list[Any] = []
    n = len(values)
    kind, width, at, nulls_at = struct.unpack("=IIQQ", _columns.column(values, n, "column 'x'", keep))

    def memory(address: int, size: int) -> bytes:
        return bytes(ffi.buffer(ffi.cast("char *", address), size))

    nulls = None if nulls_at == lib.EAGRE_NO_NULLS else list(memory(nulls_at, n))
    if kind == VECTOR:
        flat = struct.unpack(f"={n * width}f", memory(at, 4 * n * width))
        return kind, [flat[i * width : (i + 1) * width] for i in range(n)], nulls
    if kind == lib.EAGRE_COLUMN_VALUES:
        return kind, [value_at(at + 16 * i) for i in range(n)], nulls
    return kind, list(struct.unpack(f"={n}{({REAL: 'd', UINT: 'Q'}).get(kind, 'q')}", memory(at, 8 * n))), nulls


def value_at(address: int) -> Any:
    value = bytes(ffi.buffer(ffi.cast("char *", address), 16))
    kind, length, at = struct.unpack("=IIQ", value)
    if kind == TEXT:
        return bytes(ffi.buffer(ffi.cast("char *", at), length))
    if kind == LIST:
        return [value_at(at + 16 * i) for i in range(length)]
    if kind == VECTOR:
        return struct.unpack(f"={length}f", bytes(ffi.buffer(ffi.cast("char *", at), 4 * length)))
    return read(value, b"")[1]


VALUES = lib.EAGRE_COLUMN_VALUES
NAT = numpy.datetime64("NaT")


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([1, 2], (INT, [1, 2], None)),
        ([1, None, 3], (INT, [1, 0, 3], [0, 1, 0])),
        ([1.5, None], (REAL, [1.5, 0.0], [0, 1])),
        ([1, 2.5], (VALUES, [1, 2.5], None)),
        ([1, None, 2.5], (VALUES, [1, None, 2.5], None)),
        ([2**64 - 1, 0], (VALUES, [2**64 - 1, 0], None)),
        ([2**64 - 1, None], (VALUES, [2**64 - 1, None], None)),
        ([None, None], (VALUES, [None, None], None)),
        (["a", "", "ccc"], (VALUES, [b"a", b"", b"ccc"], None)),
        (["é", "x"], (VALUES, ["é".encode(), b"x"], None)),
        (["a", None, b"\xff"], (VALUES, [b"a", None, b"\xff"], None)),
        ([["a", "b"], [], ("c",)], (VALUES, [[b"a", b"b"], [], [b"c"]], None)),
        ([["a"], None, {"b"}], (VALUES, [[b"a"], None, [b"b"]], None)),
        ([[], []], (VALUES, [[], []], None)),
        ([[1.0, 2.0], None, [3, 4]], (VALUES, [(1.0, 2.0), None, (3.0, 4.0)], None)),
        ([datetime.date(1970, 1, 2), None], (VALUES, [86_400_000_000, None], None)),
        ((1, 2), (INT, [1, 2], None)),
        (range(3), (INT, [0, 1, 2], None)),
        ([], (VALUES, [], None)),
        (array("q", [1, -1]), (INT, [1, -1], None)),
        (array("b", [1, -1]), (INT, [1, -1], None)),
        (array("Q", [2**64 - 1]), (UINT, [2**64 - 1], None)),
        (array("I", [7]), (UINT, [7], None)),
        (array("d", [0.1]), (REAL, [0.1], None)),
        (array("f", [0.5]), (REAL, [0.5], None)),
        (memoryview(array("q", [1, 2, 3]))[::2], (INT, [1, 3], None)),
        (memoryview(array("f", [1, 2, 3, 4])).cast("B").cast("f", (2, 2)), (VECTOR, [(1.0, 2.0), (3.0, 4.0)], None)),
        (numpy.arange(3), (INT, [0, 1, 2], None)),
        (numpy.arange(6)[::2], (INT, [0, 2, 4], None)),
        (numpy.array([1, 2], dtype=">i4"), (INT, [1, 2], None)),
        (numpy.array([2**64 - 1], dtype=numpy.uint64), (UINT, [2**64 - 1], None)),
        (numpy.array([1.5]), (REAL, [1.5], None)),
        (numpy.array([1.5], dtype=numpy.float32), (REAL, [1.5], None)),
        (numpy.array(["1970-01-02", NAT], dtype="M8[D]"), (TIME, [86_400_000_000, -(2**63)], [0, 1])),
        (numpy.array([5], dtype="M8[us]"), (TIME, [5], None)),
        (numpy.array([5], dtype="M8[s]"), (TIME, [5_000_000], None)),
        (numpy.array(["a", "é"]), (VALUES, [b"a", "é".encode()], None)),
        (numpy.array(["a", None], dtype=object), (VALUES, [b"a", None], None)),
        (numpy.eye(2, dtype=numpy.float32), (VECTOR, [(1.0, 0.0), (0.0, 1.0)], None)),
        (numpy.eye(2).T, (VECTOR, [(1.0, 0.0), (0.0, 1.0)], None)),
        (numpy.ma.array([1, 2], mask=[False, True]), (INT, [1, 0], [0, 1])),
    ],
)
def test_column(values: Any, wanted: Any) -> None:
    assert unpacked(values) == wanted


@pytest.mark.parametrize(
    ("values", "n", "code"),
    [
        ([1], 2, "EAGRE_INVALID"),
        (numpy.zeros(3), 2, "EAGRE_INVALID"),
        ("ab", 2, "EAGRE_TYPE"),
        (b"ab", 2, "EAGRE_TYPE"),
        ({"a": 1, "b": 2}, 2, "EAGRE_TYPE"),
        (5, 1, "EAGRE_TYPE"),
        ([True, False], 2, "EAGRE_TYPE"),
        (numpy.array([True, False]), 2, "EAGRE_TYPE"),
        (numpy.array([1j, 2]), 2, "EAGRE_TYPE"),
        (numpy.array([1, 2], dtype="m8[s]"), 2, "EAGRE_TYPE"),
        (numpy.array([1, 2], dtype=numpy.longdouble), 2, "EAGRE_TYPE"),
        (numpy.zeros((2, 2), dtype=int), 2, "EAGRE_TYPE"),
        (numpy.zeros((2, 2, 2)), 2, "EAGRE_TYPE"),
        (memoryview(b"ab").cast("c"), 2, "EAGRE_TYPE"),
        (["a", "\ud800"], 2, "EAGRE_ENCODING"),
        ([["a"], ["\ud800"]], 2, "EAGRE_ENCODING"),
        ([1, 2**64], 2, "EAGRE_RANGE"),
        ([1, object()], 2, "EAGRE_TYPE"),
    ],
)
def test_column_refused(values: Any, n: int, code: str) -> None:
    with pytest.raises(eagre.Error, match="column 'x'") as caught:
        _columns.column(values, n, "column 'x'", [])
    assert caught.value.code == code


def test_mixed_column_names_the_row() -> None:
    with pytest.raises(eagre.Error, match="column 'x': row 2: "):
        _columns.column([1, "a", True], 3, "column 'x'", [])


def test_arrays_of_the_right_type_are_not_copied() -> None:
    for values in (numpy.arange(4), numpy.zeros(4), numpy.zeros((4, 3), dtype=numpy.float32), array("q", [1, 2, 3, 4])):
        keep: list[Any] = []
        at = struct.unpack("=IIQQ", _columns.column(values, 4, "x", keep))[2]
        assert at == _columns.address(values)


@pytest.mark.parametrize("dtype", ["i8", "u8", "f8", "f4"])
def test_what_is_not_aligned_is_copied(dtype: str) -> None:
    data = b"x" + numpy.arange(4, dtype=dtype).tobytes()
    crooked = numpy.frombuffer(data, dtype=dtype, offset=1)
    assert not crooked.flags.aligned and unpacked(crooked)[1] == [0, 1, 2, 3]
    if dtype == "f4":
        assert unpacked(crooked.reshape(2, 2))[1] == [(0, 1), (2, 3)]
    for values in (crooked, memoryview(data)[1:].cast({"i8": "q", "u8": "Q", "f8": "d", "f4": "f"}[dtype])):
        keep: list[Any] = []
        assert struct.unpack("=IIQQ", _columns.column(values, 4, "x", keep))[2] % 8 == 0
    weights = _columns.doubles(crooked, 4, "weights")
    assert _columns.address(weights) % 8 == 0 and memoryview(weights).cast("B").cast("d").tolist() == [0, 1, 2, 3]


def test_plain_columns() -> None:
    assert list(_columns.doubles([1, 2.5], 2, "weights")) == [1.0, 2.5]
    assert list(_columns.doubles(2, 3, "weights")) == [2.0, 2.0, 2.0]
    assert list(_columns.doubles(numpy.array([1, 2]), 2, "weights")) == [1.0, 2.0]
    assert list(_columns.doubles(numpy.array([1, 2], dtype="f4"), 2, "weights")) == [1.0, 2.0]
    assert list(_columns.moments([1, datetime.datetime(1970, 1, 1, tzinfo=UTC)], 2, "at")) == [1, 0]
    assert list(_columns.moments(7, 2, "at")) == [7, 7]
    assert list(_columns.moments(numpy.array([5], dtype="M8[s]"), 1, "at")) == [5_000_000]
    assert list(_columns.handles([eagre.Handle(2**64 - 1), eagre.Handle(0)], 2, "handles")) == [2**64 - 1, 0]
    assert list(_columns.handles(numpy.array([1, 2], dtype=numpy.uint64), 2, "handles")) == [1, 2]
    keep: list[Any] = []
    ids = _columns.values_of(numpy.array([7, 8]), 2, "ids", keep)
    assert [read(bytes(memoryview(ids).cast("B")[i : i + 16]), b"") for i in (0, 16)] == [(INT, 7), (INT, 8)]


@pytest.mark.parametrize(
    ("function", "values", "code"),
    [
        ("doubles", [1.0], "EAGRE_INVALID"),
        ("doubles", [1.0, None], "EAGRE_TYPE"),
        ("doubles", ["a", "b"], "EAGRE_TYPE"),
        ("doubles", [True, True], "EAGRE_TYPE"),
        ("doubles", [10**400, 1], "EAGRE_RANGE"),
        ("moments", [1.5, 2.5], "EAGRE_TYPE"),
        ("moments", numpy.array([1.5, 2.5]), "EAGRE_TYPE"),
        ("moments", [datetime.datetime(2024, 1, 1)] * 2, "EAGRE_TYPE"),
        ("moments", [2**70, 1], "EAGRE_RANGE"),
        ("handles", ["a", "b"], "EAGRE_TYPE"),
        ("handles", numpy.zeros(2), "EAGRE_TYPE"),
        ("handles", [1, 2, 3], "EAGRE_INVALID"),
    ],
)
def test_plain_columns_refused(function: str, values: Any, code: str) -> None:
    with pytest.raises(eagre.Error, match="the argument: ") as caught:
        getattr(_columns, function)(values, 2, "the argument")
    assert caught.value.code == code


# ---- results


def block(keys: list[bytes] | None = None, now: int = 5) -> bytes:
    """A result block of two rows, built by hand from the header's words."""
    data = bytearray(104)

    def add(part: bytes) -> int:
        data.extend(b"\0" * (-len(data) & 7))
        at = len(data)
        data.extend(part)
        return at

    def offsets(parts: list[bytes]) -> tuple[int, int]:
        ends = [sum(map(len, parts[:i])) for i in range(len(parts) + 1)]
        return add(struct.pack(f"={len(ends)}Q", *ends)), add(b"".join(parts))

    if keys is None:
        keys_at, key_bytes_at, flags = add(struct.pack("=2Q", 0, 2**64 - 1)), 0, 1 | 2
    else:
        keys_at, key_bytes_at = offsets(keys)
        flags = 4
    scores_at = add(struct.pack("=2d", 2.0, -0.5))
    title_at, title_bytes = offsets(["é".encode(), b""])
    list_at, list_bytes = offsets([b"a", b"b", b"c"])
    columns = [
        (TEXT, 0, b"title", b"\0\1", title_at, 0, title_bytes),
        (INT, 0, b"minutes", b"\0\0", add(struct.pack("=2q", -1, 2)), 0, 0),
        (TIME, 0, b"released", b"\1\0", add(struct.pack("=2q", 0, 7)), 0, 0),
        (UINT, 0, b"k", b"\0\0", add(struct.pack("=2Q", 0, 2**64 - 1)), 0, 0),
        (REAL, 0, b"rating", b"\0\0", add(struct.pack("=2d", 0.1, 3.0)), 0, 0),
        (LIST, 0, b"genres", b"\0\0", add(struct.pack("=3Q", 0, 1, 3)), list_at, list_bytes),
        (VECTOR, 2, b"look", b"\0\0", add(struct.pack("=4f", 1, 2, 3, 4)), 0, 0),
    ]
    described = b"".join(
        struct.pack("=IIQQQQQQ", kind, width, add(name), len(name), add(nulls), at, list_, bytes_)
        for kind, width, name, nulls, at, list_, bytes_ in columns
    )
    columns_at = add(described)
    cursor_at, explain_at = add(b"\x01\xff"), add(b'{"plan": "scan"}')
    struct.pack_into(
        "=IIQIIqQQQQQQQQQ", data, 0, lib.EAGRE_RESULT_MAGIC, flags, len(data), 2, len(columns), now, 28,
        keys_at, key_bytes_at, scores_at, columns_at, cursor_at, 2, explain_at, 16,
    )  # fmt: skip
    return bytes(data)


def test_result() -> None:
    result = eagre.Result(block())
    assert len(result) == 2 and result.now == 5 and result.total == 28 and not result.relaxed
    assert result.keys == [0, 2**64 - 1] and result.scores == [2.0, -0.5]
    assert result.columns == ["title", "minutes", "released", "k", "rating", "genres", "look"]
    assert result.column("title") == ["é", None]
    assert result.column("minutes") == [-1, 2]
    assert result.column("released") == [None, 7]
    assert result.column("k") == [0, 2**64 - 1]
    assert result.column("rating") == [0.1, 3.0]
    assert result.column("genres") == [["a"], ["b", "c"]]
    assert result.column("look") == [[1.0, 2.0], [3.0, 4.0]]
    assert result.cursor == b"\x01\xff" and result.explain.data == {"plan": "scan"}
    assert repr(result) == "<eagre.Result: 2 rows of (key, score, title, minutes, released, k, rating, genres, look)>"
    with pytest.raises(KeyError):
        result.column("nothing")


def test_rows() -> None:
    result = eagre.Result(block())
    first, last = result
    assert (first.key, first.score, first["title"]) == (0, 2.0, "é")
    assert last == result[-1] == result[1] and result[0:1] == [first] and result[::-1] == [last, first]
    assert dict(last)["genres"] == ["b", "c"] and list(last) == result.columns and "title" in last and len(last) == 7
    assert last.get("nothing") is None
    assert repr(first).startswith("Row(key=0, score=2, title='é', minutes=-1, released=None,")
    for index in (2, -3):
        with pytest.raises(IndexError):
            result[index]
    with pytest.raises(KeyError):
        first["nothing"]


def test_string_keys() -> None:
    result = eagre.Result(block([b"tt1", "né".encode()]))
    assert result.keys == ["tt1", "né"] and result.relaxed and result.total is None
    assert eagre.Result(block([b"ok", b"\xff"])).keys == ["ok", b"\xff"]


def test_one_item_is_read_as_a_row_is() -> None:
    from eagre._result import item

    assert item(block()) == dict(eagre.Result(block())[0])


def test_arrays() -> None:
    keys, scores, columns, nulls = eagre.Result(block()).arrays()
    assert keys.dtype == numpy.uint64 and keys.tolist() == [0, 2**64 - 1] and scores.tolist() == [2.0, -0.5]
    assert columns["look"].shape == (2, 2) and columns["look"].dtype == numpy.float32
    assert columns["released"].dtype == "M8[us]" and nulls["released"].tolist() == [True, False]
    assert columns["genres"].tolist() == [["a"], ["b", "c"]] and columns["title"].tolist() == ["é", None]
    assert not scores.flags.writeable and scores.base is not None
    assert eagre.Result(block([b"a", b"b"])).arrays().keys.tolist() == ["a", "b"]


def test_not_a_block() -> None:
    with pytest.raises(eagre.Error):
        eagre.Result(bytes(104))


REPORT = b"""{"plan": {"candidates": "keywords", "driven_by": "genre", "at_most": 1200},
"work": {"slots": 3200, "microseconds": 41},
"terms": [{"depth": 3, "text": "decay(view)"}, {"depth": 2, "text": "3 *  decay(view)"}, {"depth": 2, "text": "rating"},
{"depth": 1, "text": "3 * decay(view) + rating"}],
"rows": [{"score": 14, "values": [2, 6, 8, 14]}, {"score": 1.5, "values": [0.5, 1.5, 0, 1.5]}]}"""


def test_explain_reads_well() -> None:
    report = eagre.Explain(REPORT, ["alien", "wings-of-desire"])
    assert str(report).splitlines() == [
        "plan  candidates keywords, driven_by genre, at most 1,200",
        "work  slots 3,200, microseconds 41",
        "                             alien  wings-of-desire",
        "score                           14              1.5",
        "3 * decay(view) + rating        14              1.5",
        "  3 * decay(view)                6              1.5",
        "    decay(view)                  2              0.5",
        "  rating                         8                0",
    ]
    assert report.data["rows"][0]["score"] == 14 and repr(report) == "<eagre.Explain: 2 rows, 4 terms>"
    assert (
        "row 2" in str(eagre.Explain(REPORT)) and str(eagre.Explain(b'{"plan": {"candidates": "scan"}}')) == "plan  candidates scan"
    )


# ---- the rest


def test_error() -> None:
    error = eagre.Error("EAGRE_SYNTAX", "a name is expected", 17)
    assert str(error) == "a name is expected [EAGRE_SYNTAX at byte 17]" and error.position == 17
    missing = eagre.NotFound("EAGRE_NOT_FOUND", "no such item")
    assert isinstance(missing, KeyError) and isinstance(missing, eagre.Error) and str(missing) == "no such item [EAGRE_NOT_FOUND]"
    import pickle

    again = pickle.loads(pickle.dumps(error))
    assert (again.code, again.message, again.position) == (error.code, error.message, error.position)


def test_structs_are_packed_as_c_lays_them_out() -> None:
    value = ffi.new("eagre_value *")
    value.type, value.length, value.v.at = 5, 6, 7
    assert bytes(ffi.buffer(value)) == _values.pack_uint(5, 6, 7)
    made = ffi.new("eagre_column *")
    made.type, made.width, made.at, made.nulls_at = 7, 128, 1, 2
    assert bytes(ffi.buffer(made)) == struct.pack("=IIQQ", 7, 128, 1, 2)

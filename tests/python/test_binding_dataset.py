# SPDX-License-Identifier: MIT
"""The generated dataset is what its description says: golden sums, and the rules once more in plain integers."""

from __future__ import annotations

import pathlib
import sys

import pytest

pytest.importorskip("numpy")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from dataset import GAMMA, NOW, Dataset, word

MASK = 2**64 - 1

GOLDEN = {
    "authors": 495000,
    "categories": 94392,
    "created": 16882100448301000000,
    "minutes": 902270,
    "ratings * 10": 549399,
    "words": 450206,
    "title words": 55151,
    "letters and blanks": 2015152,
    "vectors * 2^18": 988713927,
    "views item * second": 73692808456880237,
    "likes item * second": 18303031951238022,
}


def mix(z: int) -> int:
    z ^= z >> 30
    z = z * 0xBF58476D1CE4E5B9 & MASK
    z ^= z >> 27
    z = z * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def draw(seed: int, stream: int, i: int) -> int:
    return mix((mix((seed + stream * GAMMA) & MASK) + (i + 1) * GAMMA) & MASK)


def below(u: int, n: int) -> int:
    return (u >> 32) * n >> 32


def zipf(u: int, n: int) -> int:
    weights = [(1 << 27) // (r + 1) for r in range(n)]
    target, total = below(u, sum(weights)), 0
    for rank, weight in enumerate(weights):
        total += weight
        if total > target:
            return rank
    raise AssertionError


def lanes(u: int) -> int:
    return sum(u >> shift & 0xFFFF for shift in (0, 16, 32, 48)) - 131_070


def test_golden() -> None:
    assert Dataset(10_000).fingerprint() == GOLDEN


@pytest.mark.parametrize("i", [0, 777, 9_999])
def test_item_by_the_rules(i: int) -> None:
    seed, n = 5, 10_000
    data = Dataset(n, seed)
    assert data.authors(i, i + 1) == [f"a{i * 7919 % 100}"]
    assert data.categories(i, i + 1) == [f"c{below(draw(seed, 1, i), 20)}"]
    assert data.created(i, i + 1)[0] == (NOW - below(draw(seed, 2, i), 365 * 86_400)) * 10**6
    assert data.minutes(i, i + 1)[0] == 1 + below(draw(seed, 3, i), 180)
    assert data.ratings(i, i + 1)[0] == (10 + below(draw(seed, 4, i), 91)) / 10
    title, length = 3 + below(draw(seed, 6, i), 6), 30 + below(draw(seed, 5, i), 31)
    words = [word(zipf(draw(seed, 7, 64 * i + j), 100_000)) for j in range(title + 2)]
    assert data.titles(i, i + 1) == [" ".join(words[:title])]
    body = data.bodies(i, i + 1)[0].split(" ")
    assert len(body) == length - title and body[:2] == words[title:]
    cluster = below(draw(seed, 8, i), 1_000)
    vector = [(4 * lanes(draw(seed, 9, 128 * cluster + j)) + lanes(draw(seed, 10, 128 * i + j))) / 2**18 for j in range(128)]
    assert data.vectors(i, i + 1)[0].tolist() == vector


def test_events_by_the_rules() -> None:
    seed, n = 5, 1_000
    data = Dataset(n, seed)
    for (items, times), stream, m, count in ((data.views(), 11, 100, 1_000), (data.likes(), 13, 50, 250)):
        assert len(items) == len(times) == count and len(set(items.tolist())) == m
        for e in (0, m - 1, m, count - 1):
            rank = e if e < m else zipf(draw(seed, stream, e), m)
            a = draw(seed, stream + 1, e) >> 40
            assert items[e] == rank * 2_654_435_761 % n
            assert times[e] == (NOW - ((a * a >> 16) * 30 * 86_400 >> 32)) * 10**6


def test_parts_are_the_same_as_the_whole() -> None:
    data = Dataset(1_000)
    assert data.titles(0, 300) == data.titles(0, 100) + data.titles(100, 300)
    assert data.vectors(0, 30)[20:].tolist() == data.vectors(20, 30).tolist()


def test_words_are_all_different() -> None:
    words = Dataset().words
    assert len(set(words)) == 100_000 and words[0] == "ba" and words[99] == "zu" and words[100] == "baba"

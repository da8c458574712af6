# SPDX-License-Identifier: MIT
"""The generated dataset: one set of items and signals for benchmarks and tests in every language.

1,000,000 items by default, of 10,000 authors (100 items each) in 20 categories, texts of 30 to 60 words from a Zipf vocabulary
of 100,000, vectors of 128 numbers around 1,000 centres, views on a tenth of the items and likes on a twentieth (Zipf).

Everything is integer arithmetic, so that another language gets the same bits. All numbers are unsigned of 64 bits and wrap:

    mix(z)           z ^= z >> 30; z *= 0xbf58476d1ce4e5b9; z ^= z >> 27; z *= 0x94d049bb133111eb; z ^= z >> 31
    G                0x9e3779b97f4a7c15
    draw(s, i)       mix(mix(seed + s * G) + (i + 1) * G): output i of splitmix64 whose state begins as mix(seed + s * G)
    below(u, n)      ((u >> 32) * n) >> 32, for n below 2^32
    zipf(u, n)       weights w[r] = floor(2^27 / (r + 1)) for r = 0 .. n-1; the first r whose cumulative weight is above
                     below(u, sum of all weights); n up to 2,000,000

The streams s are the constants below. Of item i of n, with T = 2024-01-01 in seconds since 1970:

    key              i
    author           "a" and (i * 7919) mod max(1, n / 100)
    category         "c" and below(draw(CATEGORY, i), 20)
    created          T - below(draw(CREATED, i), 365 days)
    minutes          1 + below(draw(MINUTES, i), 180)
    rating           (10 + below(draw(RATING, i), 91)) / 10
    words            30 + below(draw(LENGTH, i), 31) of them; word j is zipf(draw(WORD, 64 i + j), 100,000)
    title, body      the first 3 + below(draw(TITLE, i), 6) words, and the others
    vector[j]        (4 * lanes(draw(CENTRE, 128 c + j)) + lanes(draw(NOISE, 128 i + j))) / 2^18,
                     c = below(draw(CLUSTER, i), 1000); lanes(u) is the sum of the four 16-bit parts of u, less 131,070.
                     Exact in a float

Word r is its number in bijective base 100, each digit a syllable: SYLLABLES[d] = consonant d / 5 of "bcdfghjklmnpqrstvwxz",
vowel d mod 5 of "aeiou". Word 0 is "ba", word 99 "zu", word 100 "baba".

Events: m = n / 10 items are viewed, n times in all; n / 20 are liked, n / 4 times. Event e is about the item of rank r, where
r = e for the first m events (so that each of them has one), else zipf(draw(VIEW, e), m). Rank r is item (r * 2654435761) mod n.
Its second is T - ((((a * a) >> 16) * 30 days in seconds) >> 32), a = draw(VIEW_TIME, e) >> 40: most of them recent. Likes the
same, with LIKE and LIKE_TIME.
"""

from __future__ import annotations

import argparse
import time
from functools import cached_property
from typing import Any

import numpy as np

SEED = 1
NOW = 1_704_067_200  # T, seconds
DAY = 86_400
CATEGORIES, VOCABULARY, WIDTH, CENTRES = 20, 100_000, 128, 1_000

CATEGORY, CREATED, MINUTES, RATING, LENGTH, TITLE, WORD = 1, 2, 3, 4, 5, 6, 7
CLUSTER, CENTRE, NOISE = 8, 9, 10
VIEW, VIEW_TIME, LIKE, LIKE_TIME = 11, 12, 13, 14

GAMMA = 0x9E3779B97F4A7C15
U64 = np.uint64
SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnpqrstvwxz" for vowel in "aeiou"]

Array = Any  # numpy's arrays; their element types are in the docstrings


def mix(z: Array) -> Array:
    """splitmix64's finaliser, in place, of an array of uint64."""
    z ^= z >> U64(30)
    z *= U64(0xBF58476D1CE4E5B9)
    z ^= z >> U64(27)
    z *= U64(0x94D049BB133111EB)
    z ^= z >> U64(31)
    return z


def below(u: Array, n: int) -> Array:
    """Whole numbers from 0 to n - 1, as int64."""
    return (((u >> U64(32)) * U64(n)) >> U64(32)).astype(np.int64)


def zipf_table(n: int) -> Array:
    """Cumulative weights, int64."""
    return np.cumsum((1 << 27) // np.arange(1, n + 1, dtype=np.int64))


def zipf(u: Array, table: Array) -> Array:
    """Ranks, as int64."""
    return np.searchsorted(table, below(u, int(table[-1])), side="right")


def word(rank: int) -> str:
    """The word of a rank."""
    syllables = []
    rank += 1
    while rank > 0:
        rank -= 1
        syllables.append(SYLLABLES[rank % 100])
        rank //= 100
    return "".join(reversed(syllables))


class Dataset:
    """The items 0 .. n-1 and their events. Each method gives the part of the items from `start` up to `stop`, so that a million of
    them need not be in memory at once. Deterministic in (n, seed).
    """

    def __init__(self, n: int = 1_000_000, seed: int = SEED) -> None:
        self.n = n
        self.seed = seed

    def draw(self, stream: int, indexes: Array) -> Array:
        """Draws number `indexes` (an array, uint64) of a stream."""
        start = mix(np.array([(self.seed + stream * GAMMA) % 2**64], dtype=U64))
        return mix(start + (indexes + U64(1)) * U64(GAMMA))

    def _items(self, start: int, stop: int) -> Array:
        return np.arange(start, stop, dtype=U64)

    # ---- fields

    def authors(self, start: int, stop: int) -> list[str]:
        """Keywords; every author has 100 items."""
        return [f"a{a}" for a in (np.arange(start, stop) * 7919 % max(1, self.n // 100)).tolist()]

    def categories(self, start: int, stop: int) -> list[str]:
        """Keywords, 20 of them."""
        names = [f"c{c}" for c in range(CATEGORIES)]
        return [names[c] for c in below(self.draw(CATEGORY, self._items(start, stop)), CATEGORIES).tolist()]

    def created(self, start: int, stop: int) -> Array:
        """Microseconds since 1970 UTC, int64; within the year before NOW."""
        return (NOW - below(self.draw(CREATED, self._items(start, stop)), 365 * DAY)) * 1_000_000

    def minutes(self, start: int, stop: int) -> Array:
        """1 .. 180, int64."""
        return 1 + below(self.draw(MINUTES, self._items(start, stop)), 180)

    def ratings(self, start: int, stop: int) -> Array:
        """1.0 .. 10.0, float64."""
        return (10 + below(self.draw(RATING, self._items(start, stop)), 91)) / 10

    # ---- texts

    @cached_property
    def words(self) -> list[str]:
        """The vocabulary, the commonest word first."""
        return [word(rank) for rank in range(VOCABULARY)]

    @cached_property
    def _word_table(self) -> Array:
        return zipf_table(VOCABULARY)

    def lengths(self, start: int, stop: int) -> tuple[Array, Array]:
        """Words of the title, and of title and body together; int64."""
        items = self._items(start, stop)
        return 3 + below(self.draw(TITLE, items), 6), 30 + below(self.draw(LENGTH, items), 31)

    def _texts(self, start: int, first: Array, last: Array) -> list[str]:
        """Of each item from `start` on the words first .. last-1."""
        count = last - first
        ends = np.cumsum(count)
        total = int(ends[-1]) if len(ends) else 0
        j = np.arange(total) - np.repeat(ends - count, count) + np.repeat(first, count)
        items = np.repeat(np.arange(start, start + len(count)), count)
        ranks = zipf(self.draw(WORD, (items * 64 + j).astype(U64)), self._word_table)
        words = list(map(self.words.__getitem__, ranks.tolist()))
        bounds = [0, *ends.tolist()]
        return [" ".join(words[a:b]) for a, b in zip(bounds, bounds[1:])]

    def titles(self, start: int, stop: int) -> list[str]:
        """Texts of 3 to 8 words."""
        title, _ = self.lengths(start, stop)
        return self._texts(start, np.zeros_like(title), title)

    def bodies(self, start: int, stop: int) -> list[str]:
        """Texts; with the title 30 to 60 words."""
        title, all_words = self.lengths(start, stop)
        return self._texts(start, title, all_words)

    # ---- vectors

    def vectors(self, start: int, stop: int) -> Array:
        """float32, two dimensions: one row of 128 an item. Not normalised."""
        items = self._items(start, stop)
        j = np.arange(WIDTH, dtype=U64)
        cluster = below(self.draw(CLUSTER, items), CENTRES).astype(U64)
        centre = _lanes(self.draw(CENTRE, (cluster[:, None] * U64(WIDTH) + j).ravel()))
        noise = _lanes(self.draw(NOISE, (items[:, None] * U64(WIDTH) + j).ravel()))
        return ((4 * centre + noise).astype(np.float32) * np.float32(2.0**-18)).reshape(len(items), WIDTH)

    # ---- events

    def views(self) -> tuple[Array, Array]:
        """Items (int64) and moments (microseconds, int64) of all n views."""
        return self._events(VIEW, VIEW_TIME, self.n // 10, self.n)

    def likes(self) -> tuple[Array, Array]:
        """Items and moments of all n / 4 likes."""
        return self._events(LIKE, LIKE_TIME, self.n // 20, self.n // 4)

    def _events(self, stream: int, times: int, m: int, count: int) -> tuple[Array, Array]:
        m = max(1, m)
        events = np.arange(count, dtype=U64)
        ranks = zipf(self.draw(stream, events), zipf_table(m))
        ranks[: min(m, count)] = np.arange(min(m, count))
        a = self.draw(times, events) >> U64(40)
        age = (((a * a) >> U64(16)) * U64(30 * DAY)) >> U64(32)
        return ranks * 2_654_435_761 % self.n, (NOW - age.astype(np.int64)) * 1_000_000

    # ---- a check for other languages

    def fingerprint(self) -> dict[str, int]:
        """Sums over all items and events, modulo 2^64: equal in every language that makes the same dataset."""
        start, stop = 0, self.n
        title, length = self.lengths(start, stop)
        viewed, viewed_at = self.views()
        liked, liked_at = self.likes()
        texts = self.titles(start, stop) + self.bodies(start, stop)
        sums = {
            "authors": sum(int(a[1:]) for a in self.authors(start, stop)),
            "categories": sum(int(c[1:]) for c in self.categories(start, stop)),
            "created": int(self.created(start, stop).sum()),
            "minutes": int(self.minutes(start, stop).sum()),
            "ratings * 10": round(float((self.ratings(start, stop) * 10).sum())),
            "words": int(length.sum()),
            "title words": int(title.sum()),
            "letters and blanks": sum(map(len, texts)),
            "vectors * 2^18": int((self.vectors(start, stop).astype(np.float64) * 2**18).sum()),
            "views item * second": int((viewed * (viewed_at // 1_000_000)).astype(U64).sum()),
            "likes item * second": int((liked * (liked_at // 1_000_000)).astype(U64).sum()),
        }
        return {name: value % 2**64 for name, value in sums.items()}


def _lanes(u: Array) -> Array:
    total = np.full(u.shape, -131_070, dtype=np.int32)
    for shift in (0, 16, 32, 48):
        total += ((u >> U64(shift)) & U64(0xFFFF)).astype(np.int32)
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description="Print the first items of the generated dataset and its fingerprint.")
    parser.add_argument("n", type=int, nargs="?", default=10_000, help="items (10000)")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    data = Dataset(options.n, options.seed)
    few = min(3, data.n)
    for i, (author, category, title) in enumerate(zip(data.authors(0, few), data.categories(0, few), data.titles(0, few))):
        print(f"item {i}: {author} {category} {title!r} vector {data.vectors(i, i + 1)[0, :3].tolist()} ...")
    begun = time.perf_counter()
    for name, value in data.fingerprint().items():
        print(f"{name:24} {value}")
    print(f"{data.n:,} items, all of it, in {time.perf_counter() - begun:.1f} s")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""What comes next, and in what order? 3,200 films, visitors on several threads, and a feed that changes while they write.

    make demo                              or  .venv/bin/python examples/films_demo.py
    make demo SCALE=1000000                the same on a generated million (bench/dataset.py)
    EAGRE_DEMO_SECONDS=5                   how long visitors come (20)

Time is set by hand here: a second of the demo is two hours of the films' world, so that windows of an hour and a day have
something to say. Visitors choose films by their votes, and like or skip them by their rating; now and then everybody talks
about one film for an hour or two. Two threads write in batches by handle, one writes events one by one, by key, with an id
that makes each count once, and sends some of them twice. Two threads read, as fast as they can. The feed is printed meanwhile.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import pathlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import eagre

HERE = pathlib.Path(__file__).resolve().parent
HOUR = 3_600 * 1_000_000  # microseconds
SPEED = 2 * HOUR  # of the films' time, in a second of ours
BATCH = 1_000

SCHEMA = """
CREATE ITEM film (title TEXT, director KEYWORD AS author, genre KEYWORD, released TIME AS created,
                  minutes INTEGER AS duration, rating REAL, votes INTEGER) {keys};
CREATE SIGNAL view ON film HALF LIFE 7d WINDOWS 1h, 24h, 7d;
CREATE SIGNAL like ON film HALF LIFE 30d WINDOWS 24h;
CREATE SIGNAL skip ON film HALF LIFE 7d WINDOWS 24h;
CREATE SIGNAL share ON film HALF LIFE 7d WINDOWS 24h;
CREATE PROFILE evening(w = 2) ON film AS
    3 * velocity(view, 24h) + decay(like) + 0.5 * recency(released, 30d) - w * decay(skip);
"""

# What the readers ask, again and again, and what the feed shows of it.
STATEMENTS = {
    "trending": "RETRIEVE film USING trending RETURN title LIMIT 20",
    "rising": "RETRIEVE film USING rising WHERE count(view, 1h) > 10 RETURN title LIMIT 20",
    "genre": "RETRIEVE film USING count(view, 24h) WHERE genre = ?1 DIVERSITY director 2 PER 20 RETURN title, director LIMIT 20",
    "evening": "RETRIEVE film USING evening(w = ?1) RETURN title, minutes LIMIT 20",
    "new, well liked": "RETRIEVE film USING new WHERE decay(like) > 5 AND rating >= 6 RETURN title, released LIMIT 20",
    "count": "RETRIEVE film USING decay(view) WHERE minutes < 120 AND count(view, 24h) > 0 COUNT LIMIT 1",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scale", type=int, default=int(os.environ.get("SCALE") or 0), help="generated films instead of real ones")
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("EAGRE_DEMO_SECONDS", "20")))
    options = parser.parse_args()
    sys.setswitchinterval(0.0005)  # threads that wait for Python's lock get it sooner
    with eagre.open(now=0) as db, Screen() as screen:
        world = load_generated(db, screen, options.scale) if options.scale else load_films(db, screen)
        demo = Demo(db, world, screen, options.seconds)
        demo.run()
        demo.report()


# ---- the films


@dataclass
class World:
    """The films as visitors see them: arrays of one length."""

    handles: Any  # uint64
    keys: list[Any]
    fame: Any  # cumulative chance of being chosen, 0 .. 1
    charm: Any  # chance that who views it likes it
    genres: list[str]
    now: int  # where the clock starts
    written: dict[str, int] = field(default_factory=dict)


def load_films(db: eagre.DB, screen: Screen) -> World:
    with open(HERE / "films.jsonl", encoding="utf-8") as lines:
        films = [json.loads(line) for line in lines]
    keys = [film["key"] for film in films]
    columns = ("title", "director", "genre", "released", "minutes", "rating", "votes")
    db.execute(SCHEMA.format(keys="KEY STRING"))
    begun = time.perf_counter()
    db.put_many("film", keys, {name: [film[name] for film in films] for name in columns})
    screen.say(f"{len(keys):,} films put in {time.perf_counter() - begun:.2f} s")

    votes = np.array([film["votes"] or 100 for film in films], dtype=float)
    rating = np.array([film["rating"] or 5 for film in films], dtype=float)
    genres = sorted({film["genre"] for film in films if film["genre"]})
    now = int(np.datetime64("2011-01-01", "us").astype(int))
    db.set_clock(now)
    world = World(resolve(db, keys), keys, chances(votes), (rating - 1) / 9, genres, now)
    yesterday(db, world)
    return world


def load_generated(db: eagre.DB, screen: Screen, n: int) -> World:
    sys.path.insert(0, str(HERE.parent / "bench"))
    from dataset import NOW, Dataset

    data = Dataset(n)
    keys = np.arange(n, dtype=np.uint64)
    db.execute(SCHEMA.format(keys="KEY INTEGER"))
    db.set_clock(NOW * 1_000_000)
    spent = 0.0
    for start in screen.progress("films", range(0, n, 50_000)):
        stop = min(n, start + 50_000)
        fields = {
            "title": data.titles(start, stop),
            "director": data.authors(start, stop),
            "genre": data.categories(start, stop),
            "released": data.created(start, stop),
            "minutes": data.minutes(start, stop),
            "rating": data.ratings(start, stop),
        }
        begun = time.perf_counter()
        db.put_many("film", keys[start:stop], fields)
        spent += time.perf_counter() - begun
    screen.say(f"{n:,} films put in {spent:.1f} s")

    fame = np.ones(n)
    written = {}
    begun = time.perf_counter()
    for name, (items, at) in (("view", data.views()), ("like", data.likes())):
        for start in range(0, len(items), 10_000):
            part = slice(start, start + 10_000)
            db.signal_many(name, keys=items[part], at=at[part])
        written[name] = len(items)
        np.add.at(fame, items, 10.0)
    events = sum(written.values())
    screen.say(f"{events:,} events of the last 30 days written in {time.perf_counter() - begun:.1f} s")
    charm = (data.ratings(0, n) - 1) / 9
    names = sorted(set(data.categories(0, min(n, 1_000))))
    return World(resolve(db, keys.tolist()), keys.tolist(), chances(fame), charm, names, NOW * 1_000_000, written)


def chances(weights: Any) -> Any:
    total = np.cumsum(weights)
    return total / total[-1]


def resolve(db: eagre.DB, keys: list[Any]) -> Any:
    """A handle for each key: hot writers need not look it up for every event."""
    return np.fromiter((db.handle("film", key) for key in keys), dtype=np.uint64, count=len(keys))


def yesterday(db: eagre.DB, world: World) -> None:
    """A day of visitors before the demo begins, so that its first hour has something to be compared with."""
    random = np.random.default_rng(7)
    films = np.searchsorted(world.fame, random.random(30_000))
    at = world.now - random.integers(0, 24 * HOUR, len(films))
    world.written["view"] = db.signal_many("view", handles=world.handles[films], at=at)


# ---- visitors, readers, and the clock


class Demo:
    def __init__(self, db: eagre.DB, world: World, screen: Screen, seconds: float) -> None:
        self.db = db
        self.world = world
        self.screen = screen
        self.seconds = seconds
        self.stopped = threading.Event()
        self.failures: list[BaseException] = []
        self.talked_about = 0  # the film that everybody talks about
        self.written: list[dict[str, int]] = [dict(world.written)]  # one a thread
        self.write_time: list[list[int]] = []  # ns of each batch
        self.single_time: list[int] = []  # ns of each event by key
        self.repeats = 0
        self.read_time: dict[str, list[int]] = {name: [] for name in STATEMENTS}

    def run(self) -> None:
        tasks: list[Callable[[], None]] = [self.clock]
        tasks += [lambda seed=seed: self.visitors(seed) for seed in (1, 2)]  # type: ignore[misc]
        tasks += [self.phone]
        tasks += [lambda first=first: self.reader(first) for first in (0, 3)]  # type: ignore[misc]
        threads = [threading.Thread(target=self.guarded, args=(task,)) for task in tasks]
        self.begun = time.perf_counter()
        for thread in threads:
            thread.start()
        feeds = 5
        try:
            for tick in self.screen.progress("visitors", range(feeds * 10)):
                self.stopped.wait(self.begun + (tick + 1) * self.seconds / feeds / 10 - time.perf_counter())
                if self.stopped.is_set():
                    break
                if tick % 10 == 9:
                    self.show_feed()
        finally:
            self.stopped.set()
            for thread in threads:
                thread.join()
        self.took = time.perf_counter() - self.begun
        if self.failures:
            raise self.failures[0]

    def guarded(self, task: Callable[[], None]) -> None:
        """A thread that fails stops the demo."""
        try:
            task()
        except BaseException as error:
            self.failures.append(error)
            self.stopped.set()

    def clock(self) -> None:
        """Moves the time, and every now and then the talk of the town."""
        random = np.random.default_rng(3)
        moves = 0
        while not self.stopped.wait(0.02):
            self.db.set_clock(self.world.now + int((time.perf_counter() - self.begun) * SPEED))
            if moves % 50 == 0:
                self.talked_about = int(random.integers(len(self.world.keys)))
            moves += 1

    def choose(self, random: np.random.Generator) -> Any:
        """A batch of visits: by fame, and every twelfth to the film that is talked about."""
        films = np.searchsorted(self.world.fame, random.random(BATCH))
        films[::12] = self.talked_about
        return films

    def visitors(self, seed: int) -> None:
        """Writes batches by handle: views, and what viewers thought of it."""
        random = np.random.default_rng(seed)
        handles, charm = self.world.handles, self.world.charm
        counts = {"view": 0, "like": 0, "skip": 0, "share": 0}
        times: list[int] = []
        self.written.append(counts)
        self.write_time.append(times)
        while not self.stopped.is_set():
            films = self.choose(random)
            mood = random.random(BATCH)
            liked = mood < charm[films] * 0.5
            skipped = mood > 0.4 + charm[films] * 0.5
            shared = mood < charm[films] * 0.05
            for name, some in (("view", films), ("like", films[liked]), ("skip", films[skipped]), ("share", films[shared])):
                begun = time.perf_counter_ns()
                counts[name] += self.db.signal_many(name, handles=handles[some])
                times.append(time.perf_counter_ns() - begun)
            self.stopped.wait(0.001)  # visitors breathe, and leave the readers a core

    def phone(self) -> None:
        """Writes events one by one, by key, with an id; the line is bad, so some are sent twice and must count once."""
        random = np.random.default_rng(9)
        keys, times = self.world.keys, self.single_time
        counts = {"view": 0}
        self.written.append(counts)
        number = 0
        while not self.stopped.is_set():
            for film in self.choose(random).tolist():
                number += 1
                begun = time.perf_counter_ns()
                counted = self.db.signal("view", keys[film], id=number)
                times.append(time.perf_counter_ns() - begun)
                counts["view"] += counted
                if number % 10 == 0:
                    self.repeats += not self.db.signal("view", keys[film], id=number)
            self.stopped.wait(0.01)

    def reader(self, first: int) -> None:
        """Asks one statement after the other."""
        names = list(STATEMENTS)
        genres = itertools.cycle(self.world.genres)
        for name in itertools.cycle(names[first:] + names[:first]):
            if self.stopped.is_set():
                break
            begun = time.perf_counter_ns()
            self.ask(name, next(genres))
            self.read_time[name].append(time.perf_counter_ns() - begun)

    def ask(self, name: str, genre: str) -> eagre.Result:
        parameters: tuple[Any, ...] = {"genre": (genre,), "evening": (2,)}.get(name, ())
        return self.db.query(STATEMENTS[name], *parameters)

    # ---- what is printed

    def show_feed(self) -> None:
        genre = self.world.genres[len(self.read_time["genre"]) % len(self.world.genres)]
        results = {name: self.ask(name, genre) for name in ("trending", "rising", "genre", "evening")}
        moment = str(np.datetime64(results["trending"].now, "us").astype("datetime64[m]")).replace("T", " ")
        events = sum(sum(counts.values()) for counts in self.written)
        lines = [f"--- {moment} UTC: {events:,} events so far, everybody talks about {self.title(self.talked_about)}"]
        titles = {
            "trending": "trending",
            "rising": "rising",
            "genre": f"{genre}, at most 2 a director",
            "evening": "profile evening",
        }
        for name, result in results.items():
            lines.append(f"  {titles[name]}")
            for place, row in enumerate(result[:4], 1):
                by = f" ({row['director'] or 'director unknown'})" if "director" in row else ""
                lines.append(f"    {place}. {row.score:12,.2f}  {short(row['title'], 60)}{by}")
        self.screen.say("\n".join(lines))

    def title(self, film: int) -> str:
        return short(self.db.get("film", self.world.keys[film])["title"], 40)

    def report(self) -> None:
        say = self.screen.say
        explained = self.db.query("EXPLAIN " + STATEMENTS["evening"].replace("LIMIT 20", "LIMIT 2"), 2)
        say("--- EXPLAIN of the first two rows of profile evening")
        say("\n".join("  " + line for line in str(explained.explain).splitlines()))

        views = sum(counts.get("view", 0) for counts in self.written)
        counted = int(sum(self.db.query("RETRIEVE film USING count(view, all) LIMIT 1000000").scores))
        self.db.validate()
        verdict = "none lost, none twice" if views == counted else "WRONG"
        written = sum(sum(counts.values()) for counts in self.written[1:])
        reads = sum(map(len, self.read_time.values()))

        say("--- what was done")
        say(f"  {'films':32}{len(self.world.keys):>14,}")
        say(f"  {'events written':32}{written:>14,}   {written / self.took:,.0f} a second, on 3 threads")
        say(f"  {'queries meanwhile':32}{reads:>14,}   {reads / self.took:,.0f} a second, on 2 threads")
        say(f"  {'views, by the writers':32}{views:>14,}")
        say(f"  {'views, by count(view, all)':32}{counted:>14,}   {verdict}")
        say(f"  {'events sent twice, refused':32}{self.repeats:>14,}")
        for name, value in memory_lines(self.db.stats()):
            number, _, more = value.partition("   ")
            say(f"  {name:32}{number:>14}   {more}".rstrip())
        say(f"  {'microseconds, seen from Python':32}{'calls':>14}{'p50':>12}{'p99':>12}")
        times = {
            f"signal_many, batches up to {BATCH:,}": list(itertools.chain.from_iterable(self.write_time)),
            "signal, by key with an id": self.single_time,
        }
        for name, ns in {**times, **{f"query {name}": ns for name, ns in self.read_time.items()}}.items():
            if ns:
                p50, p99 = np.percentile(ns, (50, 99)) / 1_000
                say(f"  {name:32}{len(ns):>14,}{p50:>12,.1f}{p99:>12,.1f}")
        say("  (five threads take turns at Python's lock on these calls: their time has the waiting in it)")
        if views != counted:
            raise SystemExit("the views do not add up")


def memory_lines(stats: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What stats() says about memory."""
    film = next(kind for kind in stats["kinds"] if kind["name"] == "film")
    yield "bytes in use", f"{stats['memory_used']:,}"
    yield "bytes per film, without signals", f"{film['bytes_per_item']:,.0f}"
    for signal in film["signals"]:
        cells = f"{signal['cells']:,} cells, {signal['quiet']:,} of them quiet"
        yield f"bytes per film with {signal['name']}", f"{signal['bytes_per_cell']:,.0f}   {cells}"


def short(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


class Screen:
    """Prints: with a progress bar on a terminal, plain lines into a log."""

    def __enter__(self) -> Screen:
        self.bar: Any = None
        if sys.stdout.isatty():
            try:
                from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

                self.bar = Progress(TextColumn("{task.description:>9}"), BarColumn(None), TimeElapsedColumn(), transient=True)
                self.bar.start()
            except ImportError:
                pass
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def say(self, text: str) -> None:
        if self.bar is not None:
            self.bar.console.print(text, markup=False, highlight=False, soft_wrap=True)
        else:
            print(text, flush=True)

    def progress(self, what: str, steps: range) -> Iterator[int]:
        if self.bar is None:
            yield from steps
            return
        task = self.bar.add_task(what, total=len(steps))
        for step in steps:
            yield step
            self.bar.advance(task)
        self.bar.remove_task(task)


if __name__ == "__main__":
    main()

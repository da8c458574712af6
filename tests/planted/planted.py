#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plants bugs, one at a time, in a copy of the tree, and sees whether the tests catch them.

    planted.py              the quick ones, in less than three minutes on two cores
    planted.py --all        all of them
    planted.py NAME ...     these

A bug is a text that takes the place of another (plants.py). Only what it touches is built again, and only the tests that are expected to
notice it run: caught means that one of them fails, crashes, or does not come to its end. Before anything is planted all of these tests have
to pass. A text that is not there exactly once, or a bug that does not compile, ends the run: it says nothing about the tests.

EAGRE_TEST_SECONDS is 1 here, so that tests which run as long as they are told stay short.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from plants import PLANTS, Plant

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Build folders: what CMake is told. A folder is made when the first plant asks for it.
BUILDS = {
    "plain": [],
    "asan": ["-DEAGRE_SANITIZE=address,undefined"],
    "tsan": ["-DEAGRE_SANITIZE=thread"],
}
COMMON = ["-G", "Ninja", "-DCMAKE_C_COMPILER=gcc", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O1 -g", "-DEAGRE_BENCH=OFF"]
# TSan's map of memory has no room for more random bits in an address than this.
TSAN_RANDOM_BITS = 28
# A test that takes longer than five times what it took with nothing planted, and this on top, does not come to its end.
PATIENCE = 10.0


class Broken(Exception):
    """The run says nothing about the tests."""


@dataclasses.dataclass
class Test:
    command: list[str]
    environment: dict[str, str]
    seconds: float = 0.0


def run(command: list[str], what: str) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode != 0:
        raise Broken(f"{what}:\n{done.stdout[-4000:]}")
    return done.stdout


def copy_tree(to: pathlib.Path) -> None:
    """The files that git knows, as they stand in the working tree."""
    for name in run(["git", "-C", str(ROOT), "ls-files", "-z"], "git ls-files").split("\0"):
        source, target = ROOT / name, to / name
        if name and source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def unrandomised() -> list[str]:
    try:
        bits = int(pathlib.Path("/proc/sys/vm/mmap_rnd_bits").read_text())
    except (OSError, ValueError):
        bits = TSAN_RANDOM_BITS
    usable = bits > TSAN_RANDOM_BITS and subprocess.run(["setarch", "-R", "true"], stderr=subprocess.DEVNULL).returncode == 0
    return ["setarch", "-R"] if usable else []


class Build:
    """One build folder of the copy."""

    def __init__(self, tree: pathlib.Path, name: str, jobs: int, names: list[str]):
        self.folder = tree / "build" / name
        self.prefix = unrandomised() if name == "tsan" else []
        self.jobs = jobs
        run(["cmake", "-S", str(tree), "-B", str(self.folder), *COMMON, *BUILDS[name]], f"cmake of the {name} build")
        self.make(names)
        self.tests = self.read_tests(names)

    def make(self, names: list[str]) -> None:
        targets = [name.replace(".", "_", 1) for name in names]
        run(["ninja", "-C", str(self.folder), "-j", str(self.jobs), *targets], "it does not compile")

    def read_tests(self, names: list[str]) -> dict[str, Test]:
        known = {t["name"]: t for t in json.loads(run(["ctest", "--test-dir", str(self.folder), "--show-only=json-v1"], "ctest"))["tests"]}
        tests = {}
        for name in names:
            if name not in known:
                raise Broken(f"there is no test {name}")
            settings = {p["name"]: p["value"] for p in known[name].get("properties", [])}
            variables = dict(entry.split("=", 1) for entry in settings.get("ENVIRONMENT", []))
            tests[name] = Test(self.prefix + known[name]["command"], {**os.environ, **variables, "EAGRE_TEST_SECONDS": "1"})
        return tests

    def fails(self, name: str, timeout: float) -> str | None:
        """How the test fails; None when it passes."""
        test = self.tests[name]
        began = time.monotonic()
        process = subprocess.Popen(test.command, env=test.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, errors="replace", start_new_session=True)
        ended = threading.Timer(timeout, os.killpg, (process.pid, signal.SIGKILL))
        ended.start()
        output = ""
        for line in process.stdout or ():
            output += line
            if line.startswith("[  FAILED  ]"):  # what comes after it (threads that go on, a section that was left open) may have no end
                os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        ended.cancel()
        took = time.monotonic() - began
        if took >= timeout:
            return f"no end after {timeout:.0f} s"
        test.seconds = max(test.seconds, took)
        return None if code == 0 else symptom(output, code)


def symptom(output: str, code: int) -> str:
    """The line that says most of a failure."""
    for pattern in (r"^SUMMARY: \w+Sanitizer: (.*)", r"runtime error: (.*)", r"^\[  ERROR   \] --- (?!\[)(.*)", r"Assertion .* failed", r"^\[  FAILED  \] (?!\d)(.*)"):
        found = re.findall(pattern, output, re.M)
        if found:
            return re.sub(r"/\S*/", "", found[0].strip())[:100]
    said = [line for line in output.splitlines() if line.strip() and not line.startswith("[")]
    return ": ".join([f"signal {-code}" if code < 0 else f"exit code {code}", *said[-1:]])[:100]


def planted_text(text: str, plant: Plant) -> str:
    for before, after in plant.edits:
        if (times := text.count(before)) != 1:
            raise Broken(f"{plant.name}: {plant.file} has this text {times} times, not once:\n{before}")
        text = text.replace(before, after)
    return text


def try_plant(tree: pathlib.Path, build: Build, plant: Plant) -> bool:
    file = tree / plant.file
    text = file.read_text()
    file.write_text(planted_text(text, plant))
    began = time.monotonic()
    try:
        build.make(plant.tests)
        for name in plant.tests * plant.tries:
            how = build.fails(name, PATIENCE + 5 * build.tests[name].seconds)
            if how is not None:
                print(f"caught      {plant.name:34} by {name} in {time.monotonic() - began:.1f} s: {how}", flush=True)
                return True
    except Broken as broken:
        raise Broken(f"{plant.name}: {broken}") from None
    finally:
        file.write_text(text)
    print(f"NOT CAUGHT  {plant.name:34} by {', '.join(plant.tests)}: {plant.why}", flush=True)
    return False


def check_unplanted(build: Build, label: str) -> None:
    for name in build.tests:
        how = build.fails(name, 600)
        if how is not None:
            raise Broken(f"{name} ({label}) fails with nothing planted: {how}")


def run_plants(plants: list[Plant], tree: pathlib.Path, jobs: int) -> int:
    copy_tree(tree)
    for plant in plants:
        planted_text((tree / plant.file).read_text(), plant)
    caught = 0
    for label in BUILDS:
        group = sorted((p for p in plants if p.build == label), key=lambda p: p.file)
        if not group:
            continue
        began = time.monotonic()
        build = Build(tree, label, jobs, sorted({name for p in group for name in p.tests}))
        check_unplanted(build, label)
        print(f"{label} build: {len(build.tests)} tests made, and they pass with nothing planted, in {time.monotonic() - began:.1f} s", flush=True)
        caught += sum(try_plant(tree, build, p) for p in group)
    return caught


def main() -> int:
    parser = argparse.ArgumentParser(description="Plants bugs in a copy of the tree and sees whether the tests catch them.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="plants to try; none: the quick ones")
    parser.add_argument("--all", action="store_true", help="every plant there is")
    parser.add_argument("--list", action="store_true", help="name them, with what each is about")
    parser.add_argument("--keep", metavar="FOLDER", type=pathlib.Path, help="work in this folder and leave it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    known = {p.name: p for p in PLANTS}
    if len(known) != len(PLANTS) or not set(arguments.names) <= set(known):
        parser.error("names are unknown, or two plants have the same")
    chosen = [known[name] for name in arguments.names] or [p for p in PLANTS if p.quick or arguments.all or arguments.list]
    if arguments.list:
        for p in chosen:
            print(f"{p.name:34} {p.build:6}{'quick ' if p.quick else '      '}{p.why}")
        return 0
    began = time.monotonic()
    try:
        if arguments.keep:
            arguments.keep.mkdir(parents=True, exist_ok=True)
            caught = run_plants(chosen, arguments.keep.resolve(), arguments.jobs)
        else:
            with tempfile.TemporaryDirectory(prefix="eagre-planted-") as folder:
                caught = run_plants(chosen, pathlib.Path(folder), arguments.jobs)
    except Broken as broken:
        print(f"planted: {broken}", file=sys.stderr)
        return 2
    print(f"planted: {caught} of {len(chosen)} caught in {time.monotonic() - began:.0f} s")
    return 0 if caught == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())

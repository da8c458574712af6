# SPDX-License-Identifier: MIT
"""Fixtures, and how long the random tests run.

    EAGRE_REQUIRE_ENGINE=1   a missing engine is an error instead of a skip
    EAGRE_TEST_SECONDS=10    seconds of each random test
    EAGRE_TEST_SEED=n        where they start; what a failed run printed
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import budget
import subjects
from subjects import NOW, EngineSubject, Subject


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("EAGRE_REQUIRE_ENGINE") == "1" and subjects.eagre is None:
        raise pytest.UsageError(f"EAGRE_REQUIRE_ENGINE=1, but the engine is not installed: {subjects.MISSING}")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for line in budget.report:
        terminalreporter.write_line(line)


Open = Callable[..., Subject]


@pytest.fixture(params=["model", "engine"])
def opened(request: pytest.FixtureRequest) -> Iterator[Open]:
    """Opens model or engine at a moment; the test runs once with each."""
    made: list[Any] = []

    def open_at(now: int = NOW) -> Subject:
        made.append(subjects.open_subject(request.param, now))
        return made[-1]

    yield open_at
    for each in made:
        each.close()


@pytest.fixture
def db(opened: Open) -> Subject:
    """Model or engine, empty, at 2024-01-01."""
    return opened()


@pytest.fixture
def engine() -> Iterator[EngineSubject]:
    """The engine alone, empty, at 2024-01-01."""
    subjects.need_engine()
    made = EngineSubject(NOW)
    yield made
    made.close()


@pytest.fixture
def eagre() -> Any:
    """The module."""
    subjects.need_engine()
    return subjects.eagre

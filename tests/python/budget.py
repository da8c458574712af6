# SPDX-License-Identifier: MIT
"""Random tests by time: rounds of hypothesis until the seconds are over, each round with a seed of its own that is printed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, settings

COMMON = {
    "deadline": None,
    "database": None,
    "print_blob": False,
    "phases": [Phase.generate, Phase.shrink],
    "suppress_health_check": list(HealthCheck),
}
settings.register_profile("ci", max_examples=25, **COMMON)  # examples of a round
settings.register_profile("verify", max_examples=200, **COMMON)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE") or "ci"

report: list[str] = []  # lines for the end of the run
counted: dict[str, int] = {}  # what the running test has done


def seconds() -> float:
    return float(os.environ.get("EAGRE_TEST_SECONDS", "10"))


def first_seed() -> int:
    return int(os.environ.get("EAGRE_TEST_SEED") or time.time_ns() % 10**9)


def count(what: str, n: int = 1) -> None:
    counted[what] = counted.get(what, 0) + n


def run(name: str, test: Callable[..., Any], share: float = 1.0) -> None:
    """test: a function under @given. Stops after share * EAGRE_TEST_SECONDS; always does one round."""
    counted.clear()
    seed = began_with = first_seed()
    start = time.monotonic()
    test = settings(settings.get_profile(PROFILE))(test)
    try:
        while True:
            hypothesis.seed(seed)(test)()
            seed += 1
            if time.monotonic() - start >= seconds() * share:
                break
    except BaseException:
        report.append(f"{name}: FAILED with EAGRE_TEST_SEED={seed}")
        raise
    done = ", ".join(f"{n} {what}" for what, n in sorted(counted.items()))
    report.append(f"{name}: {done}; seeds {began_with}..{seed - 1}; {time.monotonic() - start:.0f} s")

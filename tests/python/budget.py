# SPDX-License-Identifier: MIT
"""Random tests by time: rounds with a seed each, until the seconds are over; what was done and with which seeds is printed."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, settings

COMMON: dict[str, Any] = {
    "deadline": None,
    "database": None,
    "print_blob": False,
    "phases": [Phase.generate],  # a scenario makes itself short, see generate/shrink.py
    "report_multiple_bugs": False,
    "suppress_health_check": list(HealthCheck),
}
settings.register_profile("ci", max_examples=25, **COMMON)  # examples of a round
settings.register_profile("verify", max_examples=200, **COMMON)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE") or "ci"

LAST = Path(tempfile.gettempdir()) / f"eagre-test-seed-{os.getuid()}"  # for when the process dies: the round it was in
report: list[str] = []  # lines for the end of the run
counted: dict[str, int] = {}  # what the running test has done


def seconds() -> float:
    return float(os.environ.get("EAGRE_TEST_SECONDS", "10"))


def first_seed() -> int:
    return int(os.environ.get("EAGRE_TEST_SEED") or time.time_ns() % 10**9)


def count(what: str, n: int = 1) -> None:
    counted[what] = counted.get(what, 0) + n


def rounds(name: str, one_round: Callable[[int], None], share: float = 1.0) -> None:
    """One round after the other, each with its seed, for share * EAGRE_TEST_SECONDS; at least one."""
    counted.clear()
    seed = began_with = first_seed()
    start = time.monotonic()
    try:
        while True:
            LAST.write_text(f"{name}: EAGRE_TEST_SEED={seed}\n")
            one_round(seed)
            seed += 1
            if time.monotonic() - start >= seconds() * share:
                break
    except BaseException:
        report.append(f"{name}: FAILED; EAGRE_TEST_SEED={seed} leads there at once")
        raise
    done = ", ".join(f"{n} {what}" for what, n in sorted(counted.items()))
    report.append(f"{name}: {done}; seeds {began_with}..{seed - 1}; {time.monotonic() - start:.0f} s")


def examples(name: str, test: Callable[..., Any], share: float = 1.0) -> None:
    """Rounds of hypothesis. test: a function under @given."""
    fitted = settings(settings.get_profile(PROFILE))(test)
    rounds(name, lambda seed: hypothesis.seed(seed)(fitted)(), share)

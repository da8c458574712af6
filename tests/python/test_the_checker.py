# SPDX-License-Identifier: MIT
"""A checker that has caught nothing proves nothing: here the comparison runs between two models, one with a planted bug."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

import planted
from generate.scenarios import Scenario
from generate.shrink import shrink
from generate.steps import Step
from model.values import check_key
from subjects import NOW, ModelSubject
from test_against_model import MIXES, difference

# Not over a sanitized engine: it has no part in this.
pytestmark = pytest.mark.skipif(bool(os.environ.get("EAGRE_SANITIZED")), reason="model against model")

SCENARIOS = 150  # of each mix, at most


class Twin(ModelSubject):
    """A model that stands for the engine; what is replaced is so only while it works."""

    def __init__(self, replacements: list[planted.Replacement]) -> None:
        super().__init__(NOW)
        self.replacements = replacements

    @contextmanager
    def wrong(self) -> Iterator[None]:
        with ExitStack() as stack:
            for place, name, replacement in self.replacements:
                stack.enter_context(patch.object(place, name, replacement, create=True))
            yield

    def slot(self, kind: str, key: Any) -> int:
        of = self.kind(kind)
        return of.items[check_key(of.spec.integer_keys, key)].slot

    def validate(self) -> None:
        pass


def under_the_bug(name: str) -> Any:
    def method(self: Twin, *arguments: Any, **named: Any) -> Any:
        with self.wrong():
            return getattr(ModelSubject, name)(self, *arguments, **named)

    return method


for verb in ("put_rows", "patch", "delete", "get", "count", "signal_many", "retrieve"):
    setattr(Twin, verb, under_the_bug(verb))


def differs(seed: int, mix: str, replacements: list[planted.Replacement]) -> bool:
    return bool(difference(Scenario(Random(seed), MIXES[mix]).steps(), Twin(replacements)))


@pytest.mark.parametrize("mix", MIXES)
def test_two_models_agree(mix: str) -> None:
    assert not any(differs(seed, mix, []) for seed in range(10))


@pytest.mark.parametrize("bug", planted.BUGS)
def test_planted_bugs_are_found(bug: str) -> None:
    replacements = planted.BUGS[bug]
    mixes = sorted(MIXES, key=lambda mix: mix != planted.SHOWS_IN.get(bug, "everything"))
    assert any(differs(seed, mix, replacements) for mix in mixes for seed in range(SCENARIOS))


def test_a_failure_is_made_short() -> None:
    replacements = planted.BUGS["ids count once per item"]

    def fails(steps: list[Step]) -> bool:
        return bool(difference(steps, Twin(replacements)))

    steps = next(
        steps for steps in (Scenario(Random(seed), MIXES["everything"]).steps() for seed in range(50)) if fails(steps)
    )
    short = shrink(steps, fails)
    # a kind, a signal, two items, and the event twice
    assert len(short) <= 7, [step.script() for step in short]

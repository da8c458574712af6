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
from compare import Pair
from generate.scenarios import Scenario
from model import ModelError
from model.values import check_key
from subjects import NOW, ModelSubject
from test_against_model import MIXES

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
    pair = Pair(NOW, Twin(replacements))
    try:
        for step in Scenario(Random(seed), MIXES[mix]).steps():
            pair.run(step)
    except (AssertionError, ModelError):
        return True
    return False


@pytest.mark.parametrize("mix", MIXES)
def test_two_models_agree(mix: str) -> None:
    assert not any(differs(seed, mix, []) for seed in range(10))


@pytest.mark.parametrize("bug", planted.BUGS)
def test_planted_bugs_are_found(bug: str) -> None:
    replacements = planted.BUGS[bug]
    mixes = sorted(MIXES, key=lambda mix: mix != planted.SHOWS_IN.get(bug, "everything"))
    assert any(differs(seed, mix, replacements) for mix in mixes for seed in range(SCENARIOS))

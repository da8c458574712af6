# SPDX-License-Identifier: MIT
"""Engine against model: random schemas, operations and statements. A failure is made short and printed as Python."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

import budget
import subjects
from compare import Pair
from generate.many import ManyItems
from generate.scenarios import Mix, Scenario
from generate.shrink import shrink
from generate.steps import Pages, Query, Step, outcome
from model import ModelError
from subjects import NOW

MIXES = {
    "everything": Mix(),
    "signals": Mix(signals=60, puts=4, others=3, clocks=20, pages=3),
    "items": Mix(signals=4, puts=30, others=30, pages=10),
    "statements": Mix(steps=(10, 30), queries=60, pages=30),
    "clock jumps": Mix(signals=40, clocks=40, jumps=True),
}


def difference(steps: Sequence[Step], engine: Any = None) -> str:
    """Runs the steps on both; what they differ by, or nothing."""
    pair = Pair(NOW, engine)
    try:
        for step in steps:
            pair.run(step)
        pair.close()
    except (AssertionError, ModelError) as error:
        return f"{error}\n" + "\n".join(pair.done)
    return ""


def check(steps: list[Step]) -> None:
    if difference(steps):
        short = shrink(steps, lambda fewer: bool(difference(fewer)))
        raise AssertionError(difference(short) or "it does not fail again:\n" + "\n".join(step.script() for step in steps))


@pytest.mark.parametrize("name", MIXES)
def test_engine_equals_model(name: str, eagre: Any) -> None:
    @hypothesis.given(st.randoms(use_true_random=False))
    def scenario(random: Random) -> None:
        check(Scenario(random, MIXES[name]).steps())

    budget.examples(f"engine = model, {name}", scenario)


def test_engine_equals_model_on_many_items(eagre: Any) -> None:
    """A few scenarios of hundreds and thousands of items: over the edges of blocks and chunks."""

    def scenario(seed: int) -> None:
        random = Random(seed)
        items = random.choice([300, 700, 1_500, 4_500])
        check(ManyItems(random, items, queries=max(4, 3_000 // items)).steps())
        budget.count("items", items)

    budget.rounds("engine = model, many items", scenario)


def test_the_model_alone_runs_everything() -> None:
    """Every sort of step and clause goes through the model: it answers or refuses, and never breaks."""
    for seed in range(60):
        model = subjects.ModelSubject(NOW)
        for step in Scenario(Random(seed), MIXES["everything"]).steps():
            if isinstance(step, (Query, Pages)):
                params = [*step.params, None] if isinstance(step, Pages) else step.params
                try:
                    model.retrieve(step.statement, params)
                except ModelError:
                    pass
            else:
                outcome(step, model)

# SPDX-License-Identifier: MIT
"""Engine against model: random schemas, operations and statements. A failure prints the whole run as Python."""

from __future__ import annotations

from random import Random
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

import budget
import subjects
from compare import Pair
from generate.scenarios import Mix, Scenario
from model import Model
from subjects import NOW

MIXES = {
    "everything": Mix(),
    "signals": Mix(signals=60, puts=4, others=3, clocks=20, pages=3),
    "items": Mix(signals=4, puts=30, others=30, pages=10),
    "statements": Mix(steps=(10, 30), queries=60, pages=30),
    "clock jumps": Mix(signals=40, clocks=40, jumps=True),
}


def run_scenario(random: Random, mix: Mix) -> None:
    steps = Scenario(random, mix).steps()
    pair = Pair(NOW)
    try:
        for step in steps:
            pair.run(step)
        pair.close()
    except BaseException:
        hypothesis.note("\n".join(pair.done))
        raise


@pytest.mark.parametrize("name", MIXES)
def test_engine_equals_model(name: str, eagre: Any) -> None:
    @hypothesis.given(st.randoms(use_true_random=False))
    def scenario(random: Random) -> None:
        run_scenario(random, MIXES[name])

    budget.run(f"engine = model, {name}", scenario)


def test_the_model_alone_runs_everything() -> None:
    """Every sort of step and clause goes through the model: it answers or refuses, and never breaks."""
    from generate.steps import Pages, Query, outcome
    from model import ModelError

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
    assert isinstance(model, Model)

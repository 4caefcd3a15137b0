"""The confirmation that a question was accepted."""

from dataclasses import replace

import pytest

from bot.render.round_status import accepted_post
from council.budget import Estimate
from council.panel import Panel, Terms
from tests.builders import CLAUDE, GPT, a_panel, a_round

TIMES = Terms(answer_seconds=30, ballot_seconds=20, synthesis_seconds=50)


@pytest.mark.parametrize(
    ("estimate", "told"),
    [
        pytest.param(Estimate(0), "It costs nothing.", id="free"),
        pytest.param(Estimate(38_000), "It costs about $0.04 at most.", id="known"),
        pytest.param(Estimate(0, 0, (GPT,)), "Cost unknown for GPT-5.1.", id="unknown"),
        pytest.param(
            Estimate(38_000, 0, (GPT, CLAUDE)),
            "It costs about $0.04 at most; cost unknown for GPT-5.1 and Claude Sonnet 4.6.",
            id="both",
        ),
        pytest.param(Estimate(700_000), "It costs about $0.50 at most.", id="capped"),
    ],
)
def test_an_accepted_round_shows_its_cost(estimate: Estimate, told: str) -> None:
    round_ = a_round(a_panel(terms=Terms(max_round_usd=0.5)))

    assert f". {told} It " in accepted_post(round_, estimate, None).summary


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        pytest.param(0.02, "1 s", id="no-time"),
        pytest.param(6.7, "7 s", id="seconds"),
        pytest.param(9.8, "10 s", id="ten"),
        pytest.param(38.2, "40 s", id="steps-of-five"),
        pytest.param(58.9, "1 min", id="a-minute"),
        pytest.param(101, "1 min 30 s", id="half-minutes"),
        pytest.param(1270, "21 min", id="minutes"),
    ],
)
def test_the_usual_time_is_rounded(seconds: float, told: str) -> None:
    summary = accepted_post(a_round(), Estimate(0), seconds).summary

    assert summary.endswith(f" It usually takes about {told}.")


@pytest.mark.parametrize(
    ("panel", "told"),
    [
        # 30 s of answers, 20 s of ballots, 50 s for each of three chairmen.
        pytest.param(a_panel(terms=TIMES), "3 min 20 s", id="members-as-chairmen"),
        pytest.param(a_panel(chairmen=[CLAUDE], terms=TIMES), "1 min 40 s", id="a-chairman"),
        pytest.param(a_panel(terms=replace(TIMES, round_seconds=90)), "1 min 30 s", id="whole"),
        pytest.param(a_panel(terms=replace(TIMES, round_seconds=900)), "3 min 20 s", id="larger"),
    ],
)
def test_without_history_the_time_is_the_sum_of_deadlines(panel: Panel, told: str) -> None:
    summary = accepted_post(a_round(panel), Estimate(0), None).summary

    assert summary.endswith(f" It takes {told} at most.")

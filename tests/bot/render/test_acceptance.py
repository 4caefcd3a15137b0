"""What the asker is told at once."""

import pytest

from bot.render.acceptance import accepted_post
from council.estimates import Estimate
from council.panel import Terms
from tests.builders import CLAUDE, GPT, a_panel, a_round


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
def test_a_rounds_cost_is_told_when_it_is_accepted(estimate: Estimate, told: str) -> None:
    round_ = a_round(a_panel(terms=Terms(max_round_usd=0.5)))

    assert accepted_post(round_, estimate).summary.endswith(f". {told}")

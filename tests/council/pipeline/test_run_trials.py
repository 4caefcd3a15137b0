"""Rounds of trials: only what is missing is asked, the pair does not judge, nobody chairs."""

from dataclasses import replace

from council.answers import Origin, Reply, Role
from council.budget import estimate_round
from council.integrity.verification import verify
from council.money import Price
from council.panel import Trial
from council.rounds import Round
from tests.builders import (
    ASKED_AT,
    CLAUDE,
    DEEPSEEK,
    GEMINI,
    GPT,
    KEYS,
    TERMS,
    a_panel,
    a_round,
    an_answer,
)
from tests.council.pipeline.helpers import run_with_fakes
from tests.fakes.gateway import FakeGateway

PRICE = Price(0, 1e-6, 100)  # a call costs 100 micro-dollars at most


def a_trial(*, is_ranked: bool) -> Round:
    """Return the open round of GPT against Claude, with the answers of all but GPT."""
    panel = replace(a_panel(3, outside=1), terms=replace(TERMS, quorum=3))
    panel = replace(panel, trial=Trial(GPT, CLAUDE, is_ranked))
    origin = Origin("bo:0.1", ASKED_AT)
    reused = (replace(an_answer(key, "Old."), origin=origin) for key in (CLAUDE, GEMINI))
    return replace(a_round(panel), answers=tuple(reused))


async def test_only_the_candidate_answers_and_only_others_rank() -> None:
    gateway = FakeGateway({GPT: Reply("New.", reported_model="gpt-5.1-2026")})

    round_ = await run_with_fakes(a_trial(is_ranked=True), gateway)

    assert gateway.times_asked() == {
        (GPT, Role.ANSWER): 1,
        (GEMINI, Role.BALLOT): 1,
        (DEEPSEEK, Role.BALLOT): 2,
    }
    assert round_.synthesis is None
    assert {answer.member: answer.model for answer in round_.answers}[GPT] == "gpt-5.1-2026"
    assert verify(round_) == ()


async def test_where_grades_decide_nobody_ranks() -> None:
    gateway = FakeGateway()

    round_ = await run_with_fakes(a_trial(is_ranked=False), gateway)

    assert gateway.times_asked() == {(GPT, Role.ANSWER): 1}
    assert round_.tally
    assert round_.tally.standings == ()
    assert verify(round_) == ()


async def test_only_what_is_asked_is_estimated() -> None:
    gateway = FakeGateway(prices=dict.fromkeys(KEYS, PRICE) | {CLAUDE: None})

    graded = await estimate_round(a_trial(is_ranked=False), gateway)
    ranked = await estimate_round(a_trial(is_ranked=True), gateway)

    assert (graded.micro, graded.unknown) == (100, ())  # Claude, without a price, is not asked
    assert ranked.micro == 4 * 100  # an answer, a member's ranking and an outside judge's two
    rubric = a_trial(is_ranked=False)
    rubric = replace(rubric, question=replace(rubric.question, rubric="Says why."))
    assert (await estimate_round(rubric, gateway)).micro == 2 * 100

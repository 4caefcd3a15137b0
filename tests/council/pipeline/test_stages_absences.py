"""Members and judges that deliver nothing, and rounds with too few answers."""

import asyncio
from dataclasses import replace

import pytest

from council.answers import Absence, Call, Reply, Role
from council.errors import ContextOverflowError, GatewayError
from council.rounds import Fallback, Stage
from council.tally import Strength
from tests.builders import CLAUDE, DEEPSEEK, GEMINI, GPT, TERMS, a_panel, a_round
from tests.council.pipeline.helpers import SHORT_DEADLINES, run_with_fakes
from tests.fakes.gateway import FakeGateway, Hangs, ScriptEntry, read_prompt

REASONS = [
    pytest.param(GatewayError("is out of credit"), "is out of credit", id="fails"),
    pytest.param(GatewayError("gave an empty answer"), "gave an empty answer", id="is-empty"),
    pytest.param(ContextOverflowError("takes no more"), "takes no more", id="overflows"),
    pytest.param(
        TimeoutError(),
        "was given up on, because its provider took too long",
        id="times-out-elsewhere",
    ),
    pytest.param(Hangs(), "did not answer in 0.01 s", id="hangs"),
]


@pytest.mark.parametrize(("says", "reason"), REASONS)
async def test_a_member_without_an_answer_is_absent_with_the_reason_and_still_judges(
    says: ScriptEntry, reason: str
) -> None:
    gateway = FakeGateway(answers={GPT: says})

    round_ = await run_with_fakes(a_round(a_panel(4, terms=SHORT_DEADLINES)), gateway)

    assert round_.absences == (Absence(GPT, Role.ANSWER, reason),)
    assert [answer.member for answer in round_.answers] == [CLAUDE, GEMINI, DEEPSEEK]
    (call,) = gateway.of(Role.BALLOT, GPT)
    assert len(read_prompt(call.prompt).texts) == 3
    assert len(round_.ballots) == 4


class FullGateway(FakeGateway):
    """Has no turn for anybody, and says so to who stops waiting."""

    async def complete(self, call: Call) -> Reply:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as stopped:
            stopped.add_note("waited for its turn at openai until the time was up")
            raise
        return await super().complete(call)


async def test_the_reason_says_what_a_late_call_waited_for() -> None:
    round_ = await run_with_fakes(a_round(a_panel(2, terms=SHORT_DEADLINES)), FullGateway())

    assert {absence.reason for absence in round_.absences} == {
        "did not answer in 0.01 s; waited for its turn at openai until the time was up"
    }


async def test_a_missed_quorum_closes_the_round_with_the_reasons() -> None:
    gateway = FakeGateway(answers={CLAUDE: Hangs(), GEMINI: GatewayError("is out of credit")})

    round_ = await run_with_fakes(a_round(a_panel(terms=SHORT_DEADLINES)), gateway)

    assert round_.stage is Stage.CLOSED
    assert round_.closing is not None
    assert round_.closing.failure == (
        "Only 1 of 3 models answered (2 are needed): Claude Sonnet 4.6 did not answer in "
        "0.01 s; Gemini 3 Pro is out of credit."
    )
    assert (round_.draw, round_.tally, round_.synthesis) == (None, None, None)
    assert not gateway.of(Role.BALLOT)


async def test_a_round_without_an_answer_says_so() -> None:
    gateway = FakeGateway(answers=dict.fromkeys((CLAUDE, GEMINI, GPT), GatewayError("is silent")))

    round_ = await run_with_fakes(a_round(), gateway)

    assert round_.closing
    assert round_.closing.failure
    assert round_.closing.failure.startswith("No model answered (2 are needed): ")


async def test_an_absent_member_ranks_both_of_two_answers() -> None:
    gateway = FakeGateway(answers={CLAUDE: "b", GPT: "a", GEMINI: GatewayError("is silent")})

    round_ = await run_with_fakes(a_round(), gateway)

    assert [ballot.judge for ballot in round_.ballots] == [GEMINI]
    assert round_.tally is not None
    assert [line.share for line in round_.tally.standings] == [1.0, 0.0]
    assert round_.tally.verdict.first_on == (1, 1)
    assert round_.tally.verdict.too_few_judges


async def test_two_answers_without_other_judges_have_no_standings() -> None:
    round_ = await run_with_fakes(a_round(a_panel(2)))

    assert round_.ballots == ()
    assert round_.tally is not None
    assert round_.tally.standings == ()
    assert round_.tally.verdict.strength is Strength.NO_CONSENSUS
    assert round_.tally.verdict.p is None
    assert round_.synthesis is not None
    assert round_.synthesis.text == "The council says yes."


async def test_a_single_answer_is_synthesised_unranked() -> None:
    gateway = FakeGateway(answers={CLAUDE: GatewayError("is silent")})

    round_ = await run_with_fakes(a_round(a_panel(2, terms=replace(TERMS, quorum=1))), gateway)

    assert not gateway.of(Role.BALLOT)
    assert round_.synthesis is not None
    assert round_.synthesis.fallback is None
    assert len(read_prompt(gateway.of(Role.SYNTHESIS)[0].prompt).texts) == 1


async def test_a_round_without_a_single_ballot_still_has_a_synthesis() -> None:
    silent = GatewayError("is out of credit")
    gateway = FakeGateway(judges=dict.fromkeys([CLAUDE, GPT, GEMINI], silent))

    round_ = await run_with_fakes(a_round(), gateway)

    assert round_.tally is not None
    assert round_.tally.standings == ()
    assert round_.synthesis is not None
    assert round_.synthesis.fallback is not Fallback.ANSWER

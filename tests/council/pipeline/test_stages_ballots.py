"""Spoiled ballots, and answers that are too long for a judge."""

from dataclasses import replace

import pytest

from council.answers import Absence, Reply, Role
from council.errors import ContextOverflowError, GatewayError
from council.integrity.verification import verify
from council.pipeline.stages import BALLOT_REPLY_TOKENS, TOO_LONG
from council.prompts.shared import CUT_MARK, MIN_TOKENS, SHORTENED_MARK, estimate_tokens
from council.rounds import Round
from tests.builders import CLAUDE, GEMINI, GPT, TERMS, a_panel, a_round
from tests.council.pipeline.helpers import run_with_fakes
from tests.fakes.gateway import FakeGateway, rank_by_text, read_prompt

OVERFLOW = ContextOverflowError("takes no more")
LONG = {CLAUDE: "a" * 6_000, GPT: "b" * 6_000, GEMINI: "c" * 6_000}
NOT_JSON = "it held no JSON object with a ranking"


async def test_a_ballot_spoiled_once_is_retried_and_counts() -> None:
    gateway = FakeGateway(judges={GPT: ["B is best.", rank_by_text]})

    round_ = await run_with_fakes(a_round(), gateway)

    (spoiled,) = round_.spoiled
    assert (spoiled.judge, spoiled.fault, spoiled.paper.attempt) == (GPT, NOT_JSON, 1)
    assert [ballot.judge for ballot in round_.ballots] == [CLAUDE, GPT, GEMINI]
    assert [b.paper.attempt for b in round_.ballots if b.paper] == [1, 2, 1]


async def test_a_retry_names_the_fault_and_shows_nothing_else_of_the_reply() -> None:
    gateway = FakeGateway(judges={GPT: ["Sesame is best.", rank_by_text]})

    await run_with_fakes(a_round(), gateway)

    first, second = (call.prompt for call in gateway.of(Role.BALLOT, GPT))
    assert f"could not be counted because {NOT_JSON}." in second.user
    assert "could not be counted" not in first.user
    assert "Sesame" not in second.user
    assert read_prompt(first) == read_prompt(second)
    assert first.system == second.system


async def test_a_ballot_spoiled_twice_is_stored_and_not_counted() -> None:
    gateway = FakeGateway(judges={GPT: ["B is best.", "I said B.", rank_by_text]})

    round_ = await run_with_fakes(a_round(), gateway)

    assert [(s.judge, s.paper.attempt) for s in round_.spoiled] == [(GPT, 1), (GPT, 2)]
    assert [s.paper.reply.text for s in round_.spoiled] == ["B is best.", "I said B."]
    assert [ballot.judge for ballot in round_.ballots] == [CLAUDE, GEMINI]
    assert len(gateway.of(Role.BALLOT, GPT)) == 2


async def test_a_ballot_with_the_nonce_of_another_judge_is_spoiled() -> None:
    stolen = '{"nonce": "0000000000000000", "reason": "", "ranking": [["A"], ["B"]]}'

    round_ = await run_with_fakes(a_round(), FakeGateway(judges={GPT: stolen}))

    assert {spoiled.fault for spoiled in round_.spoiled} == {
        "its nonce was missing or not the one given"
    }


async def test_a_judge_that_fails_on_retry_is_absent() -> None:
    gateway = FakeGateway(judges={GPT: ["B is best.", GatewayError("is out of credit")]})

    round_ = await run_with_fakes(a_round(), gateway)

    assert len(round_.spoiled) == 1
    assert round_.absences == (Absence(GPT, Role.BALLOT, "is out of credit"),)


async def test_answers_too_long_for_a_judge_are_shortened_equally() -> None:
    gateway = FakeGateway(answers=LONG, judges={GPT: [OVERFLOW, rank_by_text]})

    round_ = await run_with_fakes(a_round(), gateway)

    paper = _paper(round_, GPT)
    assert paper == 1_000  # tokens: half of 6,000 bytes at three a token
    shown = read_prompt(gateway.of(Role.BALLOT, GPT)[1].prompt).texts
    assert set(shown.values()) == {
        f"{'a' * 3_000}\n{SHORTENED_MARK}",
        f"{'c' * 3_000}\n{SHORTENED_MARK}",
    }


async def test_a_panel_of_equal_length_shows_every_judge_as_much_of_each_answer() -> None:
    gateway = FakeGateway(answers={CLAUDE: "a" * 900, GPT: "b" * 300, GEMINI: "c" * 600})
    terms = replace(TERMS, equal_length=True)

    round_ = await run_with_fakes(a_round(a_panel(3, terms=terms)), gateway)

    assert {_paper(round_, judge) for judge in (CLAUDE, GPT, GEMINI)} == {100}
    shown = read_prompt(gateway.of(Role.BALLOT, GPT)[0].prompt).texts.values()
    assert {*shown} == {f"{letter * 300}\n{SHORTENED_MARK}" for letter in "ac"}
    assert not verify(round_)


async def test_answers_of_equal_length_are_never_too_short_to_judge() -> None:
    gateway = FakeGateway(
        answers={CLAUDE: "Yes.", GPT: "b" * 900}, judges={GEMINI: [OVERFLOW, rank_by_text]}
    )
    terms = replace(TERMS, equal_length=True)

    round_ = await run_with_fakes(a_round(a_panel(3, terms=terms)), gateway)

    assert _paper(round_, CLAUDE) == MIN_TOKENS
    assert not [ballot for ballot in round_.ballots if ballot.judge == GEMINI]


async def test_a_judge_with_too_small_a_context_is_absent() -> None:
    gateway = FakeGateway(answers=LONG, judges={GPT: OVERFLOW})

    round_ = await run_with_fakes(a_round(), gateway)

    assert round_.absences == (Absence(GPT, Role.BALLOT, TOO_LONG),)
    assert len(gateway.of(Role.BALLOT, GPT)) == 2


@pytest.mark.parametrize("context", [1_500, 2_000, 4_000])
async def test_a_prompt_fits_a_known_context(context: int) -> None:
    gateway = FakeGateway(answers=LONG, contexts={GPT: context})

    round_ = await run_with_fakes(a_round(a_panel(3)), gateway)

    (call,) = gateway.of(Role.BALLOT, GPT)
    sent = estimate_tokens(call.prompt.system + call.prompt.user)
    assert sent + BALLOT_REPLY_TOKENS <= context
    assert _paper(round_, GPT) is not None


async def test_a_judge_without_room_for_answers_is_not_asked() -> None:
    gateway = FakeGateway(contexts={GPT: 700})

    round_ = await run_with_fakes(a_round(), gateway)

    assert round_.absences == (Absence(GPT, Role.BALLOT, TOO_LONG),)
    assert not gateway.of(Role.BALLOT, GPT)


async def test_an_answer_cut_at_its_token_limit_is_marked() -> None:
    gateway = FakeGateway(answers={CLAUDE: Reply("Yes, but", cut=True)})

    round_ = await run_with_fakes(a_round(), gateway)

    judged = read_prompt(gateway.of(Role.BALLOT, GPT)[0].prompt).texts.values()
    chaired = read_prompt(gateway.of(Role.SYNTHESIS)[0].prompt).texts.values()
    assert f"Yes, but\n{CUT_MARK}" in judged
    assert f"Yes, but\n{CUT_MARK}" in chaired
    assert round_.answers[0].text == "Yes, but"


def _paper(round_: Round, judge: str) -> int | None:
    (paper,) = (ballot.paper for ballot in round_.ballots if ballot.judge == judge)
    assert paper is not None
    return paper.cut_to

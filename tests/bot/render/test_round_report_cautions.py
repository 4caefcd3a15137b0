"""Cautions come before the answer."""

import pytest

from bot.chat import Caution, Prose
from bot.render.round_report import round_thread
from council.answers import Reply
from council.errors import GatewayError
from council.rounds import Round
from tests.bot.rounds import answers, by_first_sign, held, lines_of
from tests.builders import CLAUDE, GEMINI, GPT, NAMES, a_panel
from tests.fakes.gateway import FakeGateway, ScriptEntry

GONE = GatewayError("could not be reached")
FOUR = answers("1", "2", "3", "4")


def cautions(round_: Round) -> list[str]:
    return lines_of(round_, Caution)


async def chaired(reply: ScriptEntry) -> Round:
    return await held(FakeGateway(answers=FOUR, chairmen={CLAUDE: reply}))


async def test_a_complete_round_has_no_cautions() -> None:
    assert cautions(await held()) == []


async def test_missing_members_come_before_the_answer() -> None:
    round_ = await held(FakeGateway(answers={GEMINI: GONE}, judges={GEMINI: GONE}))

    kinds = [type(part) for part in round_thread(round_).root.parts]

    assert cautions(round_)[0].startswith("Gemini 3 Pro could not be reached; ")
    assert kinds.index(Caution) < kinds.index(Prose)


async def test_a_missing_member_adds_the_number_of_judges_and_answers() -> None:
    round_ = await held(FakeGateway(answers={GEMINI: GONE}, judges={GEMINI: GONE}))

    assert cautions(round_)[-1].endswith("; three answers were ranked by three judges.")


async def test_each_missing_member_has_a_sentence_and_the_last_says_what_stands_in() -> None:
    gone = {GPT: GatewayError("was busy (409)"), GEMINI: GONE}
    round_ = await held(FakeGateway(answers=gone, judges=gone), a_panel(5))

    assert cautions(round_) == [
        "GPT-5.1 was busy (409).",
        "Gemini 3 Pro could not be reached; three answers were ranked by three judges.",
    ]


async def test_a_seat_that_failed_twice_for_one_reason_is_named_once() -> None:
    round_ = await held(FakeGateway(answers={GEMINI: GONE}, judges={GEMINI: GONE}))

    assert cautions(round_)[0].count("Gemini 3 Pro could not be reached") == 1


async def test_the_substitute_chairman_is_named() -> None:
    panel = a_panel(4, chairmen=[GPT, CLAUDE])
    round_ = await held(FakeGateway(chairmen={GPT: GONE}), panel)

    assert cautions(round_) == [
        "The chairman, GPT-5.1, could not be reached; Claude Sonnet 4.6 wrote the answer instead."
    ]


async def test_the_winning_answer_replaces_a_missing_synthesis() -> None:
    panel = a_panel(4, chairmen=[GPT])
    round_ = await held(FakeGateway(answers=FOUR, chairmen={GPT: GONE}), panel)

    assert cautions(round_) == [
        "The chairman, GPT-5.1, could not be reached; this is the winning answer as it stands, "
        "by Claude Sonnet 4.6."
    ]
    assert lines_of(round_, Prose) == ["1"]


async def test_chairmen_who_failed_for_the_same_reason_share_a_sentence() -> None:
    panel = a_panel(4, chairmen=[GPT, CLAUDE])
    round_ = await held(FakeGateway(chairmen={GPT: GONE, CLAUDE: GONE}), panel)

    assert cautions(round_)[0].startswith(
        "The chairman, GPT-5.1, then Claude Sonnet 4.6, could not be reached; this is "
    )


async def test_an_answer_chosen_among_equals_is_not_called_the_winner() -> None:
    texts = answers("1a", "1b", "2", "3")
    gone = dict.fromkeys(NAMES, GONE)
    round_ = await held(FakeGateway(answers=texts, chairmen=gone, vote=by_first_sign))

    last = cautions(round_)[-1]

    assert "winning answer" not in last
    assert "tied for first place" in last


@pytest.mark.parametrize(
    ("why", "said"),
    [
        pytest.param(
            "The winner is outdated.",
            "This answer departs from the winning answer: The winner is outdated.",
            id="with-a-reason",
        ),
        pytest.param("", "This answer departs from the winning answer.", id="without"),
    ],
)
async def test_an_answer_that_departs_from_the_winner_says_so(why: str, said: str) -> None:
    trailer = f'{{"drawn_on": ["K"], "departs": true, "why": "{why}"}}'
    round_ = await chaired(f"No.\n{trailer}")

    assert cautions(round_) == [said]
    assert lines_of(round_, Prose) == ["No."]


async def test_an_answer_that_ends_early_says_so() -> None:
    round_ = await chaired(Reply("Yes, because", cut=True))

    assert cautions(round_) == ["The chairman reached its token limit, so this answer ends early."]


async def test_a_judge_that_did_not_vote_is_named() -> None:
    round_ = await held(FakeGateway(answers=FOUR, judges={GPT: GatewayError("was busy (409)")}))

    assert cautions(round_)[0].startswith("GPT-5.1 was busy (409); ")

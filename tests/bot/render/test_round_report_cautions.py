"""Cautions come before the answer."""

import pytest

from bot.chat import Caution, Prose
from bot.render.round_report import round_thread
from council.answers import Reply
from council.errors import GatewayError
from council.rounds import Round
from tests.bot.rounds import answers, by_first_sign, held, lines_of
from tests.builders import CLAUDE, GEMINI, GPT, a_panel
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

    # The seat failed twice for one reason and is named once.
    assert cautions(round_) == [
        "Gemini 3 Pro could not be reached; three answers were ranked by three judges."
    ]
    assert kinds.index(Caution) < kinds.index(Prose)


async def test_each_missing_member_has_a_sentence_and_the_last_says_what_stands_in() -> None:
    gone = {GPT: GatewayError("was busy (409)"), GEMINI: GONE}
    round_ = await held(FakeGateway(answers=gone, judges=gone), a_panel(5))

    assert cautions(round_) == [
        "GPT-5.1 was busy (409).",
        "Gemini 3 Pro could not be reached; three answers were ranked by three judges.",
    ]


@pytest.mark.parametrize(
    ("chairmen", "gone", "texts", "said"),
    [
        ([GPT, CLAUDE], [GPT], FOUR, "GPT-5.1, {}; Claude Sonnet 4.6 wrote the answer instead."),
        ([GPT], [GPT], FOUR, "GPT-5.1, {}; this is the winning answer as it stands, by Claude "),
        ([GPT, CLAUDE], [GPT, CLAUDE], FOUR, "GPT-5.1, then Claude Sonnet 4.6, {}; this is "),
        # An answer chosen among equals is not called the winner.
        ([GPT], [GPT], answers("1a", "1b", "2", "3"), "GPT-5.1, {}; this is the answer by "),
    ],
)
async def test_missing_chairmen_are_named_with_what_stands_in(
    chairmen: list[str], gone: list[str], texts: dict[str, str], said: str
) -> None:
    gateway = FakeGateway(answers=texts, chairmen=dict.fromkeys(gone, GONE), vote=by_first_sign)
    round_ = await held(gateway, a_panel(4, chairmen=chairmen))

    (line,) = cautions(round_)

    assert line.startswith(f"The chairman, {said.format('could not be reached')}")
    assert ("tied for first place" in line) == ("this is the answer" in line)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (
            'No.\n{"drawn_on": ["K"], "departs": true, "why": "The winner is outdated."}',
            "This answer departs from the winning answer: The winner is outdated.",
        ),
        (
            'No.\n{"drawn_on": ["K"], "departs": true, "why": ""}',
            "This answer departs from the winning answer.",
        ),
        (
            Reply("No.", cut=True),
            "The chairman reached its token limit, so this answer ends early.",
        ),
    ],
)
async def test_an_answer_that_departs_or_ends_early_says_so(reply: ScriptEntry, said: str) -> None:
    round_ = await chaired(reply)

    assert cautions(round_) == [said]
    assert lines_of(round_, Prose) == ["No."]

"""The cautions before an answer: what is missing, and what stands in for it."""

from dataclasses import replace
from functools import partial

import pytest

from bot.chat import Caution, Prose
from bot.render.round_report.cautions import CUT_OFF, short_reason
from bot.render.round_report.flags import flag_notes
from bot.render.round_report.thread import round_post
from council.answers import Reply
from council.errors import GatewayError
from council.rounds import Round
from tests.bot.rounds import answers, by_first_sign, held, lines_of
from tests.builders import CLAUDE, GEMINI, GPT, GROK, KEYS, TERMS, a_member, a_panel
from tests.fakes.gateway import FakeGateway, ReadPrompt, ScriptEntry, rank_by_text

FOUR = answers("1", "2", "3", "4")  # by the fakes' taste the first is the best
GONE = GatewayError("could not be reached")


def cautions(round_: Round) -> list[str]:
    return lines_of(round_, Caution)


async def chaired(reply: ScriptEntry) -> Round:
    return await held(FakeGateway(answers=FOUR, chairmen={CLAUDE: reply}))


async def test_a_complete_round_has_no_cautions() -> None:
    assert cautions(await held()) == []


async def test_missing_members_come_before_the_answer() -> None:
    round_ = await held(FakeGateway(answers={GEMINI: GONE}, judges={GEMINI: GONE}))

    kinds = [type(part) for part in round_post(round_).parts]

    # The seat neither answered nor ranked, and is named once.
    assert cautions(round_) == ["Gemini 3 Pro (not reached) did not answer."]
    assert kinds.index(Caution) < kinds.index(Prose)


async def test_one_line_says_who_is_missing() -> None:
    gone = {GPT: GatewayError("was busy (409)"), GEMINI: GONE}
    judges = {GROK: GatewayError("could not answer: xAI failed (503)")}
    round_ = await held(FakeGateway(answers=gone, judges={**gone, **judges}), a_panel(5))

    assert cautions(round_) == [
        "GPT-5.1 (busy) and Gemini 3 Pro (not reached) did not answer; Grok 4 (server error) did "
        "not rank."
    ]


async def test_an_outside_judge_that_ranked_in_one_order_alone_is_named() -> None:
    panel = replace(a_panel(3), outside_judges=(a_member(GROK),))
    gateway = FakeGateway(judges={GROK: [rank_by_text, GONE]})

    round_ = await held(gateway, panel)

    assert cautions(round_) == ["Grok 4 (not reached) did not rank in every order."]


async def test_who_named_a_maker_is_named_once() -> None:
    panel = a_panel(3, terms=replace(TERMS, method="both-orders"))
    name_a_maker = partial(ReadPrompt.ballot, ranking="", reason="It reads like Claude.")
    gateway = FakeGateway(answers={GEMINI: GONE}, judges={GEMINI: GONE}, vote=name_a_maker)
    round_ = await held(gateway, replace(panel, outside_judges=(a_member(GROK), a_member(KEYS[5]))))

    assert "Note: Grok 4 and Mistral Large named Claude in their reasons." in flag_notes(round_)


@pytest.mark.parametrize(
    ("reason", "short"),
    [
        ("took over 2 s longer than most, so the round went on without it", "too slow"),
        ("did not answer in 60 s; asked us to slow down (429)", "too slow"),
        ("was given up on, because its provider took too long", "too slow"),
        ("could not answer: OpenAI failed (500)", "server error"),
        ("asked us to slow down (429)", "busy"),
        ("was not asked: it failed 5 times in a row; it is retried in 9 s", "busy"),
        ("could not be reached", "not reached"),
        ("could not be asked: there is no key for OpenAI", "no valid key"),
        ("could not be asked: the quota at OpenAI is used up (429)", "quota used up"),
        ("was stopped by the provider's content filter", "content filter"),
        ("could not be asked: the prompt is longer than its context", "text too long for it"),
        ("could not fit the answers in its context, even shortened", "text too long for it"),
        ("gave an empty answer", "empty answer"),
        ("could not be asked: there is no model 'x' at OpenAI (404)", "no such model"),
        ("returned no valid ranking: it held no JSON object", "invalid ranking"),
        ("is not running, because the demo models were not started", "is not running, because"),
    ],
)
def test_a_reason_is_a_few_words(reason: str, short: str) -> None:
    assert short_reason(reason).startswith(short)
    assert len(short_reason(reason)) <= 60


@pytest.mark.parametrize(
    ("chairmen", "gone", "texts", "said"),
    [
        ([GPT, CLAUDE], [GPT], FOUR, "GPT-5.1, {}; Claude Sonnet 4.6 wrote the answer instead."),
        ([GPT], [GPT], FOUR, "GPT-5.1, {}; this is the winning answer, unchanged, by Claude "),
        ([GPT, CLAUDE], [GPT, CLAUDE], FOUR, "Claude Sonnet 4.6, {}; this is "),
        # An answer chosen among equals is not called the winner.
        ([GPT], [GPT], answers("1a", "1b", "2", "3"), "GPT-5.1, {}; this is the answer by "),
    ],
)
async def test_missing_chairmen_are_named_with_what_stands_in(
    chairmen: list[str], gone: list[str], texts: dict[str, str], said: str
) -> None:
    gateway = FakeGateway(answers=texts, chairmen=dict.fromkeys(gone, GONE), vote=by_first_sign)
    round_ = await held(gateway, a_panel(4, chairmen=chairmen))

    *_, line = cautions(round_)

    assert line.startswith(f"The chairman, {said.format('could not be reached')}")
    assert ("tied for first place" in line) == ("this is the answer" in line)


async def test_a_models_answer_that_was_cut_off_says_so() -> None:
    cut = dict.fromkeys((CLAUDE, GPT, GEMINI), Reply("No, because", cut=True))
    demo = tuple(a_member(key, demonstration=True) for key in cut)
    round_ = await held(FakeGateway(answers=cut), replace(a_panel(), members=demo))
    whole = replace(round_, answers=tuple(replace(x, reply=Reply("No.")) for x in round_.answers))

    assert cautions(round_) == [CUT_OFF]
    assert cautions(whole) == []


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
            "The chairman reached its token limit, so this answer is cut off.",
        ),
    ],
)
async def test_an_answer_that_departs_or_ends_early_says_so(reply: ScriptEntry, said: str) -> None:
    round_ = await chaired(reply)

    assert cautions(round_) == [said]
    assert lines_of(round_, Prose) == ["No."]

"""The verdict line under an answer, and the cautions before it."""

import json
from dataclasses import replace
from functools import partial

import pytest

from bot.chat import Caution, Prose
from bot.render.round_json import round_document
from bot.render.round_report import (
    describe_certainty,
    flag_notes,
    result_notes,
    round_post,
    verdict_line,
)
from council.answers import Reply
from council.errors import GatewayError
from council.rounds import Round
from council.tally import Strength
from tests.bot.rounds import answers, as_demonstration, by_first_sign, held, lines_of
from tests.builders import CLAUDE, GEMINI, GPT, GROK, KEYS, NAMES, TERMS, a_member, a_panel
from tests.fakes.gateway import FakeGateway, ReadPrompt, ScriptEntry, rank_by_slot

FOUR = answers("1", "2", "3", "4")  # by the fakes' taste the first is the best


async def test_the_whole_line_reads_as_the_design_has_it() -> None:
    round_ = await held(FakeGateway(answers=FOUR))

    # By hand: three judges saw the winner, each put it above two rivals, 3 · 2 = 6 points.
    assert verdict_line(round_) == (
        "Best-ranked: Claude Sonnet 4.6, 6 of 6 points · "
        "all 3 judges put it first; with so few, that can be chance · 21 s · cost unknown"
    )


async def test_two_judges_are_both_of_them() -> None:
    round_ = await held(FakeGateway(answers=FOUR), a_panel(3))

    assert "both judges put it first" in verdict_line(round_)


WORDS = {
    Strength.UNANIMOUS: "all 3 judges put it first",
    Strength.CLEAR: "clearly ahead",
    Strength.CLOSE: "slightly ahead; could be chance",
    Strength.NO_CONSENSUS: "No clear winner; most points: Claude Sonnet 4.6",
}


@pytest.mark.parametrize("strength", WORDS)
async def test_each_strength_has_its_words(strength: Strength) -> None:
    round_ = with_strength(await held(FakeGateway(answers=FOUR)), strength)

    assert WORDS[strength] in verdict_line(round_)


@pytest.mark.parametrize("too_few", [True, False])
async def test_a_place_that_can_be_chance_is_never_said_without_the_doubt(too_few: bool) -> None:
    round_ = await held(FakeGateway(answers=FOUR))
    assert round_.tally
    verdict = replace(round_.tally.verdict, too_few_judges=too_few)

    assert describe_certainty(verdict).endswith("; with so few, that can be chance")
    assert describe_certainty(replace(verdict, p=0.05)) == "All 3 judges put it first"


@pytest.mark.parametrize(("p", "said"), [(0.3, "slightly ahead"), (0.01, "clearly ahead")])
async def test_an_older_round_does_not_say_all_where_a_ranking_put_it_second(
    p: float, said: str
) -> None:
    round_ = await held(FakeGateway(answers=FOUR))
    assert round_.tally
    first, *rest = round_.tally.standings
    verdict = replace(round_.tally.verdict, p=p)
    tally = replace(round_.tally, standings=(replace(first, share=0.9), *rest), verdict=verdict)

    line = verdict_line(replace(round_, tally=tally))

    assert said in line
    assert "judges put it first" not in line


@pytest.mark.parametrize("strength", Strength)
async def test_demonstration_models_never_make_a_winner_certain(strength: Strength) -> None:
    round_ = await held(FakeGateway(answers=FOUR), as_demonstration(a_panel(4)))

    line = verdict_line(with_strength(round_, strength))

    assert "demo models" in line
    assert "judges put it first" not in line
    assert "ahead" not in line


def with_strength(round_: Round, strength: Strength) -> Round:
    """Return the round with another strength of its verdict, from judges enough."""
    assert round_.tally
    verdict = replace(round_.tally.verdict, strength=strength, too_few_judges=False)
    return replace(round_, tally=replace(round_.tally, verdict=verdict))


async def test_a_tie_names_everybody_in_first_place() -> None:
    tied = answers("1a", "1b", "2", "3")
    round_ = await held(FakeGateway(answers=tied, vote=by_first_sign))

    # By hand: each of the two is alone first for the other (2) and shares it twice (1.5 each).
    assert verdict_line(round_).startswith(
        "Tied for first: Claude Sonnet 4.6 and GPT-5.1, 5 of 6 points · 21 s"
    )


async def test_judges_that_vote_by_slot_produce_no_winner() -> None:
    round_ = await held(FakeGateway(vote=rank_by_slot))

    assert verdict_line(round_).startswith(
        "No clear winner: all four answers got the same points · 21 s"
    )


async def test_a_round_without_a_counted_ballot_has_no_first_place() -> None:
    babble = dict.fromkeys(NAMES, "They are all good.")
    round_ = await held(FakeGateway(judges=babble))

    assert verdict_line(round_).startswith("No valid rankings, so there is no result · 21 s")


async def test_the_cost_of_every_call_is_added_up() -> None:
    priced = {key: Reply(text, cost_usd=0.01) for key, text in zip(NAMES, "1234", strict=False)}
    ballots = dict.fromkeys(NAMES, Reply("?", cost_usd=0.0))
    chair = dict.fromkeys(NAMES, Reply("Yes.", cost_usd=0.003))
    round_ = await held(FakeGateway(answers=priced, judges=ballots, chairmen=chair))

    assert verdict_line(round_).endswith(" · 21 s · $0.043")


async def test_one_model_in_two_seats_is_labelled() -> None:
    panel = as_demonstration(a_panel(3))
    first, second, third = panel.members
    twin = replace(second, model_id=first.model_id)
    round_ = await held(panel=replace(panel, members=(first, twin, third)))

    assert "demo models, one of them in two seats" in verdict_line(round_)


async def test_the_judges_agreement_is_a_number_with_its_meaning() -> None:
    notes = [*result_notes(await held(FakeGateway(answers=FOUR)))]

    assert any(note.startswith("Judges' agreement: +1.00 ") for note in notes)
    assert not any("agreement" in note for note in result_notes(await held(panel=a_panel(2))))


async def test_weights_by_consistency_stand_next_to_the_official_result() -> None:
    round_ = await held(FakeGateway(answers=FOUR))
    heavy = {seat.key: 0.1 + 0.6 * (not i) for i, seat in enumerate(round_.panel.members)}
    weighted = replace(round_, versions=(*round_.versions, ("consistency", json.dumps(heavy))))
    both = replace(weighted.panel, terms=replace(weighted.panel.terms, method="both-orders"))

    (note,) = (line for line in result_notes(weighted) if "eighted" in line)
    document = round_document(weighted)

    assert round_.tally
    first = round_.tally.standings[0]
    assert note.startswith(f"Weighted by consistency: {first.label} 1.00, ")
    assert note.endswith("). The winner stays the same.")
    assert document["weighted"]["weights"] == heavy
    assert document["weighted"]["first"] == [first.label]
    assert not document["weighted"]["official"]
    assert not any("eighted" in line for line in result_notes(round_))
    assert "Judges weigh by their consistency" in " ".join(
        result_notes(replace(weighted, panel=both))
    )


def rank_the_last_first(shown: ReadPrompt) -> str:
    return shown.ballot(" ".join(sorted(shown.texts, key=lambda x: shown.texts[x], reverse=True)))


async def test_weights_that_change_the_winner_say_so() -> None:
    round_ = await held(FakeGateway(answers=FOUR, judges={GPT: rank_the_last_first}))
    heavy = {seat.key: 97 if seat.key == GPT else 1 for seat in round_.panel.members}
    weighted = replace(round_, versions=(*round_.versions, ("consistency", json.dumps(heavy))))

    # By hand: Claude's answer and GPT's have (1 + .5 + .5) / 3 and (1 + 1 + 0) / 3; only Claude's
    # pairs are judged by GPT.
    assert round_.draw
    assert verdict_line(round_).startswith("Tied for first: Claude Sonnet 4.6 and GPT-5")
    assert [*result_notes(weighted)][-1].endswith(
        f"). {round_.draw.labels.label_of(GPT)} would win."
    )


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

    # The seat failed twice for one reason and is named once.
    assert cautions(round_) == [
        "Gemini 3 Pro could not be reached; three answers were ranked by three judges."
    ]
    assert kinds.index(Caution) < kinds.index(Prose)


async def test_judges_are_counted_once_and_named_once_however_often_they_rank() -> None:
    panel = a_panel(3, terms=replace(TERMS, method="both-orders"))
    name_a_maker = partial(ReadPrompt.ballot, ranking="", reason="It reads like Claude.")
    gateway = FakeGateway(answers={GEMINI: GONE}, judges={GEMINI: GONE}, vote=name_a_maker)
    round_ = await held(gateway, replace(panel, outside_judges=(a_member(GROK), a_member(KEYS[5]))))

    assert cautions(round_)[-1].endswith("two answers were ranked by two judges.")
    assert "Note: Grok 4 and Mistral Large named Claude in their reasons." in flag_notes(round_)


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

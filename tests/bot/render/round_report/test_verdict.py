"""The verdict line under an answer."""

from dataclasses import replace

import pytest

from bot.render.round_report.verdict import describe_certainty, short_verdict, verdict_line
from council.answers import Reply
from council.rounds import Round
from council.tally import Strength
from tests.bot.rounds import answers, as_demonstration, by_first_sign, held
from tests.builders import NAMES, a_panel
from tests.fakes.gateway import FakeGateway, rank_by_slot

FOUR = answers("1", "2", "3", "4")  # by the fakes' taste the first is the best
WORDS = {
    Strength.UNANIMOUS: "all 3 judges put it first",
    Strength.CLEAR: "clearly ahead",
    Strength.CLOSE: "slightly ahead; could be chance",
    Strength.NO_CONSENSUS: "No clear winner; most points: Claude Sonnet 4.6",
}


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


@pytest.mark.parametrize("strength", WORDS)
async def test_each_strength_has_its_words(strength: Strength) -> None:
    round_ = with_strength(await held(FakeGateway(answers=FOUR)), strength)

    assert WORDS[strength] in verdict_line(round_)


async def test_in_a_row_of_a_list_too_few_judges_are_not_unanimous() -> None:
    round_ = await held(FakeGateway(answers=FOUR))
    assert round_.tally
    sure = replace(round_.tally, verdict=replace(round_.tally.verdict, p=0.05))

    assert short_verdict(round_) == ("Claude Sonnet 4.6", "too few judges")
    assert short_verdict(replace(round_, tally=sure)) == ("Claude Sonnet 4.6", "unanimous")


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

    assert "demo models, one used twice" in verdict_line(round_)

"""The verdict line under an answer."""

from dataclasses import replace

from bot.render.round_report import agreement_line, verdict_line
from council.answers import Reply
from council.errors import GatewayError
from tests.bot.rounds import answers, as_demonstration, by_first_sign, held
from tests.builders import GEMINI, NAMES, a_panel
from tests.fakes.gateway import FakeGateway, rank_by_slot

FOUR = answers("1", "2", "3", "4")  # by the fakes' taste the first is the best
CHECK = "written by AI, check what matters"


async def test_the_whole_line_reads_as_the_design_has_it() -> None:
    round_ = await held(FakeGateway(answers=FOUR))

    # By hand: three judges saw the winner, each put it above two rivals, 3 · 2 = 6 points.
    assert verdict_line(round_) == (
        "First: Claude Sonnet 4.6, on 3 of 3 ballots, 6 of 6 points · "
        "unanimous, too few judges to rule out chance · "
        f"4 of 4 answered, 4 of 4 ballots count · 21 s · cost unknown · {CHECK}"
    )


async def test_a_tie_names_everybody_in_first_place() -> None:
    tied = answers("1a", "1b", "2", "3")
    round_ = await held(FakeGateway(answers=tied, vote=by_first_sign))

    # By hand: each of the two is alone first for the other (2) and shares it twice (1.5 each).
    assert verdict_line(round_).startswith(
        "Tied first: Claude Sonnet 4.6 and GPT-5.1, 5 of 6 points · tied"
    )


async def test_judges_that_vote_by_slot_produce_no_winner() -> None:
    round_ = await held(FakeGateway(vote=rank_by_slot))

    assert verdict_line(round_).startswith(
        "No first place: all four answers came out equal · no consensus"
    )


async def test_a_round_without_a_counted_ballot_has_no_first_place() -> None:
    babble = dict.fromkeys(NAMES, "They are all good.")
    round_ = await held(FakeGateway(judges=babble))

    assert verdict_line(round_).startswith("No ballot counts, so there is no ranking · 4 of 4")


async def test_turnout_counts_answers_and_valid_ballots() -> None:
    gone = {GEMINI: GatewayError("could not be reached")}
    round_ = await held(FakeGateway(answers={**FOUR, **gone}, judges={GEMINI: "?"}))

    assert "3 of 4 answered, 3 of 4 ballots count" in verdict_line(round_)


async def test_the_cost_of_every_call_is_added_up() -> None:
    priced = {key: Reply(text, cost_usd=0.01) for key, text in zip(NAMES, "1234", strict=False)}
    ballots = dict.fromkeys(NAMES, Reply("?", cost_usd=0.0))
    chair = dict.fromkeys(NAMES, Reply("Yes.", cost_usd=0.003))
    round_ = await held(FakeGateway(answers=priced, judges=ballots, chairmen=chair))

    assert f"21 s · $0.043 · {CHECK}" in verdict_line(round_)


async def test_one_model_in_two_seats_is_labelled() -> None:
    panel = as_demonstration(a_panel(3))
    first, second, third = panel.members
    twin = replace(second, model_id=first.model_id)
    round_ = await held(panel=replace(panel, members=(first, twin, third)))

    assert " · demonstration models · " in verdict_line(await held(panel=panel))
    assert "demonstration models, one model in two seats" in verdict_line(round_)


async def test_the_judges_agreement_is_a_number_with_its_meaning() -> None:
    line = agreement_line(await held(FakeGateway(answers=FOUR)))

    assert line
    assert line.startswith("Judges' agreement: +1.00 ")
    assert agreement_line(await held(panel=a_panel(2))) is None

"""Every ranking is shown by its judge, with its reason and what is odd about it."""

from dataclasses import replace

import pytest

from bot.chat import Note, Quote
from bot.render.round_report.rankings import MAX_REASON_CHARACTERS, ranking_notes
from bot.render.round_report.thread import whole_round
from council.ballots import cut_reason
from council.rounds import Closing
from tests.bot.rounds import held, round_thread, thread_of
from tests.builders import (
    CLAUDE,
    GPT,
    NAMES,
    a_panel,
    a_round,
    an_exchange,
    with_answers,
    with_ballots,
)
from tests.fakes.gateway import FakeGateway, rank_by_slot, rank_by_text


async def test_every_ranking_is_shown_with_names_with_its_order_and_its_reason() -> None:
    round_ = await held(FakeGateway(vote=rank_by_slot))
    assert round_.draw

    thread = thread_of(round_)

    for ballot in round_.ballots:
        names = {label: NAMES[round_.draw.labels.author_of(label)] for label in ballot.shown}
        ranked = " > ".join(names[label] for (label,) in ballot.ranking)
        slots = [ballot.shown.index(label) for (label,) in ballot.ranking]
        places = ", ".join(("1st", "2nd", "3rd")[slot] for slot in slots)
        assert f"**{NAMES[ballot.judge]}**: {ranked} · shown {places}" in thread
    assert thread.count("It is right.") == len(round_.ballots)


async def test_in_the_thread_a_long_reason_is_cut() -> None:
    round_ = with_ballots(with_answers(a_round(a_panel(3))))
    first, *others = round_.ballots
    told = replace(first, reason="long " * 200)
    long = replace(round_, ballots=(told, *others), closing=Closing(1.0))

    (short, *_) = [p for p in round_thread(long).replies[1].parts if isinstance(p, Note)]
    (full, *_) = [p for p in whole_round(long).replies[1].parts if isinstance(p, Quote)]

    assert len(short.text) <= MAX_REASON_CHARACTERS + len("“”")
    assert full.text == "long " * 200


async def test_a_spoiled_ballot_is_shown_with_its_fault_and_is_not_counted() -> None:
    round_ = await held(FakeGateway(judges={CLAUDE: "I like them all."}))

    thread = thread_of(round_)

    assert "Claude Sonnet 4.6's reply 1 was not counted: it held no JSON object" in thread
    assert "Claude Sonnet 4.6's reply 2 was not counted" in thread
    assert "**Claude Sonnet 4.6**: no valid ranking" in thread


async def test_spoiled_replies_and_cut_slates_are_reported_with_their_judge() -> None:
    spoiled = await held(FakeGateway(judges={GPT: ["I rank none.", rank_by_text]}))
    small = with_ballots(with_answers(a_round(a_panel(3))))
    first, *others = small.ballots
    first = replace(first, paper=replace(an_exchange(), cut_to=1200))

    assert [*ranking_notes(spoiled, GPT)] == [
        f"GPT-5.1's reply 1 was not counted: {spoiled.spoiled[0].fault}."
    ]
    assert [*ranking_notes(replace(small, ballots=(first, *others)), CLAUDE)] == [
        "Claude Sonnet 4.6 saw every answer cut to 1,200 tokens, to fit its context."
    ]


@pytest.mark.parametrize(
    ("grades", "logprobs", "said"), [((4.25, 3), True, 1), ((4, 3), True, 0), ((4.25, 3), False, 0)]
)
def test_grades_that_are_means_are_reported(
    grades: tuple[float, float], logprobs: bool, said: int
) -> None:
    round_ = with_ballots(with_answers(a_round(a_panel(3))))
    first, *others = round_.ballots
    assert first.paper
    found = ((9, (("4", -0.5),)),) if logprobs else ()
    paper = replace(first.paper, reply=replace(first.paper.reply, logprobs=found))
    graded = replace(first, paper=paper, grades=tuple(zip(first.shown, grades, strict=True)))

    changed = replace(round_, ballots=(graded, *others))

    assert [*ranking_notes(changed, CLAUDE)] == said * [
        "Claude Sonnet 4.6's grades are means over the scale, weighted by its own probabilities."
    ]


def test_a_cut_reason_is_reported() -> None:
    round_ = with_ballots(with_answers(a_round(a_panel(3))))
    first, *others = round_.ballots
    long = replace(first, reason=cut_reason("x" * 3_000))

    assert [*ranking_notes(replace(round_, ballots=(long, *others)), CLAUDE)] == [
        "Claude Sonnet 4.6's reason was cut at 2 KB."
    ]

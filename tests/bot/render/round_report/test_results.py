"""What is under the table: the judges' agreement, and what weights change."""

import json
from dataclasses import replace

from bot.render.round_json import round_document
from bot.render.round_report.results import agreement_note, result_notes
from bot.render.round_report.verdict import verdict_line
from tests.bot.rounds import answers, held, names_of
from tests.builders import GPT, a_panel
from tests.fakes.gateway import FakeGateway, ReadPrompt

FOUR = answers("1", "2", "3", "4")  # by the fakes' taste the first is the best


async def test_the_judges_agreement_is_a_number_with_its_meaning() -> None:
    ranked, unranked = await held(FakeGateway(answers=FOUR)), await held(panel=a_panel(2))

    assert agreement_note(ranked).startswith("Judges mostly agreed (1.00; 1 is full agreement")
    assert agreement_note(unranked) == ""


async def test_weights_by_consistency_stand_next_to_the_official_result() -> None:
    round_ = await held(FakeGateway(answers=FOUR))
    heavy = {seat.key: 0.1 + 0.6 * (not i) for i, seat in enumerate(round_.panel.members)}
    weighted = replace(round_, versions=(*round_.versions, ("consistency", json.dumps(heavy))))
    both = replace(weighted.panel, terms=replace(weighted.panel.terms, method="both-orders"))

    (note,) = (line for line in result_notes(weighted) if "eighted" in line)
    document = round_document(weighted)

    assert round_.tally
    assert round_.draw
    first = round_.tally.standings[0]
    winner = names_of(round_)[first.label]
    assert note.startswith(f"Weighted by consistency: {winner} 1.00, ")
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
    assert verdict_line(round_).startswith("Tied for first: Claude Sonnet 4.6 and GPT-5")
    assert [*result_notes(weighted)][-1].endswith("). GPT-5.1 would win.")

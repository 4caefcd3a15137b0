"""Placements by judge and answer: ties, missing ballots, outside judges, own answers."""

from dataclasses import replace

from bot.render.round_report import (
    NO_BALLOT_TEXT,
    OWN_TEXT,
    Placement,
    PlacementTable,
    placement_table,
)
from council.labels import Slate
from council.rounds import Round
from tests.bot.rounds import held
from tests.builders import (
    GPT,
    NAMES,
    a_panel,
    a_round,
    vote_in_slot_order,
    with_answers,
    with_ballots,
)
from tests.fakes.gateway import FakeGateway


def table_of(round_: Round) -> PlacementTable:
    assert round_.draw
    return placement_table(round_, round_.draw)


def row_of(round_: Round, name: str) -> list[Placement]:
    return list(dict(table_of(round_).rows)[name])


def all_tied(slate: Slate) -> str:
    return "=".join(slate.letters)


def top_tied(slate: Slate) -> str:
    first, second, *others = sorted(slate.letters, key=slate.label_at)
    return " ".join([f"{first}={second}", *others])


async def test_columns_are_the_answers_in_the_order_of_the_standings() -> None:
    round_ = await held()

    assert round_.tally
    assert [label for label, _ in table_of(round_).columns] == [
        line.label for line in round_.tally.standings
    ]
    assert {author for _, author in table_of(round_).columns} == set(list(NAMES.values())[:4])


async def test_each_judge_has_a_row_and_its_own_answer_is_its_own() -> None:
    round_ = await held()

    rows = table_of(round_).rows

    assert [judge for judge, _ in rows] == list(NAMES.values())[:4]
    assert [[cell.text for cell in cells].count(OWN_TEXT) for _, cells in rows] == [1] * 4
    assert all(
        cell == Placement(OWN_TEXT) for _, cells in rows for cell in cells if cell.text == OWN_TEXT
    )


async def test_a_placement_has_the_ballots_place_and_slot() -> None:
    round_ = with_ballots(with_answers(a_round(a_panel(4))), vote_in_slot_order)
    assert round_.draw

    for slate, (_, cells) in zip(round_.draw.slates, table_of(round_).rows, strict=True):
        columns = [label for label, _ in table_of(round_).columns]
        seen = {label: cell for label, cell in zip(columns, cells, strict=True) if cell.slot}
        # Who votes in the order shown puts what was seen first in the first place.
        assert {cell.text: cell.slot for cell in seen.values()} == {"1": 1, "2": 2, "3": 3}
        assert tuple(sorted(seen, key=lambda label: seen[label].slot or 0)) == slate.shown


def test_first_stands_highest_and_last_lowest() -> None:
    round_ = with_ballots(with_answers(a_round(a_panel(4))))

    heights = {cell.text: cell.height for _, cells in table_of(round_).rows for cell in cells}

    # Of two rivals the first has beaten 2/2, the second 1/2, the third 0/2: times 4.
    assert heights == {"1": 4, "2": 2, "3": 0, OWN_TEXT: None}


def test_a_tie_shares_its_place_and_its_height() -> None:
    round_ = with_ballots(with_answers(a_round(a_panel(4))), top_tied)

    cells = [cell for cell in row_of(round_, NAMES[GPT]) if cell.text != OWN_TEXT]

    # Each of the two has beaten the third and half of the other: 1.5/2 · 4 = 3.
    assert sorted((cell.text, cell.height) for cell in cells) == [("1=", 3), ("1=", 3), ("3", 0)]


def test_a_complete_tie_puts_all_in_the_middle() -> None:
    round_ = with_ballots(with_answers(a_round(a_panel(4))), all_tied)

    cells = [cell for cell in row_of(round_, NAMES[GPT]) if cell.text != OWN_TEXT]

    # Half of each of two rivals: 1/2 · 4 = 2.
    assert {(cell.text, cell.height) for cell in cells} == {("1=", 2)}


async def test_a_judge_without_a_ballot_has_slots_but_no_places() -> None:
    round_ = await held(FakeGateway(judges={GPT: "I rank none."}))

    cells = [cell for cell in row_of(round_, NAMES[GPT]) if cell.text != OWN_TEXT]

    assert {(cell.text, cell.height) for cell in cells} == {(NO_BALLOT_TEXT, None)}
    assert sorted(cell.slot or 0 for cell in cells) == [1, 2, 3]


async def test_an_outside_judge_has_no_answer_of_its_own() -> None:
    round_ = await held(panel=a_panel(3, outside=1))

    cells = row_of(round_, list(NAMES.values())[3])

    assert sorted(cell.text for cell in cells) == ["1", "2", "3"]
    assert len(table_of(round_).rows) == 4


def test_an_audit_ballot_is_no_placement() -> None:
    round_ = with_ballots(with_answers(a_round(a_panel(4))))
    audits = tuple(replace(ballot, audit="order") for ballot in round_.ballots)

    texts = {
        cell.text for _, cells in table_of(replace(round_, ballots=audits)).rows for cell in cells
    }

    assert texts == {OWN_TEXT, NO_BALLOT_TEXT}


def test_before_the_tally_answers_stand_in_the_order_of_their_labels() -> None:
    round_ = replace(with_ballots(with_answers(a_round(a_panel(4)))), tally=None)

    labels = [label for label, _ in table_of(round_).columns]

    assert labels == sorted(labels)


def test_an_answer_missing_from_a_ballot_has_no_placement() -> None:
    round_ = with_ballots(with_answers(a_round(a_panel(4))))
    short = tuple(replace(ballot, ranking=ballot.ranking[:1]) for ballot in round_.ballots)

    cells = row_of(replace(round_, ballots=short), NAMES[GPT])

    assert sorted(cell.text for cell in cells) == ["1", NO_BALLOT_TEXT, NO_BALLOT_TEXT, OWN_TEXT]

"""Placements by judge and answer: ties, missing ballots, outside judges, own answers."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from bot.render.round_report.placements import (
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


async def test_a_placement_has_the_ballots_place_and_slot() -> None:
    round_ = with_ballots(with_answers(a_round(a_panel(4))), vote_in_slot_order)
    assert round_.draw

    for slate, (_, cells) in zip(round_.draw.slates, table_of(round_).rows, strict=True):
        columns = [label for label, _ in table_of(round_).columns]
        seen = {label: cell for label, cell in zip(columns, cells, strict=True) if cell.slot}
        # Who votes in the order shown puts what was seen first in the first place.
        assert {cell.text: cell.slot for cell in seen.values()} == {"1": 1, "2": 2, "3": 3}
        assert tuple(sorted(seen, key=lambda label: seen[label].slot or 0)) == slate.shown


@pytest.mark.parametrize(
    ("vote", "cells"),
    [
        # Of two rivals the first has beaten 2/2, the second 1/2, the third 0/2: times 4.
        (vote_in_slot_order, [("1", 4), ("2", 2), ("3", 0)]),
        # Each of two has beaten the third and half of the other: 1.5/2 · 4 = 3.
        (top_tied, [("1=", 3), ("1=", 3), ("3", 0)]),
        # Half of each of two rivals: 1/2 · 4 = 2.
        (all_tied, [("1=", 2)] * 3),
    ],
)
def test_a_higher_place_stands_higher_and_a_tie_in_between(
    vote: Callable[[Slate], str], cells: list[tuple[str, int]]
) -> None:
    round_ = with_ballots(with_answers(a_round(a_panel(4))), vote)

    placed = [cell for cell in row_of(round_, NAMES[GPT]) if cell.text != OWN_TEXT]

    assert sorted((cell.text, cell.height) for cell in placed) == cells


async def test_without_a_counted_ballot_there_are_slots_but_no_places() -> None:
    silent = await held(FakeGateway(judges={GPT: "I rank none."}))
    round_ = with_ballots(with_answers(a_round(a_panel(4))))
    audits = tuple(replace(ballot, audit="order") for ballot in round_.ballots)
    short = tuple(replace(ballot, ranking=ballot.ranking[:1]) for ballot in round_.ballots)

    cells = [cell for cell in row_of(silent, NAMES[GPT]) if cell.text != OWN_TEXT]

    assert {(cell.text, cell.height) for cell in cells} == {(NO_BALLOT_TEXT, None)}
    assert sorted(cell.slot or 0 for cell in cells) == [1, 2, 3]
    rows = table_of(replace(round_, ballots=audits)).rows
    assert {cell.text for _, cells in rows for cell in cells} == {OWN_TEXT, NO_BALLOT_TEXT}
    few = row_of(replace(round_, ballots=short), NAMES[GPT])
    assert sorted(x.text for x in few) == ["1", NO_BALLOT_TEXT, NO_BALLOT_TEXT, OWN_TEXT]


async def test_columns_are_in_the_order_of_the_standings_else_of_the_labels() -> None:
    round_ = await held(panel=a_panel(3, outside=1))
    assert round_.tally
    before = [label for label, _ in table_of(replace(round_, tally=None)).columns]

    labels, authors = zip(*table_of(round_).columns, strict=True)

    assert labels == tuple(line.label for line in round_.tally.standings)
    assert {*authors} == {*list(NAMES.values())[:3]}
    assert before == sorted(before)
    # An outside judge has no answer of its own.
    cells = row_of(round_, list(NAMES.values())[3])
    assert sorted(cell.text for cell in cells) == ["1", "2", "3"]

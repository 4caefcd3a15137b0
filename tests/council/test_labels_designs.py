"""The balanced designs that ship with the council."""

import json
from collections import Counter
from pathlib import Path

import pytest

import council
from council.digests import json_digest

SHIPPED = Path(council.__file__).with_name("council_designs.json")
VERIFIED_DIGEST = "980e48cf54e7b612d6f71aebe86d479bbb9a73c841aa66a56d62b119cf0df8cc"
DESIGNS: dict[str, list[list[int]]] = json.loads(SHIPPED.read_text(encoding="utf-8"))

each_design = pytest.mark.parametrize("design", DESIGNS.values(), ids=lambda d: str(len(d)))


def test_designs_exist_for_three_to_ten_answers() -> None:
    assert sorted(map(int, DESIGNS)) == list(range(3, 11))
    assert all(len(design) == int(count) for count, design in DESIGNS.items())


@each_design
def test_every_row_has_all_answers_but_its_judges_own(design: list[list[int]]) -> None:
    for judge, row in enumerate(design):
        assert sorted([*row, judge]) == list(range(len(design)))


@each_design
def test_every_column_has_every_answer_once(design: list[list[int]]) -> None:
    for column in zip(*design, strict=True):
        assert sorted(column) == list(range(len(design)))


@each_design
def test_pair_orders_are_nearly_balanced(design: list[list[int]]) -> None:
    before = Counter((x, y) for row in design for i, x in enumerate(row) for y in row[i + 1 :])

    # n − 2 judges see a pair: no pair stands in one order on more than about two thirds of them
    assert all(before[pair] <= (len(design) - 2) * 2 / 3 + 1 for pair in before)


def test_the_shipped_designs_match_their_digest() -> None:
    assert json_digest(DESIGNS) == VERIFIED_DIGEST

"""A leaderboard for programs: JSON and CSV."""

import csv
import json
from dataclasses import replace
from io import StringIO

from bot.bakeoffs.render.leaderboard_export import leaderboard_csv, leaderboard_document
from tests.bot.bakeoffs.render.boards.builders import CLAUDE, EMPTY, a_leaderboard


def test_a_row_has_the_fixed_fields_best_first() -> None:
    document = leaderboard_document(a_leaderboard())

    first = document["rows"][0]
    assert [row["place"] for row in document["rows"]] == [1, 1, 3, 4, 5]
    assert {name: first[name] for name in ("member", "place", "share", "ci", "rounds")} == {
        "member": CLAUDE,
        "place": 1,
        "share": 0.71,
        "ci": [0.71 - 0.06, 0.71 + 0.06],
        "rounds": 36,
    }
    assert json.loads(json.dumps(document))["rows"] == document["rows"]


def test_judges_have_separate_rows() -> None:
    rows = leaderboard_document(a_leaderboard(), as_judge=True)["rows"]

    assert rows[2]["is_position_biased"]
    assert rows[0]["agreement_ci"] == [0.3, 0.5]
    assert {"member", "rounds", "spoiled_rate", "consistency", "cost_usd"} <= rows[0].keys()


def test_the_document_has_the_coverage() -> None:
    document = leaderboard_document(a_leaderboard())

    assert document["counted"]["version"] == "3f2a1b9c77de"
    assert document["counted"]["left_out"] == {"aaaa1111bbbb": 12, "cccc2222dddd": 2}
    assert document["worth"]["rows"][0]["verdict"] == "not worth its cost here"
    assert len(document["runs"]) == 6
    assert document["runs"][0]["shares"][CLAUDE]["rounds"] == 12


def test_csv_has_a_row_for_each_member_and_two_columns_for_an_interval() -> None:
    rows = [*csv.DictReader(StringIO(leaderboard_csv(a_leaderboard())))]

    assert len(rows) == 5
    assert rows[0]["member"] == CLAUDE
    assert float(rows[0]["ci_low"]) == 0.71 - 0.06
    assert rows[0]["strength"] == ""
    assert leaderboard_document(EMPTY)["worth"] is None
    assert leaderboard_csv(EMPTY) == "member,place,share,ci_low,ci_high,rounds\n"


def test_no_cell_is_evaluated_as_a_formula() -> None:
    board = a_leaderboard()
    evil = replace(board, names={CLAUDE: "=HYPERLINK(1)"})

    (first, *_) = csv.DictReader(StringIO(leaderboard_csv(evil)))

    assert first["name"] == "'=HYPERLINK(1)"

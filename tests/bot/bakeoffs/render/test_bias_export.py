"""A bias report as JSON without NaN, and as CSV with a row for each measure."""

import csv
import json
from dataclasses import replace
from io import StringIO
from math import nan

from bot.bakeoffs.render.bias_export import bias_csv, bias_document
from bot.bakeoffs.render.bias_tables import make_bias_view
from bot.bakeoffs.render.leaderboard_tables import Coverage
from tests.bot.bakeoffs.render.bias.builders import NOTHING, a_bias, a_judge, an_effect
from tests.bot.bakeoffs.render.boards.builders import QWEN


def test_the_document_has_every_measure_of_every_judge() -> None:
    document = bias_document(a_bias())

    judges = {row["judge"]: row for row in document["judges"]}
    own = judges[QWEN]["own"]
    assert (own["value"], own["n"], own["unit"], own["found"]) == (0.31, 52, "audit ballots", True)
    assert own["ci"] == [0.31 - 0.13, 0.31 + 0.13]
    assert [slot["number"] for slot in judges[QWEN]["slots"]] == [1, 2, 3, 4]
    assert {*judges[QWEN]["style"]} == {"lists", "bold"}
    keys = "family named first_slot position kept length agreement spoiled"
    assert {*keys.split()} <= {*judges[QWEN]}
    assert document["findings"][0].startswith("Qwen 3 ranks its own answer")
    assert document["audits"] == {"own": 22, "order": 21, "named": 21}
    assert document["counted"]["panel"] == "house"


def test_unknown_values_are_null_never_nan() -> None:
    own = replace(an_effect(0.1, 0.05), value=nan)
    document = bias_document(a_bias(judges=(a_judge(own=own),), audit_usd=nan))

    again = json.loads(json.dumps(document, allow_nan=False))

    assert again["judges"][0]["own"]["value"] is None
    assert again["judges"][0]["own"]["ci"] is None
    assert again["audit_usd"] is None
    empty = bias_document(make_bias_view(NOTHING, Coverage(), {}))
    assert (empty["rounds"], empty["judges"], empty["findings"]) == (0, [], [])


def test_csv_has_a_row_for_each_judge_and_measure() -> None:
    rows = [*csv.DictReader(StringIO(bias_csv(a_bias())))]

    own = next(row for row in rows if row["judge"] == QWEN and row["measure"] == "own")
    assert (own["name"], own["n"], own["value"], own["found"]) == ("Qwen 3", "52", "0.31", "True")
    assert len(rows) == 5 * 11

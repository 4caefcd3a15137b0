"""Suites, bake-offs and schedules are lines of an export, and are read back unchanged."""

import json

import pytest

from council.bakeoffs.models import Ending
from council.bakeoffs.ports import StoredSuite
from council.errors import StoreError
from storage.export import ExportedItem, ExportedRound, dump_item, dump_round, parse_item
from tests.builders import ASKED_AT, a_schedule
from tests.storage.benches import SUITE, a_bakeoff, suite_of
from tests.storage.builders import a_closed_round

KEPT = [
    pytest.param(StoredSuite(SUITE, "U1", ASKED_AT), id="suite"),
    pytest.param(a_bakeoff(), id="bakeoff"),
    pytest.param(a_bakeoff(ending=Ending(ASKED_AT, "No money.")), id="ended"),
    pytest.param(a_schedule(), id="schedule"),
]


@pytest.mark.parametrize("kept", KEPT)
def test_exported_items_are_read_back_equal(kept: ExportedItem) -> None:
    line = dump_item(kept)

    assert parse_item(line) == kept
    assert parse_item(line.encode()) == kept
    assert "\n" not in line
    assert json.loads(line)["format"] == 1


def test_a_line_without_a_kind_is_a_round() -> None:
    assert parse_item(dump_round(a_closed_round())) == ExportedRound(a_closed_round())


def test_an_unpaired_surrogate_is_refused_in_one_sentence() -> None:
    with pytest.raises(StoreError, match="Suite 'sql' holds what JSON cannot"):
        dump_item(StoredSuite(suite_of("cut off \ud83e"), "U1", ASKED_AT))


def changed_line(kept: ExportedItem, **fields: object) -> str:
    return json.dumps(json.loads(dump_item(kept)) | fields)


NAIVE = "2026-11-21T09:00:00"


@pytest.mark.parametrize(
    ("line", "named"),
    [
        pytest.param(changed_line(a_schedule(), kind="song"), "its kind 'song' is none", id="kind"),
        pytest.param(changed_line(a_schedule(), kind=["song"]), "its kind", id="no-kind"),
        pytest.param(changed_line(a_schedule(), cron=None), "cron: ", id="cron"),
        pytest.param(
            changed_line(a_schedule(), made_at=NAIVE), "made_at: a moment", id="schedule-zone"
        ),
        pytest.param(changed_line(a_bakeoff(), panel={}), r"panel\.name: ", id="panel"),
        pytest.param(changed_line(a_bakeoff(), at=NAIVE), "at: a moment", id="bakeoff-zone"),
        pytest.param(
            changed_line(a_bakeoff(), ending={"at": NAIVE}),
            r"ending\.at: a moment",
            id="ending-zone",
        ),
        pytest.param(
            changed_line(StoredSuite(SUITE, "", ASKED_AT), suite={"name": "x"}),
            r"suite\.questions: ",
            id="questions",
        ),
        pytest.param(
            changed_line(StoredSuite(SUITE, "", ASKED_AT), at=NAIVE),
            "at: a moment",
            id="suite-zone",
        ),
        pytest.param(
            changed_line(a_bakeoff(), format=2), "its format is another than 1", id="newer"
        ),
    ],
)
def test_an_invalid_line_is_named(line: str, named: str) -> None:
    with pytest.raises(StoreError, match=named):
        parse_item(line)


def test_an_invalid_panel_is_named() -> None:
    document = json.loads(dump_item(a_bakeoff()))
    document["panel"]["members"] = document["panel"]["members"][:1]

    with pytest.raises(StoreError, match="has 1 member"):
        parse_item(json.dumps(document))

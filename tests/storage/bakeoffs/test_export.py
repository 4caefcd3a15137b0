"""Suites, bake-offs and schedules are exported and read back."""

import json

import pytest

from council.bakeoffs.models import Bakeoff, Ending
from council.bakeoffs.ports import StoredSuite
from council.errors import StoreError
from storage.bakeoffs.export import BAKEOFF, KINDS, SCHEDULE
from storage.bakeoffs.export import SUITE as SUITE_KIND
from storage.export import ExportedItem, dump_item, parse_item
from tests.builders import ASKED_AT
from tests.council.bakeoffs.builders import a_schedule
from tests.storage.bakeoffs.benches import SUITE, a_bakeoff, suite_of


def an_item(value: object) -> ExportedItem:
    kinds = {StoredSuite: SUITE_KIND, Bakeoff: BAKEOFF}
    return ExportedItem(kinds.get(type(value), SCHEDULE), value)


KEPT = [
    pytest.param(StoredSuite(SUITE, "U1", ASKED_AT), id="suite"),
    pytest.param(a_bakeoff(), id="bakeoff"),
    pytest.param(a_bakeoff(ending=Ending(ASKED_AT, "No money.")), id="ended"),
    pytest.param(a_schedule(), id="schedule"),
]


@pytest.mark.parametrize("kept", KEPT)
def test_exported_items_are_read_back_equal(kept: object) -> None:
    line = dump_item(an_item(kept))

    assert parse_item(line, KINDS) == an_item(kept)
    assert parse_item(line.encode(), KINDS) == an_item(kept)
    assert "\n" not in line
    assert json.loads(line)["format"] == 1


def test_an_unpaired_surrogate_in_an_item_is_refused_in_one_sentence() -> None:
    with pytest.raises(StoreError, match="Suite 'sql' can't be written as JSON"):
        dump_item(an_item(StoredSuite(suite_of("cut off \ud83e"), "U1", ASKED_AT)))


def changed_item(kept: object, **fields: object) -> str:
    return json.dumps(json.loads(dump_item(an_item(kept))) | fields)


NAIVE = "2026-11-21T09:00:00"


@pytest.mark.parametrize(
    ("line", "named"),
    [
        pytest.param(
            changed_item(a_schedule(), kind="song"), "not know the kind 'song'", id="kind"
        ),
        pytest.param(changed_item(a_schedule(), kind=["song"]), "not know the kind", id="no-kind"),
        pytest.param(changed_item(a_schedule(), cron=None), "cron: ", id="cron"),
        pytest.param(
            changed_item(a_schedule(), made_at=NAIVE),
            "made_at: this time has no time zone",
            id="schedule-zone",
        ),
        pytest.param(changed_item(a_bakeoff(), panel={}), r"panel\.name: ", id="panel"),
        pytest.param(
            changed_item(a_bakeoff(), at=NAIVE), "at: this time has no time zone", id="bakeoff-zone"
        ),
        pytest.param(
            changed_item(a_bakeoff(), ending={"at": NAIVE}),
            r"ending\.at: this time has no time zone",
            id="ending-zone",
        ),
        pytest.param(
            changed_item(StoredSuite(SUITE, "", ASKED_AT), suite={"name": "x"}),
            r"suite\.questions: ",
            id="questions",
        ),
        pytest.param(
            changed_item(StoredSuite(SUITE, "", ASKED_AT), at=NAIVE),
            "at: this time has no time zone",
            id="suite-zone",
        ),
        pytest.param(changed_item(a_bakeoff(), format=2), "use a newer version", id="newer"),
    ],
)
def test_an_invalid_line_is_named(line: str, named: str) -> None:
    with pytest.raises(StoreError, match=named):
        parse_item(line, KINDS)


def test_an_invalid_panel_of_a_bakeoff_is_named() -> None:
    document = json.loads(dump_item(an_item(a_bakeoff())))
    document["panel"]["members"] = document["panel"]["members"][:1]

    with pytest.raises(StoreError, match="has 1 member"):
        parse_item(json.dumps(document), KINDS)

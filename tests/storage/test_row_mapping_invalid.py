"""A row with a value that no round can hold is an error that names the field."""

from dataclasses import replace

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from council.answers import Role
from council.errors import StoreError
from council.rounds import Fallback
from storage.rounds import SqlRoundStore
from tests.builders import a_spoiled_ballot, an_absence
from tests.storage.builders import a_closed_round

ROUND = replace(
    a_closed_round(),
    absences=(an_absence(role=Role.SYNTHESIS),),
    spoiled=(a_spoiled_ballot(),),
)


async def tampered(engine: AsyncEngine, change: str) -> SqlRoundStore:
    store = SqlRoundStore(engine)
    await store.open(ROUND)
    async with engine.begin() as connection:
        await connection.execute(text(f"UPDATE {change}"))
    return store


@pytest.mark.parametrize(
    ("change", "named"),
    [
        pytest.param("verdict SET strength = 'bogus'", "verdict.strength: 'bogus'", id="strength"),
        pytest.param("verdict SET flags = '5'", "verdict.flags: ", id="flags"),
        pytest.param("verdict SET p = 'low'", "verdict.p: ", id="p"),
        pytest.param("ballot SET ranking = 'null'", "ballot.ranking: ", id="null-ranking"),
        pytest.param("ballot SET ranking = '[[1]]'", "ballot.ranking.0.0: ", id="number-ranked"),
        pytest.param("ballot SET shown = '[\"K\"'", "ballot.shown: ", id="broken-json"),
        pytest.param("ballot SET attempt = 'x'", "ballot.attempt: ", id="attempt"),
        pytest.param("spoiled_ballot SET cut_to = 'x'", "spoiled_ballot.cut_to: ", id="cut-to"),
        pytest.param("answer SET scrubbed = '\"x\"'", "answer.scrubbed: ", id="scrubbed"),
        pytest.param("answer SET seconds = 'soon'", "answer.seconds: ", id="seconds"),
        pytest.param("answer SET text = x'ff'", "answer.text: ", id="bytes"),
        pytest.param("absence SET role = 'cook'", "absence.role: 'cook'", id="role"),
        pytest.param("label SET label = x'ff'", "label.label: ", id="label"),
        pytest.param("slate SET shown = '{}'", "slate.shown: ", id="slate"),
        pytest.param("standing SET points = 'many'", "standing.points: ", id="points"),
        pytest.param(
            "synthesis SET fallback = 'dice'", "synthesis.fallback: 'dice'", id="fallback"
        ),
        pytest.param("standing SET position = position + 7", "standing.position: ", id="gap"),
        pytest.param("synthesis SET reply = NULL", "synthesis.reply: ", id="no-reply"),
        pytest.param("round SET panel_name = 'x'", "round.panel_name: 'x'", id="panel-name"),
        pytest.param("round SET panel = '{broken'", "round.panel: ", id="broken-panel"),
        pytest.param("round SET panel = 'null'", "round.panel: ", id="null-panel"),
        pytest.param("round SET panel = '{}'", "round.panel.name: ", id="empty-panel"),
        pytest.param("round SET versions = '[1]'", "round.versions: ", id="versions"),
        pytest.param("round SET seconds = 'long'", "round.seconds: ", id="closing"),
        pytest.param(
            "round SET panel = json_set(panel, '$.members', json('[]'))",
            "0 member",
            id="no-members",
        ),
        pytest.param("round SET asked_at = 'yesterday'", "yesterday", id="moment"),
    ],
)
async def test_an_invalid_row_is_named(engine: AsyncEngine, change: str, named: str) -> None:
    store = await tampered(engine, change)

    with pytest.raises(StoreError) as refused:
        await store.load("r1")

    assert named in str(refused.value)
    assert "\n" not in str(refused.value)


async def test_past_ballots_leave_out_a_round_with_an_invalid_one(
    engine: AsyncEngine,
) -> None:
    store = await tampered(engine, "ballot SET ranking = 'null'")

    assert await store.load_past_ballots("house") == ()


async def test_an_invalid_round_still_has_its_summary(engine: AsyncEngine) -> None:
    store = await tampered(engine, "round SET panel = '{broken'")

    assert [line.id for line in await store.list_summaries()] == ["r1"]


async def test_every_fallback_can_be_stored(engine: AsyncEngine) -> None:
    store = await tampered(engine, f"synthesis SET fallback = '{Fallback.CHAIRMAN}'")

    synthesis = (await store.load("r1")).synthesis

    assert synthesis is not None
    assert synthesis.fallback is Fallback.CHAIRMAN

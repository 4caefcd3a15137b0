"""Bias reports from stored rounds, also after their texts were forgotten."""

import json
from dataclasses import asdict, replace
from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.bakeoffs.bias_report import bias_report
from council.bakeoffs.ports import RecordQuery
from council.integrity.verification import verify
from council.panel import Terms
from council.pipeline.run import run_round
from council.pipeline.stages import RoundServices
from council.round_rules import AUDIT_POLICY
from tests.bot.bakeoffs.test_records import NEXT, engine, of_database, stores
from tests.builders import ASKED_AT, a_panel, a_round
from tests.fakes.gateway import FakeGateway, rank_by_slot, rank_by_text
from tests.storage.benches import Stores

__all__ = ["engine", "stores"]
PANEL = a_panel(4, terms=Terms(audit_share=1))
ANSWERS = {seat.key: f"Answer of {'abcd'[i]}." for i, seat in enumerate(PANEL.members)}


async def run_rounds(stores: Stores, rounds: int, gateway: FakeGateway) -> None:
    """Run rounds, an hour after one another."""
    council = RoundServices(gateway, stores.store)
    for nth in range(rounds):
        opened = a_round(PANEL, seed=f"round {nth}")
        versions = (("audits", AUDIT_POLICY),)
        at = ASKED_AT + nth * NEXT
        await stores.store.open(replace(opened, id=f"r{nth:02}", versions=versions, asked_at=at))
        await run_round(f"r{nth:02}", council)


async def test_judges_that_vote_by_slot_are_found_out(stores: Stores) -> None:
    await run_rounds(stores, 24, FakeGateway(answers=ANSWERS, vote=rank_by_slot))

    report = await bias_report(stores)

    assert (report.rounds, report.ballots, sum(report.audits.values())) == (24, 96, 24)
    for one in report.judges:
        assert one.first_slot.value == pytest.approx(0.5)
        assert one.first_slot.is_found
        assert one.position.is_found
    assert {one.kept.value for one in report.judges} <= {None, 0.0}
    json.dumps(asdict(report), allow_nan=False)


async def test_a_report_measures_only_the_queried_rounds(stores: Stores) -> None:
    await run_rounds(stores, 6, FakeGateway(answers=ANSWERS))

    since = RecordQuery(since=ASKED_AT + 4 * NEXT)
    none = RecordQuery(since=ASKED_AT + timedelta(days=9))

    assert (await bias_report(stores, since)).rounds == 2
    assert (await bias_report(stores, RecordQuery(panel="house"))).rounds == 6
    assert (await bias_report(stores, none)).judges == ()


async def test_a_report_is_unchanged_when_texts_are_forgotten(stores: Stores) -> None:
    await run_rounds(stores, 5, FakeGateway(answers=ANSWERS, vote=rank_by_text))
    before = await bias_report(stores)

    for nth in range(5):
        await stores.store.forget(f"r{nth:02}", ASKED_AT, "salt")

    assert await bias_report(stores) == before
    assert verify(await stores.store.load("r00")) == ()


async def test_a_round_that_cannot_be_read_is_reported_and_skipped(engine: AsyncEngine) -> None:
    stores, told = of_database(engine), list[str]()
    await run_rounds(stores, 3, FakeGateway(answers=ANSWERS))
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE round SET panel = '{broken' WHERE id = 'r01'"))

    report = await bias_report(stores, tell=told.append)

    assert report.rounds == 2
    assert len(told) == 1

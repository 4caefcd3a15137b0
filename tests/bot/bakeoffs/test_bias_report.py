"""Bias reports from stored rounds, also after their texts were forgotten; their filters."""

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.bakeoffs.bias_report import (
    bias_report,
    load_bias,
    load_bias_page,
    mark_biased_judges,
    parse_bias_query,
)
from bot.bakeoffs.leaderboard import LeaderboardQuery, LeaderboardQueryError
from bot.bakeoffs.parts import bakeoff_stores
from bot.plugins import RecordSources
from council.bakeoffs.bias.report import BiasReport
from council.bakeoffs.ports import RecordQuery
from council.integrity.verification import verify
from council.panel import Terms
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.round_rules import AUDIT_POLICY
from tests.bot.app_fakes import an_app
from tests.bot.bakeoffs.builders import packed_all, runs_of
from tests.bot.bakeoffs.render.bias.builders import a_report
from tests.bot.bakeoffs.render.boards.builders import EMPTY
from tests.bot.bakeoffs.test_records import NEXT, engine, of_database, stores
from tests.builders import ASKED_AT, a_panel, a_round
from tests.fakes.gateway import FakeGateway, rank_by_slot, rank_by_text
from tests.storage.bakeoffs.benches import Stores

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


async def test_a_board_of_judges_marks_those_that_the_report_finds_biased(stores: Stores) -> None:
    await run_rounds(stores, 24, FakeGateway(answers=ANSWERS, vote=rank_by_slot))
    query = LeaderboardQuery(as_judge=True)
    without_votes = await mark_biased_judges(stores, query, EMPTY)
    report = await bias_report(stores)

    judges = await mark_biased_judges(stores, query, EMPTY)
    authors = await mark_biased_judges(stores, LeaderboardQuery(), EMPTY)

    assert judges.biased == {judge.judge for judge in report.judges if judge.is_position_biased}
    assert judges.biased
    assert authors is EMPTY
    assert not without_votes.biased


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


NOW = datetime(2026, 11, 21, tzinfo=UTC)


class Measuring:
    """Remembers which rounds it was asked to measure."""

    def __init__(self) -> None:
        self.wanted: list[RecordQuery] = []

    async def __call__(self, _: RecordSources, wanted: RecordQuery) -> BiasReport:
        self.wanted.append(wanted)
        return a_report()


async def test_options_narrow_what_is_measured_and_are_shown() -> None:
    measuring, app = Measuring(), an_app()
    given = {"suite": "sql", "panel": "house", "category": "joins", "since": "30d"}

    bias = await load_bias(app, parse_bias_query(given, NOW), {}, measuring)

    (wanted,) = measuring.wanted
    assert (wanted.suite, wanted.panel, wanted.category) == ("sql", "house", "joins")
    assert wanted.since == NOW - timedelta(days=30)
    assert (bias.coverage.rounds, bias.coverage.suite) == (64, "sql")


def test_a_version_of_a_suite_is_refused_with_what_to_do() -> None:
    with pytest.raises(LeaderboardQueryError, match="Name the suite without a version"):
        parse_bias_query({"suite": "sql@3f2a"}, NOW)


async def test_choices_are_those_of_the_scope() -> None:
    app = an_app()
    held = [*runs_of("sql", 1, scope="slack/T1"), *runs_of("poems", 1, scope="slack/T2")]
    await bakeoff_stores(app).records.save(packed_all(held))

    _, choices = await load_bias_page(app, LeaderboardQuery(scope="slack/T1"), {}, Measuring())

    assert choices["suite"] == ("sql",)
    assert choices["category"] == ("joins", "windows")


async def test_without_rounds_a_report_is_empty() -> None:
    report = await bias_report(an_app(), RecordQuery())

    assert (report.rounds, report.judges) == (0, ())

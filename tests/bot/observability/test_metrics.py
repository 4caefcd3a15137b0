"""The figures of a cluster: work, the database, the bus, the outbox, clocks; and their alerts."""

import asyncio
import re
from pathlib import Path

import pytest
import yaml
from prometheus_client import REGISTRY, generate_latest

from bot.observability import metrics
from bot.observability.metrics import JobState
from bot.outbox import Outbox
from council.errors import StoreError
from council.ports import RoundQuery
from council.providers import (
    BreakerState,
    Health,
    Limits,
    ModelHealth,
    ProviderHealth,
    ProviderLoad,
)
from storage.engine import open_engine
from storage.rounds import SqlRoundStore
from tests.bot.test_outbox import HERE, POST, ChatDownError, Clock, FakeChat
from tests.fakes.memory_outbox import MemoryOutbox
from tests.postgres import Server

ROOT = Path(__file__).parents[3]
OPENAI = {"provider": "openai", "address": ""}


def figure(name: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(name, labels)


def test_calls_turns_and_breakers_are_exported_and_summed_until_their_gateway_is_closed() -> None:
    seen = ProviderHealth(
        provider="openai",
        address="",
        limits=Limits(),
        under_way=3,
        waiting=2,
        turns=5,
        waited_seconds=1.5,
        everywhere=ProviderLoad(7, 9),
    )
    local = ProviderHealth("openai", "127.0.0.1:8080", Limits(), under_way=2)
    model = ModelHealth("openai/a", "", BreakerState.OPEN, retries=6, pauses=1)
    health = Health((seen, seen, local), (model,))
    at_model = {"model": "openai/a", "address": ""}

    # Two gateways of one process may have the same provider.
    with (
        metrics.export_provider_metrics(lambda: health),
        metrics.export_provider_metrics(Health),
    ):
        assert figure("council_calls_under_way", **OPENAI) == 6
        assert figure("council_calls_waiting", **OPENAI) == 4
        assert figure("council_calls_under_way", provider="openai", address=local.address) == 2
        states = [figure("council_breakers", state=s, **at_model) for s in BreakerState]
        assert states == [0, 1, 0]
        assert figure("council_retries_total", **at_model) == 6
        assert figure("council_pauses_total", **at_model) == 1
        assert figure("council_turns_total", **OPENAI) == 10
        assert figure("council_turn_wait_seconds_total", **OPENAI) == 3
        assert figure("council_calls_everywhere", state="under way", **OPENAI) == 7
        assert figure("council_calls_everywhere", state="waiting", **OPENAI) == 9
    assert local.address.encode() not in generate_latest()


def test_jobs_are_counted_by_queue_and_missing_ones_are_0() -> None:
    metrics.set_job_counts({("rounds", JobState.DOING): 3, ("rounds", JobState.STALLED): 1})
    metrics.set_job_counts({("show slack", JobState.WAITING): 2})

    assert figure("council_works", queue="rounds", state="doing") == 0
    assert figure("council_works", queue="show slack", state="waiting") == 2


def test_running_jobs_and_takeovers_are_counted() -> None:
    before = figure("council_takeovers_total", queue="rounds") or 0

    with metrics.JOBS_HERE.labels("rounds").track_inprogress():
        assert figure("council_works_here", queue="rounds") == 1
    metrics.TAKEOVERS.labels("rounds").inc(2)

    assert figure("council_works_here", queue="rounds") == 0
    assert figure("council_takeovers_total", queue="rounds") == before + 2


async def test_downtime_of_the_database_is_measured(
    migrated_url: str, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, seconds = open_engine(migrated_url), 0.0
    store = SqlRoundStore(engine)
    with metrics.export_database_metrics(engine, lambda: seconds):
        await store.ids(wanted=RoundQuery())
        assert figure("council_database_connections", state="idle") == 1
        postgres.stop()
        asking = asyncio.create_task(store.ids(wanted=RoundQuery()))
        async with asyncio.timeout(5):
            while not figure("council_database_away"):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        seconds = 7.0
        postgres.start()
        async with asyncio.timeout(10):
            await asking

        assert figure("council_database_away") == 0
        assert figure("council_database_away_seconds_total") == 7
        assert (figure("council_database_errors_total", kind="lost") or 0) >= 1
    await engine.dispose()


async def test_unmarked_messages_are_counted() -> None:
    clock, looks = Clock(), 0
    outbox = Outbox(MemoryOutbox(), clock, clock.sleep)
    with pytest.raises(ChatDownError):
        await outbox.send(FakeChat(fails=["before"]), "r1", 0, POST, HERE)
    await clock.sleep(61)

    async def unmarked() -> int:
        nonlocal looks
        looks += 1
        if looks == 1:
            raise StoreError("The database is away.")
        return await outbox.count_unmarked()

    async def sleep(_: float) -> None:
        if looks == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await metrics.watch_outbox(unmarked, sleep)

    assert figure("council_outbox_unmarked") == 1


def test_version_reconnects_and_clock_are_exported() -> None:
    before = figure("council_bus_reconnects_total") or 0

    metrics.BUILD.labels("1.2", "0013").set(1)
    metrics.RECONNECTS.inc()
    metrics.LIMITED_ALONE.set(1)

    assert figure("council_build", version="1.2", schema="0013") == 1
    assert figure("council_bus_reconnects_total") == before + 1
    assert figure("council_turns_alone") == 1
    metrics.LIMITED_ALONE.set(0)
    with metrics.export_clock_offset(lambda: 61.0):
        assert figure("council_clock_behind_seconds") == 61


async def test_every_documented_metric_exists() -> None:
    engine = open_engine("sqlite+aiosqlite://")
    page = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
    alerts = (ROOT / "deploy/alerts.yaml").read_text(encoding="utf-8")
    rules = [rule for group in yaml.safe_load(alerts)["groups"] for rule in group["rules"]]
    named = set(re.findall(r"\bcouncil_[a-z_]+\b", page + alerts)) - {"council_toml"}
    with (
        metrics.export_provider_metrics(Health),
        metrics.export_database_metrics(engine),
        metrics.export_clock_offset(float),
    ):
        shown = generate_latest().decode()
    await engine.dispose()

    assert all(rule["annotations"]["do"] for rule in rules)
    assert len(named) > 15
    known = set(re.findall(r"^# TYPE (council_\w+)", shown, re.MULTILINE))
    suffixed = {f"{name}{end}" for name in known for end in ("", "_bucket", "_sum", "_count")}
    assert named <= suffixed

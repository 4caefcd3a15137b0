"""A cluster opened on a server that may not be there yet."""

import asyncio

import pytest
from sqlalchemy import make_url

from bot.cluster.connection import build_conninfo
from bot.cluster.setup import WAITING, opened_cluster, wait_for_server
from bot.ports import Job
from council.errors import StoreError
from tests.postgres import Server

NOBODY = "postgresql+psycopg://me:secret@127.0.0.1:9/council"


async def test_two_openings_share_the_job_queue(migrated_url: str) -> None:
    async with opened_cluster(migrated_url) as one, opened_cluster(migrated_url) as other:
        await one.job_queue.enqueue(Job("rounds", "r1"))

        assert await other.job_queue.is_queued(Job("rounds", "r1"))


async def test_waiting_for_a_server_is_reported_once(migrated_url: str, postgres: Server) -> None:
    reports: list[str] = []
    await asyncio.to_thread(postgres.stop)

    waiting = asyncio.create_task(wait_for_server(migrated_url, reports.append))
    while not reports:  # noqa: ASYNC110 - nothing tells
        await asyncio.sleep(0.01)
    await asyncio.to_thread(postgres.start)
    await waiting

    assert reports == [WAITING]


async def test_a_server_that_stays_away_is_reported_without_the_password() -> None:
    with pytest.raises(StoreError, match="Can't reach the database server") as refused:
        await wait_for_server(NOBODY, lambda _: None, timeout_seconds=0)

    assert "secret" not in str(refused.value)


async def test_a_database_that_does_not_exist_is_not_waited_for(migrated_url: str) -> None:
    missing = make_url(migrated_url).set(database="nothing_here")
    reports: list[str] = []

    with pytest.raises(StoreError):
        await wait_for_server(missing.render_as_string(hide_password=False), reports.append)

    assert reports == []


def test_options_in_the_url_override_ours() -> None:
    own = build_conninfo("postgresql+psycopg://me@host/council?connect_timeout=30", "council bus")

    assert "connect_timeout=30" in own
    assert "application_name='council bus'" in own


def test_a_url_that_cannot_be_parsed_is_not_quoted() -> None:
    with pytest.raises(StoreError, match="COUNCIL_DATABASE_URL can't be read") as refused:
        build_conninfo("postgresql+psycopg://me:sec%ret@host:port:7/council", "council")

    assert "sec" not in str(refused.value)

"""Shards in a cluster: each is served by one process, and by another after a failure."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial

import pytest

from bot.context import AppContext
from bot.discord.app import Discord
from bot.discord.config import DiscordCredentials
from bot.discord.shards import Shard
from bot.ports import Job
from tests.bot.cluster_fakes import Board, processes
from tests.bot.discord.story import QUICK, custom_id_of
from tests.fakes.gateway import BlockedGateway
from tests.wire.discord import FakeDiscord, Message


@dataclass(slots=True)
class Processes:
    """Two processes that serve one Discord, with their tasks and reports."""

    board: Board
    apps: Sequence[AppContext]
    gateway: BlockedGateway
    discord: FakeDiscord
    running: list[asyncio.Task[None]] = field(default_factory=list)
    reports: list[list[str]] = field(default_factory=list)

    async def start(self, number: int) -> None:
        address = DiscordCredentials(
            self.discord.token, self.discord.api_url, self.discord.gateway_url
        )
        self.reports.append([])
        serving = Discord(self.apps[number], address, self.reports[-1].append).run()
        self.running.append(asyncio.create_task(serving))
        await self.discord.until(lambda: len(self.serve_queue()) > number, 60)

    def ready(self) -> list[int]:
        reports = enumerate(self.reports)
        return [number for number, lines in reports for line in lines if "is in" in line]

    def serve_queue(self) -> list[str]:
        return [one.queue for one in self.board.servers if one.queue == "discord gateway"]

    async def stop(self, number: int) -> None:
        """Stop one as if its process had ended."""
        self.running[number].cancel()
        with suppress(asyncio.CancelledError):
            await self.running[number]

    def roots(self, channel: str = "C1") -> list[Message]:
        return [one for one in self.discord.said_by_bot(channel) if custom_id_of(one, "answers")]

    @property
    def shards(self) -> list[object]:
        return [identify.get("shard") for identify in self.discord.gateway.identifies]


@asynccontextmanager
async def several(shards: int = 1) -> AsyncIterator[Processes]:
    gateway = BlockedGateway()
    board, apps = processes(2, gateway)
    async with FakeDiscord(replace(QUICK, shards=shards)) as discord:
        found = Processes(board, apps, gateway, discord)
        try:
            for number in range(2):
                await found.start(number)
            await discord.until(lambda: len(found.ready()) == shards, 60)
            yield found
        finally:
            gateway.goes_on.set()
            for number in range(len(found.running)):
                await found.stop(number)
            for line in await apps[0].store.list_summaries():
                await apps[0].runner.stop(line.id)


async def test_another_process_takes_over_a_shard_and_its_rounds() -> None:
    async with several() as both:
        discord = both.discord
        assert both.shards == [[0, 1]]
        (hears,) = both.ready()
        result = await discord.slash("U1", "C1", "council ask", question="Which queue?")
        await discord.until(lambda: discord.said_by_bot("C1"), 60)

        await both.stop(hears)
        await discord.until(lambda: len(both.ready()) == 2, 60)
        both.gateway.goes_on.set()
        await discord.until(both.roots, 60)

        assert result.accepted
        assert both.shards == [[0, 1], [0, 1]]
        assert len(discord.said_by_bot("C1")) == len(both.roots()) == 1
        (line,) = await both.apps[0].store.list_summaries()
        assert Job("show discord 0/1", line.id) in both.board.begun


async def test_a_round_is_delivered_by_the_shard_of_its_server() -> None:
    async with several(shards=2) as both:
        both.gateway.goes_on.set()

        for user, channel in (("U1", "C1"), ("USTRANGER", "A1")):
            await both.discord.slash(user, channel, "council ask", question="Which queue?")
            await both.discord.until(partial(both.roots, channel), 60)

        assert sorted(map(str, both.shards)) == ["[0, 2]", "[1, 2]"]
        for line in await both.apps[0].store.list_summaries():
            server = line.place.workspace
            (shard,) = [one for one in (Shard(0, 2), Shard(1, 2)) if one.serves(server)]
            assert Job(f"show discord {shard}", line.id) in both.board.begun
        (hears,) = {*both.ready()}  # who came first
        await both.stop(hears)
        await both.discord.until(lambda: len(both.ready()) == 4, 60)


async def test_a_removal_is_noticed_by_the_process_that_starts_next() -> None:
    async with several() as both:
        discord = both.discord
        both.gateway.goes_on.set()
        await discord.slash("U1", "C1", "council ask", question="Which queue?")
        await discord.until(both.roots, 60)
        (hears,) = both.ready()

        discord.gateway.forget_sessions()
        for number in (hears, 1 - hears):
            await both.stop(number)
        discord.remove_bot("G1")
        both.running.clear()
        both.reports.clear()
        await both.start(0)

        await discord.until(lambda: any("1 round deleted" in x for x in both.reports[0]), 60)
        assert await both.apps[0].store.ids() == ()


@pytest.mark.parametrize("name", ["0/7", "all"])
async def test_a_shard_of_another_count_is_not_served(name: str) -> None:
    async with several() as both:
        work = Job("discord gateway", name)

        both.board.begin(work)
        await both.discord.until(lambda: not both.board.is_queued(work))

        assert both.shards == [[0, 1]]
        assert work not in both.board.failed

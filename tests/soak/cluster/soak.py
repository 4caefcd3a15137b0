"""Soak test of a cluster: ask questions, inject faults, count the results."""

import asyncio
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, LiteralString

import psycopg

from tests.bot.homes import served_config
from tests.bot.slack.process import slack_environment
from tests.postgres import Server
from tests.soak.chats import TERMS
from tests.soak.cluster.count import Count
from tests.soak.cluster.faults import Plan, strike
from tests.soak.cluster.fleet import Fleet, Owners, homes
from tests.soak.cluster.paid_twice import repeats
from tests.soak.cluster.takeover import Heard, of_bill
from tests.soak.paid import PaidServer, number_in
from tests.soak.slack import add_channels, ask_somewhere, look_at
from tests.soak.soak import MEMBERS
from tests.wire.slack import BOT, FakeSlack, Rates, Rules

PATIENCE_SECONDS = 180.0
AGAIN_SECONDS = 0.5
DELIVERED_TWICE = 0.1  # so many events come again although they were taken in
UNTOLD: LiteralString = "SELECT count(*) FROM round WHERE NOT delivered"
ENDED = "SELECT count(*) FROM round WHERE seconds IS NOT NULL AND failure IS NULL"
RULES = Rules(retry_delays=(0.5, 1.0, 2.0), rates=Rates(off=True))


class Books:
    """Reads one database; it may be away now and then."""

    def __init__(self, url: str) -> None:
        self._url = url.replace("postgresql+psycopg://", "postgresql://")

    def rows(self, statement: LiteralString) -> list[tuple[Any, ...]]:
        with psycopg.connect(self._url, connect_timeout=5) as connection:
            return connection.execute(statement).fetchall()

    async def come_to(self, statement: LiteralString, wanted: int, seconds: float) -> bool:
        """Wait until a count is what is wanted; give False where it never is."""
        try:
            async with asyncio.timeout(seconds):
                while await self._count(statement) != wanted:  # noqa: ASYNC110 - others write it
                    await asyncio.sleep(0.2)
        except TimeoutError:
            return False
        return True

    async def _count(self, statement: LiteralString) -> int | None:
        try:
            [(count,)] = await asyncio.to_thread(self.rows, statement)
        except psycopg.OperationalError:
            return None
        return int(count)


class Crowd:
    """Asks numbered questions, each until it is taken in; Slack delivers some of them again."""

    def __init__(self, slack: FakeSlack, seed: int) -> None:
        self.again = 0
        self._slack = slack
        self._rng = random.Random(seed)

    async def ask(self, rounds: int, span_seconds: float) -> None:
        """Ask so many questions over so many seconds, and come back when all were taken in."""
        async with asyncio.TaskGroup() as group:
            for number in range(rounds):
                group.create_task(self._ask_until_taken_in(number))
                await asyncio.sleep(span_seconds / rounds)

    async def _ask_until_taken_in(self, number: int) -> None:
        event = await ask_somewhere(self._slack, self._rng, f"What now? [round {number}]")
        while not event.accepted:
            await asyncio.sleep(AGAIN_SECONDS)
            await self._slack.deliver_again(event)
        if self._rng.random() < DELIVERED_TWICE:
            await self._slack.deliver_again(event)
        self.again += len(event.acknowledgements) - 1


async def soak(folder: Path, plan: Plan, url: str, database: Server) -> Count:
    """Run a plan, its questions and its faults, on a cluster with this empty database."""
    count, owners = Count(plan.rounds), Owners()
    async with PaidServer(plan.latency, owners.of) as server, FakeSlack(rules=RULES) as slack:
        add_channels(slack)
        heard = slack.state.on_request = Heard(slack, owners)
        settings = {**slack_environment(slack, "socket"), "COUNCIL_DATABASE_URL": url}
        toml = config(server.api_base)
        fleet = Fleet(homes(folder, settings, toml, plan.processes), owners)
        crowd = Crowd(slack, seed=plan.rounds)
        async with fleet.running():
            await slack.connected(plan.processes, seconds=60)
            last = plan.span_seconds + PATIENCE_SECONDS
            async with asyncio.timeout(last), asyncio.TaskGroup() as group:
                group.create_task(crowd.ask(plan.rounds, plan.span_seconds))
                struck = group.create_task(strike(plan.blows, fleet.copies, database))
            await Books(url).come_to(UNTOLD, 0, PATIENCE_SECONDS)
        count.outages, count.again, count.exits = struck.result(), crowd.again, fleet.exits
        look_through(count, Books(url), slack)
        count.unshown = [*_unshown(slack, heard, count.began)]
        count.repeats = [*repeats(server.bill, count.outages)]
        count.calls = server.bill.total
        signs = [*heard.signs, *of_bill(server.bill)]
    count.unknown = sum(sign.by is None for sign in signs)
    count.look_at(signs)
    count.seconds = time.time() - count.began
    return count


def config(api_base: str) -> str:
    """Return the council.toml of every process; the provider's limit is no bound of this."""
    host = api_base.removeprefix("http://").removesuffix("/v1")
    limits = f'[providers."{host}"]\nconcurrency = 200\n'
    return served_config(api_base, MEMBERS, **TERMS) + limits


def _unshown(slack: FakeSlack, heard: Heard, began: float) -> Iterator[str]:
    """Yield for each message without the answer of its round which process wrote it when."""
    for channel in slack.workspace.channels.values():
        for message in channel.said:
            shown = str(message.blocks)
            number = number_in(shown)
            if number and message.user == BOT and "council:answers" not in shown:
                last = [sign for sign in heard.signs if sign.number == number][-12:]
                told = "; ".join(f"{s.at - began:.1f} s {s.what} by {s.by}" for s in last)
                yield f"round {number}, {message.edits} edits: {told}; as it stands: {shown[:300]}"


def look_through(count: Count, books: Books, slack: FakeSlack) -> None:
    ids = [str(row[0]) for row in books.rows("SELECT id FROM round")]
    [(count.ended,)] = books.rows(ENDED)
    count.told.import_round(count.asked, len(ids))
    for round_id in ids:
        look_at(slack, round_id, count.told)

"""Soak test of a cluster: ask questions, inject faults, count the results."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bot.homes import served_config
from tests.bot.slack.process import slack_environment
from tests.soak.chats import TERMS
from tests.soak.cluster.blows import Database, strike
from tests.soak.cluster.books import UNTOLD, Books
from tests.soak.cluster.count import Count
from tests.soak.cluster.crowd import Crowd, peopled
from tests.soak.cluster.fleet import Fleet, homes
from tests.soak.cluster.owners import Owners
from tests.soak.cluster.paid_twice import repeats
from tests.soak.cluster.plan import Plan
from tests.soak.cluster.signs import Heard, of_bill
from tests.soak.paid import PaidServer, number_in
from tests.soak.slack import look_at
from tests.soak.soak import MEMBERS
from tests.wire.slack import BOT, FakeSlack, Rates, Rules

PATIENCE_SECONDS = 180.0
ENDED = "SELECT count(*) FROM round WHERE seconds IS NOT NULL AND failure IS NULL"
RULES = Rules(retry_delays=(0.5, 1.0, 2.0), rates=Rates(off=True))


async def soak(folder: Path, plan: Plan, url: str, database: Database) -> Count:
    """Run a plan, its questions and its faults, on a cluster with this empty database."""
    count, owners = Count(plan.rounds), Owners()
    async with (
        PaidServer(plan.latency, owners.of) as server,
        peopled(FakeSlack(rules=RULES)) as slack,
    ):
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
    """Count the messages of every round."""
    ids = [str(row[0]) for row in books.rows("SELECT id FROM round")]
    [(count.ended,)] = books.rows(ENDED)
    count.told.import_round(count.asked, len(ids))
    for round_id in ids:
        look_at(slack, round_id, count.told)

"""Each event, delivered ten times to random processes, makes one round."""

import asyncio
import random
import time
from pathlib import Path

from tests.bot.slack.process import slack_environment
from tests.soak.chats import PEOPLE, PLACES
from tests.soak.cluster.count import Count
from tests.soak.cluster.fleet import Fleet, Owners, homes
from tests.soak.cluster.paid_twice import repeats
from tests.soak.cluster.soak import PATIENCE_SECONDS, UNTOLD, Books, config, look_through
from tests.soak.paid import PaidServer
from tests.soak.slack import add_channels
from tests.wire.slack import BOT, FakeSlack, Rates, Rules, payloads
from tests.wire.slack.deliveries import Acknowledgement, Delivery, RequestUrl

TIMES = 10
AT_ONCE = 30
LATENCY_SECONDS = 0.2
KNOWN = "SELECT count(*) FROM round"


async def deliver_often(folder: Path, events: int, processes: int, url: str) -> Count:
    """Deliver each event ten times, over all processes, in random order."""
    count, owners = Count(events), Owners()
    async with (
        PaidServer(LATENCY_SECONDS, owners.of) as server,
        FakeSlack("http", Rules(rates=Rates(off=True))) as slack,
    ):
        add_channels(slack)
        settings = {**slack_environment(slack, "http"), "COUNCIL_DATABASE_URL": url}
        fleet = Fleet(homes(folder, settings, config(server.api_base), processes), owners)
        async with fleet.running():
            await fleet.says("Slack: in ")
            balancer = _Balancer(slack, fleet, random.Random(events))
            count.again = await balancer.deliver(events) - events
            await Books(url).come_to(KNOWN, events, PATIENCE_SECONDS)
            await Books(url).come_to(UNTOLD, 0, PATIENCE_SECONDS)
        await balancer.close()
        look_through(count, Books(url), slack)
        count.repeats = [*repeats(server.bill, [])]
        count.calls, count.exits = server.bill.total, fleet.exits
    count.seconds = time.time() - count.began
    return count


class _Balancer:
    """Brings what Slack posts to any of the processes; what none took in time comes again."""

    def __init__(self, slack: FakeSlack, fleet: Fleet, rng: random.Random) -> None:
        self._slack = slack
        self._rng = rng
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._ways = [RequestUrl(slack.state) for _ in fleet.copies]
        for way, copy in zip(self._ways, fleet.copies, strict=True):
            way.address = f"{copy.address}/slack/events"

    async def close(self) -> None:
        for way in self._ways:
            await way.close()

    async def deliver(self, events: int) -> int:
        """Deliver so many events, each often, and give how many deliveries that took."""
        parcels = [self._said(number) for number in range(events)] * TIMES
        self._rng.shuffle(parcels)
        tried = await asyncio.gather(*map(self._until_taken_in, parcels))
        return sum(tried)

    async def _until_taken_in(self, parcel: Delivery) -> int:
        tried = 1
        while not (await self._once(parcel)).accepted:
            tried += 1
        return tried

    async def _once(self, parcel: Delivery) -> Acknowledgement:
        async with self._turns:
            return await self._rng.choice(self._ways).deliver(parcel)

    def _said(self, number: int) -> Delivery:
        """Post a message in a channel that the bot receives."""
        state, channel = self._slack.state, f"C9{number % PLACES}"
        text = f"<@{BOT}> What now? [round {number}]"
        message = self._slack.says(PEOPLE[number % len(PEOPLE)], channel, text)
        inner = payloads.said(state, message, state.workspace.channels[channel], "app_mention")
        return Delivery("events_api", payloads.event(state, inner))

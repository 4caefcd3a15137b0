"""Kill the product at random moments while people ask it in Slack, and count what stands there.

`KILLS=100 python -m tests.soak.slack`, or `make soak OF=slack KILLS=100`.
"""

import asyncio
import math
import random
from functools import partial

from tests.bot.homes import Home, served_config
from tests.bot.slack.process import slack_environment
from tests.ports import free_port
from tests.soak.chats import (
    BY_QUESTION,
    LONGEST_LIFE_SECONDS,
    PEOPLE,
    PLACES,
    TERMS,
    Count,
    Crowd,
    run,
    wanted_parts,
)
from tests.soak.paid import PaidServer
from tests.soak.soak import MEMBERS
from tests.wire.slack import BOT, Channel, FakeSlack, Rates, Rules
from tests.wire.slack.user_actions import Event

MARGIN_SECONDS = 0.5  # a reply is saved when its turn comes, and all rounds share one file
MOMENTS = ("chat.postMessage", "chat.update")


async def soak(
    home: Home, kills: int, at_once: int, seed: int, life: float = LONGEST_LIFE_SECONDS
) -> Count:
    """Ask questions in Slack, so many at once, with so many kills; count the answers there."""
    count, rng = Count(MARGIN_SECONDS), random.Random(seed)
    rules = Rules(retry_delays=(0.5, 1.0, 2.0), rates=Rates(off=True))
    async with PaidServer(latency=0.08) as server, FakeSlack(rules=rules) as slack:
        add_channels(slack)
        settings = {**slack_environment(slack, "socket"), "COUNCIL_PORT": str(free_port())}
        home = home.with_settings(**settings)
        home.with_config(served_config(server.api_base, MEMBERS, **TERMS))
        await _Crowd(home, slack, rng).soak(at_once, kills, life, MOMENTS, count)
        count.ages = server.bill.again(count.kills)
        count.calls = server.bill.total
    return count


def add_channels(slack: FakeSlack) -> None:
    for number in range(PLACES):
        channel = Channel(f"C9{number}", f"r{number}", members={BOT, *PEOPLE})
        slack.workspace.add_channel(channel)


async def ask_somewhere(slack: FakeSlack, rng: random.Random, text: str) -> Event:
    """Ask as anyone, in a channel or in a direct message."""
    user = rng.choice(PEOPLE)
    if rng.random() < 0.5:
        return await slack.direct_message(user, text)
    return await slack.mention(user, f"C9{rng.randrange(PLACES)}", f"<@{BOT}> {text}")


class _Crowd(Crowd):
    """People who ask numbered questions, in channels and alone with the bot."""

    def __init__(self, home: Home, slack: FakeSlack, rng: random.Random) -> None:
        super().__init__(home, slack, rng)
        self._slack = slack

    async def ask_until_told(self, text: str) -> None:
        event = await ask_somewhere(self._slack, self._rng, text)
        while not event.accepted:
            await asyncio.sleep(0.1)
            await self._slack.deliver_again(event)
        # As long as it takes: the product may be killed a hundred times meanwhile.
        await self._slack.until(partial(self._told, text), math.inf)

    def _told(self, text: str) -> bool:
        """Return whether an answer to the question stands; its button names the round."""
        ids = [id_ for (id_,) in self._home.sql(BY_QUESTION, text)]
        return bool(ids) and any(
            ids[0] in str(message.blocks) and "council:answers" in str(message.blocks)
            for channel in self._slack.workspace.channels.values()
            for message in reversed(channel.said)
        )

    def disconnect(self) -> None:
        self._slack.links.cut()

    def look_at(self, round_id: str, place: str, count: Count) -> None:
        look_at(self._slack, round_id, count)


def look_at(slack: FakeSlack, round_id: str, count: Count) -> None:
    parts: list[str] = []
    has_thread = True
    for channel in slack.workspace.channels.values():
        for message in channel.said:
            key = str(((message.metadata or {}).get("event_payload") or {}).get("key", ""))
            start, _, part = key.rpartition("/")
            if start.endswith(f"/{round_id}"):
                parts.append(part)
                has_thread = has_thread and not (part == "0" and message.thread_ts)
                count.answers += part == "0" and "council:answers" in str(message.blocks)
    count.look_at(parts, wanted_parts(parts, has_thread=has_thread))


if __name__ == "__main__":
    run(soak)

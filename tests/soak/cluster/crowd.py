"""Load generator: people who ask a cluster in Slack, evenly over time."""

import asyncio
import random

from tests.soak.chats import PEOPLE, PLACES
from tests.wire.slack import BOT, Channel, FakeSlack
from tests.wire.slack.acting import Event

AGAIN_SECONDS = 0.5
DELIVERED_TWICE = 0.1  # so many events come again although they were taken in


def peopled(slack: FakeSlack) -> FakeSlack:
    """Return a Slack with channels for a crowd."""
    for number in range(PLACES):
        members = {BOT, *PEOPLE}
        slack.workspace.add_channel(Channel(f"C9{number}", f"r{number}", members=members))
    return slack


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
        event = await self._say(f"What now? [round {number}]")
        while not event.accepted:
            await asyncio.sleep(AGAIN_SECONDS)
            await self._slack.deliver_again(event)
        if self._rng.random() < DELIVERED_TWICE:
            await self._slack.deliver_again(event)
        self.again += len(event.acknowledgements) - 1

    async def _say(self, text: str) -> Event:
        user = self._rng.choice(PEOPLE)
        if self._rng.random() < 0.5:
            return await self._slack.direct_message(user, text)
        place = f"C9{self._rng.randrange(PLACES)}"
        return await self._slack.mention(user, place, f"<@{BOT}> {text}")

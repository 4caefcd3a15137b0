"""What one process of a cluster has heard from Slack, and every other has to know."""

import asyncio

from bot.ports import Bus
from bot.slack.people import People

CHANGED, GONE = "slack channel", "slack gone"  # a channel is another now, the app was uninstalled


async def forget_changed(bus: Bus, people: People) -> None:
    """Ask Slack again about channels that have changed, until cancelled."""
    with bus.heard(CHANGED) as changed:
        while True:
            if channel := await changed.get():
                people.forget(channel)
            else:
                people.forget_channels()


async def hear_gone(bus: Bus, gone: asyncio.Event) -> None:
    """Wait until some process hears that the app was uninstalled."""
    with bus.heard(GONE) as told:
        while not await told.get():
            pass
    gone.set()

"""The client, apart from any Discord."""

from pathlib import Path

from tests.bot.desks import an_app
from tests.bot.discord.simulator import client_of


async def test_an_event_that_is_told_after_its_end_is_not_heard(tmp_path: Path) -> None:
    # The library says that it is ready some time after the last guild, whatever happened meanwhile.
    async with client_of(an_app(), tmp_path, []) as client:
        pass

    client.dispatch("ready")

    assert client.is_closed()

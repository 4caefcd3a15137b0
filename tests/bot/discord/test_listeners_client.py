"""The client without a connection."""

from pathlib import Path

from tests.bot.app_fakes import an_app
from tests.bot.discord.simulator import make_client


async def test_an_event_after_closing_is_not_dispatched(tmp_path: Path) -> None:
    # The library says that it is ready some time after the last guild, whatever happened meanwhile.
    async with make_client(an_app(), tmp_path, []) as client:
        pass

    client.dispatch("ready")

    assert client.is_closed()

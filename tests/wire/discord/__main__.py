"""Run the fake Discord alone; print its address, then every request."""

import argparse
import asyncio
import json
import sys

from tests.wire.discord.driver import FakeDiscord


def _print(line: object) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


async def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.wire.discord")
    parser.add_argument("--port", type=int, default=0)
    wanted = parser.parse_args()
    async with FakeDiscord(port=wanted.port) as discord:
        told = {"api": discord.api_url, "gateway": discord.gateway_url, "token": discord.token}
        _print(told)
        seen = 0
        while True:
            await asyncio.sleep(0.1)
            for call in discord.calls[seen:]:
                _print({f"{call.method} {call.path}": call.body, "outcome": call.outcome})
            seen = len(discord.calls)


asyncio.run(main())

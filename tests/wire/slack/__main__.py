"""The fake Slack alone, to look at by hand: it prints where it listens, then every call it gets."""

import argparse
import asyncio
import json
import sys

from tests.wire.slack.driver import FakeSlack


def _print(line: object) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


async def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.wire.slack")
    parser.add_argument("--port", type=int, default=0)
    wanted = parser.parse_args()
    async with FakeSlack(port=wanted.port) as slack:
        app = slack.state.app
        _print({"api": slack.api_url, "bot_token": app.bot_token, "app_token": app.app_token})
        told = 0
        while True:
            await asyncio.sleep(0.1)
            for call in slack.calls[told:]:
                _print({call.method: call.arguments, "outcome": call.outcome})
            told = len(slack.calls)


asyncio.run(main())

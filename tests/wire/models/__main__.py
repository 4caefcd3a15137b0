"""The model server as a process of its own; ends when stdin closes."""

import argparse
import asyncio
import json
import sys

from tests.wire.models.server import ModelServer


async def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.wire.models")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each reply")
    async with ModelServer(latency=parser.parse_args().latency) as server:
        sys.stdout.write(json.dumps({"api_base": server.api_base}) + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


asyncio.run(main())

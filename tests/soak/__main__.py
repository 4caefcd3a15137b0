"""`make soak KILLS=200 ROUNDS=400`: kill -9 at random moments, one round at a time.

METHOD=grading runs them by another method."""

import asyncio
import logging
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bot.homes import Home
from tests.ports import free_port
from tests.soak.soak import soak


def main() -> None:
    """Run a soak, print its table, and fail where anything was lost or paid twice."""
    # A client that was killed in the middle of a reply is what this is about.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    kills, rounds = (int(os.environ.get(name, default)) for name, default in WANTED)
    with TemporaryDirectory(prefix="council-soak-") as folder:
        home = Home(Path(folder), {"COUNCIL_PORT": str(free_port())})
        at_once = int(os.environ.get("AT_ONCE", "1"))
        method = os.environ.get("METHOD", "blind-ranking")
        count = asyncio.run(soak(home, kills, rounds, at_once=at_once, method=method))
    sys.stdout.write(f"{count}\n")
    shown = count.answers_shown == count.verified == count.rounds
    sys.exit(bool(count.unfinished or count.repaid or not shown))


WANTED = (("KILLS", "200"), ("ROUNDS", "400"))

if __name__ == "__main__":
    main()

"""Slack under load: how soon commands are acknowledged with many rounds, and what a storm does.

The product runs as it is beside a fake Slack that keeps Slack's own rates; models are scripted.
"""

import argparse
import asyncio
import logging
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tests.bot.homes import served_config
from tests.bot.slack.process import RunningProduct, serve_slack
from tests.wire.models import ModelServer
from tests.wire.slack import BOT, Call, Channel, FakeSlack, Message, User, UserAction

MEMBERS = ("a", "b", "c", "d")
PARTS = 1 + 2 + len(MEMBERS)  # a root, two tables, each member's answer; the file has no key
PLACES, PEOPLE = 10, 25
MORE_COMMANDS, PAUSE_SECONDS = 200, 0.05
LONGEST_SECONDS = 600.0


def crowded_slack() -> FakeSlack:
    """Return a Slack workspace with enough channels and people for a crowd."""
    slack = FakeSlack()
    people = [slack.workspace.add_user(User(f"U9{n}", f"person{n}")).id for n in range(PEOPLE)]
    for number in range(PLACES):
        slack.workspace.add_channel(Channel(f"C9{number}", f"r{number}", members={BOT, *people}))
    return slack


async def ask(slack: FakeSlack, number: int, words: str) -> UserAction:
    user, channel = f"U9{number % PEOPLE}", f"C9{number % PLACES}"
    return await slack.command(user, channel, "/council", words)


def root_messages(slack: FakeSlack) -> list[Message]:
    return [m for n in range(PLACES) for m in slack.messages(f"C9{n}") if m.user == BOT]


def answered_messages(slack: FakeSlack) -> list[Message]:
    return [message for message in root_messages(slack) if "council:answers" in str(message.blocks)]


async def wait_until_delivered(bot: RunningProduct) -> None:
    untold = "SELECT 1 FROM round WHERE NOT delivered"
    await bot.slack.until(lambda: not bot.home.sql(untold), LONGEST_SECONDS)


async def crowd(bot: RunningProduct, rounds: int) -> None:
    """Run many rounds while commands arrive."""
    slack = bot.slack
    await ask(slack, 0, "Is it warm?")
    await slack.until(lambda: answered_messages(slack), LONGEST_SECONDS)
    began = time.monotonic()
    asked = await asyncio.gather(*(ask(slack, n, f"What now? [{n}]") for n in range(rounds)))
    await slack.until(lambda: len(root_messages(slack)) > rounds, LONGEST_SECONDS)
    more = []
    for number in range(MORE_COMMANDS):
        more.append(asyncio.create_task(ask(slack, number, ("help", "rounds")[number % 2])))
        await asyncio.sleep(PAUSE_SECONDS)
    others = await asyncio.gather(*more)
    running = 1 + rounds - len(answered_messages(slack))
    await slack.until(lambda: len(answered_messages(slack)) > rounds, LONGEST_SECONDS)
    answers = time.monotonic() - began
    await wait_until_delivered(bot)
    print(f"{rounds} rounds of {len(MEMBERS)} members at once, in {PLACES} channels")
    show_times(f"acknowledged: {rounds} questions at once", asked)
    show_times(f"acknowledged: {len(others)} commands beside them", others)
    print(f"rounds still running after these commands         {running:>8}")
    print(f"all answers shown after                           {answers:>8.1f} s")
    print(f"all threads told after                            {time.monotonic() - began:>8.1f} s")
    sights = [call for call in slack.called("chat.update") if is_progress(call)]
    print(f"sights of progress, most in a minute              {most_in_a_minute(sights):>8}")
    limited = sum(call.outcome == "ratelimited" for call in slack.calls)
    print(f"calls that Slack put off                          {limited:>8}")
    show_messages(slack, rounds + 1)


async def storm(bot: RunningProduct, rounds: int, seconds: float) -> None:
    """Make Slack refuse all calls for a minute."""
    slack = bot.slack
    before = len(slack.calls)
    held = len(root_messages(slack))
    await asyncio.gather(*(ask(slack, n, f"And now? [{n}]") for n in range(rounds)))
    await slack.until(lambda: len(root_messages(slack)) >= held + rounds, LONGEST_SECONDS)
    slack.storm("*", seconds)
    began = time.monotonic()
    await slack.until(lambda: len(answered_messages(slack)) >= held + rounds, LONGEST_SECONDS)
    answers = time.monotonic() - began
    await wait_until_delivered(bot)
    limited = sum(call.outcome == "ratelimited" for call in slack.calls[before:])
    print(f"\n{rounds} rounds, and {seconds:g} s in which every call is answered 429")
    print(f"all answers shown, since the storm began          {answers:>8.1f} s")
    print(f"all threads told                                  {time.monotonic() - began:>8.1f} s")
    print(f"calls that Slack put off                          {limited:>8}")
    show_messages(slack, held + rounds)


def show_times(what: str, actions: list[UserAction]) -> None:
    took = sorted(1000 * deed.seconds for deed in actions)
    late = sum(not deed.accepted for deed in actions)
    tail = took[min(len(took) - 1, int(len(took) * 0.99))]
    words = f"median {median(took):.0f}, 99 % {tail:.0f}, longest {took[-1]:.0f} ms"
    print(f"{what:<50}{words}; too late: {late}")


def show_messages(slack: FakeSlack, rounds: int) -> None:
    """Return the number of messages, and whether each is there once and in order."""
    twice = disorder = count = 0
    for root in root_messages(slack):
        thread = [m for m in slack.thread(root.channel, root.ts) if m.user == BOT]
        parts = [part_of(message) for message in (root, *thread)]
        count += len(parts)
        twice += len(parts) - len(set(parts))
        disorder += parts != [*(str(n) for n in range(PARTS)), "file"]
    wanted = rounds * (PARTS + 1)
    print(f"messages {count} of {wanted}, twice {twice}, threads not whole or in order {disorder}")


def part_of(message: Message) -> str:
    if message.payload.get("files"):
        return "file"
    payload = (message.metadata or {}).get("event_payload") or {}
    return str(payload.get("key", "")).rpartition("/")[2]


def is_progress(call: Call) -> bool:
    return "council:cancel" in str(call.value("blocks"))


def most_in_a_minute(calls: list[Call]) -> int:
    at = [call.at for call in calls]
    return max((sum(start <= t < start + 60 for t in at) for start in at), default=0)


async def run(wanted: argparse.Namespace, folder: Path) -> None:
    terms = {"chairman": ["openai/a"], "audit_share": 0.0}
    async with ModelServer(latency=wanted.latency) as server, crowded_slack() as slack:
        config = served_config(server.api_base, MEMBERS, **terms)
        async with serve_slack(folder, slack, config=config) as bot:
            await crowd(bot, wanted.rounds)
            await storm(bot, wanted.storm_rounds, wanted.storm)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.slack_crowd", description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--latency", type=float, default=2.0, help="seconds a model call takes")
    parser.add_argument("--storm", type=float, default=60.0, help="seconds of the storm")
    parser.add_argument("--storm-rounds", type=int, default=10)
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    with TemporaryDirectory(prefix="council-slack-") as folder:
        asyncio.run(run(parser.parse_args(), Path(folder)))


if __name__ == "__main__":
    main()

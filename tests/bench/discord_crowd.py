"""Discord under load: how soon interactions are answered, and whether progress delays an answer.

The product runs as it is beside a fake Discord that keeps Discord's own rates; models are scripted.
An answer exists when its chairman has replied. What of its delay is due to progress is what goes
beyond the moment at which these answers alone could have been edited in, at the same rates.
"""

import argparse
import asyncio
import logging
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tests.bot.discord.process import ProcessBot, run_process
from tests.bot.discord.story import custom_id_of
from tests.bot.homes import served_config
from tests.soak.chats import TERMS, UNTOLD
from tests.soak.paid import PaidServer
from tests.wire.discord import ActionResult, Call, FakeDiscord, Member, Message, World
from tests.wire.discord.rates import Limiter, Rates
from tests.wire.discord.sample_world import add_channel, add_user, sample_world
from tests.wire.looking import until

MEMBERS = ("a", "b", "c", "d")
CHAIR = "a"
PEOPLE = 25
MORE, PAUSE_SECONDS = 200, 0.05
LONGEST_SECONDS, LOOK_SECONDS = 600.0, 0.2
EDITS = "PATCH /channels/*/messages/*"
ROUTE = "/channels/{channel_id}/messages/{message_id}"
_NUMBER = re.compile(r"\[round (\d+)\]")


@dataclass(frozen=True, slots=True)
class Shown:
    """An answer on its way: where it goes, when it existed, and when it was there."""

    channel: str
    existed: float
    arrived: float


def crowded_discord(places: int) -> World:
    """Return a Discord server with enough channels and people for a crowd."""
    world = sample_world()
    home = world.guild("G1")
    for number in range(PEOPLE):
        person = add_user(world, f"P{number}", f"person{number}")
        home.members[person.id] = Member(person)
    for number in range(places):
        add_channel(world, home, f"R{number}", f"r{number}")
    return world


def place_of(number: int, places: int) -> str:
    return f"R{number % places}"


async def ask(discord: FakeDiscord, number: int, places: int) -> ActionResult:
    user, question = f"P{number % PEOPLE}", f"What now? [round {number}]"
    place = place_of(number, places)
    return await discord.slash(user, place, "council ask", question=question)


async def wait_until(condition: Callable[[], object]) -> None:
    """Poll rarely, because polling takes the time that is measured."""
    await until(condition, LONGEST_SECONDS, list, LOOK_SECONDS)


async def act(discord: FakeDiscord, number: int, root: Message, places: int) -> ActionResult:
    """Do something small beside the rounds: a command, or a press of a button."""
    user, place = f"P{number % PEOPLE}", place_of(number, places)
    match number % 3:
        case 0:
            return await discord.slash(user, place, "council help")
        case 1:
            return await discord.slash(user, place, "council rounds", number=10)
    return await discord.click(root, custom_id_of(root, "answers"), user)


def root_messages(discord: FakeDiscord, places: int) -> list[Message]:
    return [m for n in range(places) for m in discord.said_by_bot(f"R{n}")]


def answered_messages(discord: FakeDiscord, places: int) -> list[Message]:
    return [
        message for message in root_messages(discord, places) if custom_id_of(message, "answers")
    ]


async def crowd(bot: ProcessBot, server: PaidServer, rounds: int, places: int) -> None:
    """Run many rounds and other commands at the same time."""
    discord = bot.discord
    await ask(discord, 0, places)
    await wait_until(lambda: answered_messages(discord, places))
    (warm,) = answered_messages(discord, places)
    began = time.monotonic()
    numbers = range(1, rounds + 1)
    asked = await asyncio.gather(*(ask(discord, number, places) for number in numbers))
    await wait_until(lambda: len(root_messages(discord, places)) > rounds)
    more = []
    for number in range(MORE):
        more.append(asyncio.create_task(act(discord, number, warm, places)))
        await asyncio.sleep(PAUSE_SECONDS)
    others = await asyncio.gather(*more)
    running = 1 + rounds - len(answered_messages(discord, places))
    await wait_until(lambda: len(answered_messages(discord, places)) > rounds)
    answers = time.monotonic() - began
    await wait_until(lambda: not bot.home.sql(UNTOLD))
    print(f"{rounds} rounds of {len(MEMBERS)} members at once, in {places} channels")
    show_times(f"first response: {rounds} questions at once", asked)
    show_times(f"first response: {MORE} commands and presses beside them", others)
    print(f"rounds still running after these                  {running:>8}")
    print(f"all answers shown after                           {answers:>8.1f} s")
    print(f"all threads told after                            {time.monotonic() - began:>8.1f} s")
    show_answers(list(shown_answers(discord, server)))
    sights = [call for call in edits(discord) if "council:cancel" in text_of(call)]
    print(f"sights of progress                                {len(sights):>8}")
    limited = sum(call.status == 429 for call in discord.calls)
    print(f"calls that Discord put off                        {limited:>8}\n")


def edits(discord: FakeDiscord) -> list[Call]:
    return [call for call in discord.called(EDITS) if call.status == 200]


def text_of(call: Call) -> str:
    return str(call.payload).replace("\\", "")


def shown_answers(discord: FakeDiscord, server: PaidServer) -> Iterable[Shown]:
    """Return each answer that was edited in, except the first, which warms up."""
    seen = {0}
    for call in edits(discord):
        number = _NUMBER.search(text_of(call))
        if not number or "council:answers" not in text_of(call) or int(number[1]) in seen:
            continue
        seen.add(int(number[1]))
        *_, replied = server.bill.calls[number[1], "synthesis", CHAIR]
        yield Shown(call.names["channel_id"], replied.answered or 0.0, call.at)


def times_without_progress(answers: Sequence[Shown]) -> list[float]:
    """Return when each answer could have been edited in without progress edits."""
    limiter = Limiter(Rates(everywhere=(10**9, 1.0)))
    moments, free = list[float](), defaultdict[str, float](float)
    for answer in sorted(answers, key=lambda answer: answer.arrived):
        moment = max(answer.existed, free[answer.channel])
        while wait_until := limiter.judge(_edit_in(answer.channel), moment).wait:
            moment += wait_until
        free[answer.channel] = moment
        moments.append(moment)
    return moments


def _edit_in(channel: str) -> Call:
    return Call("PATCH", "", 0.0, ROUTE, {"channel_id": channel})


def show_answers(answers: Sequence[Shown]) -> None:
    ordered = sorted(answers, key=lambda answer: answer.arrived)
    show("answer there after its chairman's reply", [a.arrived - a.existed for a in ordered])
    late = [
        a.arrived - moment
        for a, moment in zip(ordered, times_without_progress(answers), strict=True)
    ]
    show("of that beyond what answers alone would take", late)


def show_times(what: str, results: Sequence[ActionResult]) -> None:
    late = sum(not deed.accepted for deed in results)
    show(what, [deed.seconds for deed in results], f"; too late: {late}")


def show(what: str, seconds: Iterable[float], more: str = "") -> None:
    took = sorted(1000 * one for one in seconds)
    tail = took[min(len(took) - 1, int(len(took) * 0.99))]
    line = f"median {median(took):.0f}, 99 % {tail:.0f}, longest {took[-1]:.0f} ms"
    print(f"{what:<58}{line}{more}")


async def run(rounds: int, places: int, latency: float) -> None:
    with TemporaryDirectory(prefix="council-discord-") as folder:
        async with (
            PaidServer(latency) as server,
            FakeDiscord(world=crowded_discord(places)) as discord,
        ):
            config = served_config(server.api_base, MEMBERS, **TERMS)
            async with run_process(Path(folder), discord, config) as bot:
                await crowd(bot, server, rounds, places)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.discord_crowd", description=__doc__
    )
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--latency", type=float, default=2.0, help="seconds a model call takes")
    wanted = parser.parse_args()
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    for places in (wanted.rounds, 10):
        asyncio.run(run(wanted.rounds, places, wanted.latency))


if __name__ == "__main__":
    main()

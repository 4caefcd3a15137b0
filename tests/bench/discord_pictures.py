"""The pictures of a round in Discord: what the renderer makes, drawn by simcord's preview.

Needs Debian's chromium; Discord's own client may look a little different.
"""

import asyncio
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import discord
import simcord
from playwright.async_api import BrowserType

from bot.chat import Post
from bot.discord.actions import page_post
from bot.discord.components import build_view, fits_discord, render_components
from bot.render.pagination import paginate
from bot.render.round_report.thread import held_post
from bot.render.round_status import add_asker, running_post
from bot.render.voting import VOTE, voting_posts
from council.answers import Call, Reply
from council.round_rules import compute_tally
from council.rounds import Round
from council.tally.chance import DEFAULT_RULE
from tests.bench.ours import QUESTION
from tests.bench.queue_words import ANSWERS, REASONS, SEATS, chair_reply
from tests.bot.rounds import held, round_thread
from tests.builders import a_member, a_panel, a_question
from tests.fakes.gateway import FakeGateway, ReadPrompt

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
WIDE, PHONE, VOTE_SIZE, HELD_SIZE = (960, 1360), (400, 2000), (960, 1100), (400, 1100)
TERMS = "Sent only to OpenAI, Anthropic, Google and Mistral AI. At most $0.12."
NOBODY = discord.AllowedMentions.none()


def vote_of(seat: str) -> Callable[[ReadPrompt], str]:
    """Rank as this seat does in all pictures."""

    def vote(shown: ReadPrompt) -> str:
        letters = letters_of(shown)
        order, reason = REASONS[seat]
        return shown.ballot(" ".join(letters[a] for a in order), reason.format(**letters))

    return vote


def letters_of(shown: ReadPrompt) -> dict[str, str]:
    """Return the label of each answer by its author."""
    by_text = {text[:40]: author for author, text in ANSWERS.items()}
    return {by_text[text[:40]]: letter for letter, text in shown.texts.items()}


def synthesis(shown: ReadPrompt) -> str:
    """Write as the chairman does in all pictures."""
    return chair_reply(letters_of(shown))


class Priced(FakeGateway):
    """Takes money for every reply."""

    async def complete(self, call: Call) -> Reply:
        reply = await super().complete(call)
        return reply if reply.cost_usd else replace(reply, seconds=1.4, cost_usd=0.003)


async def the_round() -> Round:
    """Return the round that all pictures show."""
    members = tuple(
        replace(a_member(seat), display=name, family=family)
        for seat, (name, family) in SEATS.items()
    )
    told = {
        seat: Reply(ANSWERS[seat], seconds=4.1 + nth, cost_usd=0.012 - 0.002 * nth)
        for nth, seat in enumerate(SEATS)
    }
    gateway = Priced(
        answers=told,
        judges={seat: vote_of(seat) for seat in SEATS},
        chairmen=dict.fromkeys(SEATS, synthesis),
    )
    panel = replace(a_panel(), members=members)
    round_ = await held(gateway, panel, a_question(QUESTION))
    assert round_.draw
    # Counted as rounds are counted today.
    today = replace(round_, versions=(*DEFAULT_RULE.versions.items(),))
    return replace(today, tally=compute_tally(today, round_.draw))


def launched_as_here() -> None:
    """Make simcord start the installed chromium instead of downloading one."""
    found = shutil.which("chromium")
    if not found:
        raise SystemExit("There is no chromium here: apt-get install chromium.")
    launch = BrowserType.launch

    async def here(browser: BrowserType, **more: Any) -> Any:  # noqa: ANN401
        return await launch(browser, executable_path=found, args=["--no-sandbox"], **more)

    BrowserType.launch = here  # type: ignore[method-assign, assignment]  # simcord has no setting


async def main() -> None:
    launched_as_here()
    round_ = await the_round()
    thread = round_thread(round_)
    root = add_asker(thread.root, round_, "Ada")
    client = discord.Client(intents=discord.Intents(guilds=True))
    async with simcord.run(client) as env:
        if client.user:
            await client.user.edit(username="Council")
        guild = env.create_guild()
        channel, ada = (
            guild.create_text_channel("backend"),
            guild.add_member(env.create_user("Ada")),
        )
        room = client.get_channel(channel.id)
        assert isinstance(room, discord.TextChannel)
        for post in (root, *thread.replies[:2]):
            await said(room, post)
        async with env.preview(channel, viewers=[ada], layout="channel") as preview:
            for name, size in (("round", WIDE), ("phone", PHONE)):
                path = PICTURES / f"discord-{name}.png"
                await preview.screenshot(path, mode="viewport", viewport=size, viewer=ada)
                print(f"{path.name}: {path.stat().st_size // 1000} KB")
        await the_vote(client, env, round_)
        await the_held_reveal(client, env, round_)


async def the_vote(client: discord.Client, env: simcord.Env, round_: Round) -> None:
    """Picture the answers to choose from while the judges vote."""
    guild = env.create_guild()
    channel, ada = guild.create_text_channel("vote"), guild.add_member(env.create_user("Ada"))
    room = client.get_channel(channel.id)
    assert isinstance(room, discord.TextChannel)
    running = replace(round_, tally=None, synthesis=None, closing=None)
    page = page_post(voting_posts(running), VOTE, running.id)
    for post in (running_post(running, 12.0, terms=TERMS), page):
        await said(room, post)
    async with env.preview(channel, viewers=[ada], layout="channel") as preview:
        path = PICTURES / "discord-vote.png"
        await preview.screenshot(path, mode="viewport", viewport=VOTE_SIZE, viewer=ada)
        print(f"{path.name}: {path.stat().st_size // 1000} KB")


async def the_held_reveal(client: discord.Client, env: simcord.Env, round_: Round) -> None:
    """Picture an answer whose authors are not shown yet."""
    guild = env.create_guild()
    channel, ada = guild.create_text_channel("held"), guild.add_member(env.create_user("Ada"))
    room = client.get_channel(channel.id)
    assert isinstance(room, discord.TextChannel)
    await said(room, held_post(round_, datetime.now(UTC) + timedelta(minutes=10)))
    async with env.preview(channel, viewers=[ada], layout="channel") as preview:
        path = PICTURES / "discord-held.png"
        await preview.screenshot(path, mode="viewport", viewport=HELD_SIZE, viewer=ada)
        print(f"{path.name}: {path.stat().st_size // 1000} KB")


async def said(room: discord.TextChannel, post: Post) -> None:
    """Send the pages of a post."""
    for page in paginate(post, fits_discord):
        await room.send(view=build_view(render_components(page)), allowed_mentions=NOBODY)


if __name__ == "__main__":
    asyncio.run(main())

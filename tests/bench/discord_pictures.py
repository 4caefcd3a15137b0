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
from discord import app_commands
from discord.ext.commands import Bot
from playwright.async_api import BrowserType

from bot.chat import Asker, IncomingMessage, Post
from bot.commands.ask_form import AskPlace, new_ask_form
from bot.commands.forms import Form
from bot.commands.help import welcome_post
from bot.commands.settings import FORMS, WHO, settings_parts
from bot.commands.thread_context import consent_post
from bot.context import AppContext
from bot.discord.actions import page_post
from bot.discord.components import build_view, fits_discord, render_components
from bot.discord.modals import form_modal
from bot.render.formatting import add_note
from bot.render.pagination import paginate
from bot.render.round_report.thread import held_post
from bot.render.round_status import add_asker, reading_line, running_post
from bot.render.voting import VOTE, voting_posts
from council.answers import Call, Reply
from council.people import ThreadReading
from council.places import Place
from council.round_rules import compute_tally
from council.rounds import Round
from council.tally.chance_rule import DEFAULT_RULE
from tests.bench.bakeoff_post import bakeoff_post
from tests.bench.ours import QUESTION
from tests.bench.queue_words import ANSWERS, REASONS, SEATS, chair_reply
from tests.bot.app_fakes import an_app
from tests.bot.rounds import held, round_thread
from tests.builders import a_member, a_panel, a_question
from tests.fakes.gateway import FakeGateway, ReadPrompt

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
WIDE, PHONE, VOTE_SIZE, HELD_SIZE = (960, 1360), (400, 2000), (960, 760), (400, 900)
SMALL, FORM_SIZE = (640, 450), (640, 900)
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
    client = Bot("/", intents=discord.Intents(guilds=True))
    add_form(client.tree, round_)
    add_settings_form(client.tree, await settings_form(round_))
    async with simcord.run(client, strict_sync=False) as env:
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
        await one_post(client, env, "held", held_post(round_, in_ten_minutes()), HELD_SIZE)
        await one_post(client, env, "consent", consent_post(round_.panel), SMALL)
        read = ThreadReading(14, left_out=3)
        answer = add_note(root, reading_line(read))
        await one_post(client, env, "read", answer, HELD_SIZE)
        await one_post(client, env, "first", welcome_post(is_direct=False), SMALL)
        await one_post(client, env, "bakeoff-post", bakeoff_post(), SMALL)
        await one_post(client, env, "settings", await settings_post(round_), SMALL)
        await the_form(env, "council", "ask")
        await the_form(env, "settings", "settings-form")


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


def in_ten_minutes() -> datetime:
    return datetime.now(UTC) + timedelta(minutes=10)


async def one_post(
    client: discord.Client, env: simcord.Env, name: str, post: Post, size: tuple[int, int]
) -> None:
    """Picture one post in a channel of its own."""
    guild = env.create_guild()
    channel, ada = guild.create_text_channel(name), guild.add_member(env.create_user("Ada"))
    room = client.get_channel(channel.id)
    assert isinstance(room, discord.TextChannel)
    await said(room, post)
    async with env.preview(channel, viewers=[ada], layout="channel") as preview:
        path = PICTURES / f"discord-{name}.png"
        await preview.screenshot(path, mode="viewport", viewport=size, viewer=ada)
        print(f"{path.name}: {path.stat().st_size // 1000} KB")


def add_form(tree: app_commands.CommandTree[Any], round_: Round) -> None:
    """Add a command that opens the form to ask in."""
    message = IncomingMessage(QUESTION, Asker("U1", "Ada"), round_.question.place, "k")
    at = AskPlace("Everybody in this channel", has_private_answers=True)
    form = new_ask_form(message, at, {round_.panel.name: round_.panel}, {})

    @tree.command(name="council", description="Ask")
    async def ask(interaction: discord.Interaction[Any]) -> None:
        await interaction.response.send_modal(form_modal(form, "ask", "0"))


def settings_app(round_: Round) -> tuple[AppContext, IncomingMessage]:
    """Return an app with the panel of a round, and the message of an admin of a server."""
    app = an_app(panels=[replace(round_.panel, name="house")])
    ada = Asker("1", "Ada", roles=(), is_admin=True)
    return app, IncomingMessage("", ada, Place("discord", "1", "2"), "k")


async def settings_post(round_: Round) -> Post:
    """Return what an admin sees of the settings."""
    app, message = settings_app(round_)
    return Post(tuple(await settings_parts(app, message)), "Settings")


async def settings_form(round_: Round) -> Form:
    """Return the form of who may ask."""
    app, message = settings_app(round_)
    return await FORMS[WHO].open(app, message, "open")


def add_settings_form(tree: app_commands.CommandTree[Any], form: Form) -> None:
    """Add a command that opens a form of settings."""

    @tree.command(name="settings", description="Settings")
    async def settings(interaction: discord.Interaction[Any]) -> None:
        await interaction.response.send_modal(form_modal(form, WHO, "open"))


async def the_form(env: simcord.Env, command: str, name: str) -> None:
    """Picture the form that a command opens."""
    guild = env.create_guild()
    channel, ada = guild.create_text_channel("form"), guild.add_member(env.create_user("Ada"))
    opened = await ada.slash(channel, command)
    async with env.preview(channel, viewers=[ada], layout="channel") as preview:
        await preview.show(opened)
        path = PICTURES / f"discord-{name}.png"
        await preview.screenshot(path, target=opened, viewport=FORM_SIZE, viewer=ada)
        print(f"{path.name}: {path.stat().st_size // 1000} KB")


async def said(room: discord.TextChannel, post: Post) -> None:
    """Send the pages of a post."""
    for page in paginate(post, fits_discord):
        await room.send(view=build_view(render_components(page)), allowed_mentions=NOBODY)


if __name__ == "__main__":
    asyncio.run(main())

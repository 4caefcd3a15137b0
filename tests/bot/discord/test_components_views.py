"""Views sent by discord.py: the payload arrives as rendered, and none is refused."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import discord
import simcord

from bot.chat import File, Line, Post
from bot.discord.components import build_files, build_view, fits_discord, render_components
from bot.render.pagination import paginate
from bot.render.round_report import round_thread
from tests.bot.discord.limits import texts
from tests.bot.rounds import answers, held
from tests.fakes.gateway import FakeGateway

NOBODY = discord.AllowedMentions.none()


@asynccontextmanager
async def open_channel() -> AsyncIterator[discord.TextChannel]:
    """Return a channel as a bot sees it."""
    client = discord.Client(intents=discord.Intents(guilds=True))
    async with simcord.run(client) as env:
        channel = env.create_guild().create_text_channel("general")
        seen = client.get_channel(channel.id)
        assert isinstance(seen, discord.TextChannel)
        yield seen


async def test_every_page_of_a_closed_round_arrives_as_rendered() -> None:
    long = "# Why\n\n" + "Postgres *is* enough, <@1> @everyone.\n\n" * 300
    thread = round_thread(await held(FakeGateway(answers=answers(long, "b", "c", "d"))))
    made = [
        page for post in (thread.root, *thread.replies) for page in paginate(post, fits_discord)
    ]

    async with open_channel() as channel:
        for message in map(render_components, made):
            sent = await channel.send(view=build_view(message), allowed_mentions=NOBODY)

            arrived = [component.to_dict() for component in sent.components]
            assert texts(arrived) == texts(message.components)
            assert [one["type"] for one in arrived] == [one["type"] for one in message.components]
            assert sent.mentions == []

    assert len(made) > len(thread.replies) + 1


async def test_a_file_is_sent_with_its_component() -> None:
    message = render_components(Post((Line("Here it is."), File("round.md", "# Round")), "s"))

    async with open_channel() as channel:
        sent = await channel.send(view=build_view(message), files=build_files(message))

    assert [file.filename for file in sent.attachments] == ["round.md"]


async def test_the_client_does_not_store_sent_views() -> None:
    assert build_view(render_components(Post((Line("a"),)))).is_finished()

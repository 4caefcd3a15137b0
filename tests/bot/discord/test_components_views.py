"""Views sent by discord.py: they arrive as rendered, and notify whom they mention."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import discord
import pytest
import simcord

from bot.chat import File, Line, Mentions, Post
from bot.discord.components import (
    allowed_mentions,
    build_files,
    build_view,
    fits_discord,
    render_components,
)
from bot.render.pagination import paginate
from bot.render.round_report.thread import whole_round
from tests.bot.discord.limits import components_of, payload_of, texts
from tests.bot.rounds import answers, held
from tests.fakes.gateway import FakeGateway

NOBODY = discord.AllowedMentions.none()


@asynccontextmanager
async def open_channel() -> AsyncIterator[discord.TextChannel]:
    client = discord.Client(intents=discord.Intents(guilds=True))
    async with simcord.run(client) as env:
        channel = env.create_guild().create_text_channel("general")
        seen = client.get_channel(channel.id)
        assert isinstance(seen, discord.TextChannel)
        yield seen


async def test_every_page_of_a_closed_round_arrives_as_rendered() -> None:
    long = "# Why\n\n" + "Postgres *is* enough, <@1> @everyone.\n\n" * 300
    thread = whole_round(await held(FakeGateway(answers=answers(long, "b", "c", "d"))))
    made = [
        page for post in (thread.root, *thread.replies) for page in paginate(post, fits_discord)
    ]

    async with open_channel() as channel:
        for message in map(render_components, made):
            sent = await channel.send(view=build_view(message), allowed_mentions=NOBODY)

            arrived = [component.to_dict() for component in sent.components]
            assert texts(arrived) == texts(components_of(message))
            assert [one["type"] for one in arrived] == [
                one["type"] for one in components_of(message)
            ]
            assert sent.mentions == []

    assert len(made) > len(thread.replies) + 1


async def test_the_client_does_not_store_sent_views() -> None:
    assert build_view(render_components(Post((Line("a"),)))).is_finished()


ADA, BEN = "123456789012345678", "223456789012345678"
PICTURE = File("board.png", "Claude first, then Gemini.", b"\x89PNG")


async def test_an_image_arrives_unchanged() -> None:
    message = render_components(Post((PICTURE,), "s"))

    async with open_channel() as channel:
        sent = await channel.send(view=build_view(message), files=build_files(message))

    assert [await file.read() for file in sent.attachments] == [b"\x89PNG"]


async def test_only_mentioned_users_are_notified() -> None:
    message = render_components(Post((Line(f"<@{BEN}> @everyone"), Mentions((ADA,))), "s"))

    async with open_channel() as channel:
        sent = await channel.send(
            view=build_view(message), allowed_mentions=allowed_mentions(message)
        )

    assert message.mentioned == (ADA,)
    assert payload_of(message)["allowed_mentions"] == {"parse": [], "users": [int(ADA)]}
    assert f"<@{ADA}>" in str([component.to_dict() for component in sent.components])
    assert f"<@{BEN}>" not in str(components_of(message))


@pytest.mark.parametrize("id_", ["", "everyone", "&1", "U123", "1" * 30, f"{ADA}> @here"])
def test_an_invalid_user_id_mentions_nobody(id_: str) -> None:
    message = render_components(Post((Line("Here."), Mentions((id_,))), "s"))

    assert len(components_of(message)) == 1
    assert allowed_mentions(message).to_dict() == NOBODY.to_dict()

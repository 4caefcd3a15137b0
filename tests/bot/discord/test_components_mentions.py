"""Images and mentions in Discord: what is shown, and who is notified."""

import pytest

from bot.chat import File, Line, Mentions, Post
from bot.discord.components import allowed_mentions, build_files, build_view, render_components
from tests.bot.discord.limits import message_faults, payload_of
from tests.bot.discord.test_components_views import NOBODY, open_channel

ADA, BEN = "123456789012345678", "223456789012345678"
PICTURE = File("board.png", "Claude first, then Gemini.", b"\x89PNG")


def test_an_image_has_a_description() -> None:
    message = render_components(Post((Line("Here."), PICTURE), "s"))

    assert message.components[1] == {
        "type": 12,
        "items": [
            {
                "media": {"url": "attachment://board.png"},
                "description": "Claude first, then Gemini.",
            }
        ],
    }
    assert message_faults(payload_of(message)) == []


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
    assert f"<@{BEN}>" not in str(message.components)


@pytest.mark.parametrize("id_", ["", "everyone", "&1", "U123", "1" * 30, f"{ADA}> @here"])
def test_an_invalid_user_id_mentions_nobody(id_: str) -> None:
    message = render_components(Post((Line("Here."), Mentions((id_,))), "s"))

    assert len(message.components) == 1
    assert allowed_mentions(message).to_dict() == NOBODY.to_dict()

"""Pictures and mentions in Discord: what is looked at, and who is called."""

import pytest

from bot.chat import File, Line, Mentions, Post
from bot.discord.components import allowed_mentions, build_files, dressed, view_of
from tests.bot.discord.limits import faults_of_message
from tests.bot.discord.test_components_views import NOBODY, a_room

ADA, BEN = "123456789012345678", "223456789012345678"
PICTURE = File("board.png", "Claude first, then Gemini.", b"\x89PNG")


def test_a_picture_is_shown_and_told_in_words() -> None:
    message = dressed(Post((Line("Here."), PICTURE), "s"))

    assert message.components[1] == {
        "type": 12,
        "items": [
            {
                "media": {"url": "attachment://board.png"},
                "description": "Claude first, then Gemini.",
            }
        ],
    }
    assert faults_of_message(message.payload) == []


async def test_a_picture_arrives_as_it_is() -> None:
    message = dressed(Post((PICTURE,), "s"))

    async with a_room() as room:
        sent = await room.send(view=view_of(message), files=build_files(message))

    assert [await file.read() for file in sent.attachments] == [b"\x89PNG"]


async def test_whom_we_mention_is_called_and_nobody_else() -> None:
    message = dressed(Post((Line(f"<@{BEN}> @everyone"), Mentions((ADA,))), "s"))

    async with a_room() as room:
        sent = await room.send(view=view_of(message), allowed_mentions=allowed_mentions(message))

    assert message.mentioned == (ADA,)
    assert message.payload["allowed_mentions"] == {"parse": [], "users": [ADA]}
    assert f"<@{ADA}>" in str([component.to_dict() for component in sent.components])
    assert f"<@{BEN}>" not in str(message.components)


@pytest.mark.parametrize("id_", ["", "everyone", "&1", "U123", "1" * 30, f"{ADA}> @here"])
def test_what_is_no_persons_id_calls_nobody(id_: str) -> None:
    message = dressed(Post((Line("Here."), Mentions((id_,))), "s"))

    assert len(message.components) == 1
    assert allowed_mentions(message).to_dict() == NOBODY.to_dict()

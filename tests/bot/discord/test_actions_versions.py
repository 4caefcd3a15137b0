"""Buttons of another version of the program are answered kindly."""

import pytest

from bot.chat import Asker, IncomingMessage
from bot.discord import actions as in_discord
from council.errors import CouncilError
from council.places import Place
from tests.bot.app_fakes import FakeChat, an_app

SAID = IncomingMessage("", Asker("U1", "Ada"), Place("slack", "T1", "C1"), "k")


TOLD = "This message comes from another version of the council"


async def test_an_unknown_button_is_reported_as_from_another_version() -> None:
    with pytest.raises(CouncilError, match=TOLD):
        await in_discord.handle_button(an_app(), FakeChat(), SAID, "from_the_future", "r1")


async def test_a_question_that_was_answered_with_no_says_nothing_more() -> None:
    chat = FakeChat()

    await in_discord.handle_button(an_app(), chat, SAID, "no_cancel", "r1")

    assert chat.said == []

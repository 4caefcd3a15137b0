"""A round whose reveal is held is in no report of its workspace yet."""

import pytest

from bot.chat import IncomingMessage
from bot.commands.ask import AskOptions, ask_with_options
from bot.commands.reveal import end_hold, hold_reveal
from tests.bot.app_fakes import ANA, BEN, HERE, Room, an_app, replies_to
from tests.fakes.gateway import FakeGateway


@pytest.mark.parametrize("report", ["leaderboard", "bias"])
async def test_a_report_of_a_chat_leaves_out_rounds_from_the_first_held_one_on(report: str) -> None:
    app = an_app(FakeGateway())
    for key in ("beef1", "beef2"):
        await ask_with_options(app, Room(), IncomingMessage("Why?", BEN, HERE, key), AskOptions())
    before = await replies_to(app, report, ANA)

    await hold_reveal(app, "beef1")
    held = await replies_to(app, report, ANA)
    await end_hold(app, "beef1")

    assert "No finished rounds" in held
    assert "No finished rounds" not in before
    assert await replies_to(app, report, ANA) == before

"""Buttons and modals of another version of the program: understood, or answered kindly."""

from typing import Any, cast

import pytest

from bot.chat import Asker, IncomingMessage
from bot.slack import actions as in_slack
from bot.slack.actions import BlockAction
from bot.slack.listeners import SlackListeners
from bot.slack.messages import SlackChat
from bot.slack.workspace import Workspace
from council.errors import CouncilError
from council.places import Place
from tests.bot.app_fakes import BUTTONS, an_app

SAID = IncomingMessage("", Asker("U1", "Ada"), Place("slack", "T1", "C1"), "k")


TOLD = "This message comes from another version of the council"


async def test_an_unknown_button_is_reported_as_from_another_version() -> None:
    pressed = BlockAction(SAID, "from_the_future", "r1", "trigger")

    with pytest.raises(CouncilError, match=TOLD):
        await in_slack.refuse_action(an_app(), cast(SlackChat, None), pressed)


@pytest.mark.parametrize(
    ("action_id", "name"),
    [
        ("council:again", "again"),
        ("council:again#2", "again"),
        ("council:page:3", "page"),
        ("council:feedback", "feedback"),
        ("council:from_the_future", None),
        ("council:again_and_again", None),
    ],
)
def test_each_button_has_one_handler(action_id: str, name: str | None) -> None:
    found = [
        n for n in in_slack.action_handlers(BUTTONS) if in_slack.action_pattern(n).search(action_id)
    ]

    assert found == ([name] if name else [])


async def test_a_form_that_this_version_does_not_know_says_so_and_stays_open() -> None:
    answered: list[dict[str, Any]] = []

    async def ack(**answer: Any) -> None:  # noqa: ANN401
        answered.append(answer)

    blocks = [{"type": "section"}, {"type": "input", "block_id": "future"}]
    listeners = SlackListeners(an_app())
    view = {"callback_id": "council:future", "blocks": blocks}
    await listeners.on_form_submitted(ack, {"view": view}, cast(Workspace, None))

    (answer,) = answered
    assert answer["response_action"] == "errors"
    assert answer["errors"]["future"].startswith(TOLD)

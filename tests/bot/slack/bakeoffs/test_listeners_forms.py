"""Forms of bake-offs where that plug-in is off."""

from typing import Any, cast

import pytest

from bot.commands.button_registry import NEEDS_PLUGIN, submit_form
from bot.slack.listeners import SlackListeners
from bot.slack.workspace import Workspace
from council.errors import CouncilError
from tests.bot.app_fakes import FakeChat
from tests.bot.commands.test_button_registry import MESSAGE, an_app_of_the_core


async def test_an_open_form_says_which_plugin_it_needs() -> None:
    core = an_app_of_the_core()
    answers: list[dict[str, Any]] = []

    async def ack(**answer: Any) -> None:  # noqa: ANN401
        answers.append(answer)

    fields = [{"type": "input", "block_id": "name"}]
    view = {"callback_id": "council:suite", "blocks": fields}
    await SlackListeners(core).on_form_submitted(ack, {"view": view}, cast(Workspace, None))
    with pytest.raises(CouncilError) as refused:
        await submit_form(core, FakeChat(), MESSAGE, "suite", "r1", {})

    assert answers == [{"response_action": "errors", "errors": {"name": str(refused.value)}}]
    assert str(refused.value) == NEEDS_PLUGIN.format(name="bakeoffs")

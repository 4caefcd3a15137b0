"""The modal that asks which suite a round's question joins, and what it was filled with."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.chat import Chat, Said
from bot.commands.buttons import add_to_suite, check_may_add, readable_round
from bot.commands.context import Desk
from bot.commands.suites import Joining
from bot.slack.hearing import Body, Heard
from bot.slack.modals import View, open_view
from bot.slack.plain import inert
from bot.slack.workspace import Workspace
from council.errors import SuiteError

CALLBACK = "council:suite"
SUITE, NAME, ANSWER = "suite", "name", "answer"
MOST_SUITES = 100  # that Slack shows to choose from
NO_NAME = "Choose a suite, or give a new one a name."


@dataclass(frozen=True, slots=True)
class Filled:
    """What somebody filled in: for which round, and which suite its question joins."""

    round_id: str
    joining: Joining


async def ask_which_suite(
    desk: Desk, workspace: Workspace, said: Said, round_id: str, trigger: str
) -> None:
    """Open the modal, for somebody who may read the round and add to suites."""
    check_may_add(desk, said)
    await readable_round(desk, said, round_id)
    lines = await desk.bench.suites.lines(said.place.scope)
    view = suite_view(round_id, said, [line.name for line in lines])
    await open_view(workspace.client, trigger, view)


def suite_view(round_id: str, said: Said, names: Sequence[str]) -> View:
    """Give the modal; `names` are the suites there are."""
    blocks = [
        *([_input(SUITE, "Suite", _select(names[:MOST_SUITES]))] if names else []),
        _input(NAME, "A new suite" if names else "Suite", _text(40, "such as sql-basics")),
        _input(ANSWER, "The right answer", _text(1000, "left out, answers are not graded")),
    ]
    return {
        "type": "modal",
        "callback_id": CALLBACK,
        "title": _plain("Add to suite"),
        "submit": _plain("Add"),
        "close": _plain("Cancel"),
        "private_metadata": json.dumps([round_id, said.place.channel, said.place.thread]),
        "blocks": blocks,
    }


def read_filled(body: Body) -> tuple[Heard, Filled]:
    """Read a modal that was sent: by whom, and with what; SuiteError where no suite is named."""
    view = body["view"]
    round_id, channel, thread = json.loads(view["private_metadata"])
    values = {block: next(iter(x.values())) for block, x in view["state"]["values"].items()}
    chosen = (values.get(SUITE, {}).get("selected_option") or {}).get("value")
    name = str(values.get(NAME, {}).get("value") or chosen or "")
    if not name.strip():
        raise SuiteError(NO_NAME)
    heard = Heard("", str(body["user"]["id"]), channel, f"view {view['id']}", thread)
    answer = str(values.get(ANSWER, {}).get("value") or "")
    return heard, Filled(round_id, Joining(name, answer))


async def join(desk: Desk, chat: Chat, said: Said, filled: Filled) -> None:
    """Keep the question in the suite that was named."""
    await add_to_suite(desk, chat, said, filled.round_id, filled.joining)


def _select(names: Sequence[str]) -> dict[str, Any]:
    options = [{"text": _plain(name), "value": name} for name in names]
    return {"type": "static_select", "options": options}


def _text(most: int, hint: str) -> dict[str, Any]:
    return {"type": "plain_text_input", "max_length": most, "placeholder": _plain(hint)}


def _input(name: str, label: str, element: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "input",
        "block_id": name,
        "label": _plain(label),
        "element": {"action_id": name, **element},
        "optional": True,
    }


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": inert(text), "emoji": False}

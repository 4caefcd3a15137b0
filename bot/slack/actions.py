"""What buttons do in Slack: modals, the thread that is sent along, and what every chat's do."""

import json
from dataclasses import dataclass, replace
from typing import Any

from bot.chat import Chat, IncomingMessage, Note, Post
from bot.commands.buttons import (
    OTHER_VERSION,
    PRESSES,
    PROPOSED,
    THANKS,
    opine,
    posts_of,
    readable_round,
)
from bot.commands.context import AppContext
from bot.commands.rounds import Opinion, own_feedback, rate
from bot.slack import modals
from bot.slack import modals as suite_form
from bot.slack import threads as offering
from bot.slack.block_kit import action_of
from bot.slack.events import Body, SlackEvent, of_click
from bot.slack.modals import ModalState, fill, fill_with_error, open_modal, open_view
from bot.slack.threads import WITH, WITHOUT
from bot.slack.workspace import Workspace
from council.errors import CouncilError

WHY_CALLBACK = "council:why"
WHY = "why"


@dataclass(frozen=True, slots=True)
class Press:
    """A pressed button: what it does, to what, and what it needs to open or replace things."""

    subscription: SlackEvent
    action: str
    value: str
    trigger: str
    view: dict[str, Any] | None = None
    response_url: str = ""

    @property
    def does(self) -> tuple[str, ...]:
        """Tell this press from any other: two of the same are one, pressed twice."""
        shown = str(self.view["id"]) if self.view else ""
        return (self.subscription.user, self.subscription.channel, self.action, self.value, shown)

    @classmethod
    def of(cls, body: Body) -> "Press":
        """Read what Slack sends of a press."""
        pressed = body["actions"][0]
        action = action_of(str(pressed["action_id"]))
        value, view = str(pressed.get("value") or ""), body.get("view")
        if action == "feedback":
            action, _, value = value.partition(":")
        heard = of_click(body)
        if view and action.startswith("page"):
            heard = replace(heard, channel=ModalState.read(view["private_metadata"]).channel)
        trigger, url = (str(body.get(name) or "") for name in ("trigger_id", "response_url"))
        return cls(heard, action, value, trigger, view, url)


async def press(
    app: AppContext, workspace: Workspace, chat: Chat, said: IncomingMessage, pressed: Press
) -> None:
    """Do what a button says, for the one who pressed it."""
    if pressed.action in modals.TITLES:
        shown = ModalState(pressed.action, pressed.value, said.place.channel)
        opened = await open_modal(workspace.client, pressed.trigger, shown)
        await _filled(app, workspace, said, opened, shown)
    elif pressed.action.startswith("page") and pressed.view:
        shown = replace(ModalState.read(pressed.view["private_metadata"]), page=int(pressed.value))
        await _filled(app, workspace, said, pressed.view, shown)
    elif pressed.action in {"helpful", "unhelpful"}:
        await _rated(app, workspace, chat, said, pressed)
    elif pressed.action == "suite":
        about = (pressed.value, pressed.trigger)
        await suite_form.ask_which_suite(app, workspace, said, *about)
    elif pressed.action in {WITH, WITHOUT}:
        about = (pressed.action, pressed.value)
        await offering.take_away(pressed.response_url)
        await offering.ask_about_thread(app, workspace, chat, said, about)
    elif pressed.action in PRESSES:
        if pressed.action in PROPOSED:
            await offering.take_away(pressed.response_url)
        await PRESSES[pressed.action](app, chat, said, pressed.value)
    else:
        raise CouncilError(OTHER_VERSION)


async def _filled(
    app: AppContext,
    workspace: Workspace,
    said: IncomingMessage,
    opened: modals.View,
    shown: ModalState,
) -> None:
    try:
        round_ = await readable_round(app, said, shown.round_id)
        await fill(workspace.client, opened, shown, posts_of(round_, shown.what))
    except CouncilError as error:
        await fill_with_error(workspace.client, opened, shown, str(error))


async def _rated(
    app: AppContext, workspace: Workspace, chat: Chat, said: IncomingMessage, pressed: Press
) -> None:
    """Keep an opinion; who found a round of no help is asked why, over what they said."""
    helpful = pressed.action == "helpful"
    round_ = await readable_round(app, said, pressed.value)
    before = await own_feedback(app, round_.id, said.asker.id)
    reason = before.reason if before and not before.helpful and not helpful else ""
    await rate(app, round_, said.asker.id, Opinion(helpful, reason))
    if not helpful:
        view = why_view(round_.id, said, reason)
        await open_view(workspace.client, pressed.trigger, view)
    await chat.send_ephemeral(said, Post((Note(THANKS),), THANKS))


def why_view(round_id: str, said: IncomingMessage, reason: str = "") -> modals.View:
    """Give the modal that asks why a round was of no help."""
    plain = {"type": "plain_text"}
    element = {"type": "plain_text_input", "action_id": WHY, "multiline": True, "max_length": 1000}
    element |= {"initial_value": reason} if reason else {}
    why = {**plain, "text": "What was wrong or missing?"}
    return {
        "type": "modal",
        "callback_id": WHY_CALLBACK,
        "title": {**plain, "text": "Not helpful"},
        "submit": {**plain, "text": "Send"},
        "close": {**plain, "text": "Skip"},
        "private_metadata": json.dumps([round_id, said.place.channel, said.place.thread]),
        "blocks": [
            {"type": "input", "block_id": WHY, "label": why, "element": element, "optional": True}
        ],
    }


def reason_of(body: Body) -> tuple[SlackEvent, tuple[str, str]]:
    """Read why a round was of no help: who says so, and of which round what."""
    view = body["view"]
    round_id, channel, thread = json.loads(view["private_metadata"])
    reason = str(view["state"]["values"][WHY][WHY].get("value") or "")
    heard = SlackEvent("", str(body["user"]["id"]), channel, f"view {view['id']}", thread)
    return heard, (round_id, reason)


async def keep_reason(
    app: AppContext, chat: Chat, said: IncomingMessage, told: tuple[str, str]
) -> None:
    """Keep it; thanks for the press were said already where nothing was written."""
    round_id, reason = told
    opinion = Opinion(helpful=False, reason=reason)
    if reason.strip():
        await opine(app, chat, said, round_id, opinion)
    else:
        await rate(app, await readable_round(app, said, round_id), said.asker.id, opinion)

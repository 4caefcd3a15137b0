"""What buttons do in Slack: modals, the thread that is sent along, and what every chat's do."""

import json
from dataclasses import dataclass, replace
from typing import Any

from bot.chat import Chat, Post, Said
from bot.commands.asking import asked
from bot.commands.desk import Desk
from bot.commands.pressing import PRESSES, opine, readable_round
from bot.commands.rating import Opinion
from bot.render.report import answer_posts, ballots_post
from bot.slack import modals, threads
from bot.slack.buttons import action_of
from bot.slack.hearing import Body, Heard, key_of, of_click
from bot.slack.modals import Shown, fill, fill_with_error, open_modal, open_view
from bot.slack.reading import plain_text, without_mention
from bot.slack.workspace import Workspace
from council.errors import CouncilError
from council.rounds import Round

WHY_CALLBACK = "council:why"
WHY = "why"
CHANGED = "The thread has changed since: mention me again."
NOT_YOURS = "Only the one who asked can press this."


@dataclass(frozen=True, slots=True)
class Press:
    """A pressed button: what it does, to what, and what it needs to open or replace things."""

    heard: Heard
    action: str
    value: str
    trigger: str
    view: dict[str, Any] | None = None

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
            heard = replace(heard, channel=Shown.read(view["private_metadata"]).channel)
        return cls(heard, action, value, str(body.get("trigger_id") or ""), view)


async def press(desk: Desk, workspace: Workspace, chat: Chat, said: Said, pressed: Press) -> None:
    """Do what a button says, for the one who pressed it."""
    if pressed.action in modals.TITLES:
        shown = Shown(pressed.action, pressed.value, said.place.channel)
        opened = await open_modal(workspace.client, pressed.trigger, shown)
        await _filled(desk, workspace, said, opened, shown)
    elif pressed.action.startswith("page") and pressed.view:
        shown = replace(Shown.read(pressed.view["private_metadata"]), page=int(pressed.value))
        await _filled(desk, workspace, said, pressed.view, shown)
    elif pressed.action in {"helpful", "unhelpful"}:
        await _rated(desk, workspace, chat, said, pressed)
    elif pressed.action in {threads.WITH, threads.WITHOUT}:
        await _asked_about_thread(desk, workspace, chat, said, pressed)
    elif pressed.action in PRESSES:
        await PRESSES[pressed.action](desk, chat, said, pressed.value)


async def _filled(
    desk: Desk, workspace: Workspace, said: Said, opened: modals.View, shown: Shown
) -> None:
    try:
        round_ = await readable_round(desk, said, shown.round_id)
        await fill(workspace.client, opened, shown, _posts(round_, shown.what))
    except CouncilError as error:
        await fill_with_error(workspace.client, opened, shown, str(error))


def _posts(round_: Round, what: str) -> list[Post]:
    if round_.draw is None:
        raise CouncilError("There is nothing to show yet: no answer has been ranked.")
    if round_.forgotten and what == "answers":
        raise CouncilError("What was answered in this round is forgotten.")
    if what == "ballots":
        return [ballots_post(round_, round_.draw)]
    return list(answer_posts(round_, round_.draw))


async def _rated(desk: Desk, workspace: Workspace, chat: Chat, said: Said, pressed: Press) -> None:
    helpful = pressed.action == "helpful"
    if not helpful:
        view = why_view(pressed.value, said)
        await open_view(workspace.client, pressed.trigger, view)
    await opine(desk, chat, said, pressed.value, Opinion(helpful))


def why_view(round_id: str, said: Said) -> modals.View:
    """Give the modal that asks why a round was of no help."""
    plain = {"type": "plain_text"}
    element = {"type": "plain_text_input", "action_id": WHY, "multiline": True, "max_length": 1000}
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


def reason_of(body: Body) -> tuple[Heard, tuple[str, str]]:
    """Read why a round was of no help: who says so, and of which round what."""
    view = body["view"]
    round_id, channel, thread = json.loads(view["private_metadata"])
    reason = str(view["state"]["values"][WHY][WHY].get("value") or "")
    heard = Heard("", str(body["user"]["id"]), channel, f"view {view['id']}", thread)
    return heard, (round_id, reason)


async def keep_reason(desk: Desk, chat: Chat, said: Said, told: tuple[str, str]) -> None:
    """Keep it."""
    round_id, reason = told
    await opine(desk, chat, said, round_id, Opinion(helpful=False, reason=reason))


async def offer_thread(
    desk: Desk, workspace: Workspace, chat: Chat, said: Said, moment: str
) -> None:
    """Show the asker the thread that would be sent along; without one to send, ask at once."""
    context, _ = await threads.thread_before(workspace, desk, said.place, moment)
    if not context.text:
        await asked(desk, chat, said)
        return
    value = "|".join((moment, said.place.thread or "", context.digest))
    panel = desk.panel(None, said.place)
    await chat.whisper(said, threads.asking_with(context, panel, value))


async def _asked_about_thread(
    desk: Desk, workspace: Workspace, chat: Chat, said: Said, pressed: Press
) -> None:
    moment, thread, digest = pressed.value.split("|")
    place = replace(said.place, thread=thread)
    context, message = await threads.thread_before(workspace, desk, place, moment)
    if message.get("user") != said.asker.id:
        raise CouncilError(NOT_YOURS)
    if context.digest != digest:
        raise CouncilError(CHANGED)
    key = key_of(workspace.team, f"{place.channel} {moment}")
    text = without_mention(str(message.get("text") or ""), workspace.bot)
    words = await plain_text(text, workspace.people.named)
    asking = replace(said, text=words, place=place, key=key)
    if pressed.action == threads.WITH:
        asking = replace(asking, context=context.text)
    await asked(desk, chat, asking)

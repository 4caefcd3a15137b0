"""Block action handlers: buttons that open modals, turn pages, give feedback or run commands."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.chat import Button, Caution, IncomingMessage, Note, Post
from bot.commands import buttons
from bot.commands.button_registry import (
    NO,
    YES,
    ButtonSet,
    buttons_of,
    load_view,
    why_unknown,
)
from bot.commands.buttons import ROUND
from bot.commands.rounds import (
    Opinion,
    load_readable_round,
    own_feedback,
    save_feedback,
)
from bot.commands.voting import cast_pressed
from bot.context import AppContext
from bot.render.voting import BEST
from bot.slack import modals
from bot.slack.block_kit import MORE, action_from_id, action_id
from bot.slack.events import Body, parse_interaction
from bot.slack.messages import SlackChat
from bot.slack.threads import (
    ALLOW_THREADS,
    WITH_THREAD,
    WITHOUT_THREAD,
    ask_about_thread,
    delete_offer,
)
from bot.slack.workspace import Workspace
from council.errors import CouncilError


@dataclass(frozen=True, slots=True)
class BlockAction:
    """A block action: its message, name and value, and what opens or replaces things."""

    message: IncomingMessage
    name: str
    value: str
    trigger_id: str
    view: dict[str, Any] | None = None
    response_url: str = ""

    @property
    def identity(self) -> tuple[str, ...]:
        """Return what two presses of one button have in common."""
        view_id = str(self.view["id"]) if self.view else ""
        asker, channel = self.message.asker.id, self.message.place.channel
        return (asker, channel, self.name, self.value, view_id)

    @classmethod
    def parse(cls, workspace: Workspace, body: Body) -> "BlockAction":
        """Parse the payload of a block action."""
        action = body["actions"][0]
        name = action_from_id(str(action["action_id"]))
        pressed, view = action.get("selected_option") or action, body.get("view")
        value = str(pressed.get("value") or "")
        if name in {"feedback", MORE}:
            name, _, value = value.partition(":")
        message = parse_interaction(workspace, body)
        is_modal = view and view["type"] == "modal"
        if view and (name.startswith("page") or name == BEST or (is_modal and name == ROUND)):
            channel = modals.ModalState.parse(view["private_metadata"]).channel
            message = replace(message, place=replace(message.place, channel=channel))
        if view and view["type"] == "home":
            channel = str(view["private_metadata"])
            message = replace(message, place=replace(message.place, channel=channel))
        trigger_id, url = (str(body.get(key) or "") for key in ("trigger_id", "response_url"))
        return cls(message, name, value, trigger_id, view, url)


ActionHandler = Callable[[AppContext, SlackChat, BlockAction], Awaitable[None]]


async def open_round_modal(app: AppContext, chat: SlackChat, action: BlockAction) -> None:
    """Show a view in a modal, which opens at once and is filled then, or in the modal it is in."""
    state = modals.ModalState(action.name, action.value, action.message.place.channel)
    if action.view and action.view["type"] == "modal":
        await _fill_modal(app, chat, action.message, action.view, state)
        return
    title = modals.view_title(app, state.what)
    placeholder = modals.page_view(state, [Post((Note("One moment …"),))], title)
    opened = await modals.open_view(chat.workspace.client, action.trigger_id, placeholder)
    await _fill_modal(app, chat, action.message, opened, state)


async def turn_page(app: AppContext, chat: SlackChat, action: BlockAction) -> None:
    """Show another page of an open modal."""
    if action.view:
        state = modals.ModalState.parse(action.view["private_metadata"])
        state = replace(state, page=int(action.value))
        await _fill_modal(app, chat, action.message, action.view, state)


async def choose_best(app: AppContext, chat: SlackChat, action: BlockAction) -> None:
    """Store the vote of a button, and show it in its modal, or there a bake-off's next question."""
    view = action.view
    if view is None:
        _, reply = await cast_pressed(app, action.message, action.value)
        await chat.send_ephemeral(action.message, reply)
        return
    state = replace(modals.ModalState.parse(view["private_metadata"]), page=0)
    try:
        round_, reply = await cast_pressed(app, action.message, action.value)
        for next_votes in buttons_of(app).next_votes if round_.bakeoff else ():
            state = replace(state, what=next_votes, round_id=round_.bakeoff)
            await _fill_modal(app, chat, action.message, view, state)
            return
    except CouncilError as error:
        reply = Post((Caution(str(error)),))
    title = modals.view_title(app, state.what)
    await modals.fill_modal(chat.workspace.client, view, state, [reply], title)


async def open_form(app: AppContext, chat: SlackChat, action: BlockAction) -> None:
    """Open the modal of a form."""
    form = await buttons_of(app).forms[action.name].open(app, action.message, action.value)
    view = modals.form_view(form, action.name, action.value, action.message)
    await modals.open_view(chat.workspace.client, action.trigger_id, view)


async def open_command_form(
    app: AppContext, body: Body, button: Button, chat: SlackChat, message: IncomingMessage
) -> None:
    """Open the form of a slash command, as its button does."""
    trigger_id = str(body["trigger_id"])
    await open_form(app, chat, BlockAction(message, button.action, button.value, trigger_id))


async def answer_offer(app: AppContext, chat: SlackChat, action: BlockAction) -> None:
    """Ask the question of an offer, with the thread or without."""
    await delete_offer(action.response_url)
    await ask_about_thread(app, chat, action.message, (action.name, action.value))


async def run_button(app: AppContext, chat: SlackChat, action: BlockAction) -> None:
    """Run what a button does in every chat; a proposal it answers is deleted."""
    if action.name in buttons_of(app).proposals:
        await delete_offer(action.response_url)
    await buttons_of(app).handlers[action.name](app, chat, action.message, action.value)


async def run_option(app: AppContext, chat: SlackChat, action: BlockAction) -> None:
    """Do what a menu's option does as a button; Slack confirms buttons, but not one option."""
    if action.name in buttons_of(app).confirmations:
        post = await buttons.confirmation_post(app, action.message, action.name, action.value)
        await chat.send_ephemeral(action.message, post)
    else:
        await action_handlers(buttons_of(app)).get(action.name, refuse_action)(app, chat, action)


async def answer_confirmation(app: AppContext, chat: SlackChat, action: BlockAction) -> None:
    """Delete our question, and run the action if the answer is yes."""
    await delete_offer(action.response_url)
    known = buttons_of(app)
    if handler := known.handlers.get(known.confirmed_action(action.name)):
        await handler(app, chat, action.message, action.value)


async def refuse_action(app: AppContext, chat: SlackChat, action: BlockAction) -> None:
    """Raise CouncilError for a button of another version, or of a plug-in that is away."""
    raise CouncilError(why_unknown(action.name))


async def _fill_modal(
    app: AppContext,
    chat: SlackChat,
    message: IncomingMessage,
    opened: modals.View,
    state: modals.ModalState,
) -> None:
    title = modals.view_title(app, state.what)
    try:
        posts = await load_view(app, message, state.what, state.round_id)
        await modals.fill_modal(chat.workspace.client, opened, state, posts, title)
    except CouncilError as error:
        posts = [Post((Caution(str(error)),))]
        await modals.fill_modal(chat.workspace.client, opened, state, posts, title)


async def rate(app: AppContext, chat: SlackChat, action: BlockAction) -> None:
    """Store an opinion; if it is "not helpful", ask why, with any earlier reason filled in."""
    message, helpful = action.message, action.name == "helpful"
    round_ = await load_readable_round(app, message, action.value)
    earlier = await own_feedback(app, round_.id, message.asker.id)
    reason = earlier.reason if earlier and not earlier.helpful and not helpful else ""
    await save_feedback(app, round_, message.asker.id, Opinion(helpful, reason))
    if not helpful:
        view = modals.reason_view(round_.id, message, reason)
        await modals.open_view(chat.workspace.client, action.trigger_id, view)
    await chat.send_ephemeral(message, Post((Note(buttons.THANKS),), buttons.THANKS))


def action_handlers(known: ButtonSet) -> Mapping[str, ActionHandler]:
    """Return the handlers by the name in the action id; see `action_pattern`."""
    return {
        **dict.fromkeys(known.views, open_round_modal),
        **dict.fromkeys(("feedback", "helpful", "unhelpful"), rate),
        **dict.fromkeys((WITH_THREAD, WITHOUT_THREAD, ALLOW_THREADS), answer_offer),
        **dict.fromkeys(known.handlers, run_button),
        **dict.fromkeys(known.forms, open_form),
        **{
            f"{answer}{name}": answer_confirmation
            for answer in (YES, NO)
            for name in known.confirmations
        },
        MORE: run_option,
        "page": turn_page,
        BEST: choose_best,
    }


def action_pattern(name: str) -> re.Pattern[str]:
    """Return what the action ids of a button match: `council:open`, `council:open#2`."""
    return re.compile(rf"^{re.escape(action_id(name))}([#:]\d+)?$")

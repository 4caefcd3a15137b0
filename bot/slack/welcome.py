"""Welcome in Slack, once per person and once per channel, and the form that its buttons open."""

from dataclasses import replace

from bot.access import why_not_admitted
from bot.chat import IncomingMessage
from bot.commands.help import example_of, welcome_post
from bot.commands.recovery import WELCOMED
from bot.context import AppContext
from bot.slack.actions import BlockAction
from bot.slack.events import Body, new_message, resolve_message
from bot.slack.messages import SlackChat
from bot.slack.modals import open_ask_modal
from bot.slack.workspace import CHAT, Workspace

_EVER = 10 * 365 * 86_400.0  # seconds


async def on_invited(app: AppContext, workspace: Workspace, event: Body) -> None:
    """Welcome a channel in which the bot is new."""
    inviter = str(event.get("inviter") or workspace.bot_user)  # nobody invites to an own channel
    message = new_message(workspace, inviter, str(event["channel"]), str(event["event_ts"]))
    await welcome(app, workspace, message)


async def welcome(app: AppContext, workspace: Workspace, message: IncomingMessage) -> None:
    """Post the welcome in a message's place, once, if its author may use the bot there."""
    message = await resolve_message(app, workspace, message)
    place = message.place
    if why_not_admitted(app.access, message):
        return
    name = f"{CHAT}/{workspace.team}/{place.channel}"
    if await app.key_values.mark_once(WELCOMED, name, _EVER):
        post = welcome_post(is_direct=message.is_direct)
        await SlackChat(workspace).send(place, post, f"welcome/{place.channel}")


async def open_ask_form(app: AppContext, chat: SlackChat, action: BlockAction) -> None:
    """Open the modal to ask in, filled with the example of the pressed button, if it has one."""
    message = replace(action.message, text=example_of(action.value))
    await open_ask_modal(app, {"trigger_id": action.trigger_id}, chat, message)

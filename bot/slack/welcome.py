"""Welcome in Slack: three questions to press, once per person and once per channel."""

from dataclasses import replace

from bot.access import AccessDeniedError, check_admitted
from bot.chat import Button, Buttons, IncomingMessage, Line, Note, Post, event_key
from bot.commands.ask import accept_and_deliver, open_round
from bot.commands.button_registry import OTHER_VERSION
from bot.commands.recovery import WELCOMED
from bot.context import AppContext
from bot.slack.actions import BlockAction
from bot.slack.events import Body, check_can_answer, new_message, resolve_message
from bot.slack.messages import SlackChat
from bot.slack.workspace import CHAT, Workspace
from council.errors import CouncilError

STARTER = "starter"  # the action; its value is the number of the question
STARTERS = (
    "How do we keep our meetings short?",
    "What belongs in a good handover note?",
    "How do we decide what to do first?",
)
ASKED_BEFORE = "You asked this here before. Its answer is further down."
_WHAT = "I ask several models; they rank each other without names, and one writes the final answer."
_EVER = 10 * 365 * 86_400.0  # seconds


def welcome_post(*, is_direct: bool) -> Post:
    """Return the welcome in direct messages, or in a channel."""
    how = "Write me a question" if is_direct else "Type `/council` and your question"
    who = "" if is_direct else " Everybody here can read the answer."
    buttons = tuple(Button(STARTER, text, str(n)) for n, text in enumerate(STARTERS, start=1))
    parts = (
        Line(f"**Hello, I am the council.** {_WHAT}"),
        Line(f"{how}, or press one of these:"),
        Buttons(buttons),
        Note(f"Answers are AI-generated.{who}"),
    )
    return Post(parts, "Hello, I am the council.")


async def on_invited(app: AppContext, workspace: Workspace, event: Body) -> None:
    """Welcome a channel in which the bot is new."""
    inviter = str(event.get("inviter") or workspace.bot_user)  # nobody invites to an own channel
    message = new_message(workspace, inviter, str(event["channel"]), str(event["event_ts"]))
    await welcome(app, workspace, message)


async def welcome(app: AppContext, workspace: Workspace, message: IncomingMessage) -> None:
    """Post the welcome in a message's place, once, if its author may use the bot there."""
    message = await resolve_message(workspace, message)
    place = message.place
    try:
        check_admitted(app.access, message)
    except AccessDeniedError:
        return
    name = f"{CHAT}/{workspace.team}/{place.channel}"
    if await app.key_values.mark_once(WELCOMED, name, _EVER):
        post = welcome_post(is_direct=message.is_direct)
        await SlackChat(workspace).send(place, post, f"welcome/{place.channel}")


async def ask_starter(app: AppContext, chat: SlackChat, action: BlockAction) -> None:
    """Ask the question of a pressed button, once for each person and welcome."""
    if action.value not in {str(number) for number in range(1, len(STARTERS) + 1)}:
        raise CouncilError(OTHER_VERSION)
    message, place, workspace = action.message, action.message.place, chat.workspace
    await check_can_answer(workspace, message.asker.id, place.channel)
    pressed = f"{STARTER} {place.channel} {message.asker.id} {action.value}"
    question = replace(
        message,
        text=STARTERS[int(action.value) - 1],
        key=event_key(CHAT, workspace.team, pressed),
    )
    round_ = await open_round(app, question)
    if round_:
        await accept_and_deliver(app, chat, question, round_)
    else:
        await chat.send_ephemeral(message, Post((Note(ASKED_BEFORE),), ASKED_BEFORE))

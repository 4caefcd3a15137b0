"""What the app says of itself: its version, what becomes of questions, how to give feedback."""

from importlib.metadata import version

from bot.chat import Chat, IncomingMessage, Line, Note, Post, send_note
from bot.commands.parameters import Arguments
from bot.context import AppContext
from bot.render.formatting import count_noun
from bot.render.round_status import sent_text

FEEDBACK = "In Slack, press a thumb under an answer. Everywhere, you can vote for the best answer."


async def show_version(app: AppContext, chat: Chat, message: IncomingMessage, _: Arguments) -> None:
    """Show the version of the program."""
    await send_note(chat, message, f"Council {version('council-bot')}")


async def show_feedback(
    app: AppContext, chat: Chat, message: IncomingMessage, _: Arguments
) -> None:
    """Show how to say whether an answer helped."""
    await send_note(chat, message, FEEDBACK)


async def show_privacy(app: AppContext, chat: Chat, message: IncomingMessage, _: Arguments) -> None:
    """Show who receives questions asked here, how long texts are kept, and how to delete them."""
    await app.reload_settings(message.place)
    panel = app.panel(None, message.place)
    days = app.texts_days
    kept = "until somebody forgets them" if days is None else f"for {count_noun(days, 'day')}"
    line = f"{sent_text(panel)} (panel {panel.name}). Questions and answers are kept {kept}."
    how = "`/council forget` deletes what you asked and what was answered."
    await chat.send_ephemeral(message, Post((Line(line), Note(how)), line))

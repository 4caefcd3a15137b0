"""Commands with the names of buttons: what is typed does what a press does, but never costs."""

from bot.chat import Button, Buttons, Chat, IncomingMessage, Line, Note, Post, send_note
from bot.commands import rounds
from bot.commands.button_registry import buttons_of, load_view
from bot.commands.buttons import (
    AGAIN,
    FORGET,
    RESUME,
    ask_again,
    confirmation_post,
    export_round,
    forget_round,
    rate_round,
    reveal_round,
)
from bot.commands.conversations import start_conversation
from bot.commands.parameters import Arguments
from bot.context import AppContext
from bot.render.people import named_question
from bot.render.text_safety import shorten_to_line
from council.ports import RoundSummary

MAX_POSTS = 2  # of a view that is typed; more open by a button
NOT_STOPPED = "None of your rounds is stopped here."


async def show_view(
    app: AppContext, chat: Chat, message: IncomingMessage, wanted: str, *, what: str
) -> None:
    """Show the answers, rankings or results of a round; in a room, long ones open by a button."""
    round_ = await rounds.find_round_or_last(app, message, wanted)
    posts = await load_view(app, message, what, round_.id)
    if chat.is_room and len(posts) > MAX_POSTS:
        title = buttons_of(app).views[what].title
        line = f"{title} of “{shorten_to_line(round_.question.text, 80)}”"
        posts = [Post((Line(line), Buttons((Button(what, title, round_.id),))), line)]
    for post in posts:
        for page in chat.pages(post):
            await chat.send_ephemeral(message, page)


async def export_command(
    app: AppContext, chat: Chat, message: IncomingMessage, wanted: str
) -> None:
    """Export a round."""
    round_ = await rounds.find_round_or_last(app, message, wanted)
    await export_round(app, chat, message, round_.id)


async def reveal_command(
    app: AppContext, chat: Chat, message: IncomingMessage, wanted: str
) -> None:
    """Show everybody who wrote what in a round whose reveal is held."""
    round_ = await rounds.find_round_or_last(app, message, wanted)
    await reveal_round(app, chat, message, round_.id)
    await send_note(chat, message, "Revealing …")


async def again_command(
    app: AppContext, chat: Chat, message: IncomingMessage, arguments: Arguments
) -> None:
    """Ask whether to ask a round's question again, with the cost; with `yes`, ask it."""
    round_ = await rounds.find_round_or_last(app, message, arguments.get("round", ""))
    if "yes" in arguments and not chat.is_room:
        await ask_again(app, chat, message, round_.id)
    else:
        await _confirm(app, chat, message, AGAIN, round_.id)


async def forget_command(
    app: AppContext, chat: Chat, message: IncomingMessage, arguments: Arguments
) -> None:
    """Ask whether to forget a round; with `yes`, forget it."""
    round_ = await rounds.find_round_to_forget(app, message, arguments.get("round", ""))
    if "yes" in arguments:
        await forget_round(app, chat, message, round_.id)
    else:
        await _confirm(app, chat, message, FORGET, round_.id)


async def _confirm(
    app: AppContext, chat: Chat, message: IncomingMessage, action: str, round_id: str
) -> None:
    if chat.is_room:
        await chat.send_ephemeral(message, await confirmation_post(app, message, action, round_id))
        return
    line, note = await buttons_of(app).confirmations[action].ask(app, message, round_id)
    how = f"To confirm, type `{action} {round_id} yes`."
    notes = (Note(note), Note(how)) if note else ()
    await chat.send_ephemeral(message, Post((Line(line), *notes), line))


async def resume_command(
    app: AppContext, chat: Chat, message: IncomingMessage, arguments: Arguments
) -> None:
    """Offer to resume the newest round of one's own that stopped; a press resumes it."""
    lines = await app.store.list_summaries(rounds.MAX_THREAD_ROUNDS, rounds.own_rounds(message))
    stopped = [line for line in lines if line.paused and line.seconds is None]
    if not stopped:
        await send_note(chat, message, NOT_STOPPED)
        return
    await chat.send_ephemeral(message, _resume_post(stopped[0], is_room=chat.is_room))


def _resume_post(line: RoundSummary, *, is_room: bool) -> Post:
    text = f"“{shorten_to_line(named_question(line), 80)}” is stopped. Its progress is saved."
    if is_room:
        return Post((Line(text), Buttons((Button(RESUME, "Resume", line.id),))), text)
    return Post((Line(text), Note(f"Resume it with `council ask --resume {line.id}`.")), text)


async def rate_command(
    app: AppContext, chat: Chat, message: IncomingMessage, wanted: str, *, helpful: bool
) -> None:
    """Store whether a round helped."""
    round_ = await rounds.find_round_or_last(app, message, wanted)
    await rate_round(app, chat, message, round_.id, rounds.Opinion(helpful))


async def new_question(
    app: AppContext, chat: Chat, message: IncomingMessage, arguments: Arguments
) -> None:
    """End the conversation here."""
    await start_conversation(app, chat, message, "")

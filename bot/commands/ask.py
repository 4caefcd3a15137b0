"""The command `ask`: open a round for a question, and deliver its answer."""

import json
import secrets
from dataclasses import dataclass, replace

from pydantic import TypeAdapter

from bot.access import check_admitted
from bot.admission import admit_round, dismissed_at_end, is_stored
from bot.chat import Button, Chat, IncomingMessage, Post, send_note
from bot.commands.conversations import continue_conversation
from bot.commands.parameters import Arguments
from bot.commands.reveal import hold_reveal
from bot.commands.round_delivery import deliver_round, remember_visible
from bot.context import AppContext, usual_seconds
from bot.render.round_status import accepted_post
from council.budget import estimate_round
from council.errors import FileError, QuestionError
from council.panel import Panel
from council.people import ThreadReading
from council.ports import UNASKED
from council.rounds import Question, Round

_READING = TypeAdapter(ThreadReading | None)
MAX_UNASKED = 1_000
ASK_ANYWAY = "ask_anyway"  # the action
PRIVATE = "private"  # the option of forms that sends the answer only to the asker
NOT_WAITING = "This question has expired. Please ask it again."


@dataclass(frozen=True, slots=True)
class AskOptions:
    """What an asker may choose; None means the place's panel, its method, a random seed.

    With `votes_first`, a room learns who wrote what some time after the answer; None is as the
    channel's settings say.
    """

    panel: str | None = None
    method: str | None = None
    seed: str | None = None
    votes_first: bool | None = None


async def ask(app: AppContext, chat: Chat, message: IncomingMessage, arguments: Arguments) -> None:
    """Open a round for the question and deliver its answer."""
    message = replace(message, text=arguments.get("question", ""))
    await ask_with_options(app, chat, message, _options(arguments))


def _options(arguments: Arguments) -> AskOptions:
    return AskOptions(
        panel=arguments.get("panel"), method=arguments.get("method"), seed=arguments.get("seed")
    )


async def ask_with_options(
    app: AppContext, chat: Chat, message: IncomingMessage, choice: AskOptions = AskOptions()
) -> None:
    """Open a round, once for each event, with the asker's options, and deliver its answer."""
    round_ = await open_round(app, message, choice)
    if round_:
        await accept_and_deliver(app, chat, message, round_)
    elif not chat.is_room:  # in a room, the platform repeats events
        await send_note(chat, message, f"You have already asked this: round {message.key}.")


async def accept_and_deliver(
    app: AppContext, chat: Chat, message: IncomingMessage, round_: Round
) -> None:
    """Deliver the answer of a new round; say first what it may cost where no progress does."""
    with dismissed_at_end(app, round_):
        if not chat.is_room:
            await chat.send_ephemeral(message, await acceptance_post(app, round_))
        await deliver_round(app, chat, message, round_)


async def acceptance_post(app: AppContext, round_: Round) -> Post:
    """Return the private reply that confirms a question, with its estimated cost and duration."""
    estimate = await estimate_round(round_, app.gateway)
    usual = await usual_seconds(app.store, round_.panel.name)
    return accepted_post(round_, estimate, usual)


async def open_round(
    app: AppContext, message: IncomingMessage, choice: AskOptions = AskOptions()
) -> Round | None:
    """Store and return the round of a new question; None for a repeated event."""
    if message.files and await is_stored(app, message.key):  # before they are downloaded again
        return None
    if not app.is_reloaded(message.place, message.key):
        await app.reload_settings(message.place, message.key)
    round_ = await new_round(app, message, choice)
    if not await admit_round(app, round_):
        return None
    if message.is_visible:
        await remember_visible(app, round_.id)
    by_default = app.access.rules_in(message.place).votes_first
    if by_default if choice.votes_first is None else choice.votes_first:
        await hold_reveal(app, round_.id)
    return round_


async def new_round(app: AppContext, message: IncomingMessage, choice: AskOptions) -> Round:
    """Return the round of a question and the files that came with it, not stored yet.

    Raise AccessDeniedError if the asker may not ask here, PanelError or QuestionError.
    """
    check_admitted(app.access, message)
    panel = app.panel(choice.panel, message.place, choice.method)
    files = await app.file_reader.read(message.files) or message.attached
    asked = Question(
        message.text,
        message.asker.id,
        message.context,
        message.place,
        files=files,
        quotes=message.quotes,
        reading=message.reading,
        instructions=message.instructions,
        answer_schema=message.answer_schema,
    )
    await _check_images(app, asked, panel)
    return app.new_round(asked, panel, choice.seed, message.key, message.max_characters)


async def _check_images(app: AppContext, question: Question, panel: Panel) -> None:
    """Raise FileError for an image that no member of the panel can see."""
    if not question.images:
        return
    if not any([await app.gateway.sees_images(member) for member in panel.members]):
        raise FileError(
            f"No model of panel {panel.name} can see images. Describe the image in words, or ask "
            "a panel that has a model with vision."
        )


# --- A line that is probably no question waits here until its author confirms it.


async def keep_unasked(
    app: AppContext, message: IncomingMessage, question: str, options: Arguments
) -> Button:
    """Store a question that was not asked, with its options; return the button that asks it."""
    code = secrets.token_hex(6)
    kept = {
        "by": message.asker.id,
        "question": question,
        "context": message.context,
        "thread": message.place.thread,
        "quotes": message.quotes,
        "reading": _READING.dump_python(message.reading),
        "options": dict(options),
    }
    await app.key_values.put(UNASKED, f"{message.place.scope}/{code}", json.dumps(kept))
    await app.key_values.prune(UNASKED, MAX_UNASKED)
    return Button(ASK_ANYWAY, "Ask it anyway", code)


async def ask_anyway(app: AppContext, chat: Chat, message: IncomingMessage, code: str) -> None:
    """Ask a kept question, once, for its author; raise QuestionError for anybody else."""
    name = f"{message.place.scope}/{code}"
    text = await app.key_values.read(UNASKED, name)
    kept = json.loads(text) if text else {}
    if kept.get("by") != message.asker.id or await app.key_values.pop(UNASKED, name) is None:
        raise QuestionError(NOT_WAITING)
    place = replace(message.place, thread=kept["thread"])
    question = replace(
        message,
        text=kept["question"],
        context=kept["context"],
        place=place,
        quotes=tuple(kept.get("quotes", ())),
        reading=_READING.validate_python(kept.get("reading")),
    )
    again = await continue_conversation(app, replace(question, context=""))
    if again.context == question.context:  # it has the files of the conversation, too
        question = again
    await ask_with_options(app, chat, question, _options(kept.get("options", {})))

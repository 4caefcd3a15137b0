"""The command `ask`: open a round for a question, and deliver its answer."""

import re
from dataclasses import dataclass, replace

from bot.access import check_admitted
from bot.chat import Chat, IncomingMessage, Note, Post
from bot.commands.round_delivery import deliver_round
from bot.context import AppContext, usual_seconds
from bot.render.round_status import accepted_post
from council.budget import estimate_round
from council.rounds import Question, Round

_OPTION = re.compile(r"\A(panel|method|seed):(\S+)(?:\s+|\Z)")


@dataclass(frozen=True, slots=True)
class AskOptions:
    """What an asker may choose; None means the place's panel, its method, a random seed."""

    panel: str | None = None
    method: str | None = None
    seed: str | None = None


async def ask(app: AppContext, chat: Chat, message: IncomingMessage, text: str) -> None:
    """Open a round for the question and deliver its answer."""
    await ask_with_options(app, chat, replace(message, text=text))


async def ask_with_options(
    app: AppContext, chat: Chat, message: IncomingMessage, choice: AskOptions = AskOptions()
) -> None:
    """Open a round, once for each event, with the asker's options, and deliver its answer."""
    round_ = await open_round(app, message, choice)
    if round_:
        await accept_and_deliver(app, chat, message, round_)
    elif not chat.is_room:  # in a room, the platform repeats events
        await chat.send_ephemeral(
            message, Post((Note(f"This has been asked already: round {message.key}."),))
        )


async def accept_and_deliver(
    app: AppContext, chat: Chat, message: IncomingMessage, round_: Round
) -> None:
    """Send the asker the estimate of a new round, and deliver its answer."""
    with app.dismissed_at_end(round_):
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
    await app.reload_picked_panel(message.place)
    round_ = new_round(app, message, choice)
    return round_ if await app.open(round_) else None


def new_round(app: AppContext, message: IncomingMessage, choice: AskOptions) -> Round:
    """Return the round of a question, not stored yet.

    The text may begin with `panel:NAME`, `method:NAME` and `seed:TEXT`, which override the options.
    Raise AccessDeniedError if the asker may not ask here, PanelError or QuestionError.
    """
    check_admitted(app.access, message)
    options, question = _parse_options(message.text)
    chosen = replace(choice, **options)
    panel = app.panel(chosen.panel, message.place, chosen.method)
    asked = Question(question, message.asker.id, message.context, message.place)
    return app.new_round(asked, panel, chosen.seed, message.key)


def _parse_options(text: str) -> tuple[dict[str, str], str]:
    options: dict[str, str] = {}
    while match := _OPTION.match(text):
        options[match[1]] = match[2]
        text = text[match.end() :]
    return options, text

"""The command `ask`: open a round for a question, and deliver its answer."""

import re
from dataclasses import dataclass, replace

from bot.access import admitted
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
    await asked(app, chat, replace(message, text=text))


async def asked(
    app: AppContext, chat: Chat, message: IncomingMessage, choice: AskOptions = AskOptions()
) -> None:
    """Open a round, once for each event, with the asker's options, and deliver its answer."""
    round_ = await opened(app, message, message.text, choice)
    if round_:
        await taken_up(app, chat, message, round_)
    elif not chat.is_room:  # in a room, the platform repeats events
        await chat.send_ephemeral(
            message, Post((Note(f"This has been asked already: round {message.key}."),))
        )


async def taken_up(app: AppContext, chat: Chat, message: IncomingMessage, round_: Round) -> None:
    """Send the asker the estimate of a new round, and deliver its answer."""
    with app.keeping_admitted(round_):
        await chat.send_ephemeral(message, await accepted(app, round_))
        await deliver_round(app, chat, message, round_)


async def accepted(app: AppContext, round_: Round) -> Post:
    """Return the private reply that confirms a question, with its estimated cost and duration."""
    estimate = await estimate_round(round_, app.gateway)
    usual = await usual_seconds(app.store, round_.panel.name)
    return accepted_post(round_, estimate, usual)


async def opened(
    app: AppContext, message: IncomingMessage, text: str, choice: AskOptions = AskOptions()
) -> Round | None:
    """Store and return the round of a new question; None for a repeated event."""
    await app.look_up(message.place)
    round_ = proposed(app, message, text, choice)
    return round_ if await app.open(round_) else None


def proposed(
    app: AppContext, message: IncomingMessage, text: str, choice: AskOptions = AskOptions()
) -> Round:
    """Return the round of a question, not stored yet.

    The text may begin with `panel:NAME`, `method:NAME` and `seed:TEXT`, which override the options.
    Raise AccessDeniedError if the asker may not ask here, PanelError or QuestionError.
    """
    admitted(app.access, message)
    options, question = _parse_options(text)
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

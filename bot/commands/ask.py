"""What the asker is told at once, with what is known of the panel."""

import re
from dataclasses import dataclass, replace

from bot.access import admitted
from bot.chat import Chat, IncomingMessage, Note, Post
from bot.commands.round_delivery import deliver_round
from bot.context import AppContext, usual_seconds
from bot.render.round_status import accepted_post
from council.budget import estimated
from council.rounds import Question, Round

# --- What the asker is told at once, with what is known of the panel.


async def accepted(app: AppContext, round_: Round) -> Post:
    """Give the private word that a question was taken in."""
    estimate = await estimated(round_, app.gateway)
    usual = await usual_seconds(app.store, round_.panel.name)
    return accepted_post(round_, estimate, usual)


# --- The command that everything is for: put a question to a panel.

_OPTION = re.compile(r"\A(panel|method|seed):(\S+)(?:\s+|\Z)")


@dataclass(frozen=True, slots=True)
class AskOptions:
    """What an asker may choose; None is left to the place, the panel and chance."""

    panel: str | None = None
    method: str | None = None
    seed: str | None = None


async def ask(app: AppContext, chat: Chat, said: IncomingMessage, text: str) -> None:
    """Open a round for the question, once for each event, and see it through."""
    await asked(app, chat, replace(said, text=text))


async def asked(
    app: AppContext, chat: Chat, said: IncomingMessage, choice: AskOptions = AskOptions()
) -> None:
    """Do as `ask`, with what the asker chose beside the question."""
    round_ = await opened(app, said, said.text, choice)
    if round_:
        await taken_up(app, chat, said, round_)
    elif not chat.is_room:  # there it is the platform that says things twice
        await chat.send_ephemeral(
            said, Post((Note(f"This has been asked already: round {said.key}."),))
        )


async def taken_up(app: AppContext, chat: Chat, said: IncomingMessage, round_: Round) -> None:
    """Tell the asker what happens with a new round, and see it through."""
    with app.keeping_admitted(round_):
        await chat.send_ephemeral(said, await accepted(app, round_))
        await deliver_round(app, chat, said, round_)


async def opened(
    app: AppContext, said: IncomingMessage, text: str, choice: AskOptions = AskOptions()
) -> Round | None:
    """Give the stored round of a new question, or None for an event that has come before."""
    await app.look_up(said.place)
    round_ = proposed(app, said, text, choice)
    return round_ if await app.open(round_) else None


def proposed(
    app: AppContext, said: IncomingMessage, text: str, choice: AskOptions = AskOptions()
) -> Round:
    """Give the round of a question, not stored yet; NotAdmittedError where it may not be asked.

    The text may begin with `panel:NAME`, `method:NAME` and `seed:TEXT`, which go before a choice.
    """
    admitted(app.access, said)
    options, question = _options(text)
    chosen = replace(choice, **options)
    panel = app.panel(chosen.panel, said.place, chosen.method)
    asked = Question(question, said.asker.id, said.context, said.place)
    return app.new_round(asked, panel, chosen.seed, said.key)


def _options(text: str) -> tuple[dict[str, str], str]:
    options: dict[str, str] = {}
    while match := _OPTION.match(text):
        options[match[1]] = match[2]
        text = text[match.end() :]
    return options, text

"""Suggestions for the values of command parameters, for chats that complete them."""

from collections.abc import Iterable

from bot.access import allows_panel, check_admitted, listable_rounds
from bot.chat import IncomingMessage
from bot.commands.parameters import NOTHING_GIVEN, Arguments, Kind, Parameter, Suggestion
from bot.commands.registry import commands_of
from bot.commands.reveal import is_held
from bot.commands.rounds import find_round_or_last
from bot.commands.voting import draw_to_vote_on
from bot.context import AppContext
from bot.render.formatting import author_names
from bot.render.text_safety import shorten_to_line
from bot.render.voting import blind_answers, takes_blind_votes
from council.errors import CouncilError
from council.methods import offered_methods

MAX_SUGGESTIONS = 25
_MAX_WORDS = 80  # characters of an answer
_ROUNDS = 100  # the newest, searched for what was typed


async def suggest(
    app: AppContext,
    message: IncomingMessage,
    parameter: Parameter,
    typed: str,
    given: Arguments = NOTHING_GIVEN,
) -> list[Suggestion]:
    """Return at most 25 suggestions that contain what was typed; none without access.

    `given` are the command's other values so far.
    """
    try:
        check_admitted(app.access, message)
        if parameter.kind is Kind.LABEL:
            found: Iterable[Suggestion] = await _answers(app, message, given.get("round", ""))
        elif parameter.suggest:
            found = await parameter.suggest(app, message)
        else:
            found = await _suggestions(app, message, parameter.kind)
    except CouncilError:
        return []
    wanted = typed.lower()
    matching = [one for one in found if wanted in one[0].lower() or one[1].startswith(wanted)]
    return matching[:MAX_SUGGESTIONS]


async def _suggestions(
    app: AppContext, message: IncomingMessage, kind: Kind
) -> Iterable[Suggestion]:
    match kind:
        case Kind.ROUND:
            lines = await app.store.list_summaries(_ROUNDS, listable_rounds(message))
            return [(line.question or "A forgotten question", line.id) for line in lines]
        case Kind.PANEL:
            allowed = allows_panel
            names = [n for n, p in app.panels.items() if allowed(app.access, message.place, p)]
        case Kind.METHOD:
            names = [*offered_methods(app.panels.values(), app.registry)]
        case Kind.TOPIC:
            names = [one.full_name for one in commands_of(app).commands if not one.hidden]
        case _:
            names = []
    return [(name, name) for name in names]


async def _answers(app: AppContext, message: IncomingMessage, round_: str) -> list[Suggestion]:
    """Return the letters of a round's answers: with their first words while people vote blind.

    After the result they have the names of their models. Raise CouncilError if nobody may vote.
    """
    found = await find_round_or_last(app, message, round_)
    draw = draw_to_vote_on(found)
    if takes_blind_votes(found) or await is_held(app, found):
        return [
            (f"Response {answer.label} · {shorten_to_line(answer.text, _MAX_WORDS)}", answer.label)
            for answer in blind_answers(found)
            if answer.label and answer.text
        ]
    return [(name, label) for label, name in author_names(found.panel, draw).items()]

"""Suggestions for the values of command parameters, for chats that complete them."""

from collections.abc import Iterable

from bot.access import allows_panel, check_admitted, listable_rounds
from bot.chat import IncomingMessage
from bot.commands.parameters import Kind, Parameter, Suggestion
from bot.commands.registry import commands_of
from bot.context import AppContext
from council.errors import CouncilError
from council.methods import offered_methods

MAX_SUGGESTIONS = 25
_ROUNDS = 100  # the newest, searched for what was typed


async def suggest(
    app: AppContext, message: IncomingMessage, parameter: Parameter, typed: str
) -> list[Suggestion]:
    """Return at most 25 suggestions that contain what was typed; none without access."""
    try:
        check_admitted(app.access, message)
        if parameter.suggest:
            found: Iterable[Suggestion] = await parameter.suggest(app, message)
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

"""Shell completion of values: rounds, panels, and what plug-ins suggest."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from bot.commands.parameters import Kind


def complete(kind: Kind = Kind.WORD, suggest: str = "") -> Callable[[str], list[tuple[str, str]]]:
    """Return a function for `autocompletion`: the values that begin as typed, with their titles.

    They are those of a kind, or of the function at the address `suggest`.
    """

    def values(incomplete: str) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        with suppress(Exception):  # a shell has no place for an error
            found = asyncio.run(_suggestions(kind, suggest))
        return [(value, title) for title, value in found if value.startswith(incomplete)]

    return values


async def _suggestions(kind: Kind, address: str) -> list[tuple[str, str]]:
    from bot.bootstrap import StartOptions, open_app
    from bot.chat import TERMINAL, Asker, IncomingMessage
    from bot.commands.completion import suggest
    from bot.commands.parameters import Parameter
    from bot.settings import load_settings
    from council.plugin import load_object

    message = IncomingMessage("", Asker("terminal", "you"), TERMINAL, "completion")
    async with open_app(load_settings(), StartOptions(report=lambda _: None)) as app:
        own = load_object(address) if address else None
        return await suggest(app, message, Parameter("value", "", kind, suggest=own), "")

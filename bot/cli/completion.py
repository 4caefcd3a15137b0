"""Shell completion of values: rounds, panels, suites, schedules and bake-offs."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from bot.commands.parameters import Kind


def complete(kind: Kind) -> Callable[[str], list[tuple[str, str]]]:
    """Return a function for `autocompletion`: the values that begin as typed, with their titles."""

    def values(incomplete: str) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        with suppress(Exception):  # a shell has no place for an error
            found = asyncio.run(_suggestions(kind))
        return [(value, title) for title, value in found if value.startswith(incomplete)]

    return values


async def _suggestions(kind: Kind) -> list[tuple[str, str]]:
    from bot.bootstrap import open_app
    from bot.chat import Asker, IncomingMessage
    from bot.commands.completion import suggest
    from bot.commands.parameters import Parameter
    from bot.settings import load_settings
    from bot.terminal import TERMINAL

    message = IncomingMessage("", Asker("terminal", "you"), TERMINAL, "completion")
    async with open_app(load_settings()) as app:
        return await suggest(app, message, Parameter("value", "", kind), "")

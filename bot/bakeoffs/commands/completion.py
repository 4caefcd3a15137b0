"""Suggestions of suites, schedules and bake-offs, for chats and shells that complete values."""

from bot.bakeoffs.commands.bakeoffs import load_readable_bakeoffs
from bot.bakeoffs.commands.schedules import load_visible_schedules
from bot.bakeoffs.parts import bakeoff_stores
from bot.chat import IncomingMessage
from bot.commands.parameters import Suggestion
from bot.context import AppContext


async def suggest_suites(app: AppContext, message: IncomingMessage) -> list[Suggestion]:
    """Return the suites that can be used here."""
    lines = await bakeoff_stores(app).suites.list_summaries(message.place.scope)
    return [(line.name, line.name) for line in lines]


async def suggest_schedules(app: AppContext, message: IncomingMessage) -> list[Suggestion]:
    """Return the visible schedules."""
    return [(one.name, one.name) for one in await load_visible_schedules(app, message)]


async def suggest_bakeoffs(app: AppContext, message: IncomingMessage) -> list[Suggestion]:
    """Return the readable bake-offs, by suite, panel and start."""
    return [
        (f"{one.suite.name} · {one.panel.name} · {one.at:%Y-%m-%d %H:%M}", one.id)
        for one in await load_readable_bakeoffs(app, message)
    ]

"""`council forget`: data gone, for one round or for all that are old."""

from collections.abc import Callable

import typer

from bot.books import opened_store
from bot.commands.rounds import UnderWayError, forgotten
from bot.coordination.clock import now
from bot.render.formatting import counted
from bot.runners.retention import Watch, forget_older
from bot.settings import load_settings


async def forget_round(start: str, *, unfinished: bool) -> None:
    """Forget one round and say what was done.

    Another process may be carrying one that is not at its end: only whoever says that it has
    stopped can have it forgotten. Should it go on all the same, nothing is added to it any more.
    """
    async with opened_store(load_settings()) as store:
        round_ = await store.load(await store.find(start))
        if not (round_.closing or round_.forgotten or unfinished):
            raise UnderWayError(
                f"Round {round_.id} has not come to its end: stop it first, then forget it with "
                "--unfinished."
            )
        typer.echo(await forgotten(store, round_, now()))


async def forget_old(days: int, tell: Callable[[str], None]) -> None:
    """Forget every round that is older, and say how many; `tell` hears of each that cannot be."""
    async with opened_store(load_settings()) as store:
        count = await forget_older(store, days, now(), Watch(on_fault=tell))
    typer.echo(f"{counted(count, 'round')} older than {counted(days, 'day')} forgotten.")

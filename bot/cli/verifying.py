"""Rounds verified, from the database or from an export, and texts proven."""

from collections.abc import Callable
from pathlib import Path

import typer

from bot.books import opened_store
from bot.cli.exports import Unreadable, exported
from bot.render.figures import listed
from bot.settings import SettingsError, load_settings
from council.errors import StoreError
from council.forgetting import names_of_text
from council.ports import Store
from council.rounds import Round
from council.verify import verify
from storage.documents import Record

Tell = Callable[[str], None]
NO_ROUND = "No round is stored."


async def verify_rounds(start: str | None, tell: Tell) -> None:
    """Verify one round, or all; `tell` hears the id of each that differs."""
    async with opened_store(load_settings()) as store:
        ids = [await store.find(start)] if start else [line.id for line in await store.recent()]
        for round_id in ids:
            found = await _loaded(store, round_id)
            if isinstance(found, Unreadable):
                typer.echo(found.why)
            if isinstance(found, Unreadable) or not _said(found):
                tell(round_id)
    if not ids:
        typer.echo(NO_ROUND)


async def verify_file(path: Path, tell: Tell) -> None:
    """Verify every round of an export, without a database; `tell` hears of each that differs."""
    none = True
    for found in exported(path):
        if isinstance(found, Unreadable):
            typer.echo(found.why)
            tell(found.why)
        elif isinstance(found, Record) and not _said(found.round_):
            tell(found.round_.id)
        none = none and not isinstance(found, Unreadable | Record)
    if none:
        typer.echo(NO_ROUND)


async def prove_text(start: str, path: Path, tell: Tell) -> None:
    """Say which text of a round a file holds, kept or forgotten; `tell` hears that it is none."""
    async with opened_store(load_settings()) as store:
        round_ = await store.load(await store.find(start))
    text = _text_of(path)
    # Editors end a file with a line end that the text may not have.
    names = names_of_text(round_, text) or names_of_text(round_, text.removesuffix("\n"))
    if not names:
        tell(round_.id)
    proven = listed(names) if names else "no text"
    typer.echo(f"Round {round_.id}: {path.name} is {proven} of it.")


def _text_of(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except OSError as error:
        raise SettingsError([f"{path} cannot be read: {error.strerror}."]) from None
    except UnicodeDecodeError:
        raise SettingsError([f"{path} is no text in UTF-8."]) from None


async def _loaded(store: Store, round_id: str) -> Round | Unreadable:
    try:
        return await store.load(round_id)
    except StoreError as error:
        return Unreadable(str(error))


def _said(round_: Round) -> bool:
    """Say what verifying found; give whether nothing differs."""
    differences = verify(round_)
    for difference in differences:
        typer.echo(f"Round {round_.id} differs in {difference}")
    if not differences:
        typer.echo(f"Round {round_.id}: {_extent(round_)}")
    return not differences


def _extent(round_: Round) -> str:
    if round_.forgotten:
        on = f"forgotten on {round_.forgotten.at:%Y-%m-%d}"
        ranked = ", standings and verdict" if round_.tally else ""
        agree = f"; label map, slates{ranked} agree with what is kept" if round_.draw else ""
        return on + agree
    if round_.draw is None:
        return "nothing to recompute"
    ranked = ", standings and verdict too" if round_.tally else ""
    return f"label map, slates and ballots are as recomputed{ranked}"

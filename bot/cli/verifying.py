"""Rounds verified, from the database or from an export, and texts proven."""

from collections.abc import Callable, Sequence
from pathlib import Path

import typer

from bot.books import opened_books, opened_store
from bot.cli.chains import said, verify_chains
from bot.cli.exports import Unreadable, exported
from bot.render.formatting import listed
from bot.settings import SettingsError, load_settings
from council.digests import Forgotten
from council.errors import StoreError
from council.integrity.erasure import names_of_text
from council.integrity.hash_chain import Link
from council.integrity.seal import Seal, changes
from council.integrity.verification import chain_name, verify, walked_in_part
from council.ports import Store
from council.rounds import Round
from storage.export import Record

Tell = Callable[[str], None]
NO_ROUND = "No round is stored."
UNLINKED = "it closed before the chain began"


async def verify_round(start: str, tell: Tell) -> None:
    """Verify one stored round; `tell` hears its id where it differs."""
    async with opened_store(load_settings()) as store:
        await _verify(store, await store.find(start), tell)


async def verify_all(written_down: Sequence[str], tell: Tell) -> None:
    """Verify every round and every chain, up to heads that were written down where there are any.

    `tell` hears of each round that differs, and of each fault of a chain.
    """
    async with opened_books(load_settings()) as books:
        lines = await books.store.recent()
        for line in lines:
            await _verify(books.store, line.id, tell)
        if not lines:
            typer.echo(NO_ROUND)
        await verify_chains(books.chain, written_down, tell)


async def verify_file(path: Path, tell: Tell) -> None:
    """Verify every round of an export, without a database; `tell` hears of each that differs.

    Links that follow each other in their chain are held against each other too.
    """
    none, links = True, list[Link]()
    for found in exported(path):
        if isinstance(found, Unreadable):
            typer.echo(found.why)
            tell(found.why)
        elif isinstance(found, Record):
            if not _said(found, is_exported=True):
                tell(found.round_.id)
            links += [found.seal.link] if found.seal and found.seal.link else []
        none = none and not isinstance(found, Unreadable | Record)
    for stretch in walked_in_part(links):
        if stretch.is_broken:
            said(stretch, tell)
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


async def _verify(store: Store, round_id: str, tell: Tell) -> None:
    try:
        found = Record(await store.load(round_id), seal=await store.seal(round_id))
    except StoreError as error:
        typer.echo(str(error))
        tell(round_id)
        return
    if not _said(found):
        tell(round_id)


def _said(found: Record, *, is_exported: bool = False) -> bool:
    """Say what verifying found; give whether nothing differs."""
    round_ = found.round_
    differences = verify(round_)
    changed = changes(round_, found.seal) if found.seal else ()
    for difference in differences:
        typer.echo(f"Round {round_.id} differs in {difference}")
    for change in changed:
        typer.echo(f"Round {round_.id} is not as it closed: {change}")
    if round_.forgotten and (differences or changed):
        typer.echo(f"Round {round_.id}: {_since(round_.forgotten)}")
    if not (differences or changed):
        in_chain = f"; {_linked(found.seal, is_exported)}" if round_.closing else ""
        typer.echo(f"Round {round_.id}: {_extent(round_)}{in_chain}")
    return not (differences or changed)


def _linked(seal: Seal | None, is_exported: bool) -> str:
    """Say where in its chain a round stands that is as it was when it joined it."""
    if seal is None or seal.link is None:
        return "no link came with it" if is_exported else UNLINKED
    link = seal.link
    since = "as it was taken in from elsewhere" if link.origin else "as it closed"
    hash_ = f" with hash {link.hash}" if is_exported else ""
    return f"{since}, link {link.number} of {chain_name(link.scope)}{hash_}"


def _extent(round_: Round) -> str:
    if round_.forgotten:
        ranked = ", standings and verdict" if round_.tally else ""
        agree = f"; label map, slates{ranked} agree with what is kept" if round_.draw else ""
        return _since(round_.forgotten) + agree
    if round_.draw is None:
        return "nothing to recompute"
    ranked = ", standings and verdict too" if round_.tally else ""
    return f"label map, slates and ballots are as recomputed{ranked}"


def _since(gone: Forgotten) -> str:
    return f"forgotten on {gone.at:%Y-%m-%d}"

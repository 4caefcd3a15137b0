"""The chains of closed rounds: their heads to write down, and whether they are whole."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from bot.bootstrap import opened_books, opened_store
from bot.cli.data import Unreadable, exported
from bot.cli.output import FAILED, MISUSED, fail, run
from bot.render.formatting import counted, listed
from bot.settings import SettingsError, load_settings
from council.digests import Forgotten
from council.errors import StoreError
from council.integrity.erasure import names_of_text
from council.integrity.hash_chain import Link
from council.integrity.seal import Seal, changes
from council.integrity.verification import ChainWalk, chain_name, walked_in_part
from council.integrity.verification import verify as _verifying_verify
from council.ports import HashChainStore, Store
from council.rounds import Round
from storage.export import Record

# --- The chains of closed rounds: their heads to write down, and whether they are whole.

Tell = Callable[[str], None]
STRETCH = 5000  # links read at once
NO_CHAIN = "No chain has begun: the next round that closes begins one."
UNMET = (
    "Head {} is in no chain that is stored here, or something before it was changed: that chain "
    "was rewritten or cut off, or its workspace removed."
)


async def show_heads(tell: Tell) -> None:
    """Print each chain's scope, length and last hash, to be written down elsewhere.

    The chains are walked for it, and nothing else; `tell` hears of each fault.
    """
    async with opened_books(load_settings()) as books:
        heads = await books.chain.heads()
        for head in heads:
            walk = await walked(books.chain, head, frozenset())
            if walk.findings:
                said(walk, tell)
            typer.echo(f"{head.scope or 'house'} {head.number} {head.hash}")
    if not heads:
        typer.echo(NO_CHAIN)


async def verify_chains(chain: HashChainStore, written_down: Sequence[str], tell: Tell) -> None:
    """Walk every chain and say what was found; `tell` hears of each fault.

    Up to a head that was written down nothing may have been rewritten.
    """
    met: set[str] = set()
    for head in await chain.heads():
        walk = await walked(chain, head, frozenset(written_down))
        said(walk, tell)
        met.update(walk.met)
    for digest in dict.fromkeys(written_down):
        if digest in met:
            typer.echo(f"Head {digest}: nothing up to it was rewritten.")
        else:
            typer.echo(UNMET.format(digest))
            tell(digest)


async def walked(chain: HashChainStore, head: Link, sought: frozenset[str]) -> ChainWalk:
    """Walk a chain from its first link to its head, a stretch at a time."""
    walk = ChainWalk(head.scope, sought=sought)
    after: int | None = None
    while links := await chain.links(head.scope, after, STRETCH):
        for held in links:
            walk.past(held)
        after = walk.length
    return walk


def said(walk: ChainWalk, tell: Tell) -> None:
    """Say how a chain was found; `tell` hears of each fault."""
    name = chain_name(walk.scope)
    for finding in walk.findings:
        typer.echo(f"In {name}: {finding}.")
        tell(finding)
    if not walk.findings:
        links = counted(walk.length, "link")
        typer.echo(f"{name[0].upper()}{name[1:]} is whole: {links}, head {walk.head}.")


# --- Rounds verified, from the database or from an export, and texts proven.

Report = Callable[[str], None]
NO_ROUND = "No round is stored."
UNLINKED = "it closed before the chain began"


async def verify_round(start: str, tell: Report) -> None:
    """Verify one stored round; `tell` hears its id where it differs."""
    async with opened_store(load_settings()) as store:
        await _verify(store, await store.find(start), tell)


async def verify_all(written_down: Sequence[str], tell: Report) -> None:
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


async def verify_file(path: Path, tell: Report) -> None:
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


async def prove_text(start: str, path: Path, tell: Report) -> None:
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


async def _verify(store: Store, round_id: str, tell: Report) -> None:
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
    differences = _verifying_verify(round_)
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


# --- `council verify`: what is stored or exported, recomputed and held against its chain.

ONE_THING = (
    "Name one round, or give --all. A file of an export will do too, and --head stands alone; "
    "--text goes with a round, --since-head with --all."
)


# Typer reads its options off the parameters, so there are as many as there are options.
def verify(  # noqa: PLR0913, PLR0917
    what: Annotated[
        str,
        typer.Argument(
            metavar="[ROUND|FILE]", help="A round's id, or a file of an export.", show_default=False
        ),
    ] = "",
    every: Annotated[
        bool, typer.Option("--all", help="Verify every stored round, and every chain.")
    ] = False,
    source: Annotated[
        Path | None, typer.Option("--from", help="Verify every round of an export.")
    ] = None,
    text: Annotated[
        Path | None, typer.Option(help="Say which text of the round this file holds.")
    ] = None,
    head: Annotated[
        bool,
        typer.Option("--head", help="ChainWalk the chains; print each one's length and last hash."),
    ] = False,
    since_head: Annotated[
        list[str] | None,
        typer.Option(help="A hash that --head once printed: nothing up to it may be rewritten."),
    ] = None,
) -> None:
    """Recompute rounds, hold them against their chain, and name every field that differs."""
    is_stray = bool(text and not what) or bool(since_head and not every)
    if sum([bool(what), every, bool(source), head]) != 1 or is_stray:
        fail(ONE_THING, MISUSED)
    differing: list[str] = []
    if head or every:
        _stored(differing, heads=tuple(since_head or ()), only_heads=head)
    else:
        _named(what, source, text, differing)
    if differing:
        raise typer.Exit(FAILED)


def _stored(differing: list[str], heads: tuple[str, ...], *, only_heads: bool) -> None:

    run(show_heads(differing.append) if only_heads else verify_all(heads, differing.append))


def _named(what: str, source: Path | None, text: Path | None, differing: list[str]) -> None:

    if text:
        run(prove_text(what, text, differing.append))
    elif source or _is_file(what):
        run(verify_file(source or Path(what), differing.append))
    else:
        run(verify_round(what, differing.append))


def _is_file(what: str) -> bool:
    try:
        return Path(what).is_file()
    except OSError:  # no file can be called so
        return False

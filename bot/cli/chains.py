"""The chains of closed rounds: their heads to write down, and whether they are whole."""

from collections.abc import Callable, Sequence

import typer

from bot.books import opened_books
from bot.render.formatting import counted
from bot.settings import load_settings
from council.integrity.hash_chain import Link
from council.integrity.verification import Walk, chain_name
from council.ports import Chain

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


async def verify_chains(chain: Chain, written_down: Sequence[str], tell: Tell) -> None:
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


async def walked(chain: Chain, head: Link, sought: frozenset[str]) -> Walk:
    """Walk a chain from its first link to its head, a stretch at a time."""
    walk = Walk(head.scope, sought=sought)
    after: int | None = None
    while links := await chain.links(head.scope, after, STRETCH):
        for held in links:
            walk.past(held)
        after = walk.length
    return walk


def said(walk: Walk, tell: Tell) -> None:
    """Say how a chain was found; `tell` hears of each fault."""
    name = chain_name(walk.scope)
    for finding in walk.findings:
        typer.echo(f"In {name}: {finding}.")
        tell(finding)
    if not walk.findings:
        links = counted(walk.length, "link")
        typer.echo(f"{name[0].upper()}{name[1:]} is whole: {links}, head {walk.head}.")

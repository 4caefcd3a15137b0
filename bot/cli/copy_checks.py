"""A copy of a database held against the one it was made from, round by round."""

from collections.abc import Callable
from dataclasses import dataclass

import typer

from bot.books import Books
from bot.cli.chains import said, walked
from bot.render.formatting import counted
from council.errors import CouncilError
from council.integrity.seal import Seal, changes
from council.integrity.verification import chain_name, verify
from council.ports import Store
from council.rounds import Round

Tell = Callable[[str], None]

AS_BEFORE = "it was so before, and was copied as it is"


@dataclass(frozen=True, slots=True)
class Found:
    """A round with what was noted of it, or why there is none that can be read."""

    round_: Round | None = None
    seal: Seal | None = None
    why: str = ""


async def check_copy(was: Books, is_: Books, tell: Tell, told: Callable[[int], None]) -> None:
    """Load each round from both, verify it, and walk the chains; `tell` hears of what is wrong."""
    good = total = 0
    for round_id in await was.store.ids():
        total += 1
        good += await _is_good(was.store, is_.store, round_id, tell)
        told(1)
    typer.echo(
        f"{good} of {counted(total, 'round')} equal in both, and as recomputed."
        if good < total
        else f"{counted(total, 'round')}: each is equal in both, and as recomputed."
    )
    await _check_chains(was, is_, tell)


async def _is_good(was: Store, is_: Store, round_id: str, tell: Tell) -> bool:
    before, after = await _found(was, round_id), await _found(is_, round_id)
    if before != after:
        typer.echo(f"Round {round_id} is not as it was: copy into a new database again.")
    elif faults := _faults(after):
        typer.echo(f"Round {round_id}: {faults}; {AS_BEFORE}.")
    else:
        return True
    tell(round_id)
    return False


async def _found(store: Store, round_id: str) -> Found:
    try:
        return Found(await store.load(round_id), await store.seal(round_id))
    except CouncilError as error:
        return Found(why=str(error).rstrip("."))


def _faults(found: Found) -> str:
    """Say what is wrong with a round itself; nothing where nothing is."""
    if found.round_ is None:
        return found.why
    changed = changes(found.round_, found.seal) if found.seal else ()
    return "; ".join(
        (
            *(f"differs in {difference}" for difference in verify(found.round_)),
            *(f"is not as it closed: {change}" for change in changed),
        )
    )


async def _check_chains(was: Books, is_: Books, tell: Tell) -> None:
    """Walk every chain of the copy, which must have the heads that there were."""
    heads = await is_.chain.heads()
    if heads != await was.chain.heads():
        typer.echo("The chains do not end as they did: copy into a new database again.")
        tell("heads")
    for head in heads:
        walk = await walked(is_.chain, head, frozenset())
        said(walk, tell)
        if walk.findings:
            typer.echo(f"So was {chain_name(head.scope)} before, and it was copied as it is.")

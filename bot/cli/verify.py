"""The command `council verify`: recompute rounds and check the hash chains."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.data import export_kinds, read_export
from bot.cli.output import MISUSED, OnFault, async_command, exit_on_faults, fail, read_file
from bot.cli.rounds import find_round_id
from bot.database import Stores, open_stores
from bot.exports import Verifier
from bot.plugins import Plugins
from bot.render.formatting import count_noun, join_words
from bot.settings import load_settings
from bot.settings.panels import load_plugins, stored_registry
from council.errors import PanelError, StoreError
from council.integrity.erasure import find_text_names
from council.integrity.hash_chain import Link
from council.integrity.seal import Seal, find_changes
from council.integrity.verification import ChainWalk, chain_name, walk_stretches
from council.integrity.verification import verify as verify_round
from council.methods import missing_rules
from council.ports import Store
from council.rounds import Round
from storage.export import ExportedRound
from storage.hash_chain import SqlHashChain

NO_ROUND = "No round is stored."
UNKNOWN_HEAD = (
    "Hash {} is in no chain stored here: its chain was changed or cut off before that point, or "
    "its workspace was removed."
)
ONE_THING = (
    "Name one round or an export, or use --all. --text needs a round, --since-head needs --all, "
    "and --head is used alone."
)


# Typer reads its options off the parameters, so there are as many as there are options.
@async_command
async def verify(
    what: Annotated[
        str,
        typer.Argument(
            metavar="[ROUND|FILE]",
            help="A round's id, or a file from `council export`.",
            show_default=False,
        ),
    ] = "",
    every: Annotated[
        bool, typer.Option("--all", help="Verify every stored round and every hash chain.")
    ] = False,
    text: Annotated[
        Path | None, typer.Option(help="Check whether the text in this file belongs to the round.")
    ] = None,
    head: Annotated[
        bool,
        typer.Option("--head", help="Check the chains; print the length and last hash of each."),
    ] = False,
    since_head: Annotated[
        list[str] | None,
        typer.Option(help="A hash that --head printed earlier and that must still be there."),
    ] = None,
) -> None:
    """Recompute stored rounds, check the hash chain, and name every field that differs."""
    is_stray = bool(text and not what) or bool(since_head and not every)
    if sum([bool(what), every, head]) != 1 or is_stray:
        fail(ONE_THING, MISUSED)

    with exit_on_faults() as on_fault:
        if what and not text and _is_file(what):
            _verify_export(Path(what), load_plugins(load_settings().config_file), on_fault)
            return
        async with open_stores(load_settings()) as stores:
            if head:
                await _print_heads(stores.chain, on_fault)
            elif every:
                await _verify_all(stores, since_head or (), on_fault)
            elif text:
                await _prove_text(stores.store, what, text, on_fault)
            else:
                await _verify_stored(
                    stores.store, await find_round_id(stores.store, what), on_fault
                )


def _is_file(what: str) -> bool:
    try:
        return Path(what).is_file()
    except OSError:  # not a valid file name
        return False


async def _verify_all(stores: Stores, known_heads: Sequence[str], on_fault: OnFault) -> None:
    summaries = await stores.store.list_summaries()
    hooks = stores.plugins.load_duties(lambda plugin: plugin.on_verify)
    verifiers: list[Verifier] = [new_verifier(stores) for new_verifier in hooks]
    for verifier in verifiers:
        await verifier.open()
    for summary in summaries:
        if round_ := await _verify_stored(stores.store, summary.id, on_fault):
            for verifier in verifiers:
                await verifier.verify(round_, on_fault)
    if not summaries:
        typer.echo(NO_ROUND)
    for verifier in verifiers:
        if matching := verifier.report(on_fault):
            typer.echo(matching)
    await _verify_chains(stores.chain, known_heads, on_fault)


def _verify_export(path: Path, plugins: Plugins, on_fault: OnFault) -> None:
    """Verify every round of an export, and links that follow each other in their chain."""
    count, links = 0, list[Link]()
    kinds, registry = export_kinds(plugins), stored_registry(plugins)
    for entry in read_export(path, kinds, on_fault, registry):
        if isinstance(entry, ExportedRound):
            count += 1
            _verify_record(entry, on_fault, is_exported=True)
            if seal := entry.seal:
                links += [seal.link] if seal.link else []
                links += [decision.link for decision in seal.decisions]
    for walk in walk_stretches(links):
        if walk.is_broken:
            print_walk(walk, on_fault)
    if not count:
        typer.echo(NO_ROUND)


async def _verify_stored(store: Store, round_id: str, on_fault: OnFault) -> Round | None:
    """Verify a round and return it; None if it cannot be read."""
    try:
        record = ExportedRound(await store.load(round_id), seal=await store.seal(round_id))
    except StoreError as error:
        on_fault(str(error))
        return None
    _verify_record(record, on_fault)
    return record.round_


def _verify_record(record: ExportedRound, on_fault: OnFault, *, is_exported: bool = False) -> None:
    round_ = record.round_
    faults = find_faults(record)
    for fault in faults:
        on_fault(f"Round {round_.id} {fault}")
    facts: list[str] = []
    if not faults:
        facts.append(_verified_parts(round_))
    elif round_.forgotten:
        facts.append(f"forgotten on {round_.forgotten.at:%Y-%m-%d}")
    is_unchanged = not faults or (missing_rules(round_) and not _changes(record))
    if round_.closing and is_unchanged:
        facts.append(_place_in_chain(record.seal, is_exported))
    if facts:
        typer.echo(f"Round {round_.id}: {'; '.join(facts)}")


def find_faults(record: ExportedRound) -> list[str]:
    """Return phrases about what differs from its recomputation, and what from its seal."""
    try:
        differences = [f"differs in {difference}" for difference in verify_round(record.round_)]
    except PanelError:  # another program's method, or a later version of it
        differences = [f"cannot be recomputed. {missing_rules(record.round_)}"]
    changes = [f"was changed after it closed: {change}" for change in _changes(record)]
    return differences + changes


def _changes(record: ExportedRound) -> Sequence[str]:
    return find_changes(record.round_, record.seal) if record.seal else ()


def _place_in_chain(seal: Seal | None, is_exported: bool) -> str:
    if seal is None or seal.link is None:
        return (
            "the export has no hash for it"
            if is_exported
            else "it closed before the hash chain began"
        )
    link = seal.link
    since = "unchanged since it was imported" if link.origin else "unchanged since it closed"
    hash_ = f" with hash {link.hash}" if is_exported else ""
    return f"{since}, link {link.number} of {chain_name(link.scope)}{hash_}"


def _verified_parts(round_: Round) -> str:
    if round_.forgotten:
        ranked = ", standings and verdict" if round_.tally else ""
        agree = f"; labels, orders{ranked} match what is still stored" if round_.draw else ""
        return f"forgotten on {round_.forgotten.at:%Y-%m-%d}{agree}"
    if round_.redacted:
        day = f"{round_.redacted.at:%Y-%m-%d}"
        kept = _verified_parts(replace(round_, redacted=None))
        return f"{kept}; what it quoted of another round was forgotten on {day}"
    if round_.draw is None:
        return "nothing to recompute"
    if round_.tally is None:
        return "verified: labels and orders match the stored seed"
    if not round_.ballots:
        return "verified: nothing was ranked, and labels and orders match the stored seed"
    return "verified: the results match the stored rankings"


async def _prove_text(store: Store, start: str, path: Path, on_fault: OnFault) -> None:
    round_ = await store.load(await find_round_id(store, start))
    try:
        text = read_file(path).decode()
    except UnicodeDecodeError:
        fail(f"{path} is not UTF-8 text.", MISUSED)
    # Editors end a file with a line end that the text may not have.
    names = find_text_names(round_, text) or find_text_names(round_, text.removesuffix("\n"))
    if names:
        typer.echo(f"Round {round_.id}: {path.name} is its {join_words(names)}")
    else:
        on_fault(f"Round {round_.id}: {path.name} is none of its texts")


async def _print_heads(chain: SqlHashChain, on_fault: OnFault) -> None:
    heads = await chain.heads()
    for head in heads:
        walk = await walk_chain(chain, head)
        if walk.findings:
            print_walk(walk, on_fault)
        typer.echo(f"{head.scope or 'house'} {head.number} {head.hash}")
    if not heads:
        typer.echo("There is no hash chain yet. The next finished round starts one.")


async def _verify_chains(
    chain: SqlHashChain, known_heads: Sequence[str], on_fault: OnFault
) -> None:
    """Walk every chain; nothing up to a head that was written down may have been rewritten."""
    met: set[str] = set()
    for head in await chain.heads():
        walk = await walk_chain(chain, head, frozenset(known_heads))
        print_walk(walk, on_fault)
        met.update(walk.met)
    for digest in dict.fromkeys(known_heads):
        if digest in met:
            typer.echo(f"Hash {digest}: nothing before it was changed.")
        else:
            on_fault(UNKNOWN_HEAD.format(digest))


async def walk_chain(
    chain: SqlHashChain, head: Link, known_heads: frozenset[str] = frozenset()
) -> ChainWalk:
    """Walk a chain from its first link to its head, and note which known heads it passes."""
    walk = ChainWalk(head.scope, known_heads=known_heads)
    after: int | None = None
    while links := await chain.links(head.scope, after, 5000):
        for link in links:
            walk.past(link)
        after = walk.length
    return walk


def print_walk(walk: ChainWalk, on_fault: OnFault) -> None:
    """Print the result of walking a chain; each finding is a fault."""
    name = chain_name(walk.scope)
    for finding in walk.findings:
        on_fault(f"In {name}: {finding}.")
    if not walk.findings:
        links = count_noun(walk.length, "link")
        typer.echo(f"{name[0].upper()}{name[1:]} is intact: {links}, last hash {walk.head}.")

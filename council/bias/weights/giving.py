"""From stored votes to what weights rest on."""

from collections.abc import Iterator, Sequence

from council.bakeoffs.packed import Packed
from council.bias.blocks import Block
from council.bias.packing import MOST, blocks
from council.bias.position import consistency
from council.bias.votes import VERSION
from council.bias.weights.board import Evidence
from council.bias.weights.consistency import Repeats
from council.bias.weights.given import Given
from council.bias.weights.people import Choice


def evidence_of(rows: Sequence[Packed], choices: Sequence[Choice]) -> Evidence:
    """Give what the votes of many rounds, and what people chose, allow to weigh judges by.

    Votes of another version than today's are left out: they are being made anew.
    """
    held = [*_alike(rows)]
    found = tuple(_given(part, block) for part, block in held)
    kept = consistency([block for _, block in held])
    repeats = {judge: Repeats(one.n, one.value or 0.0) for judge, one in kept.items()}
    return Evidence(found, repeats, tuple(choices))


def _alike(rows: Sequence[Packed]) -> Iterator[tuple[Sequence[Packed], Block]]:
    """Give rounds of the same seats together, in the order they come."""
    shapes: dict[str, list[Packed]] = {}
    for row in rows:
        if row.version == VERSION:
            shapes.setdefault(row.shape, []).append(row)
    for same in shapes.values():
        for at in range(0, len(same), MOST):
            part = same[at : at + MOST]
            (block,) = blocks(part)
            yield part, block


def _given(rows: Sequence[Packed], block: Block) -> Given:
    return Given(
        rounds=tuple(row.round_id for row in rows),
        judges=block.judges,
        makers=block.makers,
        members=block.judges[: block.members],
        shares=block.shares,
    )

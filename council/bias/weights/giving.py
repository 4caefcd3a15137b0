"""From stored votes to the ballots that weights are tried on."""

from collections.abc import Iterable, Iterator, Sequence

from council.bakeoffs.packed import Packed
from council.bias.blocks import Block
from council.bias.packing import MOST, blocks
from council.bias.votes import VERSION
from council.bias.weights.given import Given


def givens(rows: Iterable[Packed]) -> Iterator[Given]:
    """Give the counted ballots of many rounds, those of the same seats together, as they come.

    Votes of another version than today's are left out: they are being made anew.
    """
    alike: dict[str, list[Packed]] = {}
    for row in rows:
        if row.version == VERSION:
            alike.setdefault(row.shape, []).append(row)
    for held in alike.values():
        for at in range(0, len(held), MOST):
            part = held[at : at + MOST]
            (block,) = blocks(part)
            yield _given(part, block)


def _given(rows: Sequence[Packed], block: Block) -> Given:
    return Given(
        rounds=tuple(row.round_id for row in rows),
        judges=block.judges,
        makers=block.makers,
        members=block.judges[: block.members],
        shares=block.shares,
    )

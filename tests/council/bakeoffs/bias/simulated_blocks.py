"""Votes of judges whose biases are known, very many rounds at once, on the slates rounds have.

A judge ranks by what an answer is worth to it: the author's strength, the answer's own quality,
what is planted, and noise of a Gumbel's shape.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from council.bakeoffs.bias.vote_arrays import AUDIT_KINDS, Block, Bytes
from council.bakeoffs.bias.votes import STYLE, AuditVote, Vote, Votes, WrittenAnswer
from council.bakeoffs.record_arrays import Floats
from council.labels import draw_labels, draw_slates

DRAWS = 2_000  # draws of slates that differ; rounds have them at random
MAKERS = (
    "anthropic",
    "openai",
    "google",
    "deepseek",
    "xai",
    "mistral",
    "qwen",
    "cohere",
    "meta",
    "microsoft",
)
Whole = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Planted:
    """What every judge adds to an answer's worth, in units of the noise.

    `own` to its own answer, `family` to another of its maker, `first` to what stands first,
    `letter` to what is called C, `length` to one a standard deviation longer, `bold` to one with
    bold words, `named` to one that is said to be of its maker.
    """

    own: float = 0.0
    family: float = 0.0
    first: float = 0.0
    letter: float = 0.0
    length: float = 0.0
    bold: float = 0.0
    named: float = 0.0
    spread: float = 1.0  # between authors
    luck: float = 0.7  # between the answers of one author


@dataclass(frozen=True, slots=True)
class _World:
    chance: np.random.RandomState
    planted: Planted
    strengths: Floats
    quality: Floats  # round, author
    lengths: Floats
    style: NDArray[np.uint8]


def simulated(
    rounds: int, planted: Planted, seed: int, members: int = 5, makers: tuple[str, ...] = MAKERS
) -> Block:
    """Return simulated rounds, each with an audit ballot of a random kind by a random judge."""
    chance = np.random.RandomState(seed)
    world = _world(rounds, planted, chance, members)
    slates = _slates(members)[chance.randint(DRAWS, size=rounds)]
    doubled = np.zeros((rounds, members, members), dtype=np.uint8)
    slots = np.zeros_like(doubled)
    for judge in range(members):
        doubled[:, judge], slots[:, judge] = _voted(world, slates[:, judge], judge, makers, None)
    kinds = chance.choice(
        [AUDIT_KINDS.index(kind) for kind in ("own", "order", "named")], size=rounds
    )
    by = chance.randint(members, size=rounds)
    audit = np.zeros((rounds, members), dtype=np.uint8)
    for judge in range(members):
        for kind in ("own", "order", "named"):
            at = (by == judge) & (kinds == AUDIT_KINDS.index(kind))
            audit[at] = _audited(world, at, slates[at, judge], judge, (kind, makers))
    return Block(
        judges=tuple("abcdefghij"[:members]),
        makers=makers[:members],
        doubled=doubled,
        slots=slots,
        audit=kinds.astype(np.uint8),
        audited_by=by.astype(np.uint8),
        audit_doubled=audit,
        spoiled=np.zeros((rounds, members), dtype=np.uint8),
        first=_first(doubled),
        style=world.style,
        lengths=world.lengths.astype(np.float32),
        usd=np.full(rounds, 0.01, dtype=np.float32),
        checked=(),
        checks=np.zeros((rounds, 0), dtype=np.uint8),
    )


@cache
def _slates(members: int) -> Whole:
    """Return slates as rounds draw them, by draw, judge and slot: authors' numbers."""
    found = []
    for nth in range(DRAWS):
        labels = draw_labels([str(i) for i in range(members)], f"draw {nth}")
        slates = draw_slates(labels, (), f"draw {nth}")
        found.append([[int(labels.author_of(label)) for label in s.shown] for s in slates])
    return np.array(found)


def _world(rounds: int, planted: Planted, chance: np.random.RandomState, members: int) -> _World:
    strengths = planted.spread * np.linspace(-1, 1, members)
    quality = strengths + planted.luck * chance.standard_normal((rounds, members))
    lengths = np.exp(5 + 0.5 * chance.standard_normal((rounds, members))).round()
    style = (chance.random_sample((rounds, members, len(STYLE))) < 0.4).astype(np.uint8)
    scaled = (lengths - lengths.mean()) / lengths.std()
    quality += planted.length * scaled + planted.bold * style[:, :, STYLE.index("bold")]
    return _World(chance, planted, strengths, quality, lengths, style)


def _voted(
    world: _World, slate: Whole, judge: int, makers: tuple[str, ...], rounds: Whole | None
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return doubled ranks and slots by author, of a judge that saw these authors in this order."""
    at = np.arange(len(slate)) if rounds is None else rounds
    worth = world.quality[at[:, None], slate] + world.chance.gumbel(size=slate.shape)
    kin = np.array([maker == makers[judge] for maker in makers])[slate]
    worth += world.planted.own * (slate == judge) + world.planted.family * (kin & (slate != judge))
    worth[:, 0] += world.planted.first
    if slate.shape[1] > 2:
        worth[:, 2] += world.planted.letter
    order = worth.argsort(axis=1)[:, ::-1]
    ranks = order.argsort(axis=1) + 1
    doubled = np.zeros((len(slate), world.quality.shape[1]), dtype=np.uint8)
    slots = np.zeros_like(doubled)
    rows = np.arange(len(slate))[:, None]
    doubled[rows, slate] = 2 * ranks
    slots[rows, slate] = np.arange(1, slate.shape[1] + 1)
    return doubled, slots


def _audited(
    world: _World, at: Floats, slate: Whole, judge: int, how: tuple[str, tuple[str, ...]]
) -> NDArray[np.uint8]:
    kind, makers = how
    rounds = np.flatnonzero(at)
    if kind == "order":
        return _voted(world, slate[:, ::-1], judge, makers, rounds)[0]
    if kind == "own":
        return _voted(world, _with_own(world, slate, judge), judge, makers, rounds)[0]
    kin = np.array([maker == makers[judge] for maker in makers[: world.quality.shape[1]]])
    world.quality[rounds] += world.planted.named * kin
    found = _voted(world, slate, judge, makers, rounds)[0]
    world.quality[rounds] -= world.planted.named * kin
    return found


def _with_own(world: _World, slate: Whole, judge: int) -> Whole:
    """Insert the judge's own answer at a random place."""
    count, width = slate.shape
    places = world.chance.randint(width + 1, size=count)
    found = np.full((count, width + 1), judge)
    others = np.arange(width + 1) != places[:, None]
    found[others] = slate.reshape(-1)
    return found


def as_votes(block: Block) -> list[Votes]:
    """Return the same rounds as votes, one by one."""
    return [_votes(block, nth) for nth in range(len(block.audit))]


def _votes(block: Block, nth: int) -> Votes:
    by = block.judges[block.audited_by[nth]]
    kind = AUDIT_KINDS[block.audit[nth]]
    ballots = enumerate(zip(block.doubled[nth], block.slots[nth], strict=True))
    ranked = block.audit_doubled[nth]
    return Votes(
        judges=block.judges,
        makers=block.makers,
        members=block.members,
        ballots=tuple(_vote(block, block.judges[j], *ballot) for j, ballot in ballots),
        audit=AuditVote(by, kind, _vote(block, by, ranked, ranked), float(block.usd[nth])),
        spoiled=tuple((judge, 0) for judge in block.judges),
        written=tuple(
            WrittenAnswer(
                author,
                bool(block.first[nth, a]),
                int(block.lengths[nth, a]),
                tuple(block.style[nth, a].tolist()),
            )
            for a, author in enumerate(block.judges[: block.members])
        ),
    )


def _vote(block: Block, judge: str, doubled: Bytes, slots: Bytes) -> Vote:
    """Return a vote from ranks and slots by author."""
    shown = [a for a in np.argsort(slots, kind="stable").tolist() if slots[a]]
    return Vote(judge, tuple(block.judges[a] for a in shown), tuple(doubled[a] / 2 for a in shown))


def _first(doubled: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return which answers have the least mean rank: the winners if all ballots are in."""
    seen = doubled > 0
    means = doubled.sum(axis=1) / np.maximum(seen.sum(axis=1), 1)
    found: NDArray[np.uint8] = (means == means.min(axis=1, keepdims=True)).astype(np.uint8)
    return found

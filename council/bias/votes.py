"""What is kept of a closed round for the measuring of bias: who ranked whom how, and no texts."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from council.ballots import Ballot
from council.labels import LabelMap
from council.prompts.shared import estimated_tokens
from council.rounds import Draw, Round
from council.tally import Tally
from council.tally.standings import informative, ranks

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


# --- What is kept of a closed round for the measuring of bias: who ranked whom how, and no texts.

VERSION = 1  # of what votes hold; those of another are made anew


@dataclass(frozen=True, slots=True)
class Vote:
    """A judge's ranking: the authors in the order it saw their answers, and each one's rank.

    Rank 1 is the best; those that tie have the average of their places.
    """

    judge: str
    shown: tuple[str, ...]
    ranks: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class AuditVote:
    """An audit ballot by its kind, and what it cost, None where that is not known.

    `vote` is None for one that was spoiled; nobody knows then of which kind it was.
    """

    judge: str
    kind: str
    vote: Vote | None
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Written:
    """An answer by what is seen of it: its length in tokens, and its style as `traits` counts it.

    The length is an estimate from the text, the same for every model: what providers bill counts
    hidden thinking too, which no judge sees. `is_first` says that it shares the first place.
    """

    author: str
    is_first: bool
    length: int
    style: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Votes:
    """The votes of one round. Makers go with `judges`, of which the first are the `members`.

    `spoiled` counts the spoiled ballots of each judge that was asked for one; audits are no part.
    """

    judges: tuple[str, ...]
    makers: tuple[str, ...]
    members: int
    ballots: tuple[Vote, ...] = ()
    audit: AuditVote | None = None
    spoiled: tuple[tuple[str, int], ...] = ()
    written: tuple[Written, ...] = ()


# --- How an answer is dressed: its lists, headings, bold words and code, counted in its Markdown.

STYLE = ("lists", "headings", "bold", "code")
_COUNTED = {
    "list_item_open": "lists",
    "heading_open": "headings",
    "strong_open": "bold",
    "fence": "code",
    "code_inline": "code",
}


def style_of(text: str) -> tuple[int, ...]:
    """Count what STYLE names: items of lists, headings, bold runs, and code blocks and spans."""
    found = Counter[str]()
    for token in _reader().parse(text):
        found.update(
            _COUNTED[one.type] for one in (token, *(token.children or ())) if one.type in _COUNTED
        )
    return tuple(found[trait] for trait in STYLE)


@cache
def _reader() -> "MarkdownIt":
    # It takes a moment to load, and most commands read no answer.
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


# --- From a closed round to its votes.


def votes_of(round_: Round) -> Votes:
    """Give the votes of a closed round; one that failed has its seats, and nothing else."""
    seats = round_.panel.judges
    empty = Votes(
        judges=tuple(seat.key for seat in seats),
        makers=tuple(seat.family for seat in seats),
        members=len(round_.panel.members),
    )
    failed = round_.closing is not None and round_.closing.failure is not None
    if failed or not round_.draw or not round_.tally:
        return empty
    return Votes(
        judges=empty.judges,
        makers=empty.makers,
        members=empty.members,
        ballots=tuple(_vote(b, round_.draw.labels) for b in informative(round_.ballots)),
        audit=_audit(round_, round_.draw),
        spoiled=tuple(_spoiled(round_, round_.draw)),
        written=tuple(_written(round_, round_.draw, round_.tally)),
    )


def _vote(ballot: Ballot, labels: LabelMap) -> Vote:
    places = ranks(ballot.ranking)
    authors = tuple(labels.author_of(label) for label in ballot.shown)
    return Vote(ballot.judge, authors, tuple(places[label] for label in ballot.shown))


def _audit(round_: Round, draw: Draw) -> AuditVote | None:
    """Give the audit ballot of a round, of which there is one at most."""
    for ballot in round_.ballots:
        if ballot.audit:
            usd = ballot.paper.reply.cost_usd if ballot.paper else None
            return AuditVote(ballot.judge, ballot.audit, _vote(ballot, draw.labels), usd)
    for spoiled in round_.spoiled:
        if spoiled.is_audit:
            return AuditVote(spoiled.judge, "", None, spoiled.paper.reply.cost_usd)
    return None


def _spoiled(round_: Round, draw: Draw) -> Iterator[tuple[str, int]]:
    sent = [ballot.judge for ballot in round_.spoiled if not ballot.is_audit]
    for slate in draw.slates:
        yield slate.judge, sent.count(slate.judge)


def _written(round_: Round, draw: Draw, tally: Tally) -> Iterator[Written]:
    first = {line.label for line in tally.standings if line.place == 1 and line.share is not None}
    for answer in round_.answers:
        is_first = draw.labels.label_of(answer.member) in first
        length = estimated_tokens(answer.text)
        yield Written(answer.member, is_first, length, style_of(answer.text))

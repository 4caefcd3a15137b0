"""Votes: who ranked whom and how, stored for each closed round to measure bias from; no texts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from council.ballots import CANARY_NOT_LAST, Ballot
from council.filters import filter_checks
from council.labels import INVERTED, LabelMap, Slate
from council.methods import method_of
from council.prompts.shared import estimate_tokens
from council.rounds import Draw, Round
from council.tally import Tally
from council.tally.agreement import tau_b
from council.tally.borda import counted_ballots, ranks

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


VERSION = 2  # of the stored votes
FIRST_VERSION = 1  # the oldest that a release stored; it did not name its numbers
COMPUTED_SINCE = 1  # older votes are computed again, except those of forgotten rounds


@dataclass(frozen=True, slots=True)
class Vote:
    """Authors in the order the judge saw them, and their ranks: 1 is best, ties have the mean."""

    judge: str
    shown: tuple[str, ...]
    ranks: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class AuditVote:
    """An audit ballot; None is an unknown cost, or the vote of a spoiled ballot (kind unknown)."""

    judge: str
    kind: str
    vote: Vote | None
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """What a judge sees of an answer's form: its length in tokens and its style, as in STYLE.

    The length is estimated from the text in the same way for every model, because the tokens that
    providers bill include hidden reasoning. `is_first` means that it won or shares the first place.
    Length and style are None if the text is forgotten.
    """

    author: str
    is_first: bool
    length: int | None
    style: tuple[int, ...] | None


class Check(NamedTuple):
    """Whether a check, such as a canary, found something on a seat; "" is the whole round."""

    kind: str
    seat: str
    found: bool


@dataclass(frozen=True, slots=True)
class Votes:
    """The votes of one round.

    `makers` belong to `judges`, of which the first `members` also write answers. `spoiled` counts
    the spoiled ballots of each judge that was asked for one, without audits. `checks` are in the
    order of the seats.
    """

    judges: tuple[str, ...]
    makers: tuple[str, ...]
    members: int
    ballots: tuple[Vote, ...] = ()
    audit: AuditVote | None = None
    spoiled: tuple[tuple[str, int], ...] = ()
    written: tuple[WrittenAnswer, ...] = ()
    checks: tuple[Check, ...] = ()


# Kinds of checks: on canaries, and on rankings asked for in the usual and the inverted wording.
CANARY, USUAL_WORDING, INVERTED_WORDING = "canary", "wording", "wording, inverted"
STYLE = ("lists", "headings", "bold", "code")
FROM_TEXTS = frozenset({"length", *STYLE})  # unknown once the texts are forgotten
_COUNTED = {
    "list_item_open": "lists",
    "heading_open": "headings",
    "strong_open": "bold",
    "fence": "code",
    "code_inline": "code",
}


def count_style(text: str) -> tuple[int, ...]:
    """Count the elements of STYLE: list items, headings, bold runs, and code blocks and spans."""
    counts = Counter[str]()
    for token in _markdown_parser().parse(text):
        counts.update(
            _COUNTED[part.type]
            for part in (token, *(token.children or ()))
            if part.type in _COUNTED
        )
    return tuple(counts[trait] for trait in STYLE)


@cache
def _markdown_parser() -> "MarkdownIt":
    # Imported lazily: it loads slowly, and most commands do not need it.
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


def build_votes(round_: Round) -> Votes:
    """Return the votes of a closed round; a failed round has only its seats.

    What only the texts tell is unknown of a forgotten round.
    """
    seats = round_.panel.judges
    empty = Votes(
        judges=tuple(seat.key for seat in seats),
        makers=tuple(seat.family for seat in seats),
        members=len(round_.panel.members),
    )
    has_failed = round_.closing is not None and round_.closing.failure is not None
    if has_failed or not round_.draw or not round_.tally:
        return empty
    spoiled = [ballot.judge for ballot in round_.spoiled if not ballot.is_audit]
    method = method_of(round_)
    slates = method.slates(round_, round_.draw)
    judges = dict.fromkeys(slate.judge for slate in slates)
    counted = counted_ballots(method.ballots(round_, round_.draw))
    return replace(
        empty,
        ballots=tuple(_vote(b, round_.draw.labels) for b in counted if b.pass_number == 1),
        audit=_audit_vote(round_, round_.draw),
        spoiled=tuple((judge, spoiled.count(judge)) for judge in judges),
        written=tuple(_written_answers(round_, round_.draw, round_.tally)),
        checks=(
            *_canary_checks(counted),
            *_wording_checks(slates, counted),
            *(Check(kind, "", found) for kind, found in filter_checks(round_).items()),
        ),
    )


def _canary_checks(ballots: Sequence[Ballot]) -> Iterator[Check]:
    for judge in dict.fromkeys(ballot.judge for ballot in ballots if ballot.canary):
        places = {ballot.canary for ballot in ballots if ballot.judge == judge}
        yield Check(CANARY, judge, CANARY_NOT_LAST in places)


def _wording_checks(slates: Sequence[Slate], ballots: Sequence[Ballot]) -> Iterator[Check]:
    """Yield, where wordings differ, whether each judge ranked against the others (mean τ_b < 0)."""
    wordings = {slate.judge: slate.wording for slate in slates}
    places = {ballot.judge: ranks(ballot.ranking) for ballot in ballots}
    for judge in places if any(wordings.values()) else ():
        others = [tau_b(places[judge], places[other]) for other in places if other != judge]
        if known := [tau for tau in others if tau is not None]:
            kind = INVERTED_WORDING if wordings[judge] in INVERTED else USUAL_WORDING
            yield Check(kind, judge, fmean(known) < 0)


def _vote(ballot: Ballot, labels: LabelMap) -> Vote:
    places = ranks(ballot.ranking)
    authors = tuple(labels.author_of(label) for label in ballot.shown)
    return Vote(ballot.judge, authors, tuple(places[label] for label in ballot.shown))


def _audit_vote(round_: Round, draw: Draw) -> AuditVote | None:
    for ballot in round_.ballots:
        if ballot.audit:
            usd = ballot.paper.reply.cost_usd if ballot.paper else None
            return AuditVote(ballot.judge, ballot.audit, _vote(ballot, draw.labels), usd)
    for spoiled in round_.spoiled:
        if spoiled.is_audit:
            return AuditVote(spoiled.judge, "", None, spoiled.paper.reply.cost_usd)
    return None


def _written_answers(round_: Round, draw: Draw, tally: Tally) -> Iterator[WrittenAnswer]:
    winners = {line.label for line in tally.standings if line.place == 1 and line.share is not None}
    for answer in round_.revised:
        is_first = draw.labels.label_of(answer.member) in winners
        if round_.forgotten or answer.is_erased:
            yield WrittenAnswer(answer.member, is_first, None, None)
        else:
            length, style = estimate_tokens(answer.text), count_style(answer.text)
            yield WrittenAnswer(answer.member, is_first, length, style)

"""From a closed round to its votes."""

from collections.abc import Iterator

from council.ballots import Ballot
from council.bias.traits import style_of
from council.bias.votes import AuditVote, Vote, Votes, Written
from council.labels import LabelMap
from council.prompts.lengths import estimated_tokens
from council.rounds import Draw, Round
from council.tally import Tally
from council.tally.borda import ranks
from council.tally.standings import informative


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

"""Work a stored round out again.

From the seed, the panel, the absences and the raw texts of the ballots. Of a forgotten round the
raw texts are gone: its stored rankings stand in for them, and reasons, with the flags that rest
on them, are taken as they are.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from council.audits import Audit, due_audit
from council.ballots import Ballot, Paper, SpoiledBallot, cast
from council.counting import counted, drawn
from council.labels import Label
from council.prompts.fences import nonce_for
from council.rounds import Draw, Round
from council.tally import Tally

Voted = Ballot | SpoiledBallot


def recomputed(round_: Round) -> Round:
    """Give the round with everything that follows from what is kept of it worked out again."""
    draw = drawn(round_)
    again = replace(round_, draw=draw)
    if round_.forgotten:
        again = _holding(again, _recounted(round_, draw))
    else:
        again = _audited(_holding(again, _recast(round_, draw)), draw)
    return replace(again, tally=_tally(again, draw) if is_ranked(round_) else None)


def _holding(round_: Round, voted: Iterable[Voted]) -> Round:
    voted = tuple(voted)
    return replace(
        round_,
        ballots=tuple(ballot for ballot in voted if isinstance(ballot, Ballot)),
        spoiled=tuple(ballot for ballot in voted if isinstance(ballot, SpoiledBallot)),
    )


def _audited(round_: Round, draw: Draw) -> Round:
    """Give the round with the paper that holds its audit ballot, if it is due one, cast as that."""
    audit = due_audit(round_, draw)
    if audit is None:
        return round_
    voted: tuple[Voted, ...] = (*round_.ballots, *round_.spoiled)
    return _holding(round_, [_as_audit(ballot, audit) for ballot in voted])


def _as_audit(voted: Voted, audit: Audit) -> Voted:
    """Give the audit ballot where a paper that cannot count holds the one the round is due."""
    if isinstance(voted, Ballot) or voted.judge != audit.slate.judge:
        return voted
    again = audit.cast(replace(voted.paper, nonce=audit.nonce))
    return again if isinstance(again, Ballot) or voted.is_audit else voted


def is_ranked(round_: Round) -> bool:
    """Say whether the round must hold a tally, be it that somebody took it away."""
    closed_well = round_.closing is not None and round_.closing.failure is None
    return round_.tally is not None or closed_well


def _recast(round_: Round, draw: Draw) -> Iterator[Voted]:
    """Cast every paper as if it were to be counted; one for an audit has another nonce, so spoils.

    What a paper is follows from its text in this way, and never from the stored column.
    """
    slates = {slate.judge: slate for slate in draw.slates}
    papers = [(ballot.judge, ballot.paper) for ballot in round_.ballots if ballot.paper]
    papers += [(spoiled.judge, spoiled.paper) for spoiled in round_.spoiled]
    for judge, paper in papers:
        if judge in slates:
            nonce = nonce_for(round_.seed, judge)
            yield cast(slates[judge], nonce, _of_judge(paper, round_, judge))


def _recounted(round_: Round, draw: Draw) -> list[Voted]:
    """Give the ballots over the slates that were drawn; one that ranks another slate is none.

    Audit ballots, which had slates of their own and are never counted, are taken as they are.
    """
    shown = {slate.judge: slate.shown for slate in draw.slates}
    voted: list[Voted] = []
    for ballot in round_.ballots:
        if not ballot.counts:
            voted.append(ballot)
        elif ballot.paper and _ranks(ballot, shown.get(ballot.judge, ())):
            paper = _of_judge(ballot.paper, round_, ballot.judge)
            voted.append(replace(ballot, shown=shown[ballot.judge], paper=paper))
    voted += [
        spoiled
        if spoiled.is_audit
        else replace(spoiled, paper=_of_judge(spoiled.paper, round_, spoiled.judge))
        for spoiled in round_.spoiled
        if spoiled.judge in shown
    ]
    return voted


def _ranks(ballot: Ballot, shown: tuple[Label, ...]) -> bool:
    """Say whether the ballot ranks a slate exactly once."""
    ranked = [label for place in ballot.ranking for label in place]
    return bool(shown) and all(ballot.ranking) and sorted(ranked) == sorted(shown)


def _of_judge(paper: Paper, round_: Round, judge: str) -> Paper:
    return replace(paper, nonce=nonce_for(round_.seed, judge))


def _tally(again: Round, draw: Draw) -> Tally:
    """Give the tally; flags that rest on forgotten reasons stay behind those that still follow."""
    tally = counted(again, draw)
    if not again.forgotten or again.tally is None:
        return tally
    flags = tally.verdict.flags
    kept = tuple(flag for flag in again.tally.verdict.flags if flag not in flags)
    return replace(tally, verdict=replace(tally.verdict, flags=flags + kept))

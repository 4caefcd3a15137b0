"""Work a stored round out again.

From the seed, the panel, the absences and the raw texts of the ballots. Of a forgotten round the
raw texts are gone: its stored rankings stand in for them, and reasons, with the flags that rest
on them, are taken as they are.
"""

from dataclasses import replace

from council.ballots import Ballot, Paper, SpoiledBallot, cast
from council.counting import counted, drawn
from council.labels import Label
from council.prompts.fences import nonce_for
from council.rounds import Draw, Round
from council.tally import Tally


def recomputed(round_: Round) -> Round:
    """Give the round with everything that follows from what is kept of it worked out again."""
    draw = drawn(round_)
    voted = _recounted(round_, draw) if round_.forgotten else _recast(round_, draw)
    again = replace(
        round_,
        draw=draw,
        ballots=tuple(ballot for ballot in voted if isinstance(ballot, Ballot)),
        spoiled=tuple(ballot for ballot in voted if isinstance(ballot, SpoiledBallot)),
    )
    return replace(again, tally=_tally(again, draw) if is_ranked(round_) else None)


def is_ranked(round_: Round) -> bool:
    """Say whether the round must hold a tally, be it that somebody took it away."""
    closed_well = round_.closing is not None and round_.closing.failure is None
    return round_.tally is not None or closed_well


def _recast(round_: Round, draw: Draw) -> list[Ballot | SpoiledBallot]:
    """Give what the raw texts are read as; a ballot of no judge is none."""
    slates = {slate.judge: slate for slate in draw.slates}
    papers = [(ballot.judge, ballot.paper) for ballot in round_.ballots if ballot.paper]
    papers += [(spoiled.judge, spoiled.paper) for spoiled in round_.spoiled]
    return [
        cast(slates[judge], nonce_for(round_.seed, judge), _of_judge(paper, round_, judge))
        for judge, paper in papers
        if judge in slates
    ]


def _recounted(round_: Round, draw: Draw) -> list[Ballot | SpoiledBallot]:
    """Give the ballots over the slates that were drawn; one that ranks another slate is none.

    Audit ballots, which had slates of their own and are never counted, are taken as they are.
    """
    shown = {slate.judge: slate.shown for slate in draw.slates}
    voted: list[Ballot | SpoiledBallot] = []
    for ballot in round_.ballots:
        if not ballot.counts:
            voted.append(ballot)
        elif ballot.paper and _ranks(ballot, shown.get(ballot.judge, ())):
            paper = _of_judge(ballot.paper, round_, ballot.judge)
            voted.append(replace(ballot, shown=shown[ballot.judge], paper=paper))
    voted += [
        replace(spoiled, paper=_of_judge(spoiled.paper, round_, spoiled.judge))
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

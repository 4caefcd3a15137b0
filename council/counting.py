"""What follows from a round's seed, panel, absences and ballots.

Convening and verifying share it, so that they cannot disagree.
"""

from collections.abc import Sequence
from dataclasses import replace

from council.answers import Role
from council.ballots import Ballot
from council.imitations import suspicions
from council.labels import draw_labels
from council.panel import Panel
from council.rounds import Draw, Round
from council.scrub import without_names
from council.slates import draw_slates
from council.tally import Tally, count_ballots


def drawn(round_: Round) -> Draw:
    """Give the labels and slates the seed leads to, once it is known who has not answered."""
    authors = [
        seat.key for seat in round_.panel.members if not round_.absence(seat.key, Role.ANSWER)
    ]
    onlookers = [seat.key for seat in round_.panel.judges if seat.key not in authors]
    labels = draw_labels(authors, round_.seed)
    return Draw(labels, draw_slates(labels, onlookers, round_.seed))


def counted(round_: Round, draw: Draw) -> Tally:
    """Give the tally of the round's ballots; N_eff, which rests on other rounds, is left out."""
    tally = count_ballots(draw.labels.labels, round_.ballots, round_.seed)
    return replace(tally, verdict=replace(tally.verdict, flags=_flags(round_, draw)))


def _flags(round_: Round, draw: Draw) -> tuple[str, ...]:
    """Name what weakens the verdict; a flag about a seat begins with the seat's key."""
    voted = {ballot.judge for ballot in round_.ballots if ballot.counts}
    return (
        *_family_majority(round_.panel),
        *(f"{a.member} did not answer" for a in round_.absences if a.role is Role.ANSWER),
        *(
            f"{slate.judge} has no ballot that counts"
            for slate in draw.slates
            if slate.judge not in voted
        ),
        *_reason_flags(round_.ballots, round_.panel),
    )


def _family_majority(panel: Panel) -> tuple[str, ...]:
    families = [seat.family for seat in panel.judges]
    most = max(families, key=families.count)
    seats = families.count(most)
    if 2 * seats <= len(families):
        return ()
    name = most.removeprefix("unknown:")  # then it is named by who serves it
    return (f"{seats} of {len(families)} seats are of the {name} family",)


def _reason_flags(ballots: Sequence[Ballot], panel: Panel) -> tuple[str, ...]:
    families = [seat.family for seat in panel.judges]
    found = []
    for ballot in (ballot for ballot in ballots if ballot.counts):
        if names := without_names(ballot.reason, families).found:
            found.append(f"{ballot.judge} named {names[0]} in its reason")
        if "begs for a place" in suspicions(ballot.reason):
            found.append(f"{ballot.judge} may have followed an instruction in an answer")
    return tuple(found)

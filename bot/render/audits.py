"""What an audit ballot showed: whether a judge ranks the same answers alike a second time."""

from collections.abc import Iterator

from bot.render.figures import counted
from bot.render.names import names_of
from council.ballots import Ballot
from council.rounds import Round
from council.tally.consistency import repetition

NOT_COUNTED = "an audit, not counted"
# Each kind by how the judge saw the answers.
SEEN = {"order": "saw the same answers again in reverse"}


def audit_lines(round_: Round, judge: str) -> Iterator[str]:
    """Give a line for each audit ballot of a judge that counts, or for what spoiled it."""
    name = names_of(round_.panel)[judge]
    cast = [ballot for ballot in round_.ballots if ballot.judge == judge]
    for first in (ballot for ballot in cast if ballot.counts):
        for again in (ballot for ballot in cast if not ballot.counts):
            seen = SEEN.get(again.audit or "", f"voted again ({again.audit})")
            yield f"{name} {seen} and ranked {ranking_text(again)}: {_change(first, again)}"
    for spoiled in round_.spoiled:
        if spoiled.judge == judge and spoiled.is_audit:
            yield f"{name} was asked again and spoiled it: {spoiled.fault}; {NOT_COUNTED}"


def ranking_text(ballot: Ballot) -> str:
    """Give a ranking as "K > T = M"."""
    return " > ".join(" = ".join(place) for place in ballot.ranking)


def _change(first: Ballot, again: Ballot) -> str:
    found = repetition(first.ranking, again.ranking)
    pairs = counted(found.pairs, "pair")
    said = f"changed {found.changed} of {pairs}" if found.changed else "the same"
    return f"{said}; {NOT_COUNTED}"

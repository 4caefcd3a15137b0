"""What an audit ballot showed: what a judge made of the answers when it saw them otherwise."""

from collections.abc import Iterator

from bot.render.figures import counted, money
from bot.render.names import names_of
from council.ballots import Ballot, Paper
from council.round_rules import NAMED, ORDER, OWN
from council.rounds import Round
from council.tally.agreement import repetition
from council.tally.standings import ranks

# Each kind by how the judge saw the answers.
SEEN = {
    ORDER: "saw the same answers again in reverse",
    OWN: "saw its own answer among the others",
    NAMED: "saw the same answers again with their authors' names",
}


def audit_lines(round_: Round, judge: str) -> Iterator[str]:
    """Give a line for each audit ballot of a judge that counts, or for what spoiled it."""
    name = names_of(round_.panel)[judge]
    cast = [ballot for ballot in round_.ballots if ballot.judge == judge]
    for first in (ballot for ballot in cast if ballot.counts):
        for again in (ballot for ballot in cast if not ballot.counts):
            seen = SEEN.get(again.audit or "", f"voted again ({again.audit})")
            found = "; ".join(
                (*_own_places(round_, again), _change(first, again), _not_counted(again.paper))
            )
            yield f"{name} {seen} and ranked {ranking_text(again)}: {found}"
    for spoiled in round_.spoiled:
        if spoiled.judge == judge and spoiled.is_audit:
            why = f"{spoiled.fault}; {_not_counted(spoiled.paper)}"
            yield f"{name} was asked again and spoiled it: {why}"


def ranking_text(ballot: Ballot) -> str:
    """Give a ranking as "K > T = M"."""
    return " > ".join(" = ".join(place) for place in ballot.ranking)


def _not_counted(paper: Paper | None) -> str:
    usd = paper.reply.cost_usd if paper else None
    return f"an audit for {money(usd)}, not counted" if usd else "an audit, not counted"


def _own_places(round_: Round, ballot: Ballot) -> Iterator[str]:
    """Say where a judge put its own answer, where it saw it: at 2.5 of 4 if it tied."""
    own = round_.draw.labels.label_of(ballot.judge) if round_.draw else None
    if own and own in ballot.shown:
        yield f"its own, {own}, at {ranks(ballot.ranking)[own]:g} of {len(ballot.shown)}"


def _change(first: Ballot, again: Ballot) -> str:
    found = repetition(first.ranking, again.ranking)
    others = "other " if len(again.shown) > len(first.shown) else ""
    pairs = counted(found.pairs, f"{others}pair")
    alike = "the others as before" if others else "the same"
    return f"changed {found.changed} of {pairs}" if found.changed else alike

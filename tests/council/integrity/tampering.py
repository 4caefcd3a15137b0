"""A ranked round, and functions that falsify one thing in it."""

from collections.abc import Callable
from dataclasses import replace

from council.ballots import Ballot, BallotExchange, SpoiledBallot
from council.labels import LabelMap, Slate
from council.rounds import Draw, Round
from council.tally import Standing, Verdict
from council.tally.agreement import Agreement
from tests.builders import GEMINI, a_panel, a_round, vote_in_label_order, with_answers, with_ballots

Tamper = Callable[[Round], Round]


def _vote(slate: Slate) -> str | None:
    """Spoil Gemini's ballot; the rest agree."""
    return None if slate.judge == GEMINI else vote_in_label_order(slate)


ROUND = with_ballots(with_answers(a_round(a_panel(4))), _vote)


def swapped_labels(round_: Round) -> Round:
    draw = _draw(round_)
    (one, first), (other, second), *rest = draw.labels.pairs
    labels = LabelMap(((one, second), (other, first), *rest))
    return replace(round_, draw=replace(draw, labels=labels))


def turned_slate(round_: Round) -> Round:
    draw = _draw(round_)
    first, *rest = draw.slates
    return replace(
        round_, draw=replace(draw, slates=(replace(first, shown=first.shown[::-1]), *rest))
    )


def missing_slate(round_: Round) -> Round:
    draw = _draw(round_)
    return replace(round_, draw=replace(draw, slates=draw.slates[1:]))


def ballot(change: Callable[[Ballot], Ballot]) -> Tamper:
    """Falsify the first ballot."""
    return lambda round_: replace(round_, ballots=(change(round_.ballots[0]), *round_.ballots[1:]))


def paper(change: Callable[[BallotExchange], BallotExchange]) -> Tamper:
    """Falsify the paper of the first ballot."""
    return ballot(lambda b: replace(b, paper=change(b.paper) if b.paper else None))


def raw_text(text: str) -> Tamper:
    """Falsify what the first judge wrote."""
    return paper(lambda p: replace(p, reply=replace(p.reply, text=text)))


def spoiled(change: Callable[[SpoiledBallot], SpoiledBallot]) -> Tamper:
    """Falsify the spoiled ballot."""
    return lambda round_: replace(round_, spoiled=(change(round_.spoiled[0]),))


def line(change: Callable[[Standing], Standing]) -> Tamper:
    """Falsify the first line of the standings."""

    def tampered(round_: Round) -> Round:
        if round_.tally is None:
            return round_
        first, *rest = round_.tally.standings
        return replace(round_, tally=replace(round_.tally, standings=(change(first), *rest)))

    return tampered


def verdict(change: Callable[[Verdict], Verdict]) -> Tamper:
    """Falsify the verdict."""

    def tampered(round_: Round) -> Round:
        tally = round_.tally
        return replace(
            round_, tally=replace(tally, verdict=change(tally.verdict)) if tally else None
        )

    return tampered


def agreement(change: Callable[[Agreement], Agreement]) -> Tamper:
    """Falsify how far the judges agree."""
    return verdict(lambda v: replace(v, agreement=change(v.agreement)))


def _draw(round_: Round) -> Draw:
    if round_.draw is None:
        raise AssertionError("the round has drawn")
    return round_.draw

"""Write a round's rankings, and what people said of its answers, as lines without texts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from council.ballots import Ballot
from council.feedback import HumanVote
from council.labels import Label, LabelMap
from council.methods import method_of
from council.round_rules import ORDER
from council.rounds import Round
from council.tally.borda import counted_ballots

Line = dict[str, Any]


def judgment_lines(round_: Round, votes: Sequence[HumanVote], correct: Mapping[str, bool]) -> str:
    """Return JSON Lines that `python -m tests.bench.aggregation` reads; "" for an unranked round.

    "" also for a knock-out, whose judges see different pairs, so that no count can be compared.
    An item is a round, and an answer has its member's key, so that a judge's own answer can be
    told. The rankings are those that count and audits in reverse order. Votes are the blind ones;
    answers that a person left out share the last place. `correct` are the grades of members'
    answers, from which right ones are better than wrong ones. Nobody is named.
    """
    lines = [*_lines(round_, votes, correct)]
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)


def _lines(
    round_: Round, votes: Sequence[HumanVote], correct: Mapping[str, bool]
) -> Iterator[Line]:
    if not round_.draw or not round_.tally or not round_.tally.standings:
        return
    method = method_of(round_)
    if method.pair_ballots:
        return
    labels = round_.draw.labels
    counted = counted_ballots(method.ballots(round_, round_.draw))
    repeats = [ballot for ballot in round_.ballots if ballot.audit == ORDER]
    ranked = [ballot for ballot in (*counted, *repeats) if len(ballot.shown) > 1]
    for ballot in ranked:
        family = {"family": round_.panel.seat(ballot.judge).family}
        yield _ballot_line(round_.id, ballot, labels) | family
    seen = {label for ballot in ranked for label in ballot.shown}
    people = [_human_places(vote, labels) for vote in votes if vote.calibrates]
    grades = [[member for member in correct if correct[member] is k] for k in (True, False)]
    for places, by in (*((one, "vote") for one in people), (grades, "reference")):
        known = [[one for one in place if labels.label_of(one) in seen] for place in places]
        if len(human := [place for place in known if place]) > 1:  # else it orders nothing
            yield {"item": round_.id, "human": human, "by": by}


def _human_places(vote: HumanVote, labels: LabelMap) -> list[list[str]]:
    author_of = {label: author for author, label in labels.pairs}  # an imported vote may err
    named = [[author_of.get(Label(one), "") for one in place] for place in vote.ranking]
    places = named or [[vote.member]]
    left_out = {*labels.authors}.difference(*places)
    return [*places, [author for author in labels.authors if author in left_out]]


def _ballot_line(item: str, ballot: Ballot, labels: LabelMap) -> Line:
    return {
        "item": item,
        "judge": ballot.judge,
        "order": [labels.author_of(label) for label in ballot.shown],
        "ranking": [[labels.author_of(label) for label in place] for place in ballot.ranking],
    }

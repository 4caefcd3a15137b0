"""Write a round's rankings, and what people said of its answers, as lines without texts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from council.ballots import Ballot
from council.feedback import HumanVote
from council.labels import LabelMap
from council.round_rules import ORDER
from council.rounds import Round

Line = dict[str, Any]


def judgment_lines(round_: Round, votes: Sequence[HumanVote], correct: Mapping[str, bool]) -> str:
    """Return JSON Lines that `python -m tests.bench.aggregation` reads; "" for an unranked round.

    An item is a round, and an answer has its member's key, so that a judge's own answer can be
    told. The rankings are those that count and audits in reverse order. `correct` are the grades
    of members' answers, from which right ones are better than wrong ones. Nobody is named.
    """
    lines = [*_lines(round_, votes, correct)]
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)


def _lines(
    round_: Round, votes: Sequence[HumanVote], correct: Mapping[str, bool]
) -> Iterator[Line]:
    if not round_.draw or not round_.tally or not round_.tally.standings:
        return
    labels = round_.draw.labels
    counted = [ballot for ballot in round_.ballots if ballot.counts]
    repeats = [ballot for ballot in round_.ballots if ballot.audit == ORDER]
    for ballot in (*counted, *repeats):
        if len(ballot.shown) > 1:
            family = {"family": round_.panel.seat(ballot.judge).family}
            yield _ballot_line(round_.id, ballot, labels) | family
    for vote in votes:
        yield {"item": round_.id, "human": vote.member, "by": "vote"}
    right, wrong = ([member for member in correct if correct[member] is k] for k in (True, False))
    if right and wrong:
        yield {"item": round_.id, "human": [right, wrong], "by": "reference"}


def _ballot_line(item: str, ballot: Ballot, labels: LabelMap) -> Line:
    return {
        "item": item,
        "judge": ballot.judge,
        "order": [labels.author_of(label) for label in ballot.shown],
        "ranking": [[labels.author_of(label) for label in place] for place in ballot.ranking],
    }

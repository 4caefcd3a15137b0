"""Which answer stands for the first place where one has to be chosen."""

from math import inf

from council.answers import Answer
from council.labels import Label
from council.rounds import Draw, Round
from council.tally import Tally


def first_labels(tally: Tally) -> tuple[Label, ...]:
    """Give every label in first place: several in a tie, none where nothing was counted."""
    return tuple(line.label for line in tally.standings if line.place == 1)


def winning_answer(round_: Round, draw: Draw, tally: Tally) -> Answer:
    """Give the answer in first place; in a tie, or without standings, the cheapest, then quickest.

    An unknown cost comes last. The tie itself is said wherever the answer is shown.
    """
    first = {draw.labels.author_of(label) for label in first_labels(tally)}
    running = [a for a in round_.answers if a.member in first] or list(round_.answers)
    return min(running, key=_price)


def _price(answer: Answer) -> tuple[float, float]:
    cost = answer.reply.cost_usd
    return (inf if cost is None else cost, answer.reply.seconds)

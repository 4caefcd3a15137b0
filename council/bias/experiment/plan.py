"""What is left to do of an experiment: whatever has no row yet."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from council.bias.experiment.experiment import ATTEMPTS, Cell, Experiment, Held, Mark, Work
from council.bias.grades.grade import Framing
from council.panel import Member


@dataclass(frozen=True, slots=True)
class Asking:
    """A question to put to a member."""

    number: int
    member: Member


def answers_left(experiment: Experiment, held: Held) -> Iterator[Asking]:
    """Give every question that a member has not answered, in the suite's order."""
    there = {(work.number, work.member) for work in held.works}
    for number in range(1, len(experiment.suite.questions) + 1):
        for member in experiment.panel.members:
            if (number, member.key) not in there:
                yield Asking(number, member)


def cells_of(experiment: Experiment, work: Work) -> Iterator[Cell]:
    """Give every grade there is to ask for an answer; judges take turns, so that none waits."""
    for framing in Framing:
        for judge in experiment.panel.members:
            yield Cell(work.number, work.member, framing, judge.key)


def cells_left(experiment: Experiment, held: Held) -> Iterator[Cell]:
    """Give every grade that is still to be asked for, of answers that are there."""
    last = last_marks(held)
    for work in sorted(held.works, key=lambda work: work.number):
        for cell in cells_of(experiment, work):
            if cell not in last or not is_settled(last[cell]):
                yield cell


def last_marks(held: Held) -> Mapping[Cell, Mark]:
    """Give the last that each judge replied, by what it was asked."""
    return {mark.cell: mark for mark in sorted(held.marks, key=lambda mark: mark.attempt)}


def is_settled(mark: Mark) -> bool:
    """Say whether nothing more is asked of the judge."""
    return mark.raw is not None or mark.attempt >= ATTEMPTS


def over(held: Held) -> int:
    """Give how many answers and grades need not be asked for any more."""
    return len(held.works) + sum(map(is_settled, last_marks(held).values()))


def is_whole(experiment: Experiment, held: Held) -> bool:
    """Say whether every answer and every grade was given or spoiled for good."""
    whole = not any(True for _ in answers_left(experiment, held))
    return whole and not any(True for _ in cells_left(experiment, held))

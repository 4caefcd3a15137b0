"""The measures of a judge, in the order in which they are shown: what each is called and says."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bot.render.bias.effects import Reads
from bot.render.boards.chart import percent
from bot.render.boards.columns import signed
from council.bias.report import Effect, JudgeBias


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure; `meaning` says what its number is.

    `is_of_family` are those that only a judge has whose family sits in another seat too.
    """

    key: str
    title: str
    meaning: str
    of: Callable[[JudgeBias], Effect]
    reads: Reads = signed
    is_of_family: bool = False


OWN = Measure(
    "own",
    "Own answer",
    "the share of rivals beaten that it gives its own answer, less what the other judges give it; "
    "from audit ballots that showed the own answer",
    lambda judge: judge.own,
)
FAMILY = Measure(
    "family",
    "Own family",
    "the same for answers by others of its family",
    lambda judge: judge.family,
    is_of_family=True,
)
FIRST_SLOT = Measure(
    "first_slot",
    "First slot",
    "the share it gives whatever it sees first, less one half; beyond ±.06 it matters",
    lambda judge: judge.first_slot,
)
POSITION = Measure(
    "position",
    "Any slot",
    "its largest fondness or dislike of a slot, with p of a permutation test over all slots",
    lambda judge: judge.position,
)
KEPT = Measure(
    "kept",
    "Orders kept",
    "the share of pairs it puts in the same order when it sees the same answers in another; "
    "a coin keeps 50 %",
    lambda judge: judge.kept,
    percent,
)
LENGTH = Measure(
    "length",
    "Length φ",
    "how much longer answers win, in log-odds; 0 is not at all",
    lambda judge: judge.length,
)
NAMED = Measure(
    "named",
    "Names shown",
    "what its family gains when it sees the names: what blinding changed",
    lambda judge: judge.named,
    is_of_family=True,
)
AGREEMENT = Measure(
    "agreement",
    "Agreement",
    "its mean τ with the other judges, from −1 to +1; 0 is chance",
    lambda judge: judge.agreement,
)
SPOILED = Measure(
    "spoiled",
    "Spoiled",
    "the share of its ballots that could not be read",
    lambda judge: judge.spoiled,
    percent,
)
BEFORE_STYLE = (OWN, FAMILY, FIRST_SLOT, POSITION, KEPT, LENGTH)
AFTER_STYLE = (NAMED, AGREEMENT, SPOILED)
ALL = (*BEFORE_STYLE, *AFTER_STYLE)


def style(trait: str) -> Measure:
    """Give the measure of a trait of style."""
    return Measure(
        f"style_{trait}",
        f"Style: {trait}",
        "how much answers with it win, in log-odds, beside length",
        lambda judge: judge.style[trait],
    )


def measures_of(judge: JudgeBias) -> Iterator[Measure]:
    """Give everything that is measured of a judge."""
    yield from BEFORE_STYLE
    yield from map(style, judge.style)
    yield from AFTER_STYLE

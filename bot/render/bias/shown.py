"""A bias report as people are shown it: over which rounds, and who is who."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.render.bias.cleaned import cleaned
from bot.render.boards.coverage import Coverage
from council.bias.report import BiasReport, JudgeBias


@dataclass(frozen=True, slots=True)
class ShownBias:
    """A report without a number that is none, the rounds it covers, and names of seats by key."""

    report: BiasReport
    coverage: Coverage
    names: Mapping[str, str] = field(default_factory=dict)

    def name(self, key: str) -> str:
        """Give the name of a seat; its key where no panel has it any more."""
        return self.names.get(key, key)

    def maker(self, judge: JudgeBias) -> str:
        """Give the family of a judge, as a word."""
        return family_name(judge.maker)

    def has_family(self, judge: JudgeBias) -> bool:
        """Say whether any other seat is of the judge's family, so that it can prefer it."""
        if judge.family.n:
            return True
        known = not judge.maker.startswith("unknown:")
        return known and Counter(one.maker for one in self.report.judges)[judge.maker] > 1


def family_name(maker: str) -> str:
    """Give a family as a word; of one that nobody knows its provider."""
    return maker.removeprefix("unknown:")


def shown(report: BiasReport, coverage: Coverage, names: Mapping[str, str]) -> ShownBias:
    """Give a report to be shown."""
    return ShownBias(cleaned(report), coverage, names)

"""A leaderboard as people are shown it: what was counted, what came of it, and who is who."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.render.boards.chart import Bar, Chart, Spread
from bot.render.boards.coverage import Coverage
from council.bakeoffs.changes import Changes, TrendRun
from council.bakeoffs.council_value import Worth
from council.bakeoffs.leaderboard import AuthorLine, Board, JudgeBoard
from council.research.judge_weights import WithPeople
from council.research.weighted_leaderboard import WeightedBoard

NOTHING_GRADED = Worth()


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """All there is to show of many rounds; `names` are those of seats by their keys.

    `changes` compare the newest run with those before it, where there is one to compare. `weighted`
    is the board by weighed judges, where it was asked for, and `people` how far judges agree with
    what people chose.
    """

    coverage: Coverage
    board: Board
    judges: JudgeBoard
    worth: Worth = NOTHING_GRADED
    runs: tuple[TrendRun, ...] = ()
    changes: Changes | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    weighted: WeightedBoard | None = None
    people: Mapping[str, WithPeople] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """What it goes by."""
        return f"Leaderboard of {self.coverage.suite}" if self.coverage.suite else "Leaderboard"

    def name(self, key: str) -> str:
        """Give the name of a seat; its key where no panel has it any more."""
        return self.names.get(key, key)

    @property
    def chart(self) -> Chart:
        """What its figure shows."""
        runs = [{point.member: point for point in run.points} for run in self.runs]
        return Chart(
            tuple(
                Bar(
                    self.name(line.member),
                    line.place,
                    standing(line),
                    tuple(
                        Spread(run[line.member].share, *run[line.member].ci)
                        if line.member in run
                        else None
                        for run in runs
                    ),
                )
                for line in self.board.rows
            ),
            tuple(run.at.date() for run in self.runs),
            is_mixed=self.board.is_mixed,
        )


def standing(line: AuthorLine) -> Spread | None:
    """Give what a member stands by: its strength where panels were mixed, else its share."""
    if line.strength is not None:
        return Spread(line.strength, *(line.strength_ci or (None, None)))
    return None if line.share is None else Spread(line.share, *line.ci)

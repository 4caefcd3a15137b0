"""Builders of leaderboards, as large as a test needs them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.bakeoffs.render.leaderboard_tables import Coverage, Leaderboard
from council.bakeoffs.changes import (
    Changes,
    Measure,
    MemberChange,
    SwapHint,
    SwapSign,
    TrendPoint,
    TrendRun,
)
from council.bakeoffs.council_value import (
    BestMember,
    CouncilValue,
    CouncilValueLine,
    Payoff,
)
from council.bakeoffs.leaderboard import (
    AuthorLine,
    Board,
    JudgeBoard,
    JudgeLine,
    build_leaderboard,
)
from council.bakeoffs.pairwise import Duel, RunOff
from tests.council.bakeoffs.record_builders import a_record
from tests.council.bakeoffs.record_builders import of as columns_of

NAMES = {
    "anthropic/claude-sonnet-4-6": "Claude Sonnet 4.6",
    "openai/gpt-5.1": "GPT-5.1",
    "gemini/gemini-3-pro": "Gemini 3 Pro",
    "ollama/qwen3": "Qwen 3",
    "mistral/large": "Mistral Large 3 (Europe, long context)",
}
KEYS = (*NAMES,)
CLAUDE, GPT, GEMINI, QWEN, MISTRAL = KEYS
SHARES = (0.71, 0.66, 0.5, 0.36, 0.27)
FIRST_DAY = datetime(2026, 10, 12, 9, tzinfo=UTC)


def an_author(number: int, place: int | None = None) -> AuthorLine:
    """Return the line of the n-th best member; from the sixth on it has no display name."""
    share = SHARES[number] if number < len(SHARES) else 0.25
    return AuthorLine(
        KEYS[number] if number < len(KEYS) else f"openai/model-{number}",
        place if place is not None else number + 1,
        share,
        (share - 0.06, share + 0.06),
        36,
        first_votes=20 - number,
        ballots=144,
        cost_usd=0.012 / (number + 1),
        seconds=4.1 + number,
        tokens_out=512.0 + number,
        answers=36,
        absences=number // 3,
        accuracy=0.8 - number / 10,
        accuracy_ci=(0.6 - number / 10, 0.9 - number / 10),
        graded=24,
        right=round((0.8 - number / 10) * 24),
        grade=0.8 - number / 10,
        grade_ci=(0.6 - number / 10, 0.9 - number / 10),
    )


def a_judge(number: int) -> JudgeLine:
    """Return the line of the n-th judge; the third follows the order it is shown."""
    return JudgeLine(
        judge=KEYS[number],
        rounds=36,
        valid=35,
        spoiled=number,
        spoiled_rate=number / 36,
        agreement=0.42 - number / 5,
        agreement_ci=(0.3 - number / 5, 0.5 - number / 5),
        position=0.01 + 0.07 * (number == 2),
        position_ci=(-0.02, 0.04 + 0.07 * (number == 2)),
        kept=7 - number,
        pairs=7,
        consistency=(7 - number) / 7,
        cost_usd=0.004,
    )


def a_run(number: int, members: int = 5) -> TrendRun:
    """Return the n-th run: the first member falls, the others vary."""
    points = []
    for at, key in enumerate(KEYS[:members]):
        share = SHARES[at] + (-0.03 * number if at == 0 else 0.02 * ((number + at) % 3 - 1))
        points.append(TrendPoint(key, share, (share - 0.1, share + 0.1), 12))
    return TrendRun(f"sched:weekly@{number}", FIRST_DAY + timedelta(weeks=number), tuple(points))


def a_worth(verdict: Payoff | None = Payoff.NOT_WORTH_IT) -> CouncilValue:
    """Return the council value of graded rounds: it costs much and wins little."""
    council = CouncilValueLine(
        "Council", 24, 0.79, (0.6, 0.9), 0.061, 21.0, 0.04, (-0.06, 0.14), verdict
    )
    winner = replace(council, name="Winner", accuracy=0.75, difference=0.0, cost_usd=0.05)
    best = BestMember(CLAUDE, 0.75, 0.012, 4.1, is_picked_elsewhere=True)
    return CouncilValue((council, winner), best)


def a_board(members: int = 5) -> Board:
    """Return standings in which the first two share a place, and other judges differ on them."""
    rows = tuple(an_author(at, 1 if at < 2 else at + 1) for at in range(members))
    rows = tuple(replace(row, is_tied=row.place == 1 and members > 1) for row in rows)
    duels = [Duel(CLAUDE, GPT, 0.02, 36), Duel(CLAUDE, QWEN, 0.3, 36, CLAUDE)]
    duels.append(Duel(MISTRAL, GPT, -0.4, 36, GPT))
    return Board(rows, RunOff(GPT, CLAUDE, 0.02, 36, changed=True), tuple(duels), 36)


def a_coverage(**changed: object) -> Coverage:
    """Return the coverage of a board of 36 rounds."""
    coverage = Coverage(
        rounds=36,
        suite="sql",
        version="3f2a1b9c77de",
        first=FIRST_DAY,
        last=FIRST_DAY + timedelta(weeks=5),
        panels=("house",),
        suites=(("sql", "3f2a1b9c77de", 36),),
        left_out=(("aaaa1111bbbb", 12), ("cccc2222dddd", 2)),
    )
    return replace(coverage, **changed)  # type: ignore[arg-type]  # as the test says


def a_leaderboard(members: int = 5, runs: int = 6) -> Leaderboard:
    """Return a leaderboard with everything on it."""
    return Leaderboard(
        a_coverage(),
        a_board(members),
        JudgeBoard(tuple(map(a_judge, range(min(members, 5)))), 36),
        a_worth(),
        tuple(a_run(number, members) for number in range(runs)),
        some_changes(),
        NAMES,
        biased=frozenset({GEMINI}),
    )


EMPTY = Leaderboard(Coverage(), Board((), None, (), 0), JudgeBoard((), 0))


def a_move(member: str = CLAUDE, difference: float = -0.15, *, beyond: bool = True) -> MemberChange:
    """Return the change of one member."""
    return MemberChange(
        member,
        Measure.SHARE,
        0.64,
        0.64 + difference,
        difference,
        (difference - 0.07, difference + 0.07),
        0.001 if beyond else 0.4,
        beyond,
        12,
        3,
    )


def some_changes() -> Changes:
    """Return a fall beyond noise, a rise within it, a swap hint, one new and one missing."""
    return Changes(
        "sched:weekly@5",
        3,
        (a_move(), a_move(GPT, 0.03, beyond=False)),
        (SwapHint(GEMINI, SwapSign.LENGTH, 480.0, 210.0, 0.0001),),
        (MISTRAL,),
        ("openai/gone",),
    )


def graded(*right: int, of: int = 10, shares: Sequence[float] = ()) -> Leaderboard:
    """Return the board of a run in which each model is right on so many of its first questions.

    Every model has the same points, unless `shares` says what each beats.
    """
    members = [an_author(number).member for number in range(len(right))]
    points = shares or [0.5] * len(right)
    records = [
        a_record(
            dict(zip(members, points, strict=True)),
            number=number,
            correct={m: number <= hits for m, hits in zip(members, right, strict=True)},
            cost_usd={m: 0.012 / (i + 1) for i, m in enumerate(members)},
        )
        for number in range(1, of + 1)
    ]
    return replace(a_leaderboard(), board=build_leaderboard(columns_of(*records)))

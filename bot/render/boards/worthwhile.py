"""Whether the council is worth it on graded rounds, beside the best single member."""

from collections.abc import Iterator

from bot.chat import Table
from bot.render.boards.chart import percent
from bot.render.boards.columns import within
from bot.render.boards.leaderboard import Leaderboard
from bot.render.figures import counted, duration, money
from council.bakeoffs.council_value import BestMember, Concord, Payoff, WorthLine

_COLUMNS = ("Answer", "Right", "95 % interval", "Against the best", "Price", "Time")
WINNER = "Winner"
_SAID = {
    Payoff.WORTH_IT: "more accurate than any one member, beyond chance.",
    Payoff.NOT_WORTH_IT: "not worth its cost here.",
    Payoff.OPEN: "too close to the best member to tell.",
}


def worth_table(shown: Leaderboard) -> Table | None:
    """Give the best member, the council and the winner; None where nothing was graded."""
    worth = shown.worth
    if not worth.best or not worth.rows:
        return None
    rows = (_best(shown, worth.best), *map(_row, worth.rows))
    return Table(_COLUMNS, rows, frozenset(range(1, len(_COLUMNS))))


def _best(shown: Leaderboard, best: BestMember) -> tuple[str, ...]:
    alone = next((line for line in shown.board.rows if line.member == best.member), None)
    name = f"{shown.name(best.member)} (best member)"
    interval = within(alone.accuracy_ci) if alone and not best.is_picked_elsewhere else ""
    return (name, f"{percent(best.accuracy)} right", interval, "", *_spent(best))


def _row(line: WorthLine) -> tuple[str, ...]:
    right = "" if line.accuracy is None else f"{percent(line.accuracy)} right"
    return (line.name, right, within(line.accuracy_ci), points(line), *_spent(line))


def _spent(line: WorthLine | BestMember) -> tuple[str, str]:
    """Give price and time of one answer."""
    price = "" if line.cost_usd is None else money(line.cost_usd)
    return price, "" if line.seconds is None else duration(line.seconds)


def points(line: WorthLine) -> str:
    """Give how much more often it is right than the best member: "+4 (−6 to +14) points"."""
    if line.difference is None:
        return ""
    most = (
        "" if line.difference_ci is None else f" ({' to '.join(map(_whole, line.difference_ci))})"
    )
    return f"{_whole(line.difference)}{most} points"


def _whole(share: float) -> str:
    return f"{share * 100:+.0f}".replace("-", "−")


def worth_lines(shown: Leaderboard) -> Iterator[str]:
    """Say what follows from it, and how sure that is."""
    worth = shown.worth
    for line in worth.rows:
        if line.verdict:
            yield f"{line.name}: {_SAID[line.verdict]}"
    if worth.rows and worth.best:
        graded = counted(max(line.graded for line in worth.rows), "graded round")
        picked = (
            "picked for each run on the other runs"
            if worth.best.is_picked_elsewhere
            else "picked on these same rounds, which flatters it, and the intervals allow for that"
        )
        yield (
            f"Over {graded}, each compared with {shown.name(worth.best.member)}, the most accurate "
            f"single member, {picked}."
        )
        if all(line.verdict is None for line in worth.rows):
            yield "That is too few to say whether the council is worth it."
    if worth.concord:
        yield _concord(worth.concord)


def _concord(concord: Concord) -> str:
    return (
        f"Of a right and a wrong answer to one question the right one stood ahead "
        f"{percent(concord.auc)} of the time ({within(concord.ci)}; 50 % is chance), over "
        f"{counted(concord.questions, 'question')} that had both."
    )

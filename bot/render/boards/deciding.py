"""How a leaderboard's places came about, in sentences."""

from collections import defaultdict
from collections.abc import Iterator

from bot.render.boards.columns import signed
from bot.render.boards.leaderboard import Leaderboard
from bot.render.figures import counted, listed

SHARED = "Places are shared where the difference may be chance."


def decided(shown: Leaderboard) -> Iterator[str]:
    """Say who is ahead of whom, how the first two were told apart, and what was mixed."""
    board = shown.board
    if len(board.rows) < 2:  # noqa: PLR2004
        return
    yield from _claims(shown)
    if board.run_off:
        yield _run_off(shown)
    if board.is_mixed:
        yield (
            "The rounds had different panels, so members stand by the share each should have "
            "if all had met (Bradley–Terry), not by the share they had."
        )


def run_off_line(shown: Leaderboard) -> str:
    """Say that the run-off turned the first two round; "" where it did not."""
    run_off = shown.board.run_off
    if not run_off or not run_off.changed:
        return ""
    first, second = shown.name(run_off.first), shown.name(run_off.second)
    return f"{first} stands before {second} by a run-off among the other judges."


def _run_off(shown: Leaderboard) -> str:
    run_off = shown.board.run_off
    if run_off is None:
        return ""
    first, second = shown.name(run_off.first), shown.name(run_off.second)
    by = f"{signed(run_off.margin)} over {counted(run_off.rounds, 'round')}"
    if run_off.changed:
        return (
            f"By all ballots {second} came first; the judges that are neither put {first} before "
            f"it ({by}), and that counts: a member that judges badly harms every rival but itself."
        )
    return f"The judges that are neither also put {first} before {second} ({by})."


def _claims(shown: Leaderboard) -> Iterator[str]:
    beaten: defaultdict[str, list[str]] = defaultdict(list)
    for duel in shown.board.claims:
        loser = duel.second if duel.ahead == duel.first else duel.first
        beaten[duel.ahead or ""].append(loser)
    order = [line.member for line in shown.board.rows]
    for member in order:
        if member in beaten:
            losers = listed(shown.name(x) for x in sorted(beaten[member], key=order.index))
            yield f"{shown.name(member)} is ahead of {losers}, beyond chance."
    if not beaten:
        yield "No member is ahead of another beyond chance yet."

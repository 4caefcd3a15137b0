"""How a leaderboard's places came about, in sentences."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from bot.chat import Heading, Line, Mentions, Note, Part, Post, Table
from bot.render.formatting import counted, duration, listed, money
from bot.render.leaderboard_tables import Leaderboard, interval_text, percent, signed
from council.bakeoffs.changes import Changes, Measure, MemberChange, SwapHint, SwapSign
from council.bakeoffs.council_value import BestMember, CouncilValueLine, Payoff, TruthAgreement

# --- How a leaderboard's places came about, in sentences.

SHARED = "Places are shared where the difference may be chance."


def decided(shown: Leaderboard) -> Iterator[str]:
    """Say who is ahead of whom, how the first two were told apart, and what was mixed."""
    board = shown.board
    if len(board.rows) < 2:  # noqa: PLR2004
        return
    yield from _claim_lines(shown)
    if board.run_off:
        yield _run_off_line(shown)
    if board.is_mixed:
        yield (
            "The rounds had different panels, so members stand by the share each should have "
            "if all had met (Bradley–Terry), not by the share they had."
        )


def run_off_note(shown: Leaderboard) -> str:
    """Say that the run-off turned the first two round; "" where it did not."""
    run_off = shown.board.run_off
    if not run_off or not run_off.changed:
        return ""
    first, second = shown.name(run_off.first), shown.name(run_off.second)
    return f"{first} stands before {second} by a run-off among the other judges."


def _run_off_line(shown: Leaderboard) -> str:
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


def _claim_lines(shown: Leaderboard) -> Iterator[str]:
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


# --- Whether the council is worth it on graded rounds, beside the best single member.

_COUNCIL_VALUE_COLUMNS = ("Answer", "Right", "95 % interval", "Against the best", "Price", "Time")
WINNER = "Winner"
_PAYOFF_TEXTS = {
    Payoff.WORTH_IT: "more accurate than any one member, beyond chance.",
    Payoff.NOT_WORTH_IT: "not worth its cost here.",
    Payoff.OPEN: "too close to the best member to tell.",
}


def worth_table(shown: Leaderboard) -> Table | None:
    """Give the best member, the council and the winner; None where nothing was graded."""
    worth = shown.worth
    if not worth.best or not worth.rows:
        return None
    rows = (_best_member_row(shown, worth.best), *map(_council_value_row, worth.rows))
    return Table(_COUNCIL_VALUE_COLUMNS, rows, frozenset(range(1, len(_COUNCIL_VALUE_COLUMNS))))


def _best_member_row(shown: Leaderboard, best: BestMember) -> tuple[str, ...]:
    alone = next((line for line in shown.board.rows if line.member == best.member), None)
    name = f"{shown.name(best.member)} (best member)"
    interval = interval_text(alone.accuracy_ci) if alone and not best.is_picked_elsewhere else ""
    return (name, f"{percent(best.accuracy)} right", interval, "", *_cost_and_time(best))


def _council_value_row(line: CouncilValueLine) -> tuple[str, ...]:
    right = "" if line.accuracy is None else f"{percent(line.accuracy)} right"
    return (
        line.name,
        right,
        interval_text(line.accuracy_ci),
        _points_text(line),
        *_cost_and_time(line),
    )


def _cost_and_time(line: CouncilValueLine | BestMember) -> tuple[str, str]:
    """Give price and time of one answer."""
    price = "" if line.cost_usd is None else money(line.cost_usd)
    return price, "" if line.seconds is None else duration(line.seconds)


def _points_text(line: CouncilValueLine) -> str:
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
            yield f"{line.name}: {_PAYOFF_TEXTS[line.verdict]}"
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
        yield _truth_agreement_line(worth.concord)


def _truth_agreement_line(concord: TruthAgreement) -> str:
    return (
        f"Of a right and a wrong answer to one question the right one stood ahead "
        f"{percent(concord.auc)} of the time ({interval_text(concord.ci)}; 50 % is chance), over "
        f"{counted(concord.questions, 'question')} that had both."
    )


# --- What changed since earlier runs, in sentences and as a post: who moved beyond noise.

_Names = Mapping[str, str]

_SWAP_NOTE = "That is what it looks like when a provider puts another model behind a name."
NO_CHANGE = "Nothing moved beyond noise."
_FIRST_RUN = "The first run: there is nothing to compare it with yet."


def news_lines(changes: Changes, names: _Names) -> Iterator[str]:
    """Say what changed beyond noise, the largest fall first; nothing where nothing did."""
    for move in changes.beyond_noise:
        yield _change_line(move, names)
    for hint in changes.hints:
        yield _swap_hint_line(hint, names)
    if changes.hints:
        yield _SWAP_NOTE
    if changes.new:
        yield f"New: {listed(_name(key, names) for key in changes.new)}."
    if changes.missing:
        missing = listed(_name(key, names) for key in changes.missing)
        yield f"Missing: {missing} answered in the run before, and not in this one."


def delta_post(
    changes: Changes, names: _Names, title: str, subscribers: Sequence[str] = ()
) -> Post:
    """Give what changed in a run as a short post; it calls subscribers, and only where it is news.

    `title` names the schedule or suite, `subscribers` are ids of the chat it goes to.
    """
    lines = [*news_lines(changes, names)]
    parts: list[Part] = [Heading(f"{title}: {'what changed' if lines else 'no change'}")]
    if changes.runs:
        parts += map(Line, lines or [NO_CHANGE])
        parts.append(Note(comparison_line(changes)))
    else:
        parts.append(Line(_FIRST_RUN))
    if lines and subscribers:
        parts.append(Mentions(tuple(subscribers)))
    summary = f"{title}: {lines[0] if lines else NO_CHANGE if changes.runs else _FIRST_RUN}"
    return Post(tuple(parts), summary)


def comparison_line(changes: Changes) -> str:
    """Say what was compared with what."""
    shares = [move for move in changes.moves if move.measure is Measure.SHARE]
    runs = counted(max((move.runs for move in shares), default=changes.runs), "earlier run")
    members = counted(len({move.member for move in shares}), "member")
    return f"{members} compared with {runs}, question by question; what may be chance is left out."


def _change_line(move: MemberChange, names: _Names) -> str:
    went = "fell" if move.difference < 0 else "rose"
    of = "of rivals beaten" if move.measure is Measure.SHARE else "right"
    by = f"{_points(move.difference)} points, {_points(move.ci[0])} to {_points(move.ci[1])}"
    return (
        f"{_name(move.member, names)} {went} from {percent(move.before)} to {percent(move.now)} "
        f"{of} ({by}), beyond noise."
    )


def _points(share: float) -> str:
    return f"{share * 100:+.0f}".replace("-", "−")


def _swap_hint_line(hint: SwapHint, names: _Names) -> str:
    name = _name(hint.member, names)
    more = hint.now > hint.before
    match hint.sign:
        case SwapSign.LENGTH:
            longer = "longer" if more else "shorter"
            return f"{name} writes {longer}: {hint.now:.0f} words, before {hint.before:.0f}."
        case SwapSign.LATENCY:
            slower = "slower" if more else "faster"
            return f"{name} is {slower}: {duration(hint.now)}, before {duration(hint.before)}."
        case SwapSign.REFUSALS:
            often = "more often" if more else "less often"
            return f"{name} refuses {often}: {percent(hint.now)}, before {percent(hint.before)}."


def _name(key: str, names: _Names) -> str:
    return names.get(key, key)

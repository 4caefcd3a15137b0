"""Sentences and tables about a leaderboard: who is ahead, council value, changes."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from bot.chat import Heading, Line, Mentions, Note, Part, Post, Table
from bot.render.formatting import count_noun, duration, join_words, money, number_table
from bot.render.leaderboard_tables import Leaderboard, interval_text, percent, signed_number
from council.bakeoffs.changes import Changes, Measure, MemberChange, SwapHint, SwapSign
from council.bakeoffs.council_value import BestMember, CouncilValueLine, Payoff
from council.bakeoffs.pairwise import RunOff

SHARED_PLACES_NOTE = "Models share a place when their difference may be chance."
NO_CHANGE = "Nothing changed beyond noise."
_FIRST_RUN = "This is the first run, so there is nothing to compare it with yet."


# --- Decisions


def decision_lines(leaderboard: Leaderboard) -> Iterator[str]:
    """Yield who is ahead of whom, how the first two were told apart, and what was mixed."""
    board = leaderboard.board
    if len(board.rows) < 2:  # noqa: PLR2004
        return
    yield from _claim_lines(leaderboard)
    if board.run_off:
        yield _run_off_line(leaderboard, board.run_off)
    if board.is_mixed:
        yield (
            "The rounds had different panels, so models are ordered by the share of rivals each "
            "would have beaten had all met (Bradley–Terry)."
        )


def run_off_note(leaderboard: Leaderboard) -> str:
    """Return that the run-off swapped the first two; "" if it did not."""
    run_off = leaderboard.board.run_off
    if not run_off or not run_off.changed:
        return ""
    first, second = leaderboard.name(run_off.first), leaderboard.name(run_off.second)
    return f"{first} is ahead of {second} after a run-off among the other judges."


def _run_off_line(leaderboard: Leaderboard, run_off: RunOff) -> str:
    first, second = leaderboard.name(run_off.first), leaderboard.name(run_off.second)
    margin = f"{signed_number(run_off.margin)} over {count_noun(run_off.rounds, 'round')}"
    if run_off.changed:
        return (
            f"Counting every ranking, {second} came first. Judges other than these two prefer "
            f"{first} ({margin}), and that decides, so that a biased judge can't win by ranking "
            "its rival low."
        )
    return f"Judges other than {first} and {second} also prefer {first} ({margin})."


def _claim_lines(leaderboard: Leaderboard) -> Iterator[str]:
    beaten: defaultdict[str, list[str]] = defaultdict(list)
    for duel in leaderboard.board.claims:
        loser = duel.second if duel.ahead == duel.first else duel.first
        beaten[duel.ahead or ""].append(loser)
    order = [line.member for line in leaderboard.board.rows]
    for member in order:
        if losers := join_words(leaderboard.name(x) for x in order if x in beaten[member]):
            yield f"{leaderboard.name(member)} is ahead of {losers}; unlikely to be chance."
    if not leaderboard.board.claims:
        yield "No model is ahead of another beyond chance yet."


# --- Council value

_PAYOFF_TEXTS = {
    Payoff.WORTH_IT: "more accurate than any one model; unlikely to be chance.",
    Payoff.NOT_WORTH_IT: "not worth its cost here.",
    Payoff.OPEN: "too close to the best model to tell.",
}


def council_value_table(leaderboard: Leaderboard) -> Table | None:
    """Return the best member, the council and the winner; None if nothing was graded."""
    value = leaderboard.worth
    if not value.best or not value.rows:
        return None
    columns = ("Answer", "Right", "95 % interval", "Against the best", "Price", "Time")
    rows = (_best_member_row(leaderboard, value.best), *map(_council_value_row, value.rows))
    return number_table(columns, rows)


def _best_member_row(leaderboard: Leaderboard, best: BestMember) -> tuple[str, ...]:
    row = next((line for line in leaderboard.board.rows if line.member == best.member), None)
    name = f"{leaderboard.name(best.member)} (best model)"
    interval = interval_text(row.accuracy_ci) if row and not best.is_picked_elsewhere else ""
    return (name, f"{percent(best.accuracy)} right", interval, "", *_cost_and_time(best))


def _council_value_row(line: CouncilValueLine) -> tuple[str, ...]:
    right = "" if line.accuracy is None else f"{percent(line.accuracy)} right"
    interval = interval_text(line.accuracy_ci)
    return (line.name, right, interval, _points_text(line), *_cost_and_time(line))


def _cost_and_time(line: CouncilValueLine | BestMember) -> tuple[str, str]:
    cost = "" if line.cost_usd is None else money(line.cost_usd)
    return cost, "" if line.seconds is None else duration(line.seconds)


def _points_text(line: CouncilValueLine) -> str:
    """Return how much more often it is right than the best member: "+4 (−6 to +14) points"."""
    if line.difference is None:
        return ""
    ends = " to ".join(map(_points, line.difference_ci or ()))
    interval = f" ({ends})" if ends else ""
    return f"{_points(line.difference)}{interval} points"


def council_value_lines(leaderboard: Leaderboard) -> Iterator[str]:
    """Yield what follows from the table, and how sure that is."""
    value = leaderboard.worth
    for line in value.rows:
        if line.verdict:
            yield f"{line.name}: {_PAYOFF_TEXTS[line.verdict]}"
    if value.rows and value.best:
        graded = count_noun(max(line.graded for line in value.rows), "graded round")
        picked = (
            "picked for each run from the other runs"
            if value.best.is_picked_elsewhere
            else "picked from these same rounds, which flatters it; the intervals allow for that"
        )
        yield (
            f"Over {graded}, compared with {leaderboard.name(value.best.member)}, the most "
            f"accurate single model, {picked}."
        )
        if all(line.verdict is None for line in value.rows):
            yield "That is too few to say whether the council is worth it."


# --- Changes

_Names = Mapping[str, str]


def change_lines(changes: Changes, names: _Names) -> Iterator[str]:
    """Yield what changed beyond noise, the largest fall first."""
    for move in changes.beyond_noise:
        yield _change_line(move, names)
    for hint in changes.hints:
        yield _swap_hint_line(hint, names)
    if changes.hints:
        yield "This can happen when a provider changes the model behind a name."
    if changes.new:
        yield f"New: {join_words(_name(key, names) for key in changes.new)}."
    if changes.missing:
        missing = join_words(_name(key, names) for key in changes.missing)
        yield f"Missing: {missing} answered in the previous run, but not in this one."


def changes_post(
    changes: Changes, names: _Names, title: str, subscribers: Sequence[str] = ()
) -> Post:
    """Return what changed in a run as a short post; it mentions subscribers only if something did.

    `title` names the schedule or suite, `subscribers` are user ids in the chat.
    """
    lines = [*change_lines(changes, names)]
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
    """Return what was compared with what."""
    shares = [move for move in changes.moves if move.measure is Measure.SHARE]
    runs = count_noun(max((move.runs for move in shares), default=changes.runs), "earlier run")
    members = count_noun(len({move.member for move in shares}), "model")
    return (
        f"{members} compared with {runs}, question by question; differences that may be "
        "chance are left out."
    )


def _change_line(move: MemberChange, names: _Names) -> str:
    verb = "fell" if move.difference < 0 else "rose"
    measure = "of rivals beaten" if move.measure is Measure.SHARE else "right"
    change = f"{_points(move.difference)} points, {_points(move.ci[0])} to {_points(move.ci[1])}"
    return (
        f"{_name(move.member, names)} {verb} from {percent(move.before)} to {percent(move.now)} "
        f"{measure} ({change}), beyond noise."
    )


def _points(share: float) -> str:
    return f"{share * 100:+.0f}".replace("-", "−")


def _swap_hint_line(hint: SwapHint, names: _Names) -> str:
    name = _name(hint.member, names)
    is_more = hint.now > hint.before
    match hint.sign:
        case SwapSign.LENGTH:
            longer = "longer" if is_more else "shorter"
            return f"{name} writes {longer}: {hint.now:.0f} words, {hint.before:.0f} before."
        case SwapSign.LATENCY:
            slower = "slower" if is_more else "faster"
            return f"{name} is {slower}: {duration(hint.now)}, {duration(hint.before)} before."
        case SwapSign.REFUSALS:
            frequency = "more often" if is_more else "less often"
            return (
                f"{name} refuses {frequency}: {percent(hint.now)}, {percent(hint.before)} before."
            )


def _name(key: str, names: _Names) -> str:
    return names.get(key, key)

"""Sentences and tables about a leaderboard: who is ahead, council value, changes."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from bot.bakeoffs.render.leaderboard_tables import (
    Leaderboard,
    interval_text,
    percent,
    signed_number,
)
from bot.chat import Buttons, Heading, Line, Mentions, Note, Part, Post, Table
from bot.render.formatting import count_noun, duration, join_words, known_text, money, number_table
from council.bakeoffs.changes import Changes, Measure, MemberChange, SwapHint, SwapSign
from council.bakeoffs.council_value import (
    COUNCIL,
    MIN_GRADED,
    BestMember,
    CouncilValueLine,
    Drafts,
    Payoff,
)
from council.bakeoffs.intervals import FULL_RANGE, Interval
from council.bakeoffs.leaderboard import AuthorLine, Board
from council.bakeoffs.pairwise import MIN_ROUNDS, RunOff

NO_CHANGE = "Nothing changed beyond noise."
_MAX_NAMES = 3  # in a sentence
_MAX_CHANGES = 5  # in a post


# --- Headline and footnotes


def headline_lines(leaderboard: Leaderboard) -> Iterator[str]:
    """Yield who leads, by how much and how surely, and the cheapest model that keeps up."""
    rows = [line for line in leaderboard.board.rows if line.share is not None]
    if len(rows) < 2:  # noqa: PLR2004
        return
    yield _leader_line(leaderboard, rows[0], rows[1])
    if cheapest := cheapest_equal(leaderboard.board):
        name = leaderboard.name(cheapest.member)
        itself = f"{name} itself" if cheapest.member == rows[0].member else name
        price = money(cheapest.cost_usd)
        yield f"Cheapest model not measurably worse than the leader: {itself}, {price} a question."


def _leader_line(leaderboard: Leaderboard, first: AuthorLine, second: AuthorLine) -> str:
    board, leader = leaderboard.board, leaderboard.name(first.member)
    lead = round((first.share or 0.0) * 100) - round((second.share or 0.0) * 100)
    rival, points = leaderboard.name(second.member), percent(first.share or 0.0)
    if lead:
        start = (
            f"{leader} leads with {points} of the points, {count_noun(lead, 'point')} ahead of "
            f"{rival}"
        )
    else:
        start = f"{leader} and {rival} lead with {points} of the points"
    if min(first.rounds, second.rounds) < MIN_ROUNDS:
        return f"{start}; with fewer than {MIN_ROUNDS} rounds, that can be chance."
    if board.is_ahead(first.member, second.member):
        return f"{start}; that is unlikely to be chance."
    if board.is_ahead(second.member, first.member):
        return f"{start}, but judges other than these two prefer {rival}."
    return f"{start}; that may be chance."


def is_ranked_by_grades(board: Board) -> bool:
    """Return whether enough questions are graded to rank models by their right answers."""
    return max((line.graded for line in board.rows), default=0) >= MIN_GRADED


def right_answers(line: AuthorLine) -> int:
    """Return how many of a model's answers are right."""
    return round((line.accuracy or 0.0) * line.graded)


def outcome_line(leaderboard: Leaderboard) -> str:
    """Return who leads, by how much and how surely, in one sentence; "" without a comparison.

    By right answers if at least ten questions are graded, else by points.
    """
    board = leaderboard.board
    if is_ranked_by_grades(board):
        return _right_answers_line(leaderboard)
    rows = [line for line in board.rows if line.share is not None]
    return _leader_line(leaderboard, rows[0], rows[1]) if len(rows) > 1 else ""


def _right_answers_line(leaderboard: Leaderboard) -> str:
    rows = sorted((x for x in leaderboard.board.rows if x.graded), key=right_answers, reverse=True)
    most, of = right_answers(rows[0]), max(line.graded for line in rows)
    leaders = [line for line in rows if right_answers(line) == most]
    names = _short_list(leaderboard, leaders)
    if len(rows) == 1:
        return f"{names} has {most} of {of} right."
    if len(leaders) > 1:
        return f"{names} share the lead with {most} of {of} right."
    second = right_answers(rows[1])
    rivals = [line for line in rows if right_answers(line) == second]
    is_are = "is" if len(rivals) == 1 else "are"
    lowest = (rows[0].accuracy_ci or FULL_RANGE)[0]
    is_sure = all(lowest > (line.accuracy_ci or FULL_RANGE)[1] for line in rivals)
    return (
        f"{names} leads with {most} of {of} right; {_short_list(leaderboard, rivals)} {is_are} "
        f"{most - second} behind, which {'is unlikely to' if is_sure else 'could'} be chance."
    )


def _short_list(leaderboard: Leaderboard, lines: Sequence[AuthorLine]) -> str:
    if len(lines) > _MAX_NAMES:
        return count_noun(len(lines), "model")
    return join_words(leaderboard.name(line.member) for line in lines)


def cheapest_equal(board: Board) -> AuthorLine | None:
    """Return the cheapest member that may be as good as the leader, by interval and by duel.

    None where that cannot be said: too few rounds, or a price that is unknown.
    """
    rows = [line for line in board.rows if line.share is not None]
    equals = [
        line
        for line in rows
        if line.ci[1] >= (rows[0].share or 0.0) and not board.is_ahead(rows[0].member, line.member)
    ]
    if not rows or any(x.cost_usd is None or x.rounds < MIN_ROUNDS for x in equals):
        return None
    return min(equals, key=lambda line: line.cost_usd or 0.0)


def footnote_lines(leaderboard: Leaderboard) -> Iterator[str]:
    """Yield why places are shared, what other judges say of the first two, and what was mixed."""
    board = leaderboard.board
    if any(line.is_tied for line in board.rows):
        yield (
            "Models share a place, marked =, where the first of them is not ahead of the others "
            "beyond chance."
        )
    if board.run_off and board.run_off.rounds >= MIN_ROUNDS:
        yield _run_off_line(leaderboard, board.run_off)
    if board.is_mixed:
        met = [line for line in board.rows if line.strength is not None]
        met.sort(key=lambda line: -(line.strength or 0.0))
        yield (
            "These rounds had different panels, so models met different rivals. Had all met, the "
            f"order would be about: {', '.join(leaderboard.name(x.member) for x in met)} "
            "(a Bradley–Terry estimate)."
        )


def _run_off_line(leaderboard: Leaderboard, run_off: RunOff) -> str:
    first, second = leaderboard.name(run_off.first), leaderboard.name(run_off.second)
    over = count_noun(run_off.rounds, "round")
    if run_off.changed:
        return (
            f"Without the rankings by {second} and {first} themselves, {first} would be ahead of "
            f"{second} ({signed_number(run_off.margin)} over {over}). A judge can lower its rival "
            "in its own ranking, so look at this before you choose."
        )
    return (
        f"Judges other than {first} and {second} also prefer {first} "
        f"({signed_number(run_off.margin)} over {over})."
    )


def claim_lines(leaderboard: Leaderboard) -> Iterator[str]:
    """Yield who is ahead of whom beyond chance; nothing for a single member."""
    if len(leaderboard.board.rows) < 2:  # noqa: PLR2004
        return
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

_ANSWERS = {
    Payoff.WORTH_IT: "Yes",
    Payoff.NOT_WORTH_IT: "No",
    Payoff.OPEN: "Too close to tell",
}
_MAX_DRAFTS = 10


def council_value_table(leaderboard: Leaderboard) -> Table | None:
    """Return the best member, the council and the winner; None if nothing was graded or voted."""
    value = leaderboard.worth
    if not value.best or not value.rows:
        return None
    right = "Chosen" if value.is_voted else "Right"
    columns = ("Answer", right, "95 % interval", "Against the best", "Price", "Time")
    rows = [_best_member_row(leaderboard, value.best), *map(_council_value_row, value.rows)]
    if drafts := value.drafts:
        name = f"{leaderboard.name(value.best.member)}, {drafts.times} drafts"
        rows.append((name, percent(drafts.accuracy), "", "", *_cost_and_time(drafts)))
    return number_table(columns, rows)


def _best_member_row(leaderboard: Leaderboard, best: BestMember) -> tuple[str, ...]:
    row = next((line for line in leaderboard.board.rows if line.member == best.member), None)
    name = f"{leaderboard.name(best.member)} (best model)"
    is_same = row and not best.is_picked_elsewhere and not leaderboard.worth.is_voted
    interval = interval_text(row.accuracy_ci) if row and is_same else ""
    return (name, percent(best.accuracy), interval, "", *_cost_and_time(best))


def _council_value_row(line: CouncilValueLine) -> tuple[str, ...]:
    right = known_text(line.accuracy, percent)
    lead = lead_text(line.difference, line.difference_ci)
    return (line.name, right, interval_text(line.accuracy_ci), lead, *_cost_and_time(line))


def _cost_and_time(line: CouncilValueLine | BestMember | Drafts) -> tuple[str, str]:
    return known_text(line.cost_usd, money), known_text(line.seconds, duration)


def lead_text(lead: float | None, interval: Interval | None) -> str:
    """Return how much more often one is right than another: "+4 (−6 to +14) points"."""
    if lead is None:
        return ""
    ends = " to ".join(map(_points, interval or ()))
    return f"{_points(lead)}{f' ({ends})' if ends else ''} points"


def council_value_lines(leaderboard: Leaderboard) -> Iterator[str]:
    """Yield whether the council is worth its price, compared with what else it could buy."""
    value = leaderboard.worth
    if not value.rows or not value.best:
        return
    if not value.is_decided:
        kind, count = "voted" if value.is_voted else "graded", value.rows[0].graded
        yield f"Too few {kind} questions to say: {count} of the {MIN_GRADED} that are needed."
        return
    for line in value.rows:
        yield _payoff_line(leaderboard, line, value.best)
    yield from _drafts_lines(leaderboard, value.best, value.rows[0])
    how = (
        "picked for each run from the other runs"
        if value.best.is_picked_elsewhere
        else "picked from these same rounds, which flatters it; the intervals allow for that"
    )
    yield f"The best single model is {how}."


def _payoff_line(leaderboard: Leaderboard, line: CouncilValueLine, best: BestMember) -> str:
    what = "chosen by people" if leaderboard.worth.is_voted else "right"
    who = "The council’s answer" if line.name == COUNCIL else "The winning answer as it is"
    kind = "voted" if leaderboard.worth.is_voted else "graded"
    over = count_noun(line.graded, f"{kind} question")
    answer = _ANSWERS[line.verdict] if line.verdict else "Too few to say"
    prices = [money(x.cost_usd) for x in (line, best) if x.cost_usd is not None]
    price = f", for {' against '.join(prices)} a question" if len(prices) > 1 else ""
    return (
        f"{answer}. {who} was {what} in {percent(line.accuracy or 0.0)} of {over}, "
        f"{leaderboard.name(best.member)} alone in {percent(best.accuracy)}: "
        f"{lead_text(line.difference, line.difference_ci)}{price}."
    )


def _drafts_lines(
    leaderboard: Leaderboard, best: BestMember, council: CouncilValueLine
) -> Iterator[str]:
    """Yield how the best member does if it is asked as often as the council pays for."""
    name, drafts = leaderboard.name(best.member), leaderboard.worth.drafts
    if drafts:
        price = "" if drafts.cost_usd is None else f", for {money(drafts.cost_usd)} a question"
        yield (
            f"Asked {drafts.times} times, {name} was right in {percent(drafts.accuracy)} of "
            f"{count_noun(drafts.questions, 'question')}{price}. Against that, the council is at "
            f"{lead_text(drafts.lead, drafts.lead_ci)}."
        )
    elif council.cost_usd and best.cost_usd and not leaderboard.worth.is_voted:
        times, seats = round(council.cost_usd / best.cost_usd), len(leaderboard.board.rows)
        if times > 1:
            yield (
                f"For the same money, {name} alone could be asked about {times} times. To see "
                f"whether that does as well, set “drafts = {min(_MAX_DRAFTS, seats)}” for it in "
                "council.toml and run the suite on a panel of nothing else."
            )


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


def few_change_lines(changes: Changes, names: _Names) -> Iterator[str]:
    """Yield what changed beyond noise; the first lines of many, and how many are left out."""
    lines = [*change_lines(changes, names)]
    yield from lines[:_MAX_CHANGES]
    if (rest := len(lines) - _MAX_CHANGES) > 0:
        yield f"And {count_noun(rest, 'more change')}."


def changes_post(
    changes: Changes,
    names: _Names,
    title: str,
    subscribers: Sequence[str] = (),
    buttons: Buttons | None = None,
) -> Post:
    """Return what changed in a run, if anything did, as a short post that mentions subscribers.

    `title` names the schedule or suite, `subscribers` are user ids in the chat.
    """
    lines = [*few_change_lines(changes, names)]
    parts: list[Part] = [Heading(f"{title}: what changed"), *map(Line, lines)]
    parts.append(Note(comparison_line(changes)))
    if subscribers:
        parts.append(Mentions(tuple(subscribers)))
    parts += [buttons] if buttons else []
    return Post(tuple(parts), f"{title}: {lines[0]}")


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

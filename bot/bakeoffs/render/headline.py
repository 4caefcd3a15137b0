"""Headline of a leaderboard: who leads and how surely, what is missing, who is cheapest."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations

from bot.bakeoffs.render.leaderboard_tables import Leaderboard, grade_text, percent, signed_points
from bot.render.formatting import costs_text, count_noun, join_words, money
from council.bakeoffs.changes import Changes, LostBaseline
from council.bakeoffs.leaderboard import AuthorLine, Board, RankedBy
from council.bakeoffs.pairwise import MIN_ROUNDS

_MAX_NAMES = 3  # in a sentence
_UNLIKELY, _POSSIBLE = "unlikely to be chance", "that may be chance"


def headline(leaderboard: Leaderboard) -> str:
    """Return who leads, by how much and how surely, in one sentence; "" without a comparison."""
    rows = [line for line in leaderboard.board.rows if line.place is not None]
    if leaderboard.board.ranked_by is RankedBy.GRADES:
        return _grades_headline(leaderboard, rows) if rows else ""
    return _points_headline(leaderboard, rows) if len(rows) > 1 else ""


# --- By right answers


def _grades_headline(leaderboard: Leaderboard, rows: Sequence[AuthorLine]) -> str:
    board, first = leaderboard.board, rows[0]
    start = f"{leaderboard.name(first.member)} has {_right(board, first)}"
    if len(rows) == 1:
        return f"{start}."
    if board.is_ahead(first.member, rows[1].member):
        return _lead_text(leaderboard, first, rows[1:])
    others = [line for line in rows[1:] if line.place == first.place]
    if better := [line for line in others if board.is_ahead(line.member, first.member)]:
        name, counted = leaderboard.name(better[0].member), _counts(leaderboard, first, better[:1])
        where = f"{name} leads where both were asked"
        return (
            f"{start}, {counted}, but {where}; {_UNLIKELY}{_difference(board, better[0], first)}."
        )
    if equals := [line for line in others if board.compared(first.member, line.member)]:
        return f"No difference shown{_equals_text(leaderboard, first, equals)}."
    counted = _counts(leaderboard, first, others[:_MAX_NAMES])
    return f"Not comparable, since the questions differ: {start}, {counted}."


def _equals_text(leaderboard: Leaderboard, first: AuthorLine, equals: Sequence[AuthorLine]) -> str:
    """Return how right models are that may be as good as the first; of many, the ends."""
    board, name, last = leaderboard.board, leaderboard.name(first.member), equals[-1]
    if len(equals) <= _MAX_NAMES:
        return f": {name} has {_right(board, first)}, {_counts(leaderboard, first, equals)}"
    end = f"{leaderboard.name(last.member)} with {_count(board, last, first)}"
    return f" among {len(equals) + 1} models, from {name} with {_right(board, first)} to {end}"


def _lead_text(leaderboard: Leaderboard, first: AuthorLine, others: Sequence[AuthorLine]) -> str:
    """Return that the first leads, ahead of the next and of those that are equal to that."""
    board, second = leaderboard.board, others[0]
    rivals = [
        line
        for line in others
        if (line.grade, line.graded) == (second.grade, second.graded)
        and board.is_ahead(first.member, line.member)
    ]
    has_have = "has" if len(rivals) == 1 else "have"
    return (
        f"{leaderboard.name(first.member)} leads with {_right(board, first)}, "
        f"{_short_list(leaderboard, rivals)} {has_have} {_count(board, second, first)}; "
        f"{_UNLIKELY}{_difference(board, first, second)}."
    )


def _difference(board: Board, first: AuthorLine, second: AuthorLine) -> str:
    found = board.compared(first.member, second.member)
    if found is None:
        return ""
    sign = 1 if found.first == first.member else -1
    ends = " to ".join(map(signed_points, found.ci_of(first.member)))
    is_all = first.graded == second.graded == found.questions
    on = "" if is_all else f" on {count_noun(found.questions, 'common question')}"
    return f" ({signed_points(sign * found.difference)} points{on}, {ends})"


def _counts(leaderboard: Leaderboard, first: AuthorLine, lines: Iterable[AuthorLine]) -> str:
    """Return how right models are, next to the first: "GPT-5.1 45 and Qwen 3 44"."""
    return join_words(
        f"{leaderboard.name(line.member)} {_count(leaderboard.board, line, first)}"
        for line in lines
    )


def _right(board: Board, line: AuthorLine) -> str:
    text = grade_text(board, line)
    return f"a mean grade of {text}" if board.has_mean_grades else f"{text} right"


def _count(board: Board, line: AuthorLine, like: AuthorLine) -> str:
    """Return a count like another one: "45", or "45 of 47" if it is of another number."""
    text = grade_text(board, line)
    return text.partition(" ")[0] if line.graded == like.graded else text


# --- By the judges' points


def _points_headline(leaderboard: Leaderboard, rows: Sequence[AuthorLine]) -> str:
    """Return who leads, all that share the first points, next to whom, and how surely."""
    board, points = leaderboard.board, percent(rows[0].share or 0.0)
    leaders = [line for line in rows if percent(line.share or 0.0) == points]
    is_alone = len(leaders) == 1
    who = _short_list(leaderboard, leaders)
    start = f"By the judges’ points, {who} {'leads' if is_alone else 'lead'} with {points}"
    if is_alone:
        leaders = [*rows[:2]]
        first, second = ((line.share or 0.0) * 100 for line in leaders)
        lead = count_noun(round(first) - round(second), "point")
        start += f", {lead} ahead of {leaderboard.name(rows[1].member)}"
    if min(line.rounds for line in leaders) < MIN_ROUNDS:
        return f"{start}; with fewer than {MIN_ROUNDS} rounds, that can be chance."
    for winner, loser in permutations(leaders, 2):
        if board.is_ahead(winner.member, loser.member):
            if is_alone and winner is rows[0]:
                return f"{start}; {_UNLIKELY}."
            name, other = leaderboard.name(winner.member), leaderboard.name(loser.member)
            return f"{start}, but judges other than {name} and {other} prefer {name}."
    return f"{start}; {_POSSIBLE}."


def _short_list(leaderboard: Leaderboard, lines: Sequence[AuthorLine]) -> str:
    if len(lines) > _MAX_NAMES:
        return count_noun(len(lines), "model")
    return join_words(leaderboard.name(line.member) for line in lines)


# --- The cheapest model that keeps up


def cheapest_equal(board: Board) -> AuthorLine | None:
    """Return the cheapest member that may be as good as the leader, the leader itself included.

    None where that cannot be said: too few rounds, or a price that is unknown.
    """
    rows = [line for line in board.rows if line.place is not None]
    equals = [line for line in rows if _keeps_up(board, rows[0], line)]
    if not rows or any(x.cost_usd is None or _is_thin(board, x) for x in equals):
        return None
    return min(equals, key=lambda line: line.cost_usd or 0.0)


def _is_thin(board: Board, line: AuthorLine) -> bool:
    return board.ranked_by is RankedBy.POINTS and line.rounds < MIN_ROUNDS


def _keeps_up(board: Board, leader: AuthorLine, line: AuthorLine) -> bool:
    if board.is_ahead(leader.member, line.member):
        return False
    if line is leader:
        return True
    if board.ranked_by is RankedBy.POINTS:
        return line.ci[1] >= (leader.share or 0.0)
    found = board.compared(leader.member, line.member)
    return found is not None and found.ci_of(leader.member)[0] <= 0


def _sharing_line(leaderboard: Leaderboard, leader: AuthorLine, than: AuthorLine) -> str:
    """Return that a model cheaper than another shares the first place, and how bad it can be.

    A place is lost only beyond chance over all pairs; a model keeps up within the 95 % interval of
    its own pair.
    """
    board, most = leaderboard.board, than.cost_usd or 0.0
    found = [
        (line.cost_usd, line, worse)
        for line in board.rows
        if line.place == leader.place and line.cost_usd is not None and line.cost_usd < most
        if (worse := _most_behind(board, leader, line)) is not None
    ]
    if not found:
        return ""
    usd, line, worse = min(found, key=lambda one: one[0])
    costs = costs_text(usd, leader.cost_usd)
    points = count_noun(round(worse * 100), "point")
    return (
        f"{leaderboard.name(line.member)} {costs} and shares the first place, but could be up to "
        f"{points} worse."
    )


def _most_behind(board: Board, leader: AuthorLine, line: AuthorLine) -> float | None:
    """Return how far a model may be behind the leader (95 %), 0 to 1; None if not compared."""
    if board.ranked_by is RankedBy.POINTS:
        return (leader.share or 0.0) - line.ci[0]
    found = board.compared(leader.member, line.member)
    return found.ci_of(leader.member)[1] if found else None


def cheapest_line(leaderboard: Leaderboard) -> str:
    """Return which cheaper model keeps up with the leader, or that none does; "" if unknown."""
    rows = [line for line in leaderboard.board.rows if line.place is not None]
    cheapest = cheapest_equal(leaderboard.board) if len(rows) > 1 else None
    if cheapest is None:
        return ""
    leader, name = rows[0], leaderboard.name(cheapest.member)
    sharing = _sharing_line(leaderboard, leader, cheapest)
    if cheapest.member != leader.member:
        line = f"Cheapest model that keeps up: {name}, {money(cheapest.cost_usd)} a question."
        return f"{line} {sharing}".strip()
    if sharing:
        return sharing
    most = leader.cost_usd or 0.0
    cheaper = [line for line in rows if line.cost_usd is not None and line.cost_usd < most]
    is_beaten = cheaper and all(line.place != leader.place for line in cheaper)
    return f"No cheaper model matched {name} here." if is_beaten else ""


def leading_lines(leaderboard: Leaderboard) -> Iterator[str]:
    """Yield who leads, and the cheapest model that keeps up."""
    yield from filter(None, (headline(leaderboard), cheapest_line(leaderboard)))


# --- What is missing


def missing_lines(leaderboard: Leaderboard) -> Iterator[str]:
    """Yield which models did not answer, whose rankings are unreadable, and a lost baseline."""
    absences = leaderboard.absences
    for gap in absences.answers[:_MAX_NAMES]:
        yield f"{leaderboard.name(gap.seat)} did not answer {gap.missing} of {gap.asked}."
    if (rest := len(absences.answers) - _MAX_NAMES) > 0:
        yield f"{count_noun(rest, 'other model')} did not answer all."
    unread = absences.rankings
    if (rest := len(unread) - _MAX_NAMES) > 0:
        yield f"{count_noun(rest, 'other judge')} wrote rankings that could not be read."
    for gap in unread[:_MAX_NAMES]:
        name = leaderboard.name(gap.seat)
        if gap.missing == gap.asked:
            yield f"None of {name}’s rankings could be read."
        else:
            count = count_noun(gap.asked, "ranking")
            yield f"{gap.missing} of {count} by {name} could not be read."
    if leaderboard.changes and leaderboard.changes.lost:
        yield _lost_baseline_line(leaderboard.changes, leaderboard.changes.lost)


def _lost_baseline_line(changes: Changes, lost: LostBaseline) -> str:
    why = "no longer exists"
    if lost.at:
        why = f"of {lost.at.day} {lost.at:%B %Y} asked another version of the suite"
    others = "the runs before it" if changes.runs else "no other"
    return f"The blessed run {why}, so this one is compared with {others}. Bless another run."

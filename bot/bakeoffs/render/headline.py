"""Headline of a leaderboard: who leads and how surely, what is missing, who is cheapest."""

from collections.abc import Iterator, Sequence

from bot.bakeoffs.render.leaderboard_tables import Leaderboard, grade_text, percent, signed_points
from bot.render.formatting import count_noun, join_words, money
from council.bakeoffs.leaderboard import AuthorLine, Board, RankedBy
from council.bakeoffs.pairwise import MIN_ROUNDS

_MAX_NAMES = 3  # in a sentence
_UNLIKELY, _POSSIBLE = "unlikely to be chance", "that may be chance"


def headline(leaderboard: Leaderboard) -> str:
    """Return who leads, by how much and how surely, in one sentence; "" without a comparison."""
    rows = [line for line in leaderboard.board.rows if line.place is not None]
    if leaderboard.board.ranked_by is RankedBy.GRADES:
        return _grades_headline(leaderboard, rows) if rows else ""
    return _points_headline(leaderboard, rows[0], rows[1]) if len(rows) > 1 else ""


# --- By right answers


def _grades_headline(leaderboard: Leaderboard, rows: Sequence[AuthorLine]) -> str:
    board, first = leaderboard.board, rows[0]
    name = leaderboard.name(first.member)
    if len(rows) == 1:
        return f"{name} has {_right(board, first)}."
    if not board.is_ahead(first.member, rows[1].member):
        others = [line for line in rows[1:] if line.place == first.place]
        equal = _equal_text(leaderboard, first, others)
        return f"No difference shown: {name} has {_right(board, first)}, {equal}."
    rivals = [line for line in rows[1:] if line.grade == rows[1].grade]
    has_have = "has" if len(rivals) == 1 else "have"
    return (
        f"{name} leads with {_right(board, first)}, {_short_list(leaderboard, rivals)} {has_have} "
        f"{_count(board, rows[1], first)}; {_UNLIKELY}{_difference(board, first, rows[1])}."
    )


def _difference(board: Board, first: AuthorLine, second: AuthorLine) -> str:
    found = board.compared(first.member, second.member)
    if found is None:
        return ""
    sign = 1 if found.first == first.member else -1
    interval = (found.ci[0], found.ci[1]) if sign > 0 else (-found.ci[1], -found.ci[0])
    ends = " to ".join(map(signed_points, interval))
    return f" ({signed_points(sign * found.difference)} points, {ends})"


def _equal_text(leaderboard: Leaderboard, first: AuthorLine, others: Sequence[AuthorLine]) -> str:
    """Return how right those are who may be as good as the first: "GPT-5.1 45 and Qwen 3 44"."""
    counts = [_count(leaderboard.board, line, first) for line in others]
    if len(others) < _MAX_NAMES:
        named = zip(others, counts, strict=True)
        return join_words(f"{leaderboard.name(line.member)} {count}" for line, count in named)
    ends = " to ".join(dict.fromkeys((counts[-1], counts[0])))
    return f"{len(others)} others {ends}"


def _right(board: Board, line: AuthorLine) -> str:
    text = grade_text(board, line)
    return f"a mean grade of {text}" if board.has_mean_grades else f"{text} right"


def _count(board: Board, line: AuthorLine, like: AuthorLine) -> str:
    """Return a count like another one: "45", or "45 of 47" if it is of another number."""
    text = grade_text(board, line)
    return text.partition(" ")[0] if line.graded == like.graded else text


def _short_list(leaderboard: Leaderboard, lines: Sequence[AuthorLine]) -> str:
    if len(lines) > _MAX_NAMES:
        return count_noun(len(lines), "model")
    return join_words(leaderboard.name(line.member) for line in lines)


# --- By the judges' points


def _points_headline(leaderboard: Leaderboard, first: AuthorLine, second: AuthorLine) -> str:
    board, leader = leaderboard.board, leaderboard.name(first.member)
    lead = round((first.share or 0.0) * 100) - round((second.share or 0.0) * 100)
    rival, points = leaderboard.name(second.member), percent(first.share or 0.0)
    if lead:
        start = (
            f"By the judges’ points, {leader} leads with {points}, {count_noun(lead, 'point')} "
            f"ahead of {rival}"
        )
    else:
        start = f"By the judges’ points, {leader} and {rival} lead with {points}"
    if min(first.rounds, second.rounds) < MIN_ROUNDS:
        return f"{start}; with fewer than {MIN_ROUNDS} rounds, that can be chance."
    if board.is_ahead(first.member, second.member):
        return f"{start}; {_UNLIKELY}."
    if board.is_ahead(second.member, first.member):
        return f"{start}, but judges other than these two prefer {rival}."
    return f"{start}; {_POSSIBLE}."


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
    if board.ranked_by is RankedBy.POINTS:
        return line.ci[1] >= (leader.share or 0.0)
    found = board.compared(leader.member, line.member)
    return found is None or found.ci[0] <= 0 <= found.ci[1]


def cheapest_line(leaderboard: Leaderboard) -> str:
    """Return which cheaper model keeps up with the leader, or that none does; "" if unknown."""
    rows = [line for line in leaderboard.board.rows if line.place is not None]
    cheapest = cheapest_equal(leaderboard.board) if len(rows) > 1 else None
    if cheapest is None:
        return ""
    leader, name = rows[0], leaderboard.name(cheapest.member)
    if cheapest.member != leader.member:
        return f"Cheapest model that keeps up: {name}, {money(cheapest.cost_usd)} a question."
    prices = [line.cost_usd for line in rows[1:]]
    is_beaten = any(price is not None and price < (leader.cost_usd or 0.0) for price in prices)
    return f"No cheaper model matched {name} here." if is_beaten else ""


# --- What is missing


def missing_lines(leaderboard: Leaderboard) -> Iterator[str]:
    """Yield which models did not answer, and whose rankings could not be read."""
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

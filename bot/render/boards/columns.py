"""The columns of leaderboards: what each is called, how it reads, and what it sorts by.

Chats, page, terminal and files all take them from here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, Generic, TypeVar

from bot.chat import Table
from bot.render.boards.chart import percent
from bot.render.boards.leaderboard import Leaderboard
from bot.render.figures import duration, money
from council.bakeoffs.intervals import Interval
from council.bakeoffs.leaderboard import AuthorLine, JudgeLine
from council.research.judge_weights import WithPeople

Line = TypeVar("Line")


@dataclass(frozen=True, slots=True)
class Column(Generic[Line]):
    """One column; `value` is what it sorts by, best first, None last.

    `shown` of a line without a value is "".
    """

    key: str
    title: str
    value: Callable[[Line], Any]
    shown: Callable[[Line], str]
    is_low_best: bool = False
    is_text: bool = False


def _number(
    key: str, title: str, of: str, shows: Callable[[Any], str] = str, *, is_low_best: bool = False
) -> Column[Any]:
    """Give a column of a number that may be unknown."""
    value = attrgetter(of)

    def shown(line: object) -> str:
        found = value(line)
        return "" if found is None else shows(found)

    return Column(key, title, value, shown, is_low_best)


def _named(key: str, title: str, of: str, names: Mapping[str, str]) -> Column[Any]:
    seat = attrgetter(of)

    def name(line: object) -> str:
        return names.get(seat(line), seat(line))

    return Column(key, title, lambda line: name(line).casefold(), name, True, True)


def within(interval: Interval | None) -> str:
    """Give an interval of shares: "55–69 %"."""
    return f"{interval[0] * 100:.0f}–{percent(interval[1])}" if interval else ""


def signed(number: float) -> str:
    """Give a number with its sign: "+.42", "−.05"; what rounds to nothing has a plus."""
    return f"{round(number, 2) + 0.0:+.2f}".replace("-", "−").replace("0.", ".", 1)


def _spoiled(rate: float) -> str:
    return f"{percent(rate)} spoiled"


def _right(line: AuthorLine) -> str:
    return "" if line.accuracy is None else f"{percent(line.accuracy)} right"


def _masked(line: AuthorLine) -> str:
    return f"{line.named_itself} of {line.answers}" if line.named_itself else ""


def _place(line: AuthorLine) -> str:
    return str(line.place or "–")


def _interval(line: AuthorLine) -> str:
    return "" if line.share is None else within(line.ci)


def _position(line: JudgeLine) -> str:
    if line.position is None:
        return ""
    return signed(line.position) + (" biased" if line.is_position_biased else "")


def _orders(line: JudgeLine) -> str:
    return f"{line.kept} of {line.pairs}" if line.pairs else ""


def author_columns(names: Mapping[str, str]) -> tuple[Column[AuthorLine], ...]:
    """Give the columns of members as authors."""
    return (
        *short_columns(names),
        _number("strength", "If all met", "strength", percent),
        Column("strength_ci", "Its interval", attrgetter("strength"), _strength_interval),
        _number("first_votes", "First votes", "first_votes"),
        Column("accuracy", "Right", attrgetter("accuracy"), _right),
        _number("cost_usd", "Price", "cost_usd", money, is_low_best=True),
        _number("seconds", "Time", "seconds", duration, is_low_best=True),
        _number("tokens_out", "Tokens", "tokens_out", "{:,.0f}".format, is_low_best=True),
        _number("absences", "Absences", "absences", is_low_best=True),
        Column("named_itself", "Named itself", attrgetter("named_itself"), _masked, True),
    )


def short_columns(names: Mapping[str, str]) -> tuple[Column[AuthorLine], ...]:
    """Give the columns a board has room for in a few lines."""
    return (
        Column("place", "", attrgetter("place"), _place, True),
        _named("member", "Member", "member", names),
        _number("share", "Share", "share", percent),
        Column("ci", "95 % interval", lambda line: line.ci[0], _interval),
        _number("rounds", "Rounds", "rounds"),
    )


def _strength_interval(line: AuthorLine) -> str:
    return within(line.strength_ci)


def judge_columns(
    names: Mapping[str, str], people: Mapping[str, WithPeople] | None = None
) -> tuple[Column[JudgeLine], ...]:
    """Give the columns of seats as judges; `people` are how far each agrees with them."""
    known = people or {}
    return (
        _named("judge", "Judge", "judge", names),
        _number("agreement", "Agreement", "agreement", signed),
        Column("agreement_ci", "95 % interval", attrgetter("agreement"), _agreement_interval),
        _number("spoiled", "Spoiled", "spoiled_rate", _spoiled, is_low_best=True),
        Column("position", "First slot", _position_size, _position, True),
        Column("consistency", "Orders kept", attrgetter("consistency"), _orders),
        Column("people", "With people", partial(_people_share, known), partial(_people, known)),
        _number("cost_usd", "Price", "cost_usd", money, is_low_best=True),
        _number("rounds", "Rounds", "rounds"),
    )


def _people_share(people: Mapping[str, WithPeople], line: JudgeLine) -> float | None:
    found = people.get(line.judge)
    return found.share if found else None


def _people(people: Mapping[str, WithPeople], line: JudgeLine) -> str:
    found = people.get(line.judge)
    return f"{found.same} of {found.ballots}" if found else ""


def _agreement_interval(line: JudgeLine) -> str:
    if line.agreement_ci is None:
        return ""
    return " to ".join(map(signed, line.agreement_ci))


def _position_size(line: JudgeLine) -> float | None:
    return None if line.position is None else abs(line.position)


def table_of(lines: Iterable[Line], columns: Sequence[Column[Line]]) -> Table:
    """Give lines as a table of a post, without the columns that say nothing of any."""
    held = [*lines]
    told = telling(held, columns)
    rows = tuple(tuple(column.shown(line) for column in told) for line in held)
    numeric = frozenset(at for at, column in enumerate(told) if not column.is_text)
    return Table(tuple(column.title for column in told), rows, numeric)


def telling(lines: Sequence[Line], columns: Iterable[Column[Line]]) -> list[Column[Line]]:
    """Give the columns that say something of any line."""
    return [column for column in columns if any(column.shown(line) for line in lines)]


def sorted_by(lines: Iterable[Line], column: Column[Line], *, turned: bool = False) -> list[Line]:
    """Give lines with the best value on top, or the worst; those without one stay below."""
    held = [*lines]
    known = [line for line in held if column.value(line) is not None]
    unknown = [line for line in held if column.value(line) is None]
    return [*sorted(known, key=column.value, reverse=turned == column.is_low_best), *unknown]


def author_table(shown: Leaderboard, most: int | None = None) -> Table:
    """Give members as authors: all that is known, or of the first few what there is room for."""
    if most is not None:
        return table_of(shown.board.rows[:most], short_columns(shown.names))
    return table_of(shown.board.rows, author_columns(shown.names))


def judge_table(shown: Leaderboard) -> Table:
    """Give seats as judges."""
    return table_of(shown.judges.rows, judge_columns(shown.names, shown.people))

"""A leaderboard in a chat: what changed, five lines, one honest line; the rest in the thread."""

from collections.abc import Iterator, Mapping

from bot.chat import File, Heading, Line, Note, Part, Post, Thread
from bot.render.boards.chart import told
from bot.render.boards.columns import author_table, judge_table
from bot.render.boards.coverage import covers, nothing
from bot.render.boards.deciding import SHARED, decided, run_off_line
from bot.render.boards.document import csv_of
from bot.render.boards.leaderboard import Leaderboard
from bot.render.boards.news import QUIET, compared, news_lines
from bot.render.boards.weighed import weighted_parts
from bot.render.boards.worthwhile import worth_lines, worth_table
from bot.render.figures import counted
from council.bakeoffs.changes import Changes

SHOWN = 5
AS_AUTHORS = "As authors"
AS_JUDGES = "As judges"
WEIGHED = "With judges that do not all weigh alike"
WORTH_IT = "Is the council worth it here?"
COUNTED = "What is counted, and how the places came about"
HOW_AUTHORS = (
    "Share: how many of the other answers an answer beat, on average over rounds; 50 % is chance. "
    "Price, time and tokens are those of one answer."
)
HOW_JUDGES = (
    "Agreement is with the other judges, from −1 to +1. First slot is what a judge gave to the "
    "answer it saw first, beyond one half. Orders kept: when it ranked the same answers again, "
    "reversed. With people: of its ballots on an answer that a person called the best, those that "
    "put it first. Price is that of one ballot that counts."
)


def board_thread(shown: Leaderboard, picture: bytes = b"", *, as_judge: bool = False) -> Thread:
    """Give a leaderboard as a post and its thread; with a picture of it where there is one."""
    if not shown.coverage.rounds:
        line = nothing(shown.coverage)
        return Thread(Post((Heading(shown.title), Note(line)), line))
    root = Post(tuple(_root(shown, as_judge=as_judge)), summary_of(shown))
    return Thread(root, tuple(_replies(shown, picture, as_judge=as_judge)))


def summary_of(shown: Leaderboard) -> str:
    """Give the leaderboard in one line: who is first, after how many rounds."""
    first = [shown.name(line.member) for line in shown.board.rows if line.place == 1]
    rounds = counted(shown.coverage.rounds, "round")
    if len(first) == 1:
        return f"{shown.title}: {first[0]} first, {rounds}"
    together = f"{counted(len(first), 'member')} share the first place, " if first else ""
    return f"{shown.title}: {together}{rounds}"


def _root(shown: Leaderboard, *, as_judge: bool) -> Iterator[Part]:
    yield Heading(shown.title)
    if shown.changes:
        yield from _news(shown.changes, shown.names)
    if as_judge:
        yield judge_table(shown)
        yield Note(f"{HOW_JUDGES} {covers(shown.coverage)}")
    else:
        yield author_table(shown, SHOWN)
        yield Note(" ".join(filter(None, _honest(shown))))


def _news(changes: Changes, names: Mapping[str, str]) -> Iterator[Part]:
    lines = [*news_lines(changes, names)]
    yield from map(Line, lines)
    if changes.runs and not lines:
        yield Note(f"{QUIET} {compared(changes)}")


def _honest(shown: Leaderboard) -> Iterator[str]:
    more = len(shown.board.rows) - SHOWN
    if more > 0:
        yield f"{counted(more, 'more member')} in the thread."
    yield SHARED
    yield run_off_line(shown)
    yield covers(shown.coverage)


def _replies(shown: Leaderboard, picture: bytes, *, as_judge: bool) -> Iterator[Post]:
    if picture:
        yield Post((picture_file(shown, picture),), "leaderboard.png")
    yield Post((Heading(AS_AUTHORS), author_table(shown), Note(HOW_AUTHORS)), AS_AUTHORS)
    if shown.judges.rows and not as_judge:
        yield Post((Heading(AS_JUDGES), judge_table(shown), Note(HOW_JUDGES)), AS_JUDGES)
    if beside := weighted_parts(shown):
        yield Post(beside, WEIGHED)
    if table := worth_table(shown):
        yield Post((Heading(WORTH_IT), table, *map(Line, worth_lines(shown))), WORTH_IT)
    lines = (covers(shown.coverage), *decided(shown))
    yield Post((Heading(COUNTED), *map(Line, lines)), COUNTED)
    yield Post((File("leaderboard.csv", csv_of(shown)),), "leaderboard.csv")


def picture_file(shown: Leaderboard, picture: bytes) -> File:
    """Give the figure as a file of a post, told in words as well."""
    return File("leaderboard.png", told(shown.chart.newest()), picture)

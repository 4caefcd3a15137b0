"""A bias report in a chat: five findings, cautions and one honest line; the rest in the thread."""

from collections.abc import Iterable, Iterator, Sequence

from bot.chat import Caution, File, Heading, Line, Note, Part, Post, Thread
from bot.render.bias_charts import Drawing, drawings_of
from bot.render.bias_export import bias_csv
from bot.render.bias_findings import HOW, covers, findings
from bot.render.bias_tables import HOW as HOW_WINNING
from bot.render.bias_tables import (
    agreement_line,
    audit_lines,
    caution_lines,
    judge_table,
    winning_lines,
    winning_table,
)
from bot.render.bias_view import ALL, ShownBias, brand_table
from bot.render.bias_view import HOW as HOW_BLINDING
from bot.render.formatting import counted

# --- A bias report in a chat: five findings, cautions and one honest line; the rest in the thread

TITLE = "Bias of the judges"
FOUND = "What was found"
EACH = "Each judge"
FIGURES = "The figures in words"
BLINDING = "What blinding changed"
WINS = "What wins here"
AUDITS = "Audit ballots"
READING = "How to read it"
SHOWN = 5
OF_FAMILY = "What is about a family is given of judges that have another seat of theirs."
CSV = "bias.csv"


def bias_thread(shown: ShownBias, pictures: Sequence[bytes] = ()) -> Thread:
    """Give a report as a post and its thread; with its figures as pictures where there are any."""
    if not shown.report.rounds:
        line = covers(shown)
        return Thread(Post((Heading(TITLE), Note(line)), line))
    root = Post(tuple(_root(shown)), f"{TITLE}: {findings(shown)[0]}")
    return Thread(root, tuple(_replies(shown, pictures)))


def _root(shown: ShownBias) -> Iterator[Part]:
    found = findings(shown)
    yield Heading(TITLE)
    yield from map(Line, found[:SHOWN])
    yield from map(Caution, caution_lines(shown))
    more = len(found) - SHOWN
    said = f"{counted(more, 'more finding')} in the thread. " if more > 0 else ""
    yield Note(f"{said}{covers(shown)}")


def _replies(shown: ShownBias, pictures: Sequence[bytes]) -> Iterator[Post]:
    found, drawings = findings(shown), drawings_of(shown)
    if len(found) > SHOWN:
        yield Post((Heading(FOUND), *map(Line, found)), FOUND)
    for drawing, picture in zip(drawings, pictures, strict=False):
        file = drawing.file(picture)
        yield Post((file,), file.name)
    yield Post(tuple(_each(shown)), EACH)
    if told := tuple(_told(drawings)):
        yield Post(told, FIGURES)
    yield from _rest(shown)


def _rest(shown: ShownBias) -> Iterator[Post]:
    if changed := brand_table(shown):
        yield Post((Heading(BLINDING), changed, Note(HOW_BLINDING)), BLINDING)
    if table := winning_table(shown):
        lines = map(Line, winning_lines(shown))
        yield Post((Heading(WINS), *lines, table, Note(HOW_WINNING)), WINS)
    yield Post((Heading(AUDITS), *map(Line, audit_lines(shown))), AUDITS)
    yield Post((Heading(READING), *map(Line, reading_lines(shown))), READING)
    yield Post((File(CSV, bias_csv(shown)),), CSV)


def _told(drawings: Iterable[Drawing]) -> Iterator[Part]:
    """Give the figures in words, for whoever cannot see them, or where none can be posted."""
    for drawing in drawings:
        yield Heading(drawing.title)
        yield from map(Line, drawing.lines)
        yield Note(drawing.caption)


def _each(shown: ShownBias) -> Iterator[Part]:
    for judge in shown.report.judges:
        yield Heading(f"{shown.name(judge.judge)} as a judge")
        yield judge_table(shown, judge)


def reading_lines(shown: ShownBias) -> Iterator[str]:
    """Say what each number is, and how far the judges agree."""
    yield HOW
    yield from (f"{measure.title}: {measure.meaning}." for measure in ALL)
    yield OF_FAMILY
    if line := agreement_line(shown):
        yield line


# --- The bias of judges as people see it: in chats, on the page, in the terminal, as files.


def pictures_of(bias: ShownBias) -> tuple[bytes, ...]:
    """Give each figure as a PNG; it takes a moment, so do it in a thread."""
    from bot.render.bias_charts import drawings_of
    from bot.render.charts import png_of

    return tuple(png_of(drawing.figure) for drawing in drawings_of(bias))


def whole_picture_of(bias: ShownBias) -> bytes:
    """Give all figures as one PNG, one under another."""
    from bot.render.bias_charts import drawings_of, nothing_drawn
    from bot.render.charts import png_of, stacked

    figures = [drawing.figure for drawing in drawings_of(bias)]
    return png_of(stacked(figures or [nothing_drawn()]))

"""A bias report in a chat: five findings, cautions and one honest line; the rest in the thread."""

from collections.abc import Iterable, Iterator, Sequence

from bot.chat import Caution, File, Heading, Line, Note, Part, Post, Thread
from bot.render.bias_charts import Drawing, drawings_of
from bot.render.bias_export import bias_csv
from bot.render.bias_findings import FINDINGS_NOTE, covers, findings
from bot.render.bias_tables import HOW as HOW_WINNING
from bot.render.bias_tables import (
    agreement_line,
    audit_lines,
    caution_lines,
    judge_table,
    winning_lines,
    winning_table,
)
from bot.render.bias_view import ALL_MEASURES, ShownBias, brand_table
from bot.render.bias_view import HOW as HOW_BLINDING
from bot.render.formatting import counted

# --- A bias report in a chat: five findings, cautions and one honest line; the rest in the thread

TITLE = "Bias of the judges"
_FOUND = "What was found"
_EACH_JUDGE = "Each judge"
_FIGURES = "The figures in words"
_BLINDING = "What blinding changed"
_WINNING = "What wins here"
_AUDITS = "Audit ballots"
_READING = "How to read it"
_MAX_FINDINGS = 5
_FAMILY_NOTE = "What is about a family is given of judges that have another seat of theirs."
_CSV_NAME = "bias.csv"


def bias_thread(shown: ShownBias, pictures: Sequence[bytes] = ()) -> Thread:
    """Give a report as a post and its thread; with its figures as pictures where there are any."""
    if not shown.report.rounds:
        line = covers(shown)
        return Thread(Post((Heading(TITLE), Note(line)), line))
    root = Post(tuple(_root_parts(shown)), f"{TITLE}: {findings(shown)[0]}")
    return Thread(root, tuple(_replies(shown, pictures)))


def _root_parts(shown: ShownBias) -> Iterator[Part]:
    found = findings(shown)
    yield Heading(TITLE)
    yield from map(Line, found[:_MAX_FINDINGS])
    yield from map(Caution, caution_lines(shown))
    more = len(found) - _MAX_FINDINGS
    said = f"{counted(more, 'more finding')} in the thread. " if more > 0 else ""
    yield Note(f"{said}{covers(shown)}")


def _replies(shown: ShownBias, pictures: Sequence[bytes]) -> Iterator[Post]:
    found, drawings = findings(shown), drawings_of(shown)
    if len(found) > _MAX_FINDINGS:
        yield Post((Heading(_FOUND), *map(Line, found)), _FOUND)
    for drawing, picture in zip(drawings, pictures, strict=False):
        file = drawing.file(picture)
        yield Post((file,), file.name)
    yield Post(tuple(_judge_parts(shown)), _EACH_JUDGE)
    if told := tuple(_figure_parts(drawings)):
        yield Post(told, _FIGURES)
    yield from _table_posts(shown)


def _table_posts(shown: ShownBias) -> Iterator[Post]:
    if changed := brand_table(shown):
        yield Post((Heading(_BLINDING), changed, Note(HOW_BLINDING)), _BLINDING)
    if table := winning_table(shown):
        lines = map(Line, winning_lines(shown))
        yield Post((Heading(_WINNING), *lines, table, Note(HOW_WINNING)), _WINNING)
    yield Post((Heading(_AUDITS), *map(Line, audit_lines(shown))), _AUDITS)
    yield Post((Heading(_READING), *map(Line, reading_lines(shown))), _READING)
    yield Post((File(_CSV_NAME, bias_csv(shown)),), _CSV_NAME)


def _figure_parts(drawings: Iterable[Drawing]) -> Iterator[Part]:
    """Give the figures in words, for whoever cannot see them, or where none can be posted."""
    for drawing in drawings:
        yield Heading(drawing.title)
        yield from map(Line, drawing.lines)
        yield Note(drawing.caption)


def _judge_parts(shown: ShownBias) -> Iterator[Part]:
    for judge in shown.report.judges:
        yield Heading(f"{shown.name(judge.judge)} as a judge")
        yield judge_table(shown, judge)


def reading_lines(shown: ShownBias) -> Iterator[str]:
    """Say what each number is, and how far the judges agree."""
    yield FINDINGS_NOTE
    yield from (f"{measure.title}: {measure.meaning}." for measure in ALL_MEASURES)
    yield _FAMILY_NOTE
    if line := agreement_line(shown):
        yield line


# --- The bias of judges as people see it: in chats, on the page, in the terminal, as files.


def pictures_of(bias: ShownBias) -> tuple[bytes, ...]:
    """Give each figure as a PNG; it takes a moment, so do it in a thread."""
    from bot.render.bias_charts import drawings_of
    from bot.render.charts import render_png

    return tuple(render_png(drawing.figure) for drawing in drawings_of(bias))


def whole_picture_of(bias: ShownBias) -> bytes:
    """Give all figures as one PNG, one under another."""
    from bot.render.bias_charts import drawings_of, empty_figure
    from bot.render.charts import render_png, stack_figures

    figures = [drawing.figure for drawing in drawings_of(bias)]
    return render_png(stack_figures(figures or [empty_figure()]))

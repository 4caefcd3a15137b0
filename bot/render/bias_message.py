"""Renderer of a bias report: a post with its thread, and its figures as PNG."""

from collections.abc import Iterator

from bot.chat import Caution, File, Heading, Line, Note, Part, Post, Thread
from bot.render.bias_charts import empty_figure, render_drawings
from bot.render.bias_export import bias_csv
from bot.render.bias_findings import FINDINGS_NOTE, bias_coverage_line, findings
from bot.render.bias_tables import (
    ALL_MEASURES,
    TOO_LITTLE,
    BiasView,
    agreement_line,
    audit_lines,
    brand_table,
    caution_lines,
    judges_table,
    winning_lines,
    winning_table,
)
from bot.render.bias_tables import BLINDING_NOTE as HOW_BLINDING
from bot.render.bias_tables import WINNING_NOTE as HOW_WINNING
from bot.render.charts import render_png
from bot.render.formatting import count_noun

BIAS_TITLE = "Bias of the judges"
_FOUND = "What was found"
_BLINDING = "What blinding changed"
_WINNING = "What wins here"
_AUDITS = "Audit rankings"
_READING = "How to read it"
_MAX_FINDINGS = 5
_JUDGES = "Judges side by side"
_BEYOND_CHANCE = "* beyond chance, when all that is tested is taken into account."
_PNG_NAME, _CSV_NAME = "bias.png", "bias.csv"


def bias_thread(bias: BiasView, picture: bytes = b"") -> Thread:
    """Return the report as a post and its thread; `picture` shows its figures, as a PNG.

    Where nothing can be measured yet, the post says what is missing and there is no thread.
    """
    if not bias.report.rounds:
        line = bias_coverage_line(bias)
        return Thread(Post((Heading(BIAS_TITLE), Note(line)), line))
    root = Post(tuple(_root_parts(bias)), f"{BIAS_TITLE}: {findings(bias)[0]}")
    figures = {cell for row in judges_table(bias).rows for cell in row[1:]}
    has_details = figures - {TOO_LITTLE, "", "–"}
    return Thread(root, tuple(_replies(bias, picture)) if has_details else ())


def _root_parts(bias: BiasView) -> Iterator[Part]:
    lines = findings(bias)
    yield Heading(BIAS_TITLE)
    yield from map(Line, lines[:_MAX_FINDINGS])
    yield from map(Caution, caution_lines(bias))
    others = len(lines) - _MAX_FINDINGS
    prefix = f"And {count_noun(others, 'more finding')}. " if others > 0 else ""
    yield Note(f"{prefix}{bias_coverage_line(bias)}")


def _replies(bias: BiasView, picture: bytes) -> Iterator[Post]:
    lines = findings(bias)
    if len(lines) > _MAX_FINDINGS:
        yield Post((Heading(_FOUND), *map(Line, lines)), _FOUND)
    if picture:
        description = " ".join(drawing.figure.description for drawing in render_drawings(bias))
        yield Post((File(_PNG_NAME, description, picture),), _PNG_NAME)
    yield Post((Heading(_JUDGES), judges_table(bias), Note(_BEYOND_CHANCE)), _JUDGES)
    if table := brand_table(bias):
        yield Post((Heading(_BLINDING), table, Note(HOW_BLINDING)), _BLINDING)
    if table := winning_table(bias):
        wins = map(Line, winning_lines(bias))
        yield Post((Heading(_WINNING), *wins, table, Note(HOW_WINNING)), _WINNING)
    yield Post((Heading(_AUDITS), *map(Line, audit_lines(bias))), _AUDITS)
    yield Post((Heading(_READING), *map(Line, reading_lines(bias))), _READING)
    yield Post((File(_CSV_NAME, bias_csv(bias)),), _CSV_NAME)


def reading_lines(bias: BiasView) -> Iterator[str]:
    """Yield what each number means, and how far the judges agree."""
    yield FINDINGS_NOTE
    yield from (f"{measure.title}: {measure.meaning}." for measure in ALL_MEASURES)
    yield (
        "Figures about a family include only judges with another model of their family on the "
        "panel."
    )
    if line := agreement_line(bias):
        yield line


def render_combined_bias_png(bias: BiasView) -> bytes:
    """Return all figures as one PNG, stacked; drawing takes a moment, so call it in a thread."""
    figures = [drawing.figure for drawing in render_drawings(bias)]
    return render_png(*(figures or [empty_figure()]))

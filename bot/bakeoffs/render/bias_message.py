"""Renderer of a bias report: one post, and its figures as PNG."""

from collections.abc import Iterator

from bot.bakeoffs.render.bias_charts import empty_figure, render_drawings
from bot.bakeoffs.render.bias_findings import (
    FINDINGS_NOTE,
    bias_coverage_line,
    missing_line,
    plain_findings,
)
from bot.bakeoffs.render.bias_tables import (
    ALL_MEASURES,
    BiasView,
    agreement_line,
    caution_lines,
    check_lines,
)
from bot.bakeoffs.render.bias_verdicts import verdict_lines
from bot.chat import Caution, File, Heading, Line, Note, Part, Post
from bot.render.charts import render_png
from bot.render.formatting import count_noun

BIAS_TITLE = "Bias of the judges"
_MAX_FINDINGS = 5


def bias_post(bias: BiasView, picture: bytes = b"") -> Post:
    """Return the report as one message; `picture` shows its charts, as a PNG.

    Where nothing can be measured yet, it says what is missing.
    """
    if not bias.report.rounds:
        line = bias_coverage_line(bias)
        return Post((Heading(BIAS_TITLE), Note(line)), line)
    return Post(tuple(_parts(bias, picture)), f"{BIAS_TITLE}: {plain_findings(bias)[0]}")


def _parts(bias: BiasView, picture: bytes) -> Iterator[Part]:
    lines = plain_findings(bias)
    yield Heading(BIAS_TITLE)
    yield from map(Line, lines[:_MAX_FINDINGS])
    yield from map(Caution, caution_lines(bias))
    yield from map(Line, check_lines(bias))
    yield from map(Line, verdict_lines(bias.report.verdicts))
    others = len(lines) - _MAX_FINDINGS
    prefix = f"And {count_noun(others, 'more finding')} on the page. " if others > 0 else ""
    notes = (f"{prefix}{bias_coverage_line(bias)}", missing_line(bias))
    yield Note(" ".join(filter(None, notes)))
    if picture:
        description = " ".join(drawing.figure.description for drawing in render_drawings(bias))
        yield File("bias.png", description, picture)


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

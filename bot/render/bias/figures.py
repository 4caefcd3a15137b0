"""The three figures of a bias report, each with its words and the same as a table."""

from dataclasses import dataclass

from bot.chat import File, Table
from bot.render.bias import bars, curves, heat
from bot.render.bias.sheet import WIDTH, head
from bot.render.bias.shown import ShownBias
from bot.render.bias.tables import given_table, kept_table, slots_table
from bot.render.drawing.marks import Figure


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure; `lines` tell it in words, `table` is the same as numbers."""

    key: str
    title: str
    caption: str
    figure: Figure
    lines: tuple[str, ...]
    table: Table

    def file(self, picture: bytes) -> File:
        """Give its picture as a file of a post, told in words as well."""
        return File(f"bias-{self.key}.png", self.figure.told, picture)


def drawings_of(bias: ShownBias) -> tuple[Drawing, ...]:
    """Give the heat map, the slot curves and the consistency bars, those that show something."""
    every = (_given(bias), _slots(bias), _kept(bias))
    return tuple(drawing for drawing in every if drawing.lines)


def _given(bias: ShownBias) -> Drawing:
    lines = tuple(heat.heat_lines(bias))
    figure, table = heat.heat_map(bias), given_table(bias)
    return Drawing("given", heat.TITLE, heat.CAPTION, figure, lines, table)


def _slots(bias: ShownBias) -> Drawing:
    lines = tuple(curves.slot_lines(bias))
    figure, table = curves.slot_curves(bias), slots_table(bias)
    return Drawing("slots", curves.TITLE, curves.CAPTION, figure, lines, table)


def _kept(bias: ShownBias) -> Drawing:
    lines = tuple(bars.kept_lines(bias))
    figure, table = bars.consistency_bars(bias), kept_table(bias)
    return Drawing("kept", bars.TITLE, bars.CAPTION, figure, lines, table)


def nothing_drawn() -> Figure:
    """Give a sheet that says that there is nothing to draw."""
    words = head("No judge has ranked an answer in these rounds yet.")
    return Figure(WIDTH, 28, (words,), words.text)

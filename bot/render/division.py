"""Divide one part of a post in two of its kind, so that the first holds on a page."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from bot.chat import Buttons, Caution, Heading, Line, Note, Part, Prose, Quote, Steps, Table
from bot.render.cuts import Cuts, Halves, furthest, text_cut
from bot.render.prose_cuts import prose_cut

Holds = Callable[[Part], bool]


def divided(part: Part, holds: Holds, alone: Holds) -> Halves[Part] | None:
    """Give the part in two, the first of which holds; None where there is no such cut.

    `alone` says what a page of its own would hold.
    """
    match part:
        case Prose(text):
            cut = prose_cut(text, lambda head: holds(Prose(head)), lambda t: alone(Prose(t)))
            return Halves(Prose(cut.head), Prose(cut.rest)) if cut else None
        case Table(rows=rows):
            cuts = Cuts(range(1, len(rows)), partial(_rows, part))
            return furthest(cuts, holds) or _cells(part, holds)
        case Steps(steps=steps):
            return furthest(Cuts(range(1, len(steps)), partial(_steps, part)), holds)
        case Buttons(buttons):
            return furthest(Cuts(range(1, len(buttons)), partial(_buttons, part)), holds)
        case Heading() | Line() | Note() | Caution() | Quote():
            return text_cut(part.text, partial(_words, part), holds)
    return None


def _words(part: Heading | Line | Note | Caution | Quote, at: int) -> Halves[Part]:
    head, rest = part.text[:at].rstrip(), part.text[at:].lstrip()
    return Halves(replace(part, text=head), replace(part, text=rest))


def _rows(table: Table, at: int) -> Halves[Part]:
    return Halves(replace(table, rows=table.rows[:at]), replace(table, rows=table.rows[at:]))


def _steps(steps: Steps, at: int) -> Halves[Part]:
    return Halves(replace(steps, steps=steps.steps[:at]), replace(steps, steps=steps.steps[at:]))


def _buttons(buttons: Buttons, at: int) -> Halves[Part]:
    return Halves(Buttons(buttons.buttons[:at]), Buttons(buttons.buttons[at:]))


def _cells(table: Table, holds: Holds) -> Halves[Part] | None:
    """Divide a row that no page holds: it goes on in a row of its own, cell under cell."""
    if not table.rows:
        return None
    first, *others = table.rows

    def at(place: int) -> Halves[Part]:
        head, rest = _row_cut(first, place)
        return Halves(replace(table, rows=(head,)), replace(table, rows=(rest, *others)))

    return text_cut("".join(first), at, holds)


def _row_cut(row: tuple[str, ...], place: int) -> Halves[tuple[str, ...]]:
    """Cut a row after so many characters of its cells."""
    head, rest = list[str](), list[str]()
    for cell in row:
        head.append(cell[: max(place, 0)].rstrip())
        rest.append(cell[max(place, 0) :].lstrip())
        place -= len(cell)
    return Halves(tuple(head), tuple(rest))

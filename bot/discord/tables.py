"""Tables and code for a narrow screen: columns where they fit, else a line a row or cell."""

import re
from collections.abc import Iterator, Sequence

from bot.chat import Table
from bot.discord.inline import marked, marked_words
from bot.discord.limits import NARROW
from bot.render.formatting import monospaced
from bot.render.markdown_parser import Leaf, Leaves, bold
from bot.render.text_safety import BREAK, shown_text

_LANGUAGE = re.compile(r"[a-z0-9_+\-.#]+", re.IGNORECASE)
_OF_ONE_WIDTH = re.compile(r"[\x20-\x7e\n–—·…−×→←≤≥±°€£§µäöüßéèêáàâçñÄÖÜÉ]*")
_LETTERS = 2  # a text no longer than this is a label
_NOTHING = "–"
_UNBROKEN = "\u00a0"  # a figure stays in one line
_APART = f"{_UNBROKEN}· "


def code_text(code: str, language: str = "") -> str:
    """Give a block of code, whole and closed, whatever it holds."""
    while "```" in code:
        code = code.replace("```", f"`{BREAK}`{BREAK}`")
    if code.endswith("`"):
        code += BREAK
    named = language if _LANGUAGE.fullmatch(language) else ""
    if language and not named:
        code = f"{language}\n{code}"
    return f"```{named}\n{code if code.strip() else BREAK}\n```"


def table_text(plain: Table, rows: Sequence[Sequence[Leaves]]) -> str:
    """Give a table that somebody wrote: columns, or an item a row with a line for every cell."""
    if columns := _columns(plain):
        return columns
    head, *body = rows
    if not body:
        return "- " + " · ".join(_cell(cell) for cell in head)
    return "\n".join(line for row in body for line in _pairs(head, row))


def standings_text(table: Table) -> str:
    """Give a table of ours: columns, or a line a row that leads with whom it is about."""
    if columns := _columns(table):
        return columns
    return "\n".join(_numbered(table))


def _columns(table: Table) -> str:
    """Give the table in columns; "" where a phone would cut them."""
    text = monospaced(table)
    wide = max(map(len, text.split("\n")))
    return code_text(text) if wide <= NARROW and _OF_ONE_WIDTH.fullmatch(text) else ""


def _pairs(head: Sequence[Leaves], row: Sequence[Leaves]) -> Iterator[str]:
    for at, (name, cell) in enumerate(zip(head, row, strict=True)):
        margin = "  - " if at else "- "
        value = _cell(bold(cell)) if not at else _cell(cell)
        named = marked(name).replace("\n", " ")
        yield f"{margin}{named}: {value}" if named.strip() else f"{margin}{value}"


def _cell(cell: Leaves) -> str:
    return marked(cell).replace("\n", " ") or _NOTHING


def _numbered(table: Table) -> Iterator[str]:
    """Give a line for each row; places are a list's numbers only where the list counts the same."""
    places = [row[0] for row in table.rows] if table.columns[0] == "" else []
    counted = [int(place) if place.isdecimal() else 0 for place in places]
    in_order = counted == list(range(counted[0], counted[0] + len(counted))) if counted else False
    who = _who(table)
    for row in table.rows:
        name = marked([Leaf(_one_line(row[who]) or _NOTHING, ("bold",))])
        said = _APART.join(
            _said(table, row, at).replace(" ", _UNBROKEN)
            for at in _told(table, row)
            if at != who and at in table.numeric
        )
        words = " ".join(part for part in (name, *_labels(table, row, who), said) if part)
        if not places:
            yield f"- {words}"
        else:
            yield f"{row[0]}. {words}" if in_order else f"{marked_words(row[0] + '.')} {words}"


def _told(table: Table, row: Sequence[str]) -> Iterator[int]:
    """Give the columns of a row that say something."""
    for at, (name, cell) in enumerate(zip(table.columns, row, strict=True)):
        if cell.strip() and name:
            yield at


def _who(table: Table) -> int:
    """Give the column a row is about: the first of texts that are longer than a label."""
    texts = [at for at in range(len(table.columns)) if at not in table.numeric]
    long = (at for at in texts if any(len(row[at]) > _LETTERS for row in table.rows))
    return next(long, texts[0] if texts else 0)


def _labels(table: Table, row: Sequence[str], who: int) -> Iterator[str]:
    for at in _told(table, row):
        if at != who and at not in table.numeric:
            yield f"({marked_words(_one_line(f'{table.columns[at]} {row[at]}'))})"


def _said(table: Table, row: Sequence[str], at: int) -> str:
    """Give a number with what it counts; one that brings its unit stands alone."""
    cell, name = _one_line(row[at]), table.columns[at].lower()
    if cell.isdecimal():
        name = name.removesuffix("s") if cell == "1" else name
        return marked_words(f"{cell} {name}")
    return marked_words(cell if any(map(str.isdecimal, cell)) else f"{name} {cell}")


def _one_line(cell: str) -> str:
    return " ".join(shown_text(cell).split())

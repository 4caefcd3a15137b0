"""Formatters of numbers, durations, money, lists, seat names, styled lines and tables."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import floor, log10

from rich.cells import cell_len

from bot.chat import Buttons, Note, Post, Step, StepState, Table
from bot.render.text_safety import visible_line
from council.money import MICRO_USD, Spending, format_rounded_usd, format_usd
from council.panel import Panel
from council.rounds import Draw

# --- Numbers, lists and prices

_TEN, _MINUTE = 10, 60
_CENT = MICRO_USD // 100
# Below so many seconds, round to steps of so many.
_ROUNDING_STEPS = ((_TEN, 1), (60, 5), (600, 30), (float("inf"), 60))
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def money(usd: float | None) -> str:
    """Return an amount, "$0.043" or "cost unknown"; small ones keep two significant digits."""
    if usd is None:
        return "cost unknown"
    if usd == 0:
        return "$0"
    if usd >= 0.01:  # noqa: PLR2004
        return f"${usd:.2f}" if usd >= 1 else f"${usd:.3f}"
    digits = 1 - floor(log10(usd))
    return f"${usd:.{digits}f}"


def duration(seconds: float) -> str:
    """Return a length of time: "4.1 s", "21 s", "2 min 5 s"."""
    if round(seconds, 1) < 10:  # noqa: PLR2004
        return f"{seconds:.1f} s"
    if round(seconds) < _MINUTE:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), _MINUTE)
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"


def rough_duration(seconds: float) -> str:
    """Return an estimated length of time, rounded as coarsely as the estimate is."""
    step = next(step for below, step in _ROUNDING_STEPS if seconds < below)
    whole = max(1, round(seconds / step) * step)
    return duration(whole) if whole >= _TEN else f"{whole} s"


SAME = 0.05  # relative; prices that differ by less are called the same
# Shares of a price that have a name, and the names.
_SHARES: Mapping[str, float] = {
    "three quarters": 3 / 4,
    "two thirds": 2 / 3,
    "half": 1 / 2,
    "a third": 1 / 3,
    "a quarter": 1 / 4,
    "a fifth": 1 / 5,
    "a tenth": 1 / 10,
}
_TIMES = {2: "twice", 3: "three times", 4: "four times", 5: "five times", 10: "ten times"}


def costs_text(usd: float | None, other_usd: float | None) -> str:
    """Return what one costs next to the other: "costs a third"; "" if unknown, or both are free."""
    if usd is None or other_usd is None or usd == other_usd == 0:
        return ""
    if not other_usd or not usd:
        return f"costs {money(usd)} a question instead of {money(other_usd)}"
    share, is_less = ratio_words(usd / other_usd)
    if share == "the same":
        return "costs the same"
    return f"costs {share}" if is_less else f"costs {share} as much"


def ratio_words(ratio: float) -> tuple[str, bool]:
    """Return a ratio in words, and whether it is a share: "a third", "twice", "35 %"."""
    if abs(ratio - 1) <= SAME:
        return "the same", False
    if ratio > 1:
        whole = round(ratio)
        is_named = whole in _TIMES and abs(ratio / whole - 1) <= SAME
        return _TIMES[whole] if is_named else f"{ratio:.2g} times", False
    for name, share in _SHARES.items():
        if abs(ratio / share - 1) <= SAME:
            return name, True
    return f"{ratio * 100:.2g} %", True


def known_text(value: float | None, format_number: Callable[[float], str]) -> str:
    """Return a formatted number; "" for an unknown one."""
    return "" if value is None else format_number(value)


def points(value: float, max_points: int) -> str:
    """Return points out of a maximum, to two decimals: "3.5 of 6"."""
    return f"{round(value, 2):g} of {max_points}"


def count_noun(number: int, noun: str) -> str:
    """Return a number and its noun: "1 first vote", "2 first votes"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def number_word(number: int) -> str:
    """Return a number up to ten as a word, a larger one in digits."""
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


def join_words(names: Iterable[str]) -> str:
    """Return words as a list in a sentence: "A, B and C"; "" for no words."""
    *first, last = [*names] or [""]
    return f"{', '.join(first)} and {last}" if first else last


# --- Seat names


# In a name, the signs of a line's styles are other characters that look the same.
_UNSTYLED = str.maketrans({"*": "\u2217", "`": "\u02cb"})


def seat_names(panel: Panel) -> dict[str, str]:
    """Return the display name of each seat by key; seats that share one also show their keys."""
    return panel_seat_names((panel,))


def panel_seat_names(panels: Iterable[Panel]) -> dict[str, str]:
    """Return the display name of every seat of these panels by key, unique as in `names_of`."""
    seats = (seat for panel in panels for seat in panel.seats)
    names = {seat.key: seat.display.translate(_UNSTYLED) for seat in seats}
    counts = Counter(names.values())
    return {key: name if counts[name] == 1 else f"{name} ({key})" for key, name in names.items()}


def author_names(panel: Panel, draw: Draw) -> dict[str, str]:
    """Return the display name of the author behind each label."""
    names = seat_names(panel)
    return {label: names[author] for author, label in draw.labels.pairs}


def file_name(round_id: str, kind: str) -> str:
    """Return a file name for a round that is valid on every system, whatever the round's id."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-._") else "-" for c in round_id)
    return f"council-{plain}.{kind}"


def spending_text(spending: Spending, cap: int | None = None) -> str:
    """Return what is spent: "$0.12 of $1.50 spent, cost unknown for 34 calls".

    Unknown costs are never shown as $0. `cap` is in micro-dollars.
    """
    parts = []
    if spending.micro or not spending.unknown_calls:
        cap_text = "" if cap is None else f" of {format_usd(cap)}"
        parts.append(f"{_spent_usd(spending.micro)}{cap_text} spent")
    if spending.unknown_calls:
        parts.append(f"cost unknown for {count_noun(spending.unknown_calls, 'call')}")
    return ", ".join(parts)


def _spent_usd(micro: int) -> str:
    """Return an amount to the cent; below one, with two significant digits: "$12.35", "$0.0057"."""
    cents = round(micro / _CENT)
    return format_usd(cents * _CENT) if micro >= _CENT else money(micro / MICRO_USD)


def max_cost_text(micro_usd: int, unknown: Iterable[str]) -> str:
    """Return "Never more than $0.04; cost unknown for Qwen 3"; `unknown` are seat names."""
    parts = [f"never more than {format_rounded_usd(micro_usd)}"] if micro_usd else []
    if names := join_words(unknown):
        parts.append(f"cost unknown for {names}")
    sentence = "; ".join(parts) or "it costs nothing"
    return sentence[0].upper() + sentence[1:]


# --- Notes, styled lines, tables and steps


def add_note(post: Post, text: str) -> Post:
    """Return the post with a note above its buttons."""
    buttons = tuple(part for part in post.parts if isinstance(part, Buttons))
    others = tuple(part for part in post.parts if not isinstance(part, Buttons))
    return replace(post, parts=(*others, Note(text), *buttons))


# People's and models' texts never contain U+FFFF, so none of them can imitate a moment.
_STYLED = re.compile(r"`([^`\n]+)`|\*\*(?=\S)([^*\n]+)(?<=\S)\*\*|\uffff([^\uffff]+)\uffff")


def local_time(moment: datetime, shown: str = "") -> str:
    """Return a moment for a line, note or caution: chats show it in the reader's own time zone.

    Other surfaces show `shown`, or the time in UTC.
    """
    shown = shown or f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return f"\uffff{moment.timestamp():.0f} {shown}\uffff"


def parse_time(run: str) -> tuple[str, str]:
    """Return the Unix timestamp of a moment in `styled_runs`, and how others than chats show it."""
    timestamp, _, shown = run.partition(" ")
    return timestamp, shown


def plain_line(text: str) -> str:
    """Return a line or note without styles, its moments as others than chats show them."""
    runs = styled_runs(text)
    return "".join(parse_time(run)[1] if style == "time" else run for run, style in runs)


def styled_runs(text: str) -> Iterator[tuple[str, str]]:
    """Yield the runs of a line or note with their style, "" for plain text.

    The styles are "code", "bold", and "time" for what `parse_time` parses.
    """
    end = 0
    for match in _STYLED.finditer(text):
        yield text[end : match.start()], ""
        yield match[match.lastindex or 0], ("code", "bold", "time")[(match.lastindex or 1) - 1]
        end = match.end()
    yield text[end:], ""


def number_table(columns: Sequence[str], rows: Iterable[tuple[str, ...]]) -> Table:
    """Return a table in which all columns but the first hold numbers."""
    return Table(tuple(columns), tuple(rows), frozenset(range(1, len(columns))))


_MAX_CELL_WIDTH = 24  # columns; longer cells are not aligned
_PHONE_WIDTH = 34  # columns of a monospaced font; a phone wraps longer lines


def monospace_table(table: Table) -> str:
    """Return the table as aligned lines for a monospaced font; the text remains untrusted."""
    rows = [[visible_line(cell) for cell in row] for row in (table.columns, *table.rows)]
    widths = [
        min(_MAX_CELL_WIDTH, max(map(cell_len, column))) for column in zip(*rows, strict=True)
    ]
    return "\n".join("  ".join(_pad_cells(row, widths, table.numeric)).rstrip() for row in rows)


def _pad_cells(row: Sequence[str], widths: Sequence[int], numeric: frozenset[int]) -> Iterator[str]:
    for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
        space = " " * (width - cell_len(cell))
        yield space + cell if column in numeric else cell + space


def is_wide(table: Table) -> bool:
    """Return whether a phone would wrap the lines of the monospaced table."""
    return any(cell_len(line) > _PHONE_WIDTH for line in monospace_table(table).split("\n"))


def labelled_rows(table: Table) -> Iterator[tuple[str, str]]:
    """Yield each row as its name and its other cells under their labels: "Share 71 % · Rounds 36".

    A place belongs to the name. Empty cells are left out.
    """
    start = 2 if table.has_places else 1
    for row in table.rows:
        cells = zip(table.columns[start:], row[start:], strict=True)
        details = (f"{label} {cell}".strip() for label, cell in cells if cell.strip())
        yield ". ".join(filter(None, row[:start])), " · ".join(details)


def describe_table(table: Table) -> str:
    """Return the table in words, a sentence for each row, as a chart's alternative text."""
    return " ".join(f"{name}: {details}." for name, details in labelled_rows(table) if details)


_STATE_WORDS = {
    StepState.WAITING: "waiting",
    StepState.RUNNING: "in progress …",
    StepState.DONE: "done",
    StepState.MISSING: "missing",
}


def step_line(step: Step) -> str:
    """Return one step of progress as a line: title, state and detail."""
    detail = f", {step.detail}" if step.detail else ""
    return f"{step.title}: {_STATE_WORDS[step.state]}{detail}"


def ordinal(number: int) -> str:
    """Return "1st", "22nd", "13th"."""
    teens = number // 10 % 10 == 1
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"

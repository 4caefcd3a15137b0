"""What wins here: how answers that win differ from the rest, in length and style."""

from collections.abc import Iterator

from bot.chat import Table
from bot.render.bias.effects import TOO_LITTLE, chance, how_sure, more, over, span
from bot.render.bias.shown import ShownBias
from bot.render.boards.chart import percent
from council.bias.report import Trait

_COLUMNS = (
    "Trait",
    "Winners",
    "The rest",
    "Difference",
    "95 % interval",
    "Over",
    "p, Holm",
    "To settle it",
)
LENGTH = "length"
HOW = (
    "Winners are the answers that came first in their round, the rest all others. "
    "A difference is no proof that judges reward the trait: good answers may simply have it."
)


def winning_lines(shown: ShownBias) -> Iterator[str]:
    """Say which traits winners have more or less of, beyond chance."""
    for trait in shown.report.traits:
        if trait.difference.is_found:
            yield _won(trait)


def winning_table(shown: ShownBias) -> Table | None:
    """Give every trait of winners and of the rest; None where none is known."""
    if not shown.report.traits:
        return None
    rows = tuple(map(_row, shown.report.traits))
    return Table(_COLUMNS, rows, frozenset(range(1, len(_COLUMNS))))


def _won(trait: Trait) -> str:
    found = trait.difference
    sure = how_sure(found, lambda number: _signed(trait, number))
    winners, rest = _cell(trait, trait.winners), _cell(trait, trait.rest)
    less = (found.value or 0) < 0
    if trait.name == LENGTH:
        side = "shorter" if less else "longer"
        return f"Winners are {side} than the rest: {winners} tokens against {rest} {sure}."
    often = "less often" if less else "more often"
    shares = f"{winners} of them against {rest}"
    return f"Winners have {trait.name} {often} than the rest: {shares} {sure}."


def _row(trait: Trait) -> tuple[str, ...]:
    effect = trait.difference
    value = TOO_LITTLE if effect.value is None else _signed(trait, effect.value)
    interval = span(effect.interval, lambda number: _signed(trait, number))
    return (
        "length, tokens" if trait.name == LENGTH else trait.name,
        _cell(trait, trait.winners),
        _cell(trait, trait.rest),
        value,
        interval,
        over(effect),
        chance(effect),
        more(effect),
    )


def _cell(trait: Trait, number: float | None) -> str:
    return TOO_LITTLE if number is None else _number(trait, number)


def _number(trait: Trait, number: float) -> str:
    """Give a number of a trait: tokens, or the share of answers that have it."""
    # Rounded first, so that no nothing has a sign.
    said = f"{round(number):,}" if trait.name == LENGTH else percent(round(number, 2) + 0.0)
    return said.replace("-", "−")


def _signed(trait: Trait, number: float) -> str:
    said = _number(trait, number)
    return said if said.startswith("−") else f"+{said}"

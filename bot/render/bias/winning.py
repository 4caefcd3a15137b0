"""What wins here: how answers that win differ from the rest, in length and style."""

from collections.abc import Iterator

from bot.chat import Table
from bot.render.bias.effects import TOO_LITTLE, chance, how_sure, more, over, plain, span
from bot.render.bias.shown import ShownBias
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
    side = "less" if (found.value or 0) < 0 else "more"
    sure = how_sure(found, lambda number: _signed(trait, number))
    return (
        f"Winners have {side} {trait.name} than the rest: {_cell(trait, trait.winners)} against "
        f"{_cell(trait, trait.rest)} {sure}."
    )


def _row(trait: Trait) -> tuple[str, ...]:
    effect = trait.difference
    value = TOO_LITTLE if effect.value is None else _signed(trait, effect.value)
    interval = span(effect.interval, lambda number: _signed(trait, number))
    return (
        trait.name,
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
    """Give a number of a trait: a share, or a count where any is beyond one."""
    return f"{number:,.0f}".replace("-", "−") if _counts(trait) else plain(number)


def _signed(trait: Trait, number: float) -> str:
    return f"{'+' if number >= 0 else ''}{_number(trait, number)}"


def _counts(trait: Trait) -> bool:
    return max(abs(trait.winners or 0), abs(trait.rest or 0)) > 10  # noqa: PLR2004

"""What blinding changed: what each family's answers gain when judges are told who wrote what."""

from collections.abc import Iterator

from bot.chat import Table
from bot.render.bias.effects import TOO_LITTLE, chance, how_sure, more, over, size, span
from bot.render.bias.shown import ShownBias, family_name
from bot.render.boards.columns import signed
from council.bias.report import Brand

_COLUMNS = ("Family", "Gains", "95 % interval", "Over", "p, Holm", "To settle it")
HOW = (
    "On some audit ballots a judge sees the same answers with their authors’ names. What a family "
    "gains is the share its answers are given then, less what the same judge gave them blind."
)


def brand_lines(shown: ShownBias) -> Iterator[str]:
    """Say which families' answers are ranked otherwise once their names are seen."""
    for brand in shown.report.brands:
        effect = brand.effect
        if effect.is_found and effect.value is not None:
            side, turned = ("lower", True) if effect.value < 0 else ("higher", False)
            yield (
                f"Judges rank answers by {family_name(brand.maker)} {size(effect.value)} {side} "
                f"when they see the names {how_sure(effect, turned=turned)}: blinding takes that "
                "away."
            )


def brand_table(shown: ShownBias) -> Table | None:
    """Give every family with what it gains; None where no ballot was cast with names."""
    brands = [brand for brand in shown.report.brands if brand.effect.n]
    if not brands:
        return None
    return Table(_COLUMNS, tuple(map(_row, brands)), frozenset(range(1, len(_COLUMNS))))


def _row(brand: Brand) -> tuple[str, ...]:
    effect = brand.effect
    return (
        family_name(brand.maker),
        TOO_LITTLE if effect.value is None else signed(effect.value),
        span(effect.interval, signed),
        over(effect),
        chance(effect),
        more(effect),
    )

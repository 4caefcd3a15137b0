"""A bias report as tables: judges side by side, each by itself, and what the figures show."""

from collections.abc import Iterator

from bot.chat import Table
from bot.render.bias.effects import TOO_LITTLE, chance, more, over, plain, span
from bot.render.bias.measures import ALL, KEPT, POSITION, Measure, measures_of
from bot.render.bias.shown import ShownBias
from council.bias.report import Effect, JudgeBias

NONE = "–"
BEYOND = "\u00a0*"
_BESIDE = tuple(measure for measure in ALL if measure is not POSITION)
_COLUMNS = ("Measure", "Effect", "95 % interval", "Over", "p, Holm", "To settle it")


def side_by_side(shown: ShownBias) -> Table:
    """Give what is known of every judge, a row each; * is what is beyond chance."""
    told = [measure for measure in _BESIDE if _tells(shown, measure)]
    rows = tuple(
        (shown.name(judge.judge), *(_cell(shown, judge, measure) for measure in told))
        for judge in shown.report.judges
    )
    heads = ("Judge", *(measure.title for measure in told))
    return Table(heads, rows, frozenset(range(1, len(heads))))


def judge_table(shown: ShownBias, judge: JudgeBias) -> Table:
    """Give all that is measured of a judge, a row a measure; without a family none of it."""
    told = (x for x in measures_of(judge) if not x.is_of_family or shown.has_family(judge))
    rows = tuple(_row(judge, measure) for measure in told)
    return Table(_COLUMNS, rows, frozenset(range(1, len(_COLUMNS))))


def given_table(shown: ShownBias) -> Table:
    """Give the mean share each judge gave each author, over how many ballots."""
    authors = [*dict.fromkeys(one.author for one in shown.report.given)]
    cells = {(one.judge, one.author): one for one in shown.report.given}
    judges = [*dict.fromkeys(one.judge for one in shown.report.given)]
    rows = []
    for judge in judges:
        found = [cells.get((judge, author)) for author in authors]
        rows.append(
            (
                shown.name(judge),
                *(
                    f"{plain(x.share)} (n {x.n:,})" if x and x.share is not None else ""
                    for x in found
                ),
            )
        )
    heads = ("Judge", *map(shown.name, authors))
    return Table(heads, tuple(rows), frozenset(range(1, len(heads))))


def slots_table(shown: ShownBias) -> Table:
    """Give what each judge gave what it saw at each slot, beyond one half."""
    most = max((slot.number for judge in shown.report.judges for slot in judge.slots), default=0)
    heads = ("Judge", *(f"Slot {number}" for number in range(1, most + 1)))
    rows = tuple((shown.name(judge.judge), *_slots(judge, most)) for judge in shown.report.judges)
    return Table(heads, rows, frozenset(range(1, len(heads))))


def kept_table(shown: ShownBias) -> Table:
    """Give how many orders of pairs each judge kept."""
    rows = []
    for judge in shown.report.judges:
        row = _row(judge, KEPT)
        rows.append((shown.name(judge.judge), *row[1:4]))
    return Table(
        ("Judge", "Orders kept", "95 % interval", "Over"), tuple(rows), frozenset({1, 2, 3})
    )


def _tells(shown: ShownBias, measure: Measure) -> bool:
    return any(measure.of(judge).n for judge in shown.report.judges)


def _slots(judge: JudgeBias, most: int) -> Iterator[str]:
    by_number = {slot.number: slot.effect for slot in judge.slots}
    for number in range(1, most + 1):
        effect = by_number.get(number)
        yield "" if effect is None else _with_interval(effect)


def _with_interval(effect: Effect) -> str:
    if effect.value is None:
        return TOO_LITTLE
    within = f" ({span(effect.interval)})" if effect.interval else ""
    return f"{plain(effect.value)}{within}"


def _cell(shown: ShownBias, judge: JudgeBias, measure: Measure) -> str:
    effect = measure.of(judge)
    if measure.is_of_family and not shown.has_family(judge):
        return NONE
    if effect.value is None:
        return TOO_LITTLE
    return f"{measure.reads(effect.value)}{BEYOND if effect.is_found else ''}"


def _row(judge: JudgeBias, measure: Measure) -> tuple[str, ...]:
    effect = measure.of(judge)
    value = TOO_LITTLE if effect.value is None else measure.reads(effect.value)
    return (
        measure.title,
        value,
        span(effect.interval, measure.reads),
        over(effect),
        chance(effect),
        more(effect),
    )

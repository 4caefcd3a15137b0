"""What `council doctor` says of the verdicts of stored rounds."""

from datetime import timedelta

from bot.bakeoffs.checks import check_verdicts
from bot.bakeoffs.parts import bakeoff_stores
from bot.checks import CheckReport
from bot.settings import Settings
from council.bakeoffs.record_arrays import pack_record
from council.bakeoffs.records import AuthorRecord, CouncilRecord, Record
from tests.bot.app_fakes import an_app
from tests.builders import ASKED_AT


async def said_after(rounds: int) -> list[str]:
    """Return what is said of sure verdicts, the first answer right in all but one."""
    app, lines = an_app(), list[str]()
    for number in range(rounds):
        authored = (AuthorRecord("a", correct=number > 0), AuthorRecord("b", correct=number == 0))
        whole = CouncilRecord(winner="a", strength=1, is_sure=True)
        at = ASKED_AT + timedelta(minutes=number)
        record = Record(f"r{number}", at, "house", "", authored, (), (), whole)
        await bakeoff_stores(app).records.save([pack_record(record)])
    await check_verdicts(CheckReport(lines.append), app, Settings())
    return lines


async def test_from_thirty_rounds_on_the_doctor_says_what_a_sure_line_was_worth() -> None:
    assert await said_after(30) == [
        "     When the line said “clearly ahead”, the answer was right in 29 of 30 graded rounds."
    ]
    assert await said_after(29) == []

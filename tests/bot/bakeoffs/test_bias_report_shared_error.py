"""The correlation of judges' errors that new rounds assume, from stored graded rounds."""

from collections.abc import Awaitable, Callable

import pytest

from bot.bakeoffs.bias_report import measure_shared_error_daily
from bot.bakeoffs.parts import bakeoff_stores
from council.bakeoffs.bias.shared_error import MIN_ROUNDS
from council.bakeoffs.bias.vote_arrays import pack_votes
from council.bakeoffs.bias.votes import Vote, Votes
from council.bakeoffs.record_arrays import pack_record
from council.bakeoffs.records import AuthorRecord, CouncilRecord, Record
from council.rounds import Question
from tests.bot.app_fakes import an_app
from tests.builders import ASKED_AT, a_panel

SEATS = tuple(seat.key for seat in a_panel(4).members)


class StoppedError(Exception):
    """Ends the daily task."""


def days(count: int) -> Callable[[float], Awaitable[None]]:
    """Return a sleep that ends the task after so many days."""
    slept = list[float]()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) > count:
            raise StoppedError

    return sleep


async def rho_of_new_rounds(rounds: int) -> str:
    """Store rounds whose answers are all wrong and whose judges all agree; measure once."""
    app = an_app()
    authored = tuple(AuthorRecord(key, correct=False) for key in SEATS)
    for number in range(rounds):
        record = pack_record(
            Record(f"r{number}", ASKED_AT, "house", "", authored, (), (), CouncilRecord())
        )
        ballots = tuple(
            Vote(judge, shown, tuple(float(i) for i, _ in enumerate(shown, start=1)))
            for judge in SEATS
            if (shown := tuple(key for key in SEATS if key != judge))
        )
        votes = pack_votes(Votes(SEATS, SEATS, len(SEATS), ballots), record)
        await bakeoff_stores(app).records.save([record])
        await bakeoff_stores(app).votes.save([votes])
    with pytest.raises(StoppedError):
        await measure_shared_error_daily(app, days(1))
    opened = app.new_round(Question("Why?"), a_panel(4), None, "new")
    return dict(opened.versions)["rho"]


async def test_new_rounds_assume_what_graded_rounds_show() -> None:
    assert await rho_of_new_rounds(MIN_ROUNDS) == "0.5"


async def test_too_few_graded_rounds_leave_the_assumption() -> None:
    assert await rho_of_new_rounds(MIN_ROUNDS - 1) == "0.25"

"""The usual duration of a round, from the last rounds of its panel."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.commands.ask import acceptance_post
from bot.context import usual_seconds
from council.rounds import Closing, Round
from tests.bot.app_fakes import an_app
from tests.builders import ASKED_AT, a_panel, a_round
from tests.fakes.memory_store import MemoryStore
from tests.storage.builders import a_closed_round


def took(seconds: float, number: int, failure: str | None = None) -> Round:
    round_ = replace(a_closed_round(f"r{number}"), closing=Closing(seconds, failure))
    return replace(round_, asked_at=ASKED_AT + timedelta(minutes=number))


async def usually(*rounds: Round) -> float | None:
    store = MemoryStore()
    for round_ in rounds:
        await store.open(round_)
    return await usual_seconds(store, a_panel().name)


async def test_it_is_the_median_which_no_single_round_can_spoil() -> None:
    assert await usually(took(40, 1), took(9_000, 2), took(30, 3)) == 40


async def test_two_rounds_are_too_few() -> None:
    assert await usually(took(40, 1), took(30, 2)) is None


async def test_rounds_that_failed_or_are_another_panels_tell_nothing() -> None:
    failed = took(1, 3, "Nobody answered.")
    other = replace(took(1, 4), panel=replace(a_panel(4), name="other"))

    assert await usually(took(40, 1), took(30, 2), failed, other) is None


async def test_only_the_last_twenty_count() -> None:
    slow = [took(500, number) for number in range(30)]
    quick = [took(10, number) for number in range(30, 50)]

    assert await usually(*slow, *quick) == 10


@pytest.mark.parametrize(
    ("before", "told"), [(3, "It usually takes about 40 s."), (2, "at most.")], ids=["known", "new"]
)
async def test_the_usual_time_is_in_the_confirmation(before: int, told: str) -> None:
    app = an_app()
    for number in range(before):
        await app.store.open(took(38, number))

    assert (await acceptance_post(app, a_round())).summary.endswith(told)

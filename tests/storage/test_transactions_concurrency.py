"""Several programs on one server lose no writes and do not deadlock."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from council.ports import RoundQuery
from council.rounds import Closing, Question, Round
from storage.engine import open_engine
from storage.hash_chain import SqlHashChain
from storage.rounds import SqlRoundStore
from tests.builders import ASKED_AT
from tests.storage.builders import T1, T2, a_closed_round, artefacts, store_round, without_artefacts

Engines = list[AsyncEngine]


@pytest.fixture
async def engines(migrated_url: str) -> AsyncIterator[Engines]:
    """Return the engines of three programs."""
    async with AsyncExitStack() as stack:
        opened = [open_engine(migrated_url) for _ in range(3)]
        for engine in opened:
            stack.push_async_callback(engine.dispose)
        yield opened


def a_round_at(round_id: str, place: object = T1) -> Round:
    question = Question("Why?", "U1", place=place)  # type: ignore[arg-type]
    return replace(a_closed_round(round_id), question=question)


async def test_programs_that_save_the_same_lose_nothing(engines: Engines) -> None:
    stores = [SqlRoundStore(engine) for engine in engines]
    rounds = [a_closed_round(f"r{number}") for number in range(4)]
    await asyncio.gather(*(stores[0].open(without_artefacts(round_)) for round_ in rounds))

    for part in zip(*(artefacts(round_) for round_ in rounds), strict=True):
        await asyncio.gather(
            *(
                store.save(round_.id, artefact)
                for store in stores
                for round_, artefact in zip(rounds, part, strict=True)
            )
        )

    assert [await stores[1].load(round_.id) for round_ in rounds] == rounds


async def test_programs_that_close_rounds_of_two_workspaces_do_not_wait_for_each_other(
    engines: Engines,
) -> None:
    places = [T1, T2]
    rounds = [a_round_at(f"r{number}", places[number % 2]) for number in range(24)]
    await asyncio.gather(
        *(SqlRoundStore(engines[0]).open(without_artefacts(round_)) for round_ in rounds)
    )

    async with asyncio.timeout(20):
        await asyncio.gather(
            *(
                SqlRoundStore(engines[number % 3]).save(round_.id, Closing(1.0))
                for number, round_ in enumerate([*rounds, *reversed(rounds)])
            )
        )

    heads = await SqlHashChain(engines[0]).heads()
    assert [head.number for head in heads] == [12, 12]


async def test_rounds_are_forgotten_by_one_program_while_another_adds_to_them(
    engines: Engines,
) -> None:
    store = SqlRoundStore(engines[0])
    rounds = [a_closed_round(f"r{number}") for number in range(6)]

    await asyncio.gather(
        *(asyncio.gather(store_round(store, one), return_exceptions=True) for one in rounds),
        *(
            asyncio.gather(
                SqlRoundStore(engines[1]).forget(one.id, ASKED_AT, "s"), return_exceptions=True
            )
            for one in rounds
        ),
    )
    for round_ in rounds:
        await SqlRoundStore(engines[2]).forget(round_.id, ASKED_AT, "s")

    assert await store.list_summaries(wanted=RoundQuery(containing="Which")) == ()
    assert None not in [(await store.load(one.id)).forgotten for one in rounds]

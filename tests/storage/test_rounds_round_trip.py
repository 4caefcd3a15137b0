"""A round comes back from a store unchanged, whatever it holds."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncEngine

from council.ports import Store
from council.rounds import Round, sort_by_panel
from storage.memory import MemoryStore
from storage.rounds import SqlRoundStore
from tests.storage.builders import artefacts, closing_last, store_round, without_artefacts
from tests.storage.conftest import engine_of
from tests.storage.strategies import rounds, rounds_or_forgotten

# One store serves all the rounds of a test: their ids differ.
SHARED = settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
# A server takes a while over each.
FEWER = settings(SHARED, max_examples=15)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest) -> Store:
    return MemoryStore() if request.param == "memory" else SqlRoundStore(engine_of(request))


@SHARED
@given(rounds())
async def test_a_round_comes_back_equal(store: Store, round_: Round) -> None:
    await store_round(store, round_)

    assert await store.load(round_.id) == sort_by_panel(round_)


@SHARED
@given(rounds_or_forgotten())
async def test_a_stored_round_is_read_back_equal(store: Store, round_: Round) -> None:
    assert await store.open(round_)

    assert await store.load(round_.id) == sort_by_panel(round_)


@SHARED
@given(st.data())
async def test_the_order_of_saving_leaves_no_trace(store: Store, data: st.DataObject) -> None:
    round_ = data.draw(rounds())
    await store.open(without_artefacts(round_))

    for artefact in closing_last(data.draw(st.permutations(artefacts(round_)))):
        await store.save(round_.id, artefact)

    assert await store.load(round_.id) == sort_by_panel(round_)


@SHARED
@given(rounds())
async def test_saving_all_of_a_round_again_changes_nothing(store: Store, round_: Round) -> None:
    await store_round(store, round_)
    before = await store.load(round_.id)

    for artefact in artefacts(round_):
        await store.save(round_.id, artefact)

    assert await store.load(round_.id) == before


@SHARED
@given(rounds())
async def test_the_line_of_a_round_says_its_stage(store: Store, round_: Round) -> None:
    await store_round(store, round_)

    lines = {line.id: line for line in await store.list_summaries()}

    assert lines[round_.id].stage == round_.stage
    assert lines[round_.id].question == round_.question.text
    assert lines[round_.id].asked_at == round_.asked_at


@FEWER
@given(rounds())
async def test_a_server_gives_a_round_back_equal(server_engine: AsyncEngine, round_: Round) -> None:
    await store_round(SqlRoundStore(server_engine), round_)

    assert await SqlRoundStore(server_engine).load(round_.id) == sort_by_panel(round_)


@FEWER
@given(rounds_or_forgotten())
async def test_a_server_gives_a_round_back_that_it_was_given_whole(
    server_engine: AsyncEngine, round_: Round
) -> None:
    assert await SqlRoundStore(server_engine).open(round_)

    assert await SqlRoundStore(server_engine).load(round_.id) == sort_by_panel(round_)

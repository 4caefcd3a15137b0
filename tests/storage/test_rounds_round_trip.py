"""A round comes back from a store unchanged, whatever it holds."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from council.ports import Store
from council.rounds import sort_by_panel
from tests.storage.builders import artefacts, closing_last, in_memory_too, without_artefacts
from tests.storage.strategies import rounds, rounds_or_forgotten

# One store serves all the rounds of a test: their ids differ.
SHARED = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
FEW = settings(SHARED, max_examples=12)
MANY = settings(SHARED, max_examples=60)


async def check_saved_by_artefact(store: Store, data: st.DataObject) -> None:
    """Save a round's artefacts in any order and then again, and check what is read back."""
    round_ = data.draw(rounds())
    in_any_order = data.draw(st.permutations(artefacts(round_)))
    await store.open(without_artefacts(round_))

    for artefact in (*closing_last(in_any_order), *artefacts(round_)):
        await store.save(round_.id, artefact)

    assert await store.load(round_.id) == sort_by_panel(round_)
    summary = await store.load_summary(round_.id)
    assert (summary.stage, summary.question, summary.asked_at) == (
        round_.stage,
        round_.question.text,
        round_.asked_at,
    )


async def check_stored_whole(store: Store, data: st.DataObject) -> None:
    """Store a finished or forgotten round with all its artefacts, and check what is read back."""
    round_ = data.draw(rounds_or_forgotten())

    assert await store.open(round_)

    assert await store.load(round_.id) == sort_by_panel(round_)


@in_memory_too
@FEW
@given(st.data())
async def test_a_round_is_read_back_equal_in_whatever_order_it_was_saved(
    store: Store, data: st.DataObject
) -> None:
    await check_saved_by_artefact(store, data)


@in_memory_too
@FEW
@given(st.data())
async def test_a_round_that_was_stored_whole_is_read_back_equal(
    store: Store, data: st.DataObject
) -> None:
    await check_stored_whole(store, data)


@pytest.mark.nightly
@MANY
@given(st.data())
async def test_many_rounds_are_read_back_equal(store: Store, data: st.DataObject) -> None:
    await check_saved_by_artefact(store, data)
    await check_stored_whole(store, data)

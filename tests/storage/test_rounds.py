"""The contract of every round store."""

import asyncio
from dataclasses import replace

import pytest

from council.answers import Role
from council.ballots import SpoiledBallot
from council.errors import RoundNotFoundError, StoreError
from council.labels import Label, LabelMap, Slate
from council.ports import Store
from council.rounds import Artefact, Closing, Draw, Synthesis
from council.tally import Tally
from tests.builders import (
    CLAUDE,
    GPT,
    a_panel,
    a_round,
    an_absence,
    an_answer,
    an_exchange,
)
from tests.storage.builders import (
    a_closed_round,
    an_audit,
    artefacts,
    closing_last,
    in_memory_too,
    store_round,
    without_artefacts,
)

FULL = a_closed_round()
DRAW = FULL.draw or Draw(LabelMap(()), ())
TALLY = FULL.tally or Tally((), NotImplemented)
OTHER_DRAW = Draw(LabelMap(((GPT, Label("Z")),)), (Slate("another judge", (Label("Z"),)),))
SPOILED = SpoiledBallot(CLAUDE, "it ranked nothing", an_exchange())


@in_memory_too
async def test_a_round_is_opened_once_however_many_try(store: Store) -> None:
    rounds = [a_round(seed=f"of try {i}") for i in range(20)]

    opened = await asyncio.gather(*(store.open(round_) for round_ in rounds))

    assert sorted(opened) == [False] * 19 + [True]
    assert await store.load("r1") == rounds[opened.index(True)]


@in_memory_too
async def test_opening_a_round_again_changes_nothing_stored(store: Store) -> None:
    await store_round(store, FULL)

    await store.open(a_round(seed="another"))

    assert await store.load("r1") == FULL


@in_memory_too
@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(an_answer(), an_answer(text="No!"), id="answer"),
        pytest.param(an_absence(), an_absence(reason="fell asleep"), id="absence"),
        pytest.param(DRAW, OTHER_DRAW, id="draw"),
        pytest.param(OTHER_DRAW, DRAW, id="longer-draw"),
        pytest.param(
            FULL.ballots[0], replace(FULL.ballots[0], reason="I looked again."), id="ballot"
        ),
        pytest.param(SPOILED, replace(SPOILED, fault="it named a letter twice"), id="spoiled"),
        pytest.param(TALLY, replace(TALLY, standings=()), id="tally"),
        pytest.param(replace(TALLY, standings=()), TALLY, id="longer-tally"),
        pytest.param(Synthesis("Yes.", None), Synthesis("No.", CLAUDE), id="synthesis"),
        pytest.param(Closing(3.0), Closing(99.0, "it failed"), id="closing"),
    ],
)
async def test_the_first_of_two_artefacts_for_one_place_is_stored_complete(
    store: Store, first: Artefact, second: Artefact
) -> None:
    round_ = a_round(a_panel(4))
    await store.open(round_)

    for artefact in (first, first, second):
        await store.save("r1", artefact)

    assert await store.load("r1") == round_.with_(first)


@in_memory_too
async def test_role_attempt_and_audit_are_part_of_an_artefacts_place(store: Store) -> None:
    kept: list[Artefact] = [
        an_absence(role=Role.ANSWER),
        an_absence(role=Role.BALLOT),
        an_absence(role=Role.SYNTHESIS),
        SPOILED,
        replace(SPOILED, paper=an_exchange(attempt=2)),
        FULL.ballots[0],
        an_audit(FULL.ballots[0], "order"),
        an_audit(FULL.ballots[0], "own"),
    ]
    await store.open(without_artefacts(FULL))

    for artefact in kept:
        await store.save("r1", artefact)

    found = await store.load("r1")
    assert set(artefacts(found)) == set(kept)


@in_memory_too
async def test_parts_are_in_panel_order_whatever_the_order_of_arrival(store: Store) -> None:
    await store.open(without_artefacts(FULL))

    for artefact in closing_last(artefacts(FULL)[::-1]):
        await store.save("r1", artefact)

    assert await store.load("r1") == FULL


@in_memory_too
@pytest.mark.parametrize("late", [an_absence(role=Role.SYNTHESIS), SPOILED, Closing(99.0)])
async def test_nothing_is_added_to_a_closed_round(store: Store, late: Artefact) -> None:
    await store_round(store, FULL)

    await store.save("r1", late)

    assert await store.load("r1") == FULL


@in_memory_too
async def test_an_artefact_of_an_unknown_round_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="The round this belongs to is not stored"):
        await store.save("r1", an_answer())

    assert await store.list_summaries() == ()


@in_memory_too
async def test_an_unknown_round_is_not_found(store: Store) -> None:
    await store.open(a_round())

    with pytest.raises(RoundNotFoundError, match=r"There is no round 'r2'\."):
        await store.load("r2")


async def test_a_cancelled_save_leaves_the_store_in_order(store: Store) -> None:
    await store.open(without_artefacts(FULL))

    for steps in range(40):
        saving = asyncio.create_task(store.save("r1", DRAW))
        for _ in range(steps):
            await asyncio.sleep(0)
        saving.cancel()
        await asyncio.gather(saving, return_exceptions=True)
        assert (await store.load("r1")).draw in (None, DRAW)

    await store.save("r1", DRAW)
    assert await store.load("r1") == without_artefacts(FULL).with_(DRAW)

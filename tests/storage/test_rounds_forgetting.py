"""A forgotten round keeps its votes and standings, and none of its texts, in every store."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from council.errors import ForgottenError, RoundNotFoundError, StoreError
from council.integrity.erasure import forget
from council.ports import RoundQuery, Store
from council.rounds import Closing, Question, Round, sort_by_panel
from storage.engine import open_engine, read_only_engine
from storage.rounds import SqlRoundStore
from tests.builders import ASKED_AT, a_panel, a_round, an_answer, with_answers, with_ballots
from tests.storage.builders import a_closed_round, in_memory_too, store_round
from tests.storage.strategies import rounds
from tests.storage.test_rounds_round_trip import FEW

SALT = "5a17" * 8
LATER = ASKED_AT + timedelta(days=90)


def a_round_asked(day: int, round_id: str) -> Round:
    return replace(a_closed_round(round_id), asked_at=ASKED_AT + timedelta(days=day))


@in_memory_too
@FEW
@given(rounds())
async def test_any_round_loses_exactly_the_texts_that_the_rules_name(
    store: Store, round_: Round
) -> None:
    await store_round(store, round_)

    seal = await store.seal(round_.id)

    assert await store.forget(round_.id, LATER, SALT)

    salt = seal.notes.salt if seal else SALT
    assert await store.load(round_.id) == sort_by_panel(forget(sort_by_panel(round_), LATER, salt))


@in_memory_too
async def test_a_round_is_forgotten_once(store: Store) -> None:
    open_round = replace(a_closed_round(), closing=None)
    await store.open(open_round)
    await store.forget("r1", LATER, SALT)

    assert not await store.forget("r1", LATER + timedelta(days=1), "another")

    assert await store.load("r1") == forget(open_round, LATER, SALT)


@in_memory_too
async def test_an_unknown_round_cannot_be_forgotten(store: Store) -> None:
    with pytest.raises(RoundNotFoundError, match=r"There is no round 'r2'\."):
        await store.forget("r2", LATER, SALT)


@in_memory_too
@pytest.mark.parametrize("artefact", [an_answer(), Closing(1.0)])
async def test_nothing_is_added_to_a_forgotten_round(store: Store, artefact: Closing) -> None:
    await store.open(a_round())
    await store.forget("r1", LATER, SALT)

    with pytest.raises(ForgottenError, match="'r1' was forgotten on 2027-02-19"):
        await store.save("r1", artefact)

    assert await store.load("r1") == forget(a_round(), LATER, SALT)


async def test_its_ballots_still_count_for_its_panel(store: Store) -> None:
    await store.open(a_closed_round())
    before = await store.load_past_ballots("house")

    await store.forget("r1", LATER, SALT)

    after = await store.load_past_ballots("house")
    assert [[b.ranking for b in ballots] for ballots in after] == [
        [b.ranking for b in ballots] for ballots in before
    ]


@in_memory_too
async def test_ids_come_oldest_first_and_within_a_time(store: Store) -> None:
    for day, round_id in ((3, "d"), (1, "b"), (0, "c"), (0, "a")):
        await store.open(a_round_asked(day, round_id))

    assert await store.ids() == ("a", "c", "b", "d")
    assert await store.ids(2) == ("a", "c")
    assert await store.ids(wanted=RoundQuery(since=a_round_asked(1, "b").asked_at)) == ("b", "d")
    assert await store.ids(wanted=RoundQuery(before=a_round_asked(1, "b").asked_at)) == ("a", "c")
    assert (
        len(await store.list_summaries(wanted=RoundQuery(since=a_round_asked(1, "b").asked_at)))
        == 2
    )


def a_marked_round(number: int) -> Round:
    """Return a round whose every text is long and says whose it is."""
    words = f"Round-{number:03}-said. " * (1 + 37 * (number % 7))
    panel = a_panel(4)
    texts = {seat.key: f"{words}{i}" for i, seat in enumerate(panel.members)}
    question = Question(words, "U1", words, reference=words)
    round_ = with_ballots(
        with_answers(replace(a_round(panel), id=f"r{number}", question=question), texts)
    )
    return replace(round_, closing=Closing(1.0))


@pytest.fixture
async def full(engine: AsyncEngine) -> SqlRoundStore:
    """Return a store of rounds that were saved artefact by artefact, so that rows have moved."""
    store = SqlRoundStore(engine)
    for number in range(6):
        await store_round(store, a_marked_round(number))
    return store


async def test_no_byte_of_it_is_left_in_the_files(full: SqlRoundStore, tmp_path: Path) -> None:
    for number in range(0, 6, 2):
        await full.forget(f"r{number}", LATER, SALT)

    await full.wipe()

    bytes_ = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    left = [number for number in range(6) if f"Round-{number:03}-said".encode() in bytes_]
    assert left == [1, 3, 5]


async def test_a_reader_that_keeps_the_log_open_is_an_error(
    sql_store: SqlRoundStore, engine: AsyncEngine, url: str
) -> None:
    await sql_store.open(a_marked_round(0))
    other = open_engine(url)
    async with engine.connect() as own:
        await own.execute(text("PRAGMA busy_timeout=20"))
        await own.rollback()
    async with read_only_engine(other).connect() as reading:
        await reading.execute(text("SELECT * FROM round"))
        await sql_store.forget("r0", LATER, SALT)

        with pytest.raises(StoreError, match="^The texts are forgotten, but another program"):
            await sql_store.wipe()

    await sql_store.wipe()
    await other.dispose()

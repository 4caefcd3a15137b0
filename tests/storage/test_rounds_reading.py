"""What a round read of its thread is stored with it, and forgotten with it."""

from dataclasses import replace

from council.people import Person, ThreadReading
from council.ports import Store
from tests.builders import ASKED_AT
from tests.storage.builders import a_closed_round, in_memory_too, store_round

READING = ThreadReading(14, 3, 1, "", (Person(1, "U1", "ada"), Person(4, "U2", "ben")))


@in_memory_too
async def test_the_people_of_a_thread_are_stored_and_forgotten_with_the_round(
    store: Store,
) -> None:
    round_ = a_closed_round("r1")
    round_ = replace(round_, question=replace(round_.question, reading=READING))
    await store_round(store, round_)

    stored = await store.load("r1")
    await store.forget("r1", ASKED_AT, "salt")

    assert stored.question.reading == READING
    assert (await store.load("r1")).question.reading is None


async def test_a_round_without_a_thread_has_no_reading(store: Store) -> None:
    await store_round(store, a_closed_round("r1"))

    assert (await store.load("r1")).question.reading is None

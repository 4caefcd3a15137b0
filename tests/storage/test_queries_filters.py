"""Lists of rounds are filtered by question, place, state and asker."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from council.integrity.erasure import forget
from council.places import NOWHERE, Place
from council.ports import ALL_ROUNDS, RoundQuery, RoundSummary, Store
from council.rounds import Closing, Question, Round
from tests.builders import ASKED_AT, a_panel, a_round
from tests.storage.builders import a_closed_round, in_memory_too

PAGE = Place("web", channel="web:1")
MINE = Place("web", channel="web:1", private=True)
THEIRS = Place("web", channel="web:2", private=True)
SLACK = Place("slack", "T1", "C1", "123.4")
QUESTIONS = {
    "percent": "Is 100% enough?",
    "underscore": "Is snake_case good?",
    "slash": "A path: a/b?",
    "backslash": "A path: a\\b?",
    "quote": "Is it O'Reilly's \"book\"?",
    "capitals": "Is POSTGRES enough?",
    "umlaut": "Ist ÄRGER gut?",
    "cyrillic": "ПОЧЕМУ небо синее?",
    "emoji": "Why 🧠?",
    "lines": "One\nand two?",
}


def a_round_asked(round_id: str, place: Place, by: str = "web:1", text: str = "Why?") -> Round:
    return replace(a_round(question=Question(text, by, place=place)), id=round_id)


async def matching_ids(store: Store, wanted: RoundQuery, limit: int | None = None) -> Sequence[str]:
    return sorted(line.id for line in await store.list_summaries(limit, wanted))


FOUND_BY = {
    "%": ["percent"],
    "0% E": ["percent"],
    "_": ["underscore"],
    "a/b": ["slash"],
    "\\": ["backslash"],
    "o'reilly": ["quote"],
    '"': ["quote"],
    "postgres": ["capitals"],
    "Enough": ["capitals", "percent"],
    "ärger": ["umlaut"],
    "почему НЕБО": ["cyrillic"],
    "🧠": ["emoji"],
    "one\nAND": ["lines"],
    "": sorted(QUESTIONS),
    "nobody asked this": [],
    "'; DROP TABLE round; --": [],
}


async def test_a_question_is_found_by_any_part_of_it_ignoring_case(store: Store) -> None:
    for name, text in QUESTIONS.items():
        await store.open(a_round_asked(name, PAGE, text=text))

    names = {
        containing: await matching_ids(store, RoundQuery(containing)) for containing in FOUND_BY
    }

    assert names == FOUND_BY


FOUND_FOR = {
    ALL_ROUNDS: ["mine", "nowhere", "page", "slack", "theirs"],
    RoundQuery(chats=("web",)): ["mine", "page", "theirs"],
    RoundQuery(chats=("slack", "")): ["nowhere", "slack"],
    RoundQuery(chats=("discord",)): [],
    RoundQuery(asker="web:1"): ["mine", "nowhere", "page", "slack"],
    RoundQuery(asker="web:2"): ["nowhere", "page", "slack", "theirs"],
    RoundQuery(asker=""): ["nowhere", "page", "slack"],
    RoundQuery("y", ("web",), "web:1"): ["mine", "page"],
}


async def test_rounds_are_listed_by_chat_and_asker(store: Store) -> None:
    places = {"nowhere": NOWHERE, "page": PAGE, "mine": MINE, "theirs": THEIRS, "slack": SLACK}
    for round_id, place in places.items():
        await store.open(a_round_asked(round_id, place, "web:2" if place is THEIRS else "web:1"))

    assert {query: await matching_ids(store, query) for query in FOUND_FOR} == FOUND_FOR
    for round_id, place in places.items():
        assert (await store.load(round_id)).question.place == place
        assert (await store.load_summary(round_id)).place == place


async def test_unfinished_rounds_are_listed_alone(store: Store) -> None:
    await store.open(a_closed_round("closed"))
    await store.open(a_round().with_(Closing(1.0, "Nobody answered.")))
    await store.open(replace(a_round(), id="open"))

    assert await matching_ids(store, RoundQuery(unfinished=True)) == ["open"]


T1, T2 = Place("slack", "T1", "C1"), Place("slack", "T2", "C1")
ASKED = {
    "here": replace(T1, thread="1.2"),
    "here-alone": replace(T1, private=True),
    "beside": replace(T1, channel="C2"),
    "beside-alone": Place("slack", "T1", "D9", private=True),
    "elsewhere": T2,
    "discord": replace(T1, chat="discord", private=True),
}


FOUND_FROM = {
    RoundQuery(workspace="T2"): ["elsewhere"],
    RoundQuery(workspace=""): [],
    RoundQuery(here=T1): ["beside", "elsewhere", "here", "here-alone"],
    RoundQuery(here=T1, only_here=True): ["here", "here-alone"],
    RoundQuery(only_here=True): [],
    RoundQuery(asked_by="web:2"): ["beside-alone"],
    RoundQuery(here=T1, asker="web:2"): ["beside", "elsewhere", "here"],
}


async def test_rounds_are_listed_by_the_channel_of_the_reader(store: Store) -> None:
    for round_id, place in ASKED.items():
        by = "web:2" if round_id == "beside-alone" else "web:1"
        await store.open(a_round_asked(round_id, place, by))

    assert {query: await matching_ids(store, query) for query in FOUND_FROM} == FOUND_FROM


async def test_rounds_are_listed_until_they_are_delivered_paused_or_not(store: Store) -> None:
    for round_id in ("open", "stopped", "delivered", "forgotten"):
        await store.open(replace(a_round(), id=round_id))
    await store.open(a_closed_round("closed"))

    await store.pause("stopped", paused=True)
    await store.deliver("delivered", delivered=True)
    await store.forget("forgotten", ASKED_AT, "salt")

    assert await matching_ids(store, RoundQuery(undelivered=True)) == ["closed", "open", "stopped"]


async def test_rounds_of_bakeoffs_are_listed_by_bakeoff_and_never_undelivered(
    store: Store,
) -> None:
    for round_id, bakeoff in (("asked", ""), ("bo:1.1", "bo:1"), ("bo:2.1", "bo:2")):
        await store.open(replace(a_round(), id=round_id, bakeoff=bakeoff))

    assert await matching_ids(store, RoundQuery(bakeoff="bo:1")) == ["bo:1.1"]
    assert await matching_ids(store, RoundQuery(bakeoff="")) == ["asked"]
    assert await matching_ids(store, ALL_ROUNDS) == ["asked", "bo:1.1", "bo:2.1"]
    assert await matching_ids(store, RoundQuery(undelivered=True)) == ["asked"]


@in_memory_too
async def test_a_round_to_deliver_again_is_listed_again(store: Store) -> None:
    await store.open(a_round())
    await store.deliver("r1", delivered=True)

    await store.deliver("r1", delivered=False)

    assert await matching_ids(store, RoundQuery(undelivered=True)) == ["r1"]


async def test_successful_rounds_of_one_panel_are_listed(store: Store) -> None:
    other = replace(a_panel(), name="other")
    await store.open(a_closed_round("well"))
    await store.open(a_closed_round("of-another", other))
    await store.open(replace(a_round(), id="failed").with_(Closing(1.0, "Nobody answered.")))
    await store.open(replace(a_round(), id="open"))

    assert await matching_ids(store, RoundQuery(panel="house", succeeded=True)) == ["well"]


@in_memory_too
async def test_the_limit_counts_matching_rounds_newest_first(store: Store) -> None:
    for minute in range(6):
        place = PAGE if minute % 2 else SLACK
        round_ = replace(
            a_round_asked(f"r{minute}", place), asked_at=ASKED_AT + timedelta(minutes=minute)
        )
        await store.open(round_)

    lines = await store.list_summaries(2, RoundQuery(chats=("web",)))

    assert [line.id for line in lines] == ["r5", "r3"]


PLACES = st.builds(
    Place,
    st.sampled_from(["web", "slack", ""]),
    st.sampled_from(["", "T1"]),
    st.sampled_from(["", "C1"]),
    st.none() | st.sampled_from(["", "1.2"]),
    st.booleans(),
)
TEXTS = st.text(st.sampled_from("aAäÄ%_\\'/ ß"), max_size=6)
ASKERS = st.sampled_from(["", "web:1", "web:2"])
RARELY = st.sampled_from([False, False, False, True])  # or nothing would ever be admitted
MOMENTS = st.sampled_from([ASKED_AT + timedelta(minutes=minute) for minute in (-1, 0, 1)])
PANELS = st.sampled_from(["house", "other"])
BAKEOFFS = st.sampled_from(["", "bo:1"])
WANTED = st.builds(
    RoundQuery,
    st.just("") | TEXTS,
    st.lists(st.sampled_from(["web", "slack", ""]), max_size=2).map(tuple),
    st.none() | ASKERS,
    unfinished=RARELY,
    remembered=RARELY,
    since=st.none() | MOMENTS,
    before=st.none() | MOMENTS,
    workspace=st.none() | st.sampled_from(["", "T1"]),
    here=st.none() | PLACES,
    only_here=RARELY,
    undelivered=RARELY,
    succeeded=RARELY,
    panel=st.just("") | PANELS,
    asked_by=st.none() | ASKERS,
    bakeoff=st.none() | BAKEOFFS,
)
ENDS = st.sampled_from([None, Closing(1.0), Closing(2.0, "Nobody answered.")])


@st.composite
def stored_rounds(draw: st.DrawFn) -> tuple[Round, RoundSummary]:
    """Draw a round, and the summary that a store with these flags should return."""
    question = draw(st.builds(Question, TEXTS, ASKERS, place=PLACES))
    panel = replace(a_panel(), name=draw(PANELS))
    # One store serves all the rounds of a test: their ids differ.
    round_ = replace(a_round(panel, question=question), id=uuid4().hex, bakeoff=draw(BAKEOFFS))
    end, is_forgotten = draw(ENDS), draw(RARELY)
    round_ = round_.with_(end) if end else round_
    round_ = forget(round_, ASKED_AT, "salt") if is_forgotten else round_
    noted = replace(
        RoundSummary.of(round_), paused=draw(st.booleans()), delivered=draw(st.booleans())
    )
    return round_, noted


@in_memory_too
@settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(stored_rounds(), WANTED)
async def test_every_store_lists_what_the_query_admits(
    store: Store, kept: tuple[Round, RoundSummary], wanted: RoundQuery
) -> None:
    await check_query(store, kept, wanted)


@pytest.mark.nightly
@settings(
    deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(stored_rounds(), WANTED)
async def test_every_store_lists_what_many_queries_admit(
    store: Store, kept: tuple[Round, RoundSummary], wanted: RoundQuery
) -> None:
    await check_query(store, kept, wanted)


async def check_query(store: Store, kept: tuple[Round, RoundSummary], wanted: RoundQuery) -> None:
    round_, line = kept
    await store.open(round_)
    await store.pause(round_.id, paused=line.paused)
    await store.deliver(round_.id, delivered=line.delivered)

    listed = {line.id: line for line in await store.list_summaries(wanted=wanted)}

    assert listed.get(round_.id) == (line if wanted.admits(line) else None)
    assert (round_.id in await store.ids(wanted=wanted)) is wanted.admits(line)
    assert await store.load_summary(round_.id) == line

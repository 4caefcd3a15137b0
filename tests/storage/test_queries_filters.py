"""Lists of rounds are filtered by question, place, state and asker."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from council.integrity.erasure import forget
from council.places import Place
from council.ports import RoundQuery, RoundSummary, Store
from council.rounds import Closing, Question, Round
from tests.builders import ASKED_AT, a_panel, a_round
from tests.storage.builders import in_memory_too

PAGE = Place("web", channel="web:1")
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


T1, T2 = Place("slack", "T1", "C1"), Place("slack", "T2", "C1")


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

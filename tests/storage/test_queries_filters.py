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
from tests.storage.builders import a_closed_round, store_round

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


def asked(round_id: str, place: Place, by: str = "web:1", text: str = "Why?") -> Round:
    return replace(a_round(question=Question(text, by, place=place)), id=round_id)


async def found(store: Store, wanted: RoundQuery, limit: int | None = None) -> Sequence[str]:
    return sorted(line.id for line in await store.list_summaries(limit, wanted))


@pytest.mark.parametrize(
    ("containing", "names"),
    [
        ("%", ["percent"]),
        ("0% E", ["percent"]),
        ("_", ["underscore"]),
        ("a/b", ["slash"]),
        ("\\", ["backslash"]),
        ("o'reilly", ["quote"]),
        ('"', ["quote"]),
        ("postgres", ["capitals"]),
        ("Enough", ["capitals", "percent"]),
        ("ärger", ["umlaut"]),
        ("почему НЕБО", ["cyrillic"]),
        ("🧠", ["emoji"]),
        ("one\nAND", ["lines"]),
        ("", sorted(QUESTIONS)),
        ("nobody asked this", []),
        ("'; DROP TABLE round; --", []),
    ],
)
async def test_a_question_is_found_by_what_it_holds_capitals_or_not(
    store: Store, containing: str, names: Sequence[str]
) -> None:
    for name, text in QUESTIONS.items():
        await store.open(asked(name, PAGE, text=text))

    assert await found(store, RoundQuery(containing)) == names


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        pytest.param(ALL_ROUNDS, ["mine", "nowhere", "page", "slack", "theirs"], id="every"),
        pytest.param(RoundQuery(chats=("web",)), ["mine", "page", "theirs"], id="chat"),
        pytest.param(RoundQuery(chats=("slack", "")), ["nowhere", "slack"], id="chats"),
        pytest.param(RoundQuery(chats=("discord",)), [], id="no-chat"),
        pytest.param(RoundQuery(asker="web:1"), ["mine", "nowhere", "page", "slack"], id="asker"),
        pytest.param(RoundQuery(asker="web:2"), ["nowhere", "page", "slack", "theirs"], id="other"),
        pytest.param(RoundQuery(asker=""), ["nowhere", "page", "slack"], id="nobody"),
        pytest.param(RoundQuery("y", ("web",), "web:1"), ["mine", "page"], id="all-of-them"),
    ],
)
async def test_rounds_are_listed_by_where_and_for_whom_they_were_asked(
    store: Store, wanted: RoundQuery, ids: Sequence[str]
) -> None:
    places = {"nowhere": NOWHERE, "page": PAGE, "mine": MINE, "theirs": THEIRS, "slack": SLACK}
    for round_id, place in places.items():
        await store.open(asked(round_id, place, "web:2" if place is THEIRS else "web:1"))

    assert await found(store, wanted) == ids


async def test_only_unfinished_rounds_are_listed_where_they_are_wanted(store: Store) -> None:
    await store_round(store, a_closed_round("closed"))
    await store_round(store, a_round().with_(Closing(1.0, "Nobody answered.")))
    await store.open(replace(a_round(), id="open"))

    assert await found(store, RoundQuery(unfinished=True)) == ["open"]


T1, T2 = Place("slack", "T1", "C1"), Place("slack", "T2", "C1")
ASKED = {
    "here": replace(T1, thread="1.2"),
    "here-alone": replace(T1, private=True),
    "beside": replace(T1, channel="C2"),
    "beside-alone": Place("slack", "T1", "D9", private=True),
    "elsewhere": T2,
    "discord": replace(T1, chat="discord", private=True),
}


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        pytest.param(RoundQuery(workspace="T2"), ["elsewhere"], id="workspace"),
        pytest.param(RoundQuery(workspace=""), [], id="no-workspace"),
        pytest.param(
            RoundQuery(here=T1),
            ["beside", "elsewhere", "here", "here-alone"],
            id="private-ones-here",
        ),
        pytest.param(RoundQuery(here=T1, only_here=True), ["here", "here-alone"], id="only-here"),
        pytest.param(RoundQuery(only_here=True), [], id="only-nowhere"),
        pytest.param(RoundQuery(asked_by="web:2"), ["beside-alone"], id="asked-by"),
        pytest.param(
            RoundQuery(here=T1, asker="web:2"), ["beside", "elsewhere", "here"], id="both"
        ),
    ],
)
async def test_rounds_are_listed_by_the_channel_one_looks_from(
    store: Store, wanted: RoundQuery, ids: Sequence[str]
) -> None:
    for round_id, place in ASKED.items():
        by = "web:2" if round_id == "beside-alone" else "web:1"
        await store.open(asked(round_id, place, by))

    assert await found(store, wanted) == ids


async def test_rounds_are_listed_until_they_are_delivered_stopped_or_not(store: Store) -> None:
    for round_id in ("open", "stopped", "delivered", "forgotten"):
        await store.open(replace(a_round(), id=round_id))
    await store_round(store, a_closed_round("closed"))

    await store.pause("stopped", paused=True)
    await store.deliver("delivered", delivered=True)
    await store.forget("forgotten", ASKED_AT, "salt")

    assert await found(store, RoundQuery(undelivered=True)) == ["closed", "open", "stopped"]


async def test_rounds_of_bakeoffs_are_listed_by_them_and_never_to_be_delivered(
    store: Store,
) -> None:
    for round_id, bakeoff in (("asked", ""), ("bo:1.1", "bo:1"), ("bo:2.1", "bo:2")):
        await store.open(replace(a_round(), id=round_id, bakeoff=bakeoff))

    assert await found(store, RoundQuery(bakeoff="bo:1")) == ["bo:1.1"]
    assert await found(store, RoundQuery(bakeoff="")) == ["asked"]
    assert await found(store, ALL_ROUNDS) == ["asked", "bo:1.1", "bo:2.1"]
    assert await found(store, RoundQuery(undelivered=True)) == ["asked"]


async def test_what_is_to_be_delivered_again_is_listed_again(store: Store) -> None:
    await store.open(a_round())
    await store.deliver("r1", delivered=True)

    await store.deliver("r1", delivered=False)

    assert await found(store, RoundQuery(undelivered=True)) == ["r1"]


async def test_rounds_of_one_panel_that_closed_without_a_failure(store: Store) -> None:
    other = replace(a_panel(), name="other")
    await store_round(store, a_closed_round("well"))
    await store_round(store, a_closed_round("of-another", other))
    await store_round(
        store, replace(a_round(), id="failed").with_(Closing(1.0, "Nobody answered."))
    )
    await store.open(replace(a_round(), id="open"))

    assert await found(store, RoundQuery(panel="house", succeeded=True)) == ["well"]


async def test_the_limit_counts_what_is_wanted_newest_first(store: Store) -> None:
    for minute in range(6):
        place = PAGE if minute % 2 else SLACK
        round_ = replace(asked(f"r{minute}", place), asked_at=ASKED_AT + timedelta(minutes=minute))
        await store.open(round_)

    lines = await store.list_summaries(2, RoundQuery(chats=("web",)))

    assert [line.id for line in lines] == ["r5", "r3"]


@pytest.mark.parametrize("place", [NOWHERE, PAGE, MINE, THEIRS, SLACK])
async def test_where_a_round_was_asked_comes_back(store: Store, place: Place) -> None:
    round_ = asked("r1", place)
    await store.open(round_)

    assert await store.load("r1") == round_
    assert await store.list_summaries() == (RoundSummary.of(round_),)


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
def kept_lines(draw: st.DrawFn) -> tuple[Round, RoundSummary]:
    """Draw a round, and the line of it that a store with these notes should give."""
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


@settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(kept_lines(), WANTED)
async def test_every_store_lists_what_the_wish_admits(
    store: Store, kept: tuple[Round, RoundSummary], wanted: RoundQuery
) -> None:
    round_, line = kept
    await store.open(round_)
    await store.pause(round_.id, paused=line.paused)
    await store.deliver(round_.id, delivered=line.delivered)

    listed = {line.id: line for line in await store.list_summaries(wanted=wanted)}

    assert listed.get(round_.id) == (line if wanted.admits(line) else None)
    assert (round_.id in await store.ids(wanted=wanted)) is wanted.admits(line)
    assert await store.load_summary(round_.id) == line

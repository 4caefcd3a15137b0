"""Which rounds are listed: by what their question holds, where they were asked, and for whom."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from council.places import NOWHERE, Place
from council.ports import EVERY, RoundLine, Store, Wanted
from council.rounds import Closing, Question, Round
from tests.builders import ASKED_AT, a_round
from tests.storage.builders import a_closed_round, keep

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


async def found(store: Store, wanted: Wanted, limit: int | None = None) -> Sequence[str]:
    return sorted(line.id for line in await store.recent(limit, wanted))


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

    assert await found(store, Wanted(containing)) == names


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        pytest.param(EVERY, ["mine", "nowhere", "page", "slack", "theirs"], id="every"),
        pytest.param(Wanted(chats=("web",)), ["mine", "page", "theirs"], id="chat"),
        pytest.param(Wanted(chats=("slack", "")), ["nowhere", "slack"], id="chats"),
        pytest.param(Wanted(chats=("discord",)), [], id="no-chat"),
        pytest.param(Wanted(asker="web:1"), ["mine", "nowhere", "page", "slack"], id="asker"),
        pytest.param(Wanted(asker="web:2"), ["nowhere", "page", "slack", "theirs"], id="other"),
        pytest.param(Wanted(asker=""), ["nowhere", "page", "slack"], id="nobody"),
        pytest.param(Wanted("y", ("web",), "web:1"), ["mine", "page"], id="all-of-them"),
    ],
)
async def test_rounds_are_listed_by_where_and_for_whom_they_were_asked(
    store: Store, wanted: Wanted, ids: Sequence[str]
) -> None:
    places = {"nowhere": NOWHERE, "page": PAGE, "mine": MINE, "theirs": THEIRS, "slack": SLACK}
    for round_id, place in places.items():
        await store.open(asked(round_id, place, "web:2" if place is THEIRS else "web:1"))

    assert await found(store, wanted) == ids


async def test_only_unfinished_rounds_are_listed_where_they_are_wanted(store: Store) -> None:
    await keep(store, a_closed_round("closed"))
    await keep(store, a_round().with_(Closing(1.0, "Nobody answered.")))
    await store.open(replace(a_round(), id="open"))

    assert await found(store, Wanted(unfinished=True)) == ["open"]


async def test_the_limit_counts_what_is_wanted_newest_first(store: Store) -> None:
    for minute in range(6):
        place = PAGE if minute % 2 else SLACK
        round_ = replace(asked(f"r{minute}", place), asked_at=ASKED_AT + timedelta(minutes=minute))
        await store.open(round_)

    lines = await store.recent(2, Wanted(chats=("web",)))

    assert [line.id for line in lines] == ["r5", "r3"]


@pytest.mark.parametrize("place", [NOWHERE, PAGE, MINE, THEIRS, SLACK])
async def test_where_a_round_was_asked_comes_back(store: Store, place: Place) -> None:
    round_ = asked("r1", place)
    await store.open(round_)

    assert await store.load("r1") == round_
    assert await store.recent() == (RoundLine.of(round_),)


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
WANTED = st.builds(
    Wanted,
    TEXTS,
    st.lists(st.sampled_from(["web", "slack", ""]), max_size=2).map(tuple),
    st.none() | ASKERS,
    st.booleans(),
)


@settings(
    deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    question=st.builds(Question, TEXTS, ASKERS, place=PLACES), wanted=WANTED, closed=st.booleans()
)
async def test_every_store_lists_what_the_wish_admits(
    store: Store, question: Question, wanted: Wanted, *, closed: bool
) -> None:
    # One store serves all the rounds of this test: their ids differ.
    round_ = replace(a_round(question=question), id=uuid4().hex)
    if closed:
        round_ = round_.with_(Closing(1.0))
    await keep(store, round_)

    listed = {line.id for line in await store.recent(wanted=wanted)}

    assert (round_.id in listed) is wanted.admits(RoundLine.of(round_))

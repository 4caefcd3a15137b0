"""Rounds are found by the start of an id, by panel, and by any filter."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from council.answers import Exchange, Prompt, Reply, Scores
from council.ballots import Ballot
from council.errors import RoundNotFoundError
from council.integrity.erasure import forget
from council.places import Place
from council.ports import RoundQuery, RoundSummary, Store
from council.rounds import Closing, Question, Round, Stage
from tests.builders import ASKED_AT, a_panel, a_round, with_answers, with_ballots
from tests.fakes.memory_store import admits, has_outcome
from tests.storage.builders import a_closed_round, an_audit, in_memory_too

STAGES = {
    Stage.OPEN: with_answers(a_round()),
    Stage.ANSWERED: replace(with_ballots(with_answers(a_round())), tally=None),
    Stage.RANKED: with_ballots(with_answers(a_round())),
    Stage.CLOSED: a_closed_round(),
}


def a_round_asked(minute: int, round_: Round, round_id: str | None = None) -> Round:
    return replace(round_, id=round_id or f"r{minute}", asked_at=ASKED_AT + minute * MINUTE)


MINUTE = timedelta(minutes=1)


async def open_rounds(store: Store, *ids: str) -> None:
    for round_id in ids:
        await store.open(replace(a_round(), id=round_id))


@pytest.mark.parametrize(
    ("ids", "start", "found"),
    [
        pytest.param(["abc", "abd"], "abc", "abc", id="whole"),
        pytest.param(["abc", "xyz"], "a", "abc", id="unique-start"),
        pytest.param(["ab", "abc"], "ab", "ab", id="whole-and-a-start"),
        pytest.param(["abc"], "", "abc", id="empty-start-of-the-only-one"),
        pytest.param(["a%c", "abc"], "a%", "a%c", id="percent"),
        pytest.param(["a_c", "abc"], "a_", "a_c", id="underscore"),
        pytest.param(["a\\c", "abc"], "a\\", "a\\c", id="backslash"),
        pytest.param(["a'c", "abc"], "a'", "a'c", id="quote"),
        pytest.param(["Abc", "abd"], "ab", "abd", id="small-letter"),
        pytest.param(["slack:T:C:1", "discord:1"], "slack:", "slack:T:C:1", id="of-a-chat"),
        pytest.param(["家族-1", "家-2"], "家族", "家族-1", id="cjk"),
        pytest.param(["🧠1", "🧠2"], "🧠1", "🧠1", id="emoji"),
    ],
)
async def test_the_start_of_an_id_is_enough(
    store: Store, ids: Sequence[str], start: str, found: str
) -> None:
    await open_rounds(store, *ids)

    assert await store.find(start) == found


@in_memory_too
async def test_a_start_of_several_ids_asks_for_more(store: Store) -> None:
    await open_rounds(store, "abc", "abd")

    with pytest.raises(RoundNotFoundError, match="Several rounds start with"):
        await store.find("ab")


@in_memory_too
@pytest.mark.parametrize("start", ["x", "bc", "%", "_", "a%", "a_c", "abcd", "AB"])
async def test_a_start_of_no_id_is_not_found(store: Store, start: str) -> None:
    await open_rounds(store, "abc")

    with pytest.raises(RoundNotFoundError, match="There is no round .* `/council rounds` lists"):
        await store.find(start)  # each surface shows the hint in its own form


@in_memory_too
async def test_the_newest_rounds_come_first(store: Store) -> None:
    for minute in (2, 0, 3, 1):
        await store.open(a_round_asked(minute, a_round()))

    assert [line.id for line in await store.list_summaries()] == ["r3", "r2", "r1", "r0"]
    assert [line.id for line in await store.list_summaries(2)] == ["r3", "r2"]
    assert [line.id for line in await store.list_summaries(99)] == ["r3", "r2", "r1", "r0"]


@pytest.mark.parametrize("stage", Stage)
async def test_a_summary_has_the_stage_of_its_round(store: Store, stage: Stage) -> None:
    await store.open(STAGES[stage])

    (line,) = await store.list_summaries()

    assert (line.id, line.question, line.asked_at, line.stage) == (
        "r1",
        STAGES[stage].question.text,
        ASKED_AT,
        stage,
    )


def counted_ballots(round_: Round) -> set[Ballot]:
    """Return what of a round's ballots enters a count; how they were asked for does not."""
    return {replace(ballot, paper=None) for ballot in round_.ballots if ballot.counts}


@in_memory_too
async def test_past_ballots_are_those_of_closed_rounds(store: Store) -> None:
    for minute, round_ in enumerate(STAGES.values()):
        await store.open(a_round_asked(minute, round_))

    (ballots,) = await store.load_past_ballots("house")

    assert set(ballots) == counted_ballots(STAGES[Stage.CLOSED])


@in_memory_too
async def test_scores_are_those_of_one_bakeoffs_readable_exchanges(store: Store) -> None:
    yes, no = (("K", 1.0),), (("K", 0.0),)
    first = (an_exchange("b", no), an_exchange("a", fault="broken"), an_exchange("a", yes, 2))
    for id_, exchanges in {
        "bo:1.1": first,
        "bo:1.2": (an_exchange("a", no), an_exchange("a", yes, kind="step")),
        "bo:1.3": (),
        "bo:2.1": (an_exchange("a", yes),),
    }.items():
        round_ = replace(a_closed_round(id_), bakeoff=id_[:4])
        await store.open(replace(round_, exchanges=exchanges))

    assert await store.list_scores("bo:1", "grade") == ((yes, no), (no,))
    assert await store.list_scores("bo:3", "grade") == ()


def an_exchange(
    seat: str, scores: Scores = (), attempt: int = 1, *, kind: str = "grade", fault: str = ""
) -> Exchange:
    prompt = Prompt("", "")
    return Exchange(kind, seat, prompt, Reply(""), "", scores, fault, attempt=attempt)


@in_memory_too
async def test_past_ballots_are_those_of_one_panel(store: Store) -> None:
    other = replace(a_panel(3), name="other panel")
    await store.open(a_closed_round("r1"))
    await store.open(a_closed_round("r2", panel=other))

    (ballots,) = await store.load_past_ballots("other panel")

    assert {ballot.judge for ballot in ballots} == {seat.key for seat in other.members}
    assert await store.load_past_ballots("panel of others") == ()


@in_memory_too
async def test_an_audit_ballot_is_no_past_ballot(store: Store) -> None:
    round_ = a_closed_round()
    audits = tuple(an_audit(ballot) for ballot in round_.ballots)
    await store.open(replace(round_, ballots=round_.ballots + audits))

    (ballots,) = await store.load_past_ballots("house")

    assert set(ballots) == counted_ballots(round_)


async def test_a_closed_round_without_a_counted_ballot_is_left_out(store: Store) -> None:
    await store.open(with_answers(a_round()).with_(Closing(1.0, "Nobody answered.")))

    assert await store.load_past_ballots("house") == ()


async def test_past_ballots_are_those_of_the_last_rounds(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.rounds.MAX_PAST_ROUNDS", 3)
    one = replace(a_closed_round(), answers=(), synthesis=None, tally=None, draw=None)
    for minute in range(5):
        ballot = replace(one.ballots[0], reason=f"In round {minute}.")
        await store.open(a_round_asked(minute, replace(one, ballots=(ballot,))))

    past = await store.load_past_ballots("house")

    reasons = {ballot.reason for ballots in past for ballot in ballots}
    assert reasons == {f"In round {minute}." for minute in range(2, 5)}


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


def a_round_at(round_id: str, place: Place, by: str = "web:1", text: str = "Why?") -> Round:
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
        await store.open(a_round_at(name, PAGE, text=text))

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
            a_round_at(f"r{minute}", place), asked_at=ASKED_AT + timedelta(minutes=minute)
        )
        await store.open(round_)

    lines = await store.list_summaries(2, RoundQuery(chats=("web",)))

    assert [line.id for line in lines] == ["r5", "r3"]


@in_memory_too
async def test_a_folded_list_has_a_line_for_each_bake_off(store: Store) -> None:
    for minute, bakeoff in enumerate(["", "x", "y", "x", "", "y", "y"]):
        asked_at = ASKED_AT + timedelta(minutes=minute)
        round_ = replace(a_round_at(f"r{minute}", PAGE), asked_at=asked_at, bakeoff=bakeoff)
        await store.open(round_)
    folded = RoundQuery(folded=True)

    lines = await store.list_summaries(wanted=folded)
    older = await store.list_summaries(1, replace(folded, before=lines[0].asked_at))
    last = await store.list_summaries(wanted=replace(folded, before=lines[2].asked_at))

    assert [(line.id, line.rounds) for line in lines] == [
        ("r6", 3),
        ("r4", 1),
        ("r3", 2),
        ("r0", 1),
    ]
    assert [line.id for line in older] == ["r4"]
    assert [line.id for line in last] == ["r0"]


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
    anywhere=st.just("") | TEXTS,
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

    is_wanted = admits(wanted, line) and has_outcome(wanted, round_)
    assert listed.get(round_.id) == (line if is_wanted else None)
    assert (round_.id in await store.ids(wanted=wanted)) is is_wanted
    assert await store.load_summary(round_.id) == line

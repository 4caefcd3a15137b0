"""The contract of every round store: any round is read back equal, forgotten or deleted whole."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from council.answers import LateReply, Prompt, Reply, Role
from council.ballots import SpoiledBallot
from council.budget_caps import Account, Caps, Scope
from council.errors import ForgottenError, RoundNotFoundError, StoreError
from council.integrity.erasure import forget
from council.integrity.seal import find_changes
from council.integrity.verification import verify
from council.labels import Label, LabelMap, Slate
from council.money import Spending
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.places import Place
from council.ports import Ledger, OutboxStore, RoundQuery, Store
from council.rounds import (
    AnswerFindings,
    Artefact,
    Closing,
    Draw,
    Question,
    Round,
    StandIn,
    Synthesis,
    sort_by_panel,
)
from council.tally import Tally
from storage.engine import open_engine, read_only_engine
from storage.ledger import SqlLedger
from storage.outbox import SqlOutbox
from storage.rounds import SqlRoundStore
from tests.builders import (
    ASKED_AT,
    CLAUDE,
    GPT,
    GROK,
    a_member,
    a_panel,
    a_round,
    an_absence,
    an_answer,
    an_exchange,
    with_answers,
    with_ballots,
)
from tests.fakes.gateway import FakeGateway, Script, rank_by_slot
from tests.fakes.memory_ledger import MemoryLedger
from tests.fakes.memory_outbox import MemoryOutbox
from tests.fakes.memory_store import MemoryStore
from tests.storage.builders import (
    a_closed_round,
    artefacts,
    closing_last,
    in_memory_too,
    store_round,
    without_artefacts,
)
from tests.storage.conftest import engine_of
from tests.storage.strategies import rounds, rounds_or_forgotten

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
async def test_findings_are_added_to_a_stored_answer(store: Store) -> None:
    answer, other = replace(an_answer(), scrubbed=None), replace(an_answer(GPT), scrubbed=None)
    round_ = a_round()
    await store.open(round_)
    for artefact in (answer, other):
        await store.save("r1", artefact)
    before = await store.load("r1")

    await store.save("r1", AnswerFindings(answer.member, ("Claude",), ("begs for a place",)))

    examined = replace(answer, scrubbed=("Claude",), suspicions=("begs for a place",))
    assert before.answers == (answer, other)
    assert (await store.load("r1")).answers == (examined, other)


@in_memory_too
@pytest.mark.parametrize("late", [an_absence(role=Role.SYNTHESIS), SPOILED, Closing(99.0)])
async def test_nothing_is_added_to_a_closed_round(store: Store, late: Artefact) -> None:
    await store_round(store, FULL)

    await store.save("r1", late)

    assert await store.load("r1") == FULL


@in_memory_too
async def test_a_late_reply_is_added_once_even_to_a_closed_round(store: Store) -> None:
    late = LateReply(CLAUDE, Role.ANSWER, Prompt("Be brief.", "Why?"), Reply("At last.", seconds=9))
    await store_round(store, FULL)

    await store.save("r1", late)
    await store.save("r1", replace(late, reply=Reply("Again.")))
    await store.save("r1", replace(late, pass_number=2))

    assert await store.load("r1") == replace(FULL, late=(late, replace(late, pass_number=2)))


@in_memory_too
async def test_a_stand_in_changes_the_panel_of_the_round(store: Store) -> None:
    panel = a_panel(3)
    first = replace(panel.members[0], fallback=a_member(GROK))
    round_ = a_round(replace(panel, members=(first, *panel.members[1:])))
    await store.open(round_)

    stand_in = StandIn(round_.panel.with_stand_in(first))
    await store.save("r1", stand_in)

    loaded = await store.load("r1")
    assert loaded == round_.with_(stand_in)
    assert loaded.panel.members[0].key == GROK
    assert loaded.panel.seat(CLAUDE) == first


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


HERE = Place("slack", "T1", "C1")
DAY = date(2026, 11, 21)


@dataclass(frozen=True, slots=True)
class Site:
    """The stores of rounds, messages and money, all of one kind."""

    store: Store
    outgoing: OutboxStore
    ledger: Ledger


@pytest.fixture
def site(request: pytest.FixtureRequest) -> Site:
    if request.param == "memory":
        outgoing, ledger = MemoryOutbox(), MemoryLedger()
        store = MemoryStore()

        def delete(_: Place, round_ids: Sequence[str]) -> None:
            for round_id in round_ids:
                outgoing.drop(round_id)
                ledger.disown(round_id)

        store.on_delete.append(delete)
        return Site(store, outgoing, ledger)
    engine = engine_of(request)
    return Site(SqlRoundStore(engine), SqlOutbox(engine), SqlLedger(engine))


def a_round_at(round_id: str, place: Place) -> Round:
    question = Question(f"Marked-{round_id}?", "U1", place=place)
    return replace(a_closed_round(round_id), question=question)


async def store_all(site: Site, *rounds: Round) -> None:
    for round_ in rounds:
        await site.store.open(round_)
        await site.outgoing.claim(f"key-{round_.id}", round_.id, ASKED_AT)
        await site.ledger.settle(Account(round_.id, DAY, "U1", "slack/T1/C1"), 7)


@in_memory_too
@pytest.mark.parametrize(
    "place",
    [
        pytest.param(replace(HERE, workspace="T2"), id="another-workspace"),
        pytest.param(replace(HERE, chat="discord"), id="another-chat"),
    ],
)
async def test_only_the_rounds_of_the_workspace_are_deleted(site: Site, place: Place) -> None:
    other = replace(HERE, channel="C2", private=True)
    await store_all(site, a_round_at("r1", HERE), a_round_at("r2", other), a_round_at("r3", place))

    assert await site.store.delete_workspace("slack", "T1") == 2

    assert await site.store.ids() == ("r3",)
    assert await site.store.load("r3") == a_round_at("r3", place)
    with pytest.raises(RoundNotFoundError, match=r"^There is no round 'r1'\.$"):
        await site.store.load_summary("r1")


@in_memory_too
async def test_the_costs_remain_without_an_asker(site: Site) -> None:
    await store_all(site, a_round_at("r1", HERE), a_round_at("r2", replace(HERE, workspace="T2")))

    await site.store.delete_workspace("slack", "T1")

    assert await site.ledger.spent("r1") == Spending(7)
    used = await site.ledger.usage(Account("", DAY, "U1", "slack/T1/C1"))
    spent = [used[scope].spent for scope in (Scope.USER_DAY, Scope.CHANNEL_DAY, Scope.DAY)]
    assert spent == [7, 14, 14]
    assert await site.ledger.reserve(Account("r3", DAY, "U1"), 3, Caps(user_day=10)) is None


async def test_both_passes_of_a_judge_are_stored(store: Store) -> None:
    terms = replace(a_round().panel.terms, method="both-orders")
    whole = a_round(replace(a_round().panel, terms=terms))
    await store.open(whole)
    judges: Script = {GPT: ["nothing", "nothing", rank_by_slot, rank_by_slot]}

    closed = await run_round(whole.id, RoundServices(FakeGateway(judges=judges), store))
    stored = await store.load(whole.id)

    assert stored == closed
    assert len(stored.ballots) == 2 * len(stored.panel.members)
    assert {spoiled.pass_number for spoiled in stored.spoiled} == {1, 2}
    assert not verify(stored)
    seal = await store.seal(whole.id)
    assert seal
    assert not find_changes(stored, seal)
    assert await store.forget(whole.id, ASKED_AT, "salt")
    assert not verify(await store.load(whole.id))

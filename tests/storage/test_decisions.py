"""The contract of decisions in every round store: one of two wins, and they go with their round."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from council.budget_caps import Account, Scope
from council.errors import ForgottenError, RoundNotFoundError
from council.integrity.erasure import removable_texts
from council.integrity.seal import find_changes
from council.ports import Store
from council.rounds import Decision, Round, sort_by_panel
from storage.export import dump_round, parse_item
from storage.hash_chain import SqlHashChain
from storage.ledger import SqlLedger
from storage.rounds import SqlRoundStore
from tests.builders import ASKED_AT
from tests.disputes import a_decision, a_disputed_round
from tests.storage.builders import T1, in_memory_too

ROUND = sort_by_panel(a_disputed_round())
FIRST, SECOND = a_decision(), a_decision("Theirs.", by="U2", key="e2")
LATER = ASKED_AT + timedelta(days=1)


async def decided(store: Store, *decisions: Decision, round_: Round = ROUND) -> Round:
    """Store the round and its decisions; return it as it is then."""
    await store.open(round_)
    for number, decision in enumerate(decisions, start=1):
        assert await store.decide(round_.id, decision, number)
    return await store.load(round_.id)


@in_memory_too
async def test_decisions_come_back_in_their_order(store: Store) -> None:
    assert await decided(store, FIRST, SECOND) == replace(ROUND, decisions=(FIRST, SECOND))


@in_memory_too
async def test_of_two_decisions_at_once_one_wins(store: Store) -> None:
    await store.open(ROUND)

    won = await asyncio.gather(store.decide("r1", FIRST, 1), store.decide("r1", SECOND, 1))

    assert sorted(won) == [False, True]
    assert (await store.load("r1")).decisions == ((FIRST, SECOND)[won.index(True)],)


@in_memory_too
async def test_a_decision_is_sealed_and_chained(store: Store) -> None:
    await decided(store, FIRST, SECOND)

    seal = await store.seal("r1")

    assert seal
    assert seal.link
    links = (seal.link, *(one.link for one in seal.decisions))
    assert [link.number for link in links] == [1, 2, 3]
    assert find_changes(await store.load("r1"), seal) == ()
    tampered = replace(ROUND, decisions=(replace(FIRST, by="U9"), SECOND))
    assert find_changes(tampered, seal) == ("decisions[1], beside its texts",)


async def test_the_chain_of_decisions_can_be_walked(store: SqlRoundStore) -> None:
    place = replace(ROUND.question, place=T1)
    await decided(store, FIRST, round_=replace(ROUND, question=place))

    links = await SqlHashChain(store.engine).links("slack/T1", None, 10)

    assert [(one.link.number, one.has_round) for one in links] == [(1, True), (2, True)]


@in_memory_too
async def test_forgetting_erases_decisions(store: Store) -> None:
    await decided(store, FIRST)

    await store.forget("r1", LATER, "salt")

    gone, seal = await store.load("r1"), await store.seal("r1")
    assert removable_texts(gone) == ()
    assert gone.decisions[0].by == "U1"
    assert gone.decisions[0].synthesis.reply
    assert gone.decisions[0].synthesis.reply.cost_usd == pytest.approx(0.02)
    assert seal
    assert find_changes(gone, seal) == ()
    with pytest.raises(ForgottenError):
        await store.decide("r1", SECOND, 2)


@in_memory_too
async def test_decisions_of_one_person_are_listed_by_chat_and_time(store: Store) -> None:
    here = replace(ROUND, question=replace(ROUND.question, place=T1))
    await decided(store, FIRST, SECOND, round_=here)
    await decided(store, FIRST, round_=replace(ROUND, id="r2"))

    assert await store.list_decided("slack", "U1", ASKED_AT) == (ASKED_AT,)
    assert await store.list_decided("slack", "U1", LATER) == ()
    assert await store.list_decided("slack", "U3", ASKED_AT) == ()


@in_memory_too
async def test_a_deleted_round_takes_no_decision(store: Store) -> None:
    with pytest.raises(RoundNotFoundError):
        await store.decide("r1", FIRST, 1)


@pytest.mark.parametrize("forgotten", [False, True], ids=["remembered", "forgotten"])
async def test_an_exported_decision_can_be_imported_and_verified(
    store: SqlRoundStore, forgotten: bool
) -> None:
    await decided(store, FIRST, SECOND)
    if forgotten:
        await store.forget("r1", LATER, "salt")
    line = dump_round(await store.load("r1"), seal=await store.seal("r1"))
    exported = parse_item(line.replace('"r1"', '"r2"'))
    before = parse_item(line)

    assert exported.round_.decisions == before.round_.decisions  # type: ignore[union-attr]
    assert find_changes(before.round_, before.seal) == ()  # type: ignore[union-attr, arg-type]
    await store.import_round(exported.round_, exported.seal)  # type: ignore[union-attr]

    imported, seal = await store.load("r2"), await store.seal("r2")
    assert imported.decisions == before.round_.decisions  # type: ignore[union-attr]
    assert seal
    assert find_changes(imported, seal) == ()
    assert all(one.link.origin for one in seal.decisions)


async def test_a_round_from_elsewhere_without_a_seal_has_its_decisions_chained(
    store: SqlRoundStore,
) -> None:
    await store.import_round(replace(ROUND, decisions=(FIRST,)), None)

    seal = await store.seal("r1")

    assert seal
    assert [one.link.origin for one in seal.decisions] == ["elsewhere"]


async def test_a_deleted_workspace_leaves_what_its_decisions_cost_without_a_name(
    store: SqlRoundStore,
) -> None:
    await decided(store, FIRST, round_=replace(ROUND, question=replace(ROUND.question, place=T1)))
    ledger = SqlLedger(store.engine)
    account = Account(FIRST.key, ASKED_AT.date(), "U1", "slack/T1/C1")
    await ledger.settle(account, 20_000)

    await store.delete_workspace("slack", "T1")

    assert not (await ledger.usage(account))[Scope.USER_DAY].total
    assert (await ledger.spent(FIRST.key)).micro == 20_000

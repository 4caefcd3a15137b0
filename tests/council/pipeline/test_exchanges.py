"""Exchanges of a method: asked once, read strictly, resumed, sealed, forgotten and verified."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from council.answers import Absence, Call, Exchange, Prompt, Reply, Role, Scores
from council.ballots import BallotFault, parse_signed_object, read_exchange
from council.budget import estimate_round
from council.errors import ContextOverflowError, GatewayError
from council.integrity.erasure import forget, removable_texts
from council.integrity.seal import compute_digests
from council.integrity.verification import verify
from council.methods import Method, find_method
from council.money import Price
from council.pipeline.exchanges import Request, exchange_all
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices, RoundSession, finish_despite_cancel
from council.pipeline.stages import TOO_LONG_WHOLE, collect_ballots
from council.rounds import Draw, Round
from tests.builders import CLAUDE, GPT, TERMS, a_panel, a_round
from tests.fakes.gateway import FailingStore, FakeGateway, PowerCutError
from tests.fakes.memory_store import MemoryStore
from tests.registries import a_registry

PRICE = Price(0, 1e-6, 100)
NONCE = "00000000000000ab"
GOOD = f'{{"nonce": "{NONCE}", "sure": 4}}'


async def ask_to_note(session: RoundSession, _draw: Draw) -> None:
    seats = session.round_.panel.members
    await exchange_all(
        session, [Request("note", x, lambda _: Prompt("", "Note.")) for x in seats], 5
    )


def read_sure(text: str) -> Scores:
    return (("sure", float(str(parse_signed_object(text, NONCE)["sure"]))),)


async def ask_how_sure(session: RoundSession, draw: Draw) -> None:
    def prompt(fault: str | None) -> Prompt:
        return Prompt("How sure are you?", f"1 to 5. {fault or ''}")

    await exchange_all(
        session,
        [
            Request("sureness", seat, prompt, read=read_sure, nonce=NONCE)
            for seat in session.round_.panel.members
        ],
        5.0,
    )
    await collect_ballots(session, draw)


METHOD = Method(
    "sure",
    "Every model says how sure it is.",
    exchanges=lambda panel: {seat.key: 1 for seat in panel.members},
    read=lambda _, exchange: read_exchange(exchange, read_sure),
    collect=ask_how_sure,
)
PLUGGED_IN = a_registry(
    METHOD,
    Method("plain", "As the default."),
    Method("noted", "Every model notes something.", collect=ask_to_note),
)


def a_sure_round(name: str = "sure") -> Round:
    return a_round(a_panel(3, terms=replace(TERMS, method=name)), registry=PLUGGED_IN)


async def run(gateway: FakeGateway, name: str = "sure") -> Round:
    store, round_ = MemoryStore(), a_sure_round(name)
    await store.open(round_)
    return await run_round(round_.id, RoundServices(gateway, store))


async def test_each_member_is_asked_once_and_its_numbers_are_read_and_verified() -> None:
    round_ = await run(gateway := FakeGateway(exchange=lambda _: GOOD))

    assert [x.scores for x in round_.exchanges] == [(("sure", 4.0),)] * 3
    assert len(gateway.of(Role.STEP)) == 3
    assert len(round_.replies) == 3 + 3 + 3 + 1
    assert not verify(round_)
    changed = replace(round_.exchanges[0], scores=(("sure", 5.0),))
    faked = replace(round_, exchanges=(changed, *round_.exchanges[1:]))
    (difference,) = verify(faked)
    assert difference.field == f"sureness[{changed.seat} #1].scores"


async def test_a_reply_that_cannot_be_read_is_asked_for_once_more_naming_the_fault() -> None:
    replies = iter(("Four.", GOOD, GOOD, GOOD))
    round_ = await run(gateway := FakeGateway(exchange=lambda _: next(replies)))

    bad, good = (x for x in round_.exchanges if x.seat == gateway.of(Role.STEP)[0].member.key)
    assert (bad.attempt, bad.fault, bad.scores) == (1, BallotFault.NO_OBJECT.value, ())
    assert (good.attempt, good.fault) == (2, "")
    assert BallotFault.NO_OBJECT.value in good.prompt.user
    assert not verify(round_)


async def test_two_unreadable_replies_end_the_exchange() -> None:
    round_ = await run(FakeGateway(exchange=lambda _: "Four."))

    assert len(round_.exchanges) == 6
    assert round_.tally
    assert not verify(round_)


@pytest.mark.parametrize(
    ("error", "reason"),
    [(GatewayError("is down"), "is down"), (ContextOverflowError(""), TOO_LONG_WHOLE)],
)
async def test_a_seat_that_fails_is_absent_from_the_step_and_still_votes(
    error: GatewayError, reason: str
) -> None:
    def reply(call: Call) -> GatewayError | str:
        return error if call.member.key == GPT else GOOD

    round_ = await run(FakeGateway(exchange=reply))

    assert round_.absences == (Absence(GPT, Role.STEP, reason),)
    assert len(round_.exchanges) == 2
    assert len(round_.ballots) == 3


@pytest.mark.parametrize("saves", range(12))
async def test_a_resumed_round_asks_for_nothing_it_has(saves: int) -> None:
    def reply(call: Call) -> GatewayError | str:
        return GatewayError("is down") if call.member.key == CLAUDE else GOOD

    store = FailingStore(saves)
    gateway = FakeGateway(exchange=reply)
    await store.open(a_sure_round())
    with pytest.raises((PowerCutError, ExceptionGroup)):
        await run_round(a_sure_round().id, RoundServices(gateway, store))
    before = await store.load(a_sure_round().id)
    store.left, again = 99, FakeGateway(exchange=reply)

    round_ = await run_round(before.id, RoundServices(again, store))

    had = {exchange.seat for exchange in before.exchanges}
    had |= {absence.member for absence in before.absences}
    assert not had & {call.member.key for call in again.of(Role.STEP)}
    assert len(round_.exchanges) == 2
    assert not verify(round_)


async def test_texts_of_exchanges_are_sealed_and_forgotten_and_numbers_stay() -> None:
    round_ = await run(FakeGateway(exchange=lambda _: GOOD))
    first = round_.exchanges[0]

    assert f"sureness[{first.seat} #1]" in dict(removable_texts(round_))
    assert "exchanges, beside their texts" in dict(compute_digests(round_, "salt").parts)
    bare = replace(round_, exchanges=())
    assert "exchanges, beside their texts" not in dict(compute_digests(bare, "salt").parts)
    forgotten = forget(round_, datetime.now(UTC), "salt")
    assert forgotten.exchanges[0].reply.text == ""
    assert forgotten.exchanges[0].scores == first.scores
    assert not verify(forgotten)


async def test_any_text_will_do_where_no_numbers_are_read() -> None:
    round_ = await run(FakeGateway(), "noted")

    assert {(x.reply.text, x.scores, x.fault) for x in round_.exchanges} == {("I agree.", (), "")}


async def test_exchanges_are_in_the_estimate() -> None:
    gateway = FakeGateway(prices=dict.fromkeys((CLAUDE, GPT), PRICE))

    more = await estimate_round(a_sure_round(), gateway)

    assert more.micro > (await estimate_round(a_sure_round("plain"), gateway)).micro


async def test_a_seat_without_a_price_adds_nothing_to_the_estimate() -> None:
    gateway = FakeGateway(prices={GPT: None})

    estimate = await estimate_round(a_sure_round(), gateway)

    assert estimate.unknown


async def test_a_method_reads_an_exchange_as_it_is_unless_it_says_otherwise() -> None:
    assert find_method("plain", PLUGGED_IN).read(a_sure_round(), an_exchange()) == an_exchange()


def an_exchange() -> Exchange:
    return Exchange("note", CLAUDE, Prompt("", ""), Reply("Noted."))


async def test_what_was_paid_for_is_stored_although_the_round_is_cancelled() -> None:
    began, may_end, stored = asyncio.Event(), asyncio.Event(), list[str]()

    async def store() -> None:
        began.set()
        await may_end.wait()
        stored.append("reply")

    saving = asyncio.create_task(finish_despite_cancel(store()))
    await began.wait()
    saving.cancel()
    may_end.set()

    with pytest.raises(asyncio.CancelledError):
        await saving
    assert stored == ["reply"]

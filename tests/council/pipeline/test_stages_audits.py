"""The audit ballot is cast during the synthesis, never counted and never waited for long."""

import asyncio
from dataclasses import replace

import pytest

from council.answers import Call, Reply, Role
from council.ballots import AUDIT_ATTEMPT, Ballot
from council.errors import ContextOverflowError, GatewayError, StoreError
from council.integrity.verification import verify
from council.panel import Panel, Terms
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.ports import Gateway
from council.prompts.shared import nonce_for
from council.rounds import Artefact, Closing, Round, Synthesis
from tests.builders import NAMES, a_panel, a_round
from tests.council.pipeline.helpers import run_with_fakes
from tests.fakes.gateway import (
    FailingStore,
    FakeGateway,
    Hangs,
    PowerCutError,
    ScriptEntry,
    rank_by_text,
)
from tests.fakes.memory_store import MemoryStore

ALWAYS = Terms(audit_share=1)
PANEL = a_panel(4, terms=ALWAYS)
NEVER = a_panel(4, terms=Terms(audit_share=0))
HASTY = replace(ALWAYS, answer_seconds=0.01, ballot_seconds=0.01, synthesis_seconds=0.01)
NOT_JSON = "it held no JSON object with a ranking"
LONG = dict(zip(NAMES, ("a" * 6_000, "b" * 6_000, "c" * 6_000, "d" * 6_000), strict=False))


def _audits(round_: Round) -> list[Ballot]:
    return [ballot for ballot in round_.ballots if not ballot.counts]


def _without_audits(round_: Round) -> Round:
    return replace(
        round_,
        ballots=tuple(ballot for ballot in round_.ballots if ballot.counts),
        spoiled=tuple(spoiled for spoiled in round_.spoiled if not spoiled.is_audit),
        closing=Closing(0.0),
    )


async def _judge() -> str:
    """Return the judge of the audit ballot in these rounds."""
    (ballot,) = _audits(await run_with_fakes(a_round(PANEL)))
    return ballot.judge


async def _second_time(says: ScriptEntry, panel: Panel = PANEL) -> tuple[Round, FakeGateway]:
    gateway = FakeGateway(judges={await _judge(): [rank_by_text, says]})
    return await run_with_fakes(a_round(panel), gateway), gateway


async def test_an_order_audit_only_reverses_the_answers() -> None:
    gateway = FakeGateway()

    round_ = await run_with_fakes(a_round(PANEL), gateway)

    (audit,) = _audits(round_)
    first, again = gateway.of(Role.BALLOT, audit.judge)
    assert _texts(again) == _texts(first)[::-1]
    nonces = nonce_for("seed", audit.judge), nonce_for("seed", audit.judge, "order")
    assert again.prompt.system == first.prompt.system
    assert _frame(again, nonces[1]) == _frame(first, nonces[0])
    assert again.temperature == first.temperature
    assert again.schema != first.schema


def _texts(call: Call) -> list[str]:
    return [part for part in call.prompt.user.split("\n") if part.startswith("Answer ")]


def _frame(call: Call, nonce: str) -> list[str]:
    lines = call.prompt.user.replace(nonce, "nonce").split("\n")
    return [line for line in lines if not line.startswith("Answer ")]


async def test_an_audit_changes_nothing_else() -> None:
    audited, plain = await run_with_fakes(a_round(PANEL)), await run_with_fakes(a_round(NEVER))

    assert len(_audits(audited)) == 1
    assert _without_audits(audited) == replace(plain, panel=PANEL)
    assert len(audited.replies) == len(plain.replies) + 1


@pytest.mark.parametrize(
    "says",
    [
        pytest.param(GatewayError("is out of credit"), id="fails"),
        pytest.param(ContextOverflowError("takes no more"), id="overflows"),
        pytest.param(Hangs(), id="hangs"),
    ],
)
async def test_a_failed_audit_leaves_no_trace(says: ScriptEntry) -> None:
    plain = await run_with_fakes(a_round(NEVER))

    round_, _ = await _second_time(says, a_panel(4, terms=HASTY))

    assert replace(round_, panel=NEVER) == plain


async def test_a_spoiled_audit_ballot_is_stored_and_not_retried() -> None:
    judge = await _judge()

    round_, gateway = await _second_time(Reply("B is best.", cost_usd=0.5))

    (spoiled,) = round_.spoiled
    assert (spoiled.judge, spoiled.fault, spoiled.is_audit) == (judge, NOT_JSON, True)
    assert len(gateway.of(Role.BALLOT, judge)) == 2
    assert sum(reply.cost_usd or 0 for reply in round_.replies) == 0.5
    assert _without_audits(round_) == replace(await run_with_fakes(a_round(NEVER)), panel=PANEL)


async def test_a_judge_whose_ballots_were_spoiled_is_not_audited() -> None:
    gateway = FakeGateway(judges={await _judge(): "B is best."})

    round_ = await run_with_fakes(a_round(PANEL), gateway)

    assert _audits(round_) == []
    assert [spoiled.is_audit for spoiled in round_.spoiled] == [False, False]


async def test_a_retried_judge_is_audited_with_its_counted_prompt() -> None:
    judge = await _judge()
    gateway = FakeGateway(judges={judge: ["B is best.", rank_by_text]})

    round_ = await run_with_fakes(a_round(PANEL), gateway)

    (audit,) = _audits(round_)
    assert audit.judge == judge
    _, counted, again = gateway.of(Role.BALLOT, judge)
    assert f"could not be counted because {NOT_JSON}." in counted.prompt.user
    assert f"could not be counted because {NOT_JSON}." in again.prompt.user


async def test_an_audit_shows_shortened_answers_at_the_same_length() -> None:
    judge = await _judge()
    overflow = ContextOverflowError("takes no more")
    gateway = FakeGateway(answers=LONG, judges={judge: [overflow, rank_by_text]})

    round_ = await run_with_fakes(a_round(PANEL), gateway)

    papers = [b.paper for b in round_.ballots if b.judge == judge and b.paper]
    assert [paper.cut_to for paper in papers] == [1_000, 1_000]
    assert [paper.attempt for paper in papers] == [1, AUDIT_ATTEMPT]


async def test_an_audit_never_reaches_the_chairman() -> None:
    silent = GatewayError("is silent")
    whole = await run_with_fakes(a_round(PANEL))
    (audit,) = _audits(whole)
    resumed = replace(whole, synthesis=None, closing=None)
    resumed = replace(
        resumed,
        ballots=tuple(b if b.counts else replace(b, reason="Sesame.") for b in resumed.ballots),
    )
    gateway = FakeGateway(chairmen={audit.judge: silent})

    await run_with_fakes(resumed, gateway)

    assert gateway.of(Role.SYNTHESIS)
    assert not any("Sesame" in call.prompt.user for call in gateway.of(Role.SYNTHESIS))


class _Slow(FakeGateway):
    """A gateway on which the audit hangs, or the synthesis waits until the audit is saved."""

    def __init__(self, audited: asyncio.Event | None = None) -> None:
        super().__init__()
        self.audited = audited

    async def complete(self, call: Call) -> Reply:
        reply = await super().complete(call)
        role = Role.SYNTHESIS if call.on_text else None
        if self.audited and role:
            await self.audited.wait()
        again = len(self.of(Role.BALLOT, call.member.key)) > 1
        if not self.audited and again and not role:
            await asyncio.Event().wait()
        return reply


async def _run(
    gateway: Gateway, store: MemoryStore, reported: list[Round], grace: float = 2.0
) -> Round:
    await store.open(a_round(PANEL))
    services = RoundServices(
        gateway,
        store,
        clock=lambda: 0.0,
        on_round=reported.append,
        on_text=lambda _: None,
        audit_grace_seconds=grace,
    )
    return await run_round("r1", services)


async def test_a_late_audit_is_dropped_after_the_grace_period() -> None:
    reported: list[Round] = []

    async with asyncio.timeout(5):  # its ballot deadline is a minute away
        round_ = await _run(_Slow(), MemoryStore(), reported, grace=0.01)

    assert _audits(round_) == []
    assert [bool(seen.synthesis) for seen in reported[-3:]] == [False, True, True]
    assert round_.closing == Closing(0.0)
    assert round_.absences == ()


class _AuditSignalStore(MemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self.audited = asyncio.Event()

    async def save(self, round_id: str, *artefacts: Artefact) -> None:
        await super().save(round_id, *artefacts)
        if any(isinstance(artefact, Ballot) and artefact.audit for artefact in artefacts):
            self.audited.set()


async def test_a_ready_audit_is_saved_before_the_synthesis() -> None:
    store, reported = _AuditSignalStore(), list[Round]()

    async with asyncio.timeout(5):
        round_ = await _run(_Slow(store.audited), store, reported)

    assert len(_audits(round_)) == 1
    assert [len(_audits(seen)) for seen in reported[-3:]] == [1, 1, 1]
    assert await store.load("r1") == round_


class _Unwritable(MemoryStore):
    def __init__(self, kind: type[Artefact]) -> None:
        super().__init__()
        self.kind = kind

    async def save(self, round_id: str, *artefacts: Artefact) -> None:
        for artefact in artefacts:
            if isinstance(artefact, self.kind) and getattr(artefact, "audit", True):
                raise StoreError("The disk is full.")
        await super().save(round_id, *artefacts)


@pytest.mark.parametrize("kind", [Synthesis, Ballot])
async def test_a_store_error_is_raised_as_itself(kind: type[Artefact]) -> None:
    with pytest.raises(StoreError, match="The disk is full."):
        await run_with_fakes(a_round(PANEL), store=_Unwritable(kind))


# 4 answers, the draw, 4 ballots, the tally, the synthesis, the audit ballot, the end
SAVES = 4 + 1 + 4 + 1 + 1 + 1 + 1


@pytest.mark.parametrize("saves", range(SAVES + 1))
@pytest.mark.parametrize("says", [rank_by_text, "B is best."], ids=["ranked", "spoiled"])
async def test_a_resumed_round_has_at_most_one_audit_ballot(saves: int, says: ScriptEntry) -> None:
    judge, store = await _judge(), FailingStore(saves)
    if saves < SAVES:
        with pytest.raises((PowerCutError, ExceptionGroup)):
            await run_with_fakes(
                a_round(PANEL), FakeGateway(judges={judge: [rank_by_text, says]}), store
            )
    store.left = 1_000
    stored = await store.load("r1") if saves < SAVES else a_round(PANEL)
    voted = any(ballot.judge == judge for ballot in stored.ballots)
    gateway = FakeGateway(judges={judge: says if voted else [rank_by_text, says]})

    round_ = await run_with_fakes(a_round(PANEL), gateway, store)

    audits = [*_audits(round_), *(spoiled for spoiled in round_.spoiled if spoiled.is_audit)]
    assert len(audits) == (0 if stored.synthesis and not _has_audit(stored) else 1)
    if _has_audit(stored):
        assert not gateway.of(Role.BALLOT)
    assert _without_audits(round_) == replace(await run_with_fakes(a_round(NEVER)), panel=PANEL)
    assert verify(round_) == ()


def _has_audit(round_: Round) -> bool:
    return bool(_audits(round_)) or any(spoiled.is_audit for spoiled in round_.spoiled)

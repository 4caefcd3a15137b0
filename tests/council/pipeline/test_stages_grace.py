"""Nobody waits for the slowest: grace periods, late replies, stand-ins, rival chairmen."""

import asyncio
from dataclasses import replace

import pytest

from council.answers import Absence, LateReply, Reply, Role
from council.errors import ContextOverflowError, GatewayError, UncoveredError
from council.integrity.seal import find_changes
from council.integrity.verification import verify
from council.pipeline.run import run_round
from council.pipeline.session import CHAIRMAN_SECONDS, RoundServices, missing_to_majority
from council.rounds import Fallback, Round
from council.tally import Flag, FlagKind
from tests.builders import CLAUDE, DEEPSEEK, GEMINI, GPT, GROK, TERMS, a_member, a_panel, a_round
from tests.fakes.gateway import FakeGateway, Hangs, Held, Late, ScriptEntry
from tests.fakes.memory_store import MemoryStore

GRACE = replace(TERMS, grace_seconds=0.05, answer_seconds=2, ballot_seconds=2, synthesis_seconds=2)
LEFT = "took over 0.05 s longer than most, so the round went on without it"
SLOW = Held("Slow but sure.")


async def run(
    gateway: FakeGateway,
    round_: Round | None = None,
    store: MemoryStore | None = None,
    patience: float = 0.05,
) -> tuple[Round, Round]:
    """Return a round of four with grace as it closed, and with the replies that came later."""
    store, round_ = store or MemoryStore(), round_ or a_round(a_panel(4, terms=GRACE))
    await store.open(round_)
    services = RoundServices(gateway, store, patience=lambda _: patience)
    async with asyncio.timeout(5):
        closed = await run_round(round_.id, services)
        gateway.released.set()
        await services.late.wait()
    return closed, await store.load(round_.id)


async def test_a_round_goes_on_without_a_slow_answer_and_stores_it_when_it_comes() -> None:
    closed, later = await run(FakeGateway(answers={GPT: SLOW}))

    assert [answer.member for answer in closed.answers] == [CLAUDE, GEMINI, DEEPSEEK]
    assert closed.absences == (Absence(GPT, Role.ANSWER, LEFT),)
    assert closed.tally is not None
    assert len(closed.tally.standings) == 3
    assert closed.late == ()
    (late,) = later.late
    assert (late.member, late.role, late.reply.text) == (GPT, Role.ANSWER, "Slow but sure.")
    assert late.prompt.user == later.question.text
    assert replace(later, late=()) == closed
    assert late.reply in later.replies


async def test_a_late_reply_changes_neither_seal_nor_verification() -> None:
    store = MemoryStore()
    _, later = await run(FakeGateway(answers={GPT: SLOW}), store=store)

    seal = await store.seal(later.id)
    assert seal is not None
    assert find_changes(later, seal) == ()
    assert verify(later) == ()


async def test_a_round_goes_on_without_a_slow_ballot_and_stores_it_when_it_comes() -> None:
    slow: ScriptEntry = Held("no ballot at all")
    closed, later = await run(FakeGateway(judges={GPT: slow}))

    assert closed.absences == (Absence(GPT, Role.BALLOT, LEFT),)
    assert [ballot.judge for ballot in closed.ballots] == [CLAUDE, GEMINI, DEEPSEEK]
    assert closed.spoiled == ()
    assert [(late.member, late.role) for late in later.late] == [(GPT, Role.BALLOT)]


async def test_a_spoiled_ballot_is_asked_for_again_within_the_grace_period_alone() -> None:
    gateway = FakeGateway(judges={GPT: ["spoiled", Held("spoiled again")]})

    closed, later = await run(gateway)

    assert [spoiled.paper.attempt for spoiled in closed.spoiled] == [1]
    assert closed.absences == (Absence(GPT, Role.BALLOT, LEFT),)
    assert [late.reply.text for late in later.late] == ["spoiled again"]


async def test_who_fails_after_the_grace_period_leaves_nothing_behind() -> None:
    terms = replace(GRACE, answer_seconds=0.2, ballot_seconds=0.2)
    round_ = a_round(a_panel(4, terms=terms))

    closed, later = await run(FakeGateway(answers={GPT: Hangs()}, judges={CLAUDE: Hangs()}), round_)

    assert {(a.member, a.role) for a in closed.absences} == {
        (GPT, Role.ANSWER),
        (CLAUDE, Role.BALLOT),
    }
    assert later == closed


async def test_a_reply_within_the_grace_period_counts() -> None:
    terms = replace(GRACE, grace_seconds=1)

    closed, _ = await run(
        FakeGateway(answers={GPT: Late("Just in time.", 0.05)}), a_round(a_panel(4, terms=terms))
    )

    assert len(closed.answers) == 4
    assert not closed.absences


async def test_grace_does_not_begin_before_the_quorum() -> None:
    terms = replace(GRACE, quorum=4)

    closed, _ = await run(
        FakeGateway(answers={GPT: Late("Needed.", 0.2)}), a_round(a_panel(4, terms=terms))
    )

    assert len(closed.answers) == 4


@pytest.mark.parametrize(
    ("seats", "quorum", "delivered", "missing"),
    [(4, 2, 0, 3), (4, 4, 0, 4), (5, 2, 1, 2), (3, 5, 0, 3), (2, 1, 2, 0)],
)
def test_a_majority_is_more_than_half_and_no_fewer_than_the_quorum(
    seats: int, quorum: int, delivered: int, missing: int
) -> None:
    assert missing_to_majority(seats, quorum, delivered) == missing


async def test_a_round_that_is_stopped_stops_its_late_calls() -> None:
    store, round_ = MemoryStore(), a_round(a_panel(4, terms=GRACE))
    await store.open(round_)
    judges: dict[str, ScriptEntry] = dict.fromkeys((CLAUDE, GEMINI, DEEPSEEK, GPT), Hangs())
    gateway = FakeGateway(answers={GPT: SLOW}, judges=judges)
    services = RoundServices(gateway, store)
    running = asyncio.create_task(run_round(round_.id, services))
    async with asyncio.timeout(5):
        while not (await store.load(round_.id)).draw:  # noqa: ASYNC110 - the store tells nobody
            await asyncio.sleep(0.01)

    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    gateway.released.set()
    await services.late.wait()

    assert (await store.load(round_.id)).late == ()


# --- Stand-ins


def with_stand_in() -> Round:
    member = replace(a_member(GPT), fallback=a_member(GROK))
    panel = a_panel(4, terms=GRACE)
    members = tuple(member if seat.key == GPT else seat for seat in panel.members)
    return a_round(replace(panel, members=members))


async def test_a_stand_in_takes_the_seat_of_a_member_that_cannot_be_reached() -> None:
    gateway = FakeGateway(answers={GPT: GatewayError("is down"), GROK: "From the bench."})

    closed, _ = await run(gateway, with_stand_in())

    assert [seat.key for seat in closed.panel.members] == [CLAUDE, GROK, GEMINI, DEEPSEEK]
    assert closed.absences == (Absence(GPT, Role.ANSWER, "is down"),)
    assert "From the bench." in [answer.text for answer in closed.answers]
    assert GROK in [ballot.judge for ballot in closed.ballots]
    assert GPT not in [ballot.judge for ballot in closed.ballots]
    assert closed.tally is not None
    assert closed.tally.verdict.flags == (Flag(FlagKind.STAND_IN, GROK, ("GPT-5.1",)),)
    assert verify(closed) == ()


@pytest.mark.parametrize("error", [UncoveredError("x"), ContextOverflowError("x")])
async def test_no_stand_in_is_asked_what_the_member_was_not(error: GatewayError) -> None:
    closed, _ = await run(FakeGateway(answers={GPT: error}), with_stand_in())

    assert closed.absences == (Absence(GPT, Role.ANSWER, "x"),)
    assert not closed.panel.replaced


async def test_a_member_that_fails_when_it_is_late_has_no_stand_in() -> None:
    round_ = with_stand_in()
    terms = replace(GRACE, answer_seconds=0.2)

    closed, later = await run(
        FakeGateway(answers={GPT: Hangs()}),
        replace(round_, panel=replace(round_.panel, terms=terms)),
    )

    assert closed.absences == (Absence(GPT, Role.ANSWER, LEFT),)
    assert not later.panel.replaced


# --- Chairmen


async def test_the_next_chairman_is_asked_when_the_first_sends_nothing() -> None:
    chairmen: dict[str, ScriptEntry] = {CLAUDE: Held("Too late."), GPT: "In time."}

    closed, later = await run(FakeGateway(chairmen=chairmen))

    assert closed.synthesis is not None
    assert (closed.synthesis.text, closed.synthesis.chairman) == ("In time.", GPT)
    assert closed.synthesis.fallback is Fallback.CHAIRMAN
    why = "was still writing when GPT-5.1 had finished"
    assert closed.absences == (Absence(CLAUDE, Role.SYNTHESIS, why),)
    assert [(late.role, late.reply.text) for late in later.late] == [(Role.SYNTHESIS, "Too late.")]


async def test_a_chairman_who_writes_has_no_rival() -> None:
    gateway = FakeGateway(chairmen={CLAUDE: Late("Slow and complete.", 1.5, "Slow")})

    closed, _ = await run(gateway, patience=0.7)

    assert closed.synthesis is not None
    assert closed.synthesis.text == "Slow and complete."
    assert len(gateway.of(Role.SYNTHESIS)) == 1


async def test_the_first_chairman_may_still_win() -> None:
    gateway = FakeGateway(chairmen={CLAUDE: Late("First after all.", 0.5), GPT: Held("")})

    closed, later = await run(gateway, a_round(a_panel(4, chairmen=(CLAUDE, GPT), terms=GRACE)))

    assert closed.synthesis is not None
    assert (closed.synthesis.text, closed.synthesis.fallback) == ("First after all.", None)
    assert later.late == ()
    assert [absence.member for absence in later.absences] == [GPT]


async def test_of_two_chairmen_who_finish_at_once_one_is_late() -> None:
    store = MemoryStore()
    round_ = a_round(a_panel(4, chairmen=(CLAUDE, GPT), terms=GRACE))
    gate = asyncio.Event()

    class AtOnce(FakeGateway):
        async def complete(self, call: object) -> Reply:
            reply = await super().complete(call)  # type: ignore[arg-type]
            if reply.text == "The council says yes.":
                if len(self.of(Role.SYNTHESIS)) == 2:
                    gate.set()
                await gate.wait()
            return reply

    closed, later = await run(AtOnce(), round_, store)

    assert closed.synthesis is not None
    assert [late.role for late in later.late] == [Role.SYNTHESIS]
    assert {closed.synthesis.chairman, later.late[0].member} == {CLAUDE, GPT}


async def test_a_chairman_who_fails_beside_another_is_absent_once() -> None:
    gateway = FakeGateway(
        chairmen={CLAUDE: Late("The end.", 0.5), GPT: GatewayError("is down"), GEMINI: Hangs()}
    )
    terms = replace(GRACE, synthesis_seconds=1)

    closed, _ = await run(gateway, a_round(a_panel(4, chairmen=(CLAUDE, GPT, GEMINI), terms=terms)))

    assert closed.synthesis is not None
    assert closed.synthesis.text == "The end."
    assert [a.member for a in closed.absences] == [GPT, GEMINI]


async def test_the_draft_of_one_chairman_is_shown_at_a_time() -> None:
    drafts: list[str] = []
    store, round_ = MemoryStore(), a_round(a_panel(4, terms=GRACE))
    await store.open(round_)
    chairmen: dict[str, ScriptEntry] = {
        CLAUDE: Late("", 0.1, "Claude begins"),
        GPT: Late("Done.", 0.1, "GPT begins"),
    }
    services = RoundServices(FakeGateway(chairmen=chairmen), store, on_text=drafts.append)

    await run_round(round_.id, services)

    assert drafts == ["Claude begins", "GPT begins"]
    assert services.patience(CLAUDE) == CHAIRMAN_SECONDS


async def test_every_late_ranking_of_a_judge_is_stored() -> None:
    gateway = FakeGateway(judges={GPT: Held("Too late.")})
    panel = a_panel(4, terms=replace(GRACE, method="both-orders"))

    closed, later = await run(gateway, a_round(panel))

    assert not closed.late
    assert [(late.member, late.pass_number) for late in later.late] == [(GPT, 1), (GPT, 2)]
    assert len(later.replies) == len(gateway.asked)


async def test_a_late_reply_to_a_forgotten_round_is_dropped() -> None:
    store = MemoryStore()
    round_ = a_round(a_panel(4, terms=GRACE))
    await store.open(round_)
    gateway = FakeGateway(answers={GPT: SLOW})
    services = RoundServices(gateway, store)
    await run_round(round_.id, services)
    await store.forget(round_.id, round_.asked_at, "salt")

    gateway.released.set()
    await services.late.wait()

    assert (await store.load(round_.id)).late == ()


async def test_forgetting_erases_late_replies() -> None:
    store = MemoryStore()
    _, later = await run(FakeGateway(answers={GPT: SLOW}), store=store)

    await store.forget(later.id, later.asked_at, "salt")

    (late,) = (await store.load(later.id)).late
    assert (late.reply.text, late.prompt.user, late.prompt.system) == ("", "", "")
    assert isinstance(late, LateReply)

"""Outside judges rank in both orders, so that a liking for a slot cancels on every panel."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from council.answers import Call, Reply, Role
from council.ballots import Ballot
from council.budget import estimate_round
from council.errors import GatewayError
from council.integrity.verification import verify
from council.labels import Slate, draw_labels, draw_slates, reverse_slates
from council.methods import METHODS
from council.money import Price
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.round_rules import AUDIT_POLICY, compute_draw, due_audit
from council.rounds import Round
from council.tally import Strength, Tally, count_ballots
from council.tally.chance_rule import INDEPENDENT, SHARED_ERRORS, ChanceRule
from tests.builders import TERMS, a_member, a_panel, a_round, labels
from tests.fakes.gateway import FakeGateway, ReadPrompt, rank_by_slot, rank_by_slot_reversed
from tests.fakes.memory_store import MemoryStore

OUTSIDE = tuple(a_member(f"xai/judge-{n}") for n in range(2))
JUDGE = OUTSIDE[0].key


def a_round_by(method: str = "blind-ranking", members: int = 3, outside: int = 1) -> Round:
    panel = a_panel(members, terms=replace(TERMS, method=method, audit_share=0.0))
    return a_round(replace(panel, outside_judges=OUTSIDE[:outside]))


async def run(gateway: FakeGateway, round_: Round) -> Round:
    store = MemoryStore()
    await store.open(round_)
    return await run_round(round_.id, RoundServices(gateway, store))


async def test_an_outside_judge_sees_the_answers_in_both_orders_and_a_member_in_one() -> None:
    gateway = FakeGateway()

    round_ = await run(gateway, a_round_by(members=4, outside=2))

    asked = Counter(call.member.key for call in gateway.of(Role.BALLOT))
    assert {asked[seat.key] for seat in round_.panel.members} == {1}
    assert {asked[seat.key] for seat in OUTSIDE} == {2}
    first, second = (x for x in round_.ballots if x.judge == JUDGE)
    assert (first.pass_number, second.pass_number) == (1, 2)
    assert first.shown == second.shown[::-1]
    assert not verify(round_)


class Concurrent(FakeGateway):
    """Counts how many calls of the outside judge run at once."""

    running = most = 0

    async def complete(self, call: Call) -> Reply:
        self.running += call.member.key == JUDGE
        self.most = max(self.most, self.running)
        for _ in range(20):  # a second call, if it does not wait for the first, begins meanwhile
            await asyncio.sleep(0)
        reply = await super().complete(call)
        self.running -= call.member.key == JUDGE
        return reply


async def test_its_two_calls_run_at_once() -> None:
    gateway = Concurrent()

    await run(gateway, a_round_by())

    assert gateway.most == 2


@pytest.mark.parametrize("version", [INDEPENDENT, SHARED_ERRORS])
async def test_a_round_of_an_earlier_rule_keeps_its_one_order_and_verifies(version: str) -> None:
    asked = a_round_by()
    rule = ChanceRule(version, 0.0 if version == INDEPENDENT else 0.15)

    round_ = await run(FakeGateway(), replace(asked, versions=tuple(rule.versions.items())))

    assert [ballot.pass_number for ballot in round_.ballots] == [1] * 4
    assert not verify(round_)


async def test_an_outside_judges_rankings_weigh_as_one() -> None:
    # Members agree on the order of the texts; the outside judge likes slots, so all tie for it.
    round_ = await run(FakeGateway(judges={JUDGE: [rank_by_slot, rank_by_slot]}), a_round_by())

    assert round_.tally
    first, *_ = round_.tally.standings
    assert (first.points, first.max_points) == (3.0, 4)  # 1 of 1 by two members, 1 of 2 by it
    assert first.share == 0.75
    assert round_.tally.verdict.first_on == (2, 3)
    assert round_.tally.verdict.strength is not Strength.UNANIMOUS


async def test_first_in_one_order_alone_is_not_unanimous() -> None:
    def rank_by_text_then_slot(shown: ReadPrompt) -> str:
        best = min(shown.texts, key=lambda letter: shown.texts[letter])
        return shown.ballot(" ".join(sorted(shown.texts, key=lambda x: x != best)))

    worst = [rank_by_text_then_slot, rank_by_slot_reversed]
    round_ = await run(FakeGateway(judges={JUDGE: worst}), a_round_by())

    assert round_.tally
    assert round_.tally.verdict.strength is not Strength.UNANIMOUS


def spoil(_: ReadPrompt) -> str:
    return "I rank none."


class SecondOrderFails(FakeGateway):
    """Judges of whom an outside one can be reached for its first order alone."""

    async def complete(self, call: Call) -> Reply:
        before = [one.member.key for one in self.of(Role.BALLOT)]
        if call.role is Role.BALLOT and call.member.key == JUDGE and JUDGE in before:
            raise GatewayError("could not be reached")
        return await super().complete(call)


async def test_if_its_second_order_is_absent_the_first_alone_counts() -> None:
    round_ = await run(SecondOrderFails(), a_round_by())

    assert [x.pass_number for x in round_.ballots if x.judge == JUDGE] == [1]
    assert round_.tally
    assert round_.tally.standings[0].share == 1.0
    assert round_.tally.verdict.strength is Strength.UNANIMOUS
    assert round_.tally.verdict.first_on == (3, 3)
    assert not verify(round_)


async def test_if_its_second_order_is_spoiled_the_first_alone_counts() -> None:
    whole = await run(FakeGateway(), a_round_by())
    first = tuple(x for x in whole.ballots if x.pass_number == 1)
    stopped = replace(whole, ballots=first, tally=None, synthesis=None, closing=None)

    round_ = await run(FakeGateway(judges={JUDGE: [spoil, spoil]}), stopped)

    assert [(x.judge, x.pass_number) for x in round_.spoiled] == [(JUDGE, 2), (JUDGE, 2)]
    assert round_.ballots == first
    assert round_.tally
    assert round_.tally.standings[0].share == 1.0
    assert not verify(round_)


async def test_a_stopped_round_asks_only_for_the_missing_order() -> None:
    whole = await run(FakeGateway(), a_round_by())
    some = tuple(x for x in whole.ballots if x.pass_number == 1)
    gateway = FakeGateway()

    round_ = await run(
        gateway, replace(whole, ballots=some, tally=None, synthesis=None, closing=None)
    )

    assert [call.member.key for call in gateway.of(Role.BALLOT)] == [JUDGE]
    assert (round_.ballots, round_.tally) == (whole.ballots, whole.tally)


async def test_an_outside_judge_alone_ranks_two_answers_in_both_orders() -> None:
    by_text = await run(FakeGateway(), a_round_by(members=2))
    by_slot = await run(FakeGateway(vote=rank_by_slot), a_round_by(members=2))

    assert by_text.tally
    assert by_slot.tally
    assert [line.share for line in by_text.tally.standings] == [1.0, 0.0]
    assert by_text.tally.verdict.too_few_judges
    assert {line.place for line in by_slot.tally.standings} == {1}
    assert not verify(by_text)


async def test_one_valid_ranking_of_all_is_counted_and_is_never_sure() -> None:
    spoiled = {seat.key: [spoil, spoil] for seat in a_panel(3).members}
    outside = {JUDGE: [spoil, spoil, rank_by_slot, rank_by_slot]}  # in whichever order

    round_ = await run(FakeGateway(judges={**spoiled, **outside}), a_round_by())

    assert round_.tally
    assert round_.tally.standings
    assert not round_.tally.verdict.is_sure
    assert round_.tally.verdict.too_few_judges
    assert not verify(round_)


async def test_judges_that_tie_all_answers_find_no_consensus() -> None:
    def tie(shown: ReadPrompt) -> str:
        return shown.ballot("=".join(shown.texts))

    round_ = await run(FakeGateway(vote=tie), a_round_by(members=5))

    assert round_.tally
    assert {line.place for line in round_.tally.standings} == {1}
    assert round_.tally.verdict.strength is Strength.NO_CONSENSUS
    assert round_.tally.verdict.p == 1
    assert not verify(round_)


@pytest.mark.parametrize(("outside", "more"), [(0, 0), (1, 1), (2, 2)])
@pytest.mark.parametrize("method", ["blind-ranking", "both-orders"])
async def test_the_estimate_has_one_more_call_for_each_outside_judge_and_one_order(
    method: str, outside: int, more: int
) -> None:
    asked = a_round_by(method, outside=outside)
    price = Price(0, 1e-6, 100)  # a call costs 100 micro-dollars at most
    prices = dict.fromkeys((seat.key for seat in asked.panel.seats), price)
    old = replace(asked, versions=tuple(ChanceRule(SHARED_ERRORS, 0.15).versions.items()))

    now, before = [
        (await estimate_round(round_, FakeGateway(prices=prices))).micro for round_ in (asked, old)
    ]

    assert now - before == (100 * more if METHODS[method].passes == 1 else 0)


def test_an_audit_repeats_an_outside_judges_first_order() -> None:
    asked = a_round_by(members=2)
    panel = replace(asked.panel, terms=replace(asked.panel.terms, audit_share=1.0))
    kinds = set()
    for number in range(30):
        versions = (*asked.versions, ("audits", AUDIT_POLICY))
        round_ = replace(asked, panel=panel, seed=f"s{number}", versions=versions)
        draw = compute_draw(round_)
        (first, _) = draw.slates
        ballot = Ballot(JUDGE, first.shown, tuple((label,) for label in first.shown))

        audit = due_audit(replace(round_, ballots=(ballot,)), draw)

        if audit:
            kinds.add(audit.kind)
            assert audit.first == ballot
            assert audit.slate.shown in {first.shown, first.shown[::-1]}
    assert kinds == {"order", "named"}


# --- Habits


def tally_of(seed: str, members: int, outside: int, habit: Callable[[Slate], list[str]]) -> Tally:
    """Return the count of a round whose judges all rank slots by habit; ties are "B=C"."""
    drawn = draw_labels([str(i) for i in range(members)], seed)
    judges = [f"x{i}" for i in range(outside)]
    ballots = [
        Ballot(
            slate.judge,
            slate.shown,
            tuple(tuple(map(slate.label_at, place.split("="))) for place in habit(slate)),
            pass_number=slate.pass_number,
        )
        for slate in reverse_slates(draw_slates(drawn, judges, seed), judges)
    ]
    return count_ballots(drawn.labels, ballots, seed)


def by_slot(slate: Slate) -> list[str]:
    return [*slate.letters]


def by_slot_reversed(slate: Slate) -> list[str]:
    return [*slate.letters][::-1]


def b_first(slate: Slate) -> list[str]:
    return sorted(slate.letters, key=lambda letter: letter != "B")


def only_a(slate: Slate) -> list[str]:
    return ["A", "=".join(slate.letters[1:])]


def middle_first(slate: Slate) -> list[str]:
    middle = len(slate.letters) // 2
    return [*slate.letters[middle:], *slate.letters[:middle]]


PANELS = [(members, outside) for members in range(3, 9) for outside in range(3)]


@pytest.mark.parametrize("habit", [by_slot, by_slot_reversed])
@pytest.mark.parametrize(("members", "outside"), PANELS)
def test_judges_of_the_first_or_the_last_slot_tie_on_every_panel(
    members: int, outside: int, habit: Callable[[Slate], list[str]]
) -> None:
    for number in range(5):
        tally = tally_of(f"s{number}", members, outside, habit)

        assert {line.place for line in tally.standings} == {1}
        assert tally.verdict.strength is Strength.NO_CONSENSUS


@pytest.mark.parametrize("habit", [b_first, only_a, middle_first])
def test_other_habits_never_lead_to_a_claim_in_720_rounds(
    habit: Callable[[Slate], list[str]],
) -> None:
    tallies = [
        tally_of(f"s{number}", members, outside, habit)
        for members, outside in PANELS
        for number in range(40)
    ]

    assert len(tallies) == 720
    assert not any(tally.verdict.is_sure for tally in tallies)


def test_an_odd_number_of_passes_becomes_even_half_of_them_in_reverse() -> None:
    x, y = (Slate(judge, labels("K L M")) for judge in "xy")
    three = [x, replace(x, shown=labels("L M K"), pass_number=2), replace(x, pass_number=3)]
    two = [y, replace(y, pass_number=2)]

    assert reverse_slates([*three, *two], {"x", "y"}) == (
        *three[:2],
        replace(x, shown=labels("M L K"), pass_number=3),
        replace(x, shown=labels("K M L"), pass_number=4),
        *two,
    )
    assert reverse_slates([*three, *two], {"y"}) == (*three, *two)

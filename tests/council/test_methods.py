"""Methods other than the default: several passes, judges from outside, and the same guarantees."""

from dataclasses import replace

import pytest

from council.answers import Role
from council.errors import PanelError
from council.integrity.verification import verify
from council.labels import draw_labels, draw_slates
from council.methods import METHODS, PANEL_OF_JUDGES, draw_both_orders, find_method
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.registry import NO_PLUGINS
from council.round_rules import compute_draw, due_audit
from council.rounds import Round
from council.tally import Strength
from council.tally.borda import merge_passes, pair_matrix, standings
from council.tally.chance_rule import ChanceRule
from tests.builders import CLAUDE, GPT, TERMS, a_ballot, a_member, a_panel, a_round, labels
from tests.fakes.gateway import FakeGateway, ReadPrompt, rank_by_slot, rank_by_slot_reversed
from tests.fakes.memory_store import MemoryStore

OUTSIDE = tuple(a_member(f"xai/judge-{n}") for n in range(3))


def a_round_by(method: str, members: int = 4, outside: int = 0) -> Round:
    terms = replace(TERMS, method=method, audit_share=1.0)
    panel = replace(a_panel(members, terms=terms), outside_judges=OUTSIDE[:outside])
    return a_round(panel)


async def run(gateway: FakeGateway, round_: Round, store: MemoryStore | None = None) -> Round:
    store = store or MemoryStore()
    await store.open(round_)
    return await run_round(round_.id, RoundServices(gateway, store))


def test_each_second_slate_is_the_reverse_of_the_first() -> None:
    drawn = draw_labels(["a", "b", "c", "d"], "seed")

    slates = draw_both_orders(drawn, ["x"], "seed")

    first = [slate for slate in slates if slate.pass_number == 1]
    assert tuple(first) == draw_slates(drawn, ["x"], "seed")
    assert [slate.shown[::-1] for slate in first] == [s.shown for s in slates if s.pass_number == 2]
    assert {slate.voter for slate in slates} >= {"a", "a pass 2", "x", "x pass 2"}


@pytest.mark.parametrize("vote", [rank_by_slot, rank_by_slot_reversed])
@pytest.mark.parametrize("members", range(3, 9))
@pytest.mark.parametrize("outside", [0, 3])
async def test_votes_by_position_alone_end_in_an_exact_tie(
    members: int, outside: int, vote: object
) -> None:
    gateway = FakeGateway(vote=vote)  # type: ignore[arg-type]

    round_ = await run(gateway, a_round_by("both-orders", members, outside))

    assert round_.tally
    assert {line.share for line in round_.tally.standings} == {0.5}
    assert round_.tally.verdict.strength is Strength.NO_CONSENSUS
    assert len(round_.ballots) == 2 * (members + outside)
    assert not verify(round_)


def rank_by_letter(shown: ReadPrompt) -> str:
    """Rank B first, then the other letters from the last one on, whatever the texts say."""
    return shown.ballot(" ".join(sorted(shown.texts, key=lambda x: (x == "B", x), reverse=True)))


@pytest.mark.parametrize("method", ["blind-ranking", "both-orders"])
@pytest.mark.parametrize("members", range(3, 9))
async def test_votes_by_letter_alone_end_in_an_exact_tie(members: int, method: str) -> None:
    asked = a_round_by(method, members)
    terms = replace(asked.panel.terms, audit_share=0.0)

    round_ = await run(
        FakeGateway(vote=rank_by_letter), replace(asked, panel=replace(asked.panel, terms=terms))
    )

    assert round_.tally
    shares = [line.share for line in round_.tally.standings]
    assert shares == pytest.approx([0.5] * members, abs=1e-12)
    assert {line.place for line in round_.tally.standings} == {1}


def rank_best_or_worst_first(shown: ReadPrompt) -> str:
    """Rank the best text first, but after the worst one where that is shown before it."""
    best, *others = sorted(shown.texts, key=lambda letter: shown.texts[letter])
    worst = others.pop()
    order = [best, *others, worst] if best < worst else [worst, best, *others]
    return shown.ballot(" ".join(order))


async def test_a_round_from_before_every_pass_counted_verifies_as_it_was_stored() -> None:
    old = ChanceRule(every_pass=False)
    asked = a_round_by("both-orders")

    rounds = [
        await run(FakeGateway(vote=rank_best_or_worst_first), replace(asked, versions=versions))
        for versions in (tuple(old.versions.items()), asked.versions)
    ]

    strengths = [round_.tally.verdict.strength for round_ in rounds if round_.tally]
    assert strengths == [Strength.UNANIMOUS, Strength.CLOSE]
    assert [verify(round_) for round_ in rounds] == [(), ()]


async def test_both_rankings_of_a_judge_are_averaged_and_count_as_one() -> None:
    round_ = await run(FakeGateway(), a_round_by("both-orders"))

    assert round_.tally
    first = round_.tally.standings[0]
    assert (first.points, first.max_points, first.first_votes) == (6.0, 6, 3)
    assert round_.tally.verdict.first_on == (3, 3)
    assert not verify(round_)


def test_a_judges_passes_weigh_as_much_as_anothers_single_ballot() -> None:
    once = a_ballot("K L M", "x")
    again = replace(a_ballot("L K M", "y"), pass_number=2)
    ballots = [once, a_ballot("K L M", "y"), again]

    matrix = pair_matrix(ballots)
    (first, *_) = standings(labels("K L M"), ballots)

    # x says K before L; y says it in one of two: (1 + .5) / 2.
    assert matrix[labels("K L")] == 0.75  # type: ignore[index]
    assert (first.label, first.points, first.max_points, first.first_votes) == ("K", 3.5, 4, 1)
    assert [ballot.ranking for ballot in merge_passes(ballots)] == [
        once.ranking,
        (labels("K L"), labels("M")),
    ]


async def test_each_pass_has_a_nonce_of_its_own_and_is_asked_once() -> None:
    gateway = FakeGateway()

    round_ = await run(gateway, a_round_by("both-orders"))

    nonces = {ballot.paper.nonce for ballot in round_.ballots if ballot.paper}
    assert len(nonces) == len(round_.ballots) == 8
    assert gateway.times_asked()[CLAUDE, Role.BALLOT] == 2


async def test_a_spoiled_pass_is_asked_again_alone() -> None:
    gateway = FakeGateway(judges={GPT: ["nothing", rank_by_slot, rank_by_slot]})

    round_ = await run(gateway, a_round_by("both-orders"))

    assert [spoiled.judge for spoiled in round_.spoiled] == [GPT]
    assert sum(ballot.judge == GPT for ballot in round_.ballots) == 2
    assert not verify(round_)


async def test_a_changed_second_pass_is_found() -> None:
    round_ = await run(FakeGateway(), a_round_by("both-orders"))
    second = next(b for b in round_.ballots if b.pass_number == 2)
    turned = replace(second, ranking=second.ranking[::-1])

    changed = replace(round_, ballots=tuple(turned if b is second else b for b in round_.ballots))

    assert any(f"{second.judge} pass 2" in str(found) for found in verify(changed))


async def test_a_stopped_round_asks_only_the_missing_passes() -> None:
    whole = await run(FakeGateway(), a_round_by("both-orders"))
    some = replace(whole, ballots=whole.ballots[:3], tally=None, synthesis=None, closing=None)
    gateway = FakeGateway()

    round_ = await run(gateway, some)

    assert len(gateway.of(Role.BALLOT)) == 5
    assert (round_.ballots, round_.tally) == (whole.ballots, whole.tally)


async def test_only_outside_judges_judge_in_a_panel_of_judges() -> None:
    gateway = FakeGateway()

    round_ = await run(gateway, a_round_by("panel-of-judges", outside=3))

    assert {ballot.judge for ballot in round_.ballots} == {seat.key for seat in OUTSIDE}
    assert all(len(ballot.shown) == 4 for ballot in round_.ballots)
    assert not verify(round_)


@pytest.mark.parametrize("vote", [rank_by_slot, rank_by_letter])
@pytest.mark.parametrize("members", range(3, 9))
async def test_as_many_outside_judges_as_answers_tie_by_position(
    members: int, vote: object
) -> None:
    judges = tuple(a_member(f"xai/judge-{n}") for n in range(members))
    asked = a_round_by("panel-of-judges", members)

    round_ = await run(
        FakeGateway(vote=vote),  # type: ignore[arg-type]
        replace(asked, panel=replace(asked.panel, outside_judges=judges)),
    )

    assert round_.tally
    assert {line.place for line in round_.tally.standings} == {1}
    assert [line.share for line in round_.tally.standings] == pytest.approx([0.5] * members)


def test_a_method_that_a_panel_cannot_hold_names_what_is_missing() -> None:
    with pytest.raises(PanelError, match="needs 1 outside judge, and panel 'house' has 0. Add 1"):
        PANEL_OF_JUDGES.check(a_panel(3))
    PANEL_OF_JUDGES.check(replace(a_panel(3), outside_judges=OUTSIDE))
    with pytest.raises(PanelError, match="no method 'vibes'. Known methods: blind-ranking"):
        find_method("vibes", NO_PLUGINS)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "blind-ranking"])
def test_audits_are_off_for_other_methods(method: str) -> None:
    round_ = a_round_by(method, outside=3)

    assert due_audit(round_, compute_draw(round_)) is None

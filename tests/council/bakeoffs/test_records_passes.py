"""Records and votes of judges with two passes."""

from council.bakeoffs.bias.votes import build_votes
from council.bakeoffs.records import build_record
from tests.council.test_methods import a_round_by, run
from tests.fakes.gateway import FakeGateway, rank_by_slot


async def test_a_judge_with_two_passes_is_one_judge_in_reports() -> None:
    round_ = await run(FakeGateway(vote=rank_by_slot), a_round_by("both-orders"))

    record, votes = build_record(round_), build_votes(round_)

    judges = [seat.key for seat in round_.panel.members]
    assert [judged.judge for judged in record.judged] == judges
    # By position alone, no pair keeps its order; the first slot wins in both passes.
    assert {(j.kept, j.pairs, j.first_slot, j.spoiled) for j in record.judged} == {(0, 3, 1.0, 0)}
    assert [vote.judge for vote in votes.ballots] == judges
    assert votes.spoiled == tuple((judge, 0) for judge in judges)


async def test_an_outside_judge_in_both_orders_weighs_as_one_in_records() -> None:
    round_ = await run(FakeGateway(vote=rank_by_slot), a_round_by("blind-ranking", 3, 1))

    record = build_record(round_)

    assert sum(ballot.counts for ballot in round_.ballots) == 5
    # Two members and the outside judge saw each answer; it and one member saw each pair.
    assert [line.ballots for line in record.authored] == [3, 3, 3]
    assert [margin.judges for margin in record.margins] == [2, 2, 2]
    # By position alone, its two orders cancel, and a member gives 1 or -1.
    assert {abs(margin.margin or 0.0) for margin in record.margins} == {0.5}
    (outside,) = (line for line in record.judged if line.judge == "xai/judge-0")
    assert outside.kept == 0 < outside.pairs

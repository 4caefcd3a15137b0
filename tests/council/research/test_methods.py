"""Research methods: the same guarantees as the default's, and what each of them adds."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from council.integrity.verification import verify
from council.panel import Member
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.research.methods import plug_in_all
from council.rounds import Round
from council.tally import Strength
from tests.builders import TERMS, a_member, a_panel, a_round
from tests.fakes.gateway import FakeGateway, ReadPrompt, rank_by_slot, rank_by_slot_reversed
from tests.fakes.memory_store import MemoryStore

plug_in_all()
OUTSIDE = tuple(a_member(f"xai/judge-{n}") for n in range(3))


def a_round_by(method: str, members: int = 4, outside: tuple[Member, ...] = ()) -> Round:
    terms = replace(TERMS, method=method, audit_share=1.0)
    return a_round(replace(a_panel(members, terms=terms), outside_judges=outside))


async def run(gateway: FakeGateway, round_: Round, store: MemoryStore | None = None) -> Round:
    store = store or MemoryStore()
    await store.open(round_)
    return await run_round(round_.id, RoundServices(gateway, store))


@pytest.mark.parametrize("vote", [rank_by_slot, rank_by_slot_reversed])
@pytest.mark.parametrize("members", range(3, 9))
async def test_votes_by_position_alone_end_in_an_exact_tie(
    members: int, vote: Callable[[ReadPrompt], str]
) -> None:
    round_ = await run(FakeGateway(vote=vote), a_round_by("multiple-evidence", members))

    assert round_.tally
    assert [line.share for line in round_.tally.standings] == pytest.approx([0.5] * members)
    assert {line.place for line in round_.tally.standings} == {1}
    assert round_.tally.verdict.strength is Strength.NO_CONSENSUS
    assert not verify(round_)

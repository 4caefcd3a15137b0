"""Helpers of the pipeline tests: run a round with fakes."""

from council.panel import Terms
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.rounds import Round
from tests.fakes.gateway import FakeGateway
from tests.fakes.memory_store import MemoryStore

SHORT_DEADLINES = Terms(
    answer_seconds=0.01, ballot_seconds=0.01, synthesis_seconds=0.01, audit_share=0
)


async def run_with_fakes(
    round_: Round, gateway: FakeGateway | None = None, store: MemoryStore | None = None
) -> Round:
    """Open the round, unless it is open already, and run it with a clock that stands still."""
    store = store or MemoryStore()
    await store.open(round_)
    return await run_round(
        round_.id, RoundServices(gateway or FakeGateway(), store, clock=lambda: 0.0)
    )

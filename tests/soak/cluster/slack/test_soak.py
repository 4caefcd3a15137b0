"""A short soak of a cluster, a longer one at night, and how calls and takeovers are counted."""

from pathlib import Path

import pytest

from tests.postgres import Server
from tests.soak.cluster.faults import Blow, Outage, Plan
from tests.soak.cluster.paid_twice import OTHER, cause_of
from tests.soak.cluster.soak import soak
from tests.soak.cluster.takeover import Sign, takeovers
from tests.soak.paid import Asked

FIRST, SECOND = 101, 102
KILLED = Outage("kill", 50.0, 50.0, FIRST)
FROZEN = Outage("freeze", 50.0, 110.0, FIRST)
GONE = Outage("away", 50.0, 80.0)


@pytest.mark.parametrize(
    ("outage", "before", "after", "cause"),
    [
        (KILLED, Asked(49, None, FIRST), Asked(70, 71, SECOND), "in flight at the kill"),
        (KILLED, Asked(40, 41, FIRST), Asked(70, 71, SECOND), OTHER),  # long before the kill
        (KILLED, Asked(49, 51, SECOND), Asked(70, 71, SECOND), OTHER),  # of one that lives
        (FROZEN, Asked(49, 51, FIRST), Asked(70, 71, SECOND), "owner was frozen"),
        (FROZEN, Asked(80, 81, SECOND), Asked(111, 112, FIRST), "owner was frozen"),
        (FROZEN, Asked(80, 81, SECOND), Asked(140, 141, FIRST), OTHER),  # long after the thaw
        (GONE, Asked(60, 61, SECOND), Asked(90, 91, SECOND), "database away"),
    ],
)
def test_a_call_paid_twice_has_a_cause_or_none(
    outage: Outage, before: Asked, after: Asked, cause: str
) -> None:
    assert cause_of(before, after, [outage]) == cause


def test_a_takeover_is_the_next_sign_of_what_the_dead_was_the_last_at() -> None:
    signs = [
        Sign("1", 49.0, FIRST, "call"),
        Sign("1", 67.5, SECOND, "call"),
        Sign("1", 51.0, SECOND, "post"),  # shown by another all along
        Sign("2", 48.0, FIRST, "call"),
        Sign("2", 49.0, SECOND, "call"),  # carried by another since
        Sign("2", 52.0, SECOND, "call"),
        Sign("3", 49.5, FIRST, "post"),  # its last
    ]

    assert takeovers(signs, KILLED) == [17.5]


@pytest.mark.nightly
@pytest.mark.parametrize(("rounds", "span_seconds"), [(5, 3.0), (20, 10.0)])
async def test_a_kill_in_a_cluster_loses_nothing_and_another_process_takes_over(
    tmp_path: Path, postgres_url: str, postgres: Server, rounds: int, span_seconds: float
) -> None:
    kill = Blow(0.4 * span_seconds, "kill", comes_back=False)
    plan = Plan(rounds, span_seconds, (kill,), processes=2, latency=0.5)

    count = await soak(tmp_path, plan, postgres_url, postgres)

    # The one that was killed has no exit code of its own.
    count.exits = count.exits[1:]
    assert count.breaches == [], str(count)
    assert count.told.rounds == rounds

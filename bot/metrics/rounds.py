"""Rounds: how many, how long they took, what they cost."""

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import Counter, Gauge, Histogram

from council.rounds import Round

_CLOSED = Counter("council_rounds", "Rounds that were closed", ["outcome"])
_UNDER_WAY = Gauge("council_rounds_under_way", "Rounds being carried on now")
_SECONDS = Histogram(
    "council_round_seconds",
    "From a round's first call to its end",
    buckets=(1, 2, 5, 10, 20, 30, 60, 120, 300),
)
_CALLS = Counter("council_replies", "Replies that were paid for", ["member"])
_ABSENCES = Counter("council_absences", "Seats with nothing usable", ["member", "role"])
_COST = Counter("council_cost_usd", "Known cost of closed rounds")


@contextmanager
def round_under_way() -> Iterator[None]:
    """Count a round as under way until the block ends."""
    with _UNDER_WAY.track_inprogress():
        yield


def round_closed(round_: Round) -> None:
    """Count a closed round and what came of it."""
    failed = round_.closing is not None and round_.closing.failure is not None
    _CLOSED.labels("failed" if failed else "closed").inc()
    if round_.closing:
        _SECONDS.observe(round_.closing.seconds)
    for seat in _paid_for(round_):
        _CALLS.labels(seat).inc()
    for absence in round_.absences:
        _ABSENCES.labels(absence.member, absence.role).inc()
    _COST.inc(sum(reply.cost_usd or 0 for reply in round_.replies))


def _paid_for(round_: Round) -> Iterator[str]:
    """Give the seat of every reply, counted or not."""
    yield from (answer.member for answer in round_.answers)
    yield from (ballot.judge for ballot in round_.ballots)
    yield from (spoiled.judge for spoiled in round_.spoiled)
    if round_.synthesis and round_.synthesis.chairman:
        yield round_.synthesis.chairman

"""Work of a cluster: what is done here, and what of it waits, is done or stalls anywhere."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum

from prometheus_client import Counter, Gauge

_HERE = Gauge("council_works_here", "Work that this process does now", ["queue"])
_TAKEN_OVER = Counter(
    "council_takeovers", "Work taken over from a process that was not heard of", ["queue"]
)
_ANYWHERE = Gauge("council_works", "Work of all processes, as last counted", ["queue", "state"])


class WorkState(StrEnum):
    """What becomes of a piece of work: nobody has it yet, somebody does it, or did and is gone."""

    WAITING = "waiting"
    DOING = "doing"
    STALLED = "stalled"


@contextmanager
def work_under_way(queue: str) -> Iterator[None]:
    """Count a piece of work as done here until the block ends."""
    with _HERE.labels(queue).track_inprogress():
        yield


def taken_over(queue: str, count: int = 1) -> None:
    """Count work that was put back, since whoever did it was not heard of any more."""
    _TAKEN_OVER.labels(queue).inc(count)


def works_counted(counts: Mapping[tuple[str, WorkState], int]) -> None:
    """Take note of all there is, by queue and state; what is not named is 0."""
    queues = {queue for queue, _ in counts} | {labels[0] for labels in _known()}
    for queue in queues:
        for state in WorkState:
            _ANYWHERE.labels(queue, state.value).set(counts.get((queue, state), 0))


def _known() -> Iterator[tuple[str, ...]]:
    for metric in _ANYWHERE.collect():
        for sample in metric.samples:
            yield (sample.labels["queue"],)

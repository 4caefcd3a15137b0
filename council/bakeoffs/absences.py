"""What is missing from rounds: answers that were not given, rankings that could not be read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from council.bakeoffs.record_arrays import Columns


@dataclass(frozen=True, slots=True)
class Gap:
    """A seat of which `missing` out of `asked` are missing."""

    seat: str
    missing: int
    asked: int


@dataclass(frozen=True, slots=True)
class Absences:
    """The gaps of members' answers and of judges' rankings, the largest first."""

    answers: tuple[Gap, ...] = ()
    rankings: tuple[Gap, ...] = ()


def find_absences(columns: Columns) -> Absences:
    """Return what is missing; a ranking counts only if its judge replied with none to be read."""
    absent = columns.author("absent")
    unread = (columns.judge("valid") == 0) & (columns.judge("spoiled") > 0)
    read = columns.judge("valid") == 1
    return Absences(
        _gaps(columns.members, (absent == 1).sum(axis=0), (absent >= 0).sum(axis=0)),
        _gaps(columns.judges, unread.sum(axis=0), (unread | read).sum(axis=0)),
    )


def _gaps(seats: Sequence[str], missing: Iterable[int], asked: Iterable[int]) -> tuple[Gap, ...]:
    counted = zip(seats, map(int, missing), map(int, asked), strict=True)
    gaps = [Gap(seat, gone, of) for seat, gone, of in counted if gone]
    return tuple(sorted(gaps, key=lambda gap: (-gap.missing / gap.asked, gap.seat)))

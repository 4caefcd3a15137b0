"""Verification of stored records and votes: compare them with what their round gives now."""

from collections.abc import Callable, Iterator
from math import isclose, isnan

from council.bakeoffs import records
from council.bakeoffs.bias import votes
from council.bakeoffs.bias.vote_arrays import ABSENT, name_votes, pack_votes
from council.bakeoffs.bias.votes import build_votes
from council.bakeoffs.graders import missing_grader
from council.bakeoffs.models import Bakeoff
from council.bakeoffs.packed_tables import NamedNumbers
from council.bakeoffs.record_arrays import PRECISION, name_record, pack_record
from council.bakeoffs.records import PackedRecord, build_record
from council.integrity.verification import Difference
from council.rounds import Round

_SOURCE = ("asked_at", "panel", "scope", "bakeoff")
_SUITE = ("number", "suite", "suite_version", "category")
_GRADES = frozenset({"correct", "grade", "council_correct"})


def verify_record(
    stored: PackedRecord, round_: Round, bakeoff: Bakeoff | None
) -> tuple[Difference, ...]:
    """Return how a stored record differs from its round's.

    Grades and the suite are compared only with the bake-off, grades only with their grader. Of a
    forgotten round, what only its texts tell is not compared.
    """
    if stored.version < records.FIRST_VERSION:
        return _old(stored, round_, records.FIRST_VERSION)
    recomputed = pack_record(build_record(round_, bakeoff))
    has_suite = bakeoff is not None or not round_.bakeoff
    question = bakeoff.suite.questions[recomputed.number - 1] if bakeoff else None
    has_grader = not missing_grader(question.reference if question else None, round_.registry)
    skipped = set() if has_suite and has_grader else {*_GRADES}
    if round_.revised != round_.answers:
        skipped.add("named_itself")  # found by word lists, which grow with every release
    return (
        *_source_differences(stored, recomputed, (*_SOURCE, *(_SUITE if has_suite else ()))),
        *(
            difference
            for field, difference in _differences(stored, recomputed, name_record)
            if field not in skipped
            and not (round_.forgotten and field in records.FROM_TEXTS and _is_unknown(difference))
            # Replies that come after the end add to what the round cost.
            and not (round_.late and difference.field == "round.cost_usd")
        ),
    )


def verify_votes(stored: PackedRecord, round_: Round) -> tuple[Difference, ...]:
    """Return how stored votes differ from those of their round, with the same exceptions."""
    if stored.version < votes.COMPUTED_SINCE:
        return _old(stored, round_, votes.FIRST_VERSION)
    source = pack_record(build_record(round_))
    recomputed = pack_votes(build_votes(round_), source)
    has_lost = round_.forgotten or any(answer.is_erased for answer in round_.answers)
    return (
        *_source_differences(stored, recomputed, _SOURCE),
        *(
            difference
            for field, difference in _differences(stored, recomputed, name_votes)
            if not (has_lost and field in votes.FROM_TEXTS and _is_unknown(difference))
        ),
    )


def _old(stored: PackedRecord, round_: Round, first_version: int) -> tuple[Difference, ...]:
    """Return a difference for one that nobody can read or compute again."""
    is_lost = round_.forgotten is not None and stored.version < first_version
    return (Difference("version", stored.version, None),) if is_lost else ()


def _source_differences(
    stored: PackedRecord, recomputed: PackedRecord, names: tuple[str, ...]
) -> Iterator[Difference]:
    for name in names:
        one, other = getattr(stored, name), getattr(recomputed, name)
        if one != other:
            yield Difference(name, one, other)


def _differences(
    stored: PackedRecord, recomputed: PackedRecord, name: Callable[[PackedRecord], NamedNumbers]
) -> Iterator[tuple[str, Difference]]:
    """Yield the fields that differ, except those that the stored numbers are too old to have."""
    try:
        before, now = name(stored), name(recomputed)
    except (LookupError, TypeError, ValueError):
        yield "numbers", Difference("numbers", "unreadable", "readable")
        return
    known = {field for _, field in before}
    for key in before | now:
        one, other = before.get(key), now.get(key)
        if key[1] in known and not _is_same(one, other):
            yield key[1], Difference(".".join(key), one, other)


def _is_same(one: object, other: object) -> bool:
    if not isinstance(one, float) or not isinstance(other, float):
        return one == other
    both_unknown = isnan(one) and isnan(other)
    return both_unknown or isclose(one, other, rel_tol=PRECISION, abs_tol=PRECISION)


def _is_unknown(difference: Difference) -> bool:
    value = difference.recomputed
    return value == ABSENT or value != value  # noqa: PLR0124 - NaN differs from itself

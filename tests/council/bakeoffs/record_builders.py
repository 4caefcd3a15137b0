"""Builders of records, leaderboards and simulated ballots."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import combinations

import numpy as np

from council.bakeoffs.record_arrays import Block, Columns, Floats, pack_record, record_columns
from council.bakeoffs.records import (
    AUTHOR_FIELDS,
    JUDGE_FIELDS,
    PAIR_FIELDS,
    ROUND_FIELDS,
    VERSION,
    AuthorRecord,
    CouncilRecord,
    JudgeRecord,
    Margin,
    PackedRecord,
    Record,
)

MONDAY = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
NAMES = ("ada", "bob", "cyd", "dee", "eve", "fay", "gus", "hal")


def a_record(
    shares: Mapping[str, float | None],
    *,
    number: int = 1,
    run: int = 0,
    judged: Sequence[JudgeRecord] = (),
    whole: CouncilRecord | None = None,
    **fields: Mapping[str, float | None],
) -> Record:
    """Return a round by its shares; None is an absence. Other fields of authors are keywords.

    Each pair's margin is the difference of its shares, and the member with more wins the pair.
    """
    given = {member: {name: of.get(member) for name, of in fields.items()} for member in shares}
    answered = [member for member, share in shares.items() if share is not None]
    return Record(
        round_id=f"run{run}.{number}",
        asked_at=MONDAY + timedelta(days=7 * run, minutes=number),
        panel="house",
        scope="",
        authored=tuple(
            AuthorRecord(
                member,
                share=share,
                absent=share is None,
                **given[member],  # type: ignore[arg-type]  # names of fields, as written in a test
            )
            for member, share in shares.items()
        ),
        judged=tuple(judged),
        margins=tuple(_margin(one, other, shares) for one, other in combinations(answered, 2)),
        whole=whole or CouncilRecord(),
        bakeoff=f"run{run}",
        number=number,
        suite="sql",
        suite_version="v1",
    )


def _margin(one: str, other: str, shares: Mapping[str, float | None]) -> Margin:
    lead = (shares[one] or 0.0) - (shares[other] or 0.0)
    return Margin(one, other, lead, 1, 0.5 + 0.5 * float(np.sign(lead)))


def of(*records: Record) -> Columns:
    return record_columns(map(pack_record, records))


def drawn_ballots(
    rng: np.random.Generator,
    worth: Floats,
    *,
    agreement: float = 0.0,
    random_judges: Sequence[int] = (),
) -> Floats:
    """Draw Borda shares (…, judge, candidate), NaN for a judge's own answer.

    `worth` is (…, candidate), in standard deviations of what one judge sees in one answer;
    `agreement` the part of that variance which all judges see alike. Random judges see nothing.
    """
    count = worth.shape[-1]
    seen = worth + np.sqrt(agreement) * rng.standard_normal(worth.shape)
    own = np.sqrt(1 - agreement) * rng.standard_normal((*worth.shape, count))
    scores = seen[..., None, :] + own
    for judge in random_judges:
        scores[..., judge, :] = rng.standard_normal(worth.shape)
    scores[..., range(count), range(count)] = -np.inf
    ranks = scores.argsort(axis=-1).argsort(axis=-1).astype(float)
    shares: Floats = (ranks - 1) / (count - 2)
    shares[..., range(count), range(count)] = np.nan
    return shares


def margins(ballots: Floats, one: int = 0, other: int = 1) -> Floats:
    """Return the margins of two candidates by the judges outside the pair."""
    outside = [judge for judge in range(ballots.shape[-1]) if judge not in {one, other}]
    gaps = ballots[..., outside, one] - ballots[..., outside, other]
    mean: Floats = gaps.mean(axis=-1)
    return mean


def gap_worth(gap: float, count: int) -> float:
    """Return θ such that worths θ and −θ among equals give this gap between the two's shares."""
    from scipy.stats import norm

    def found(theta: float) -> float:
        direct = 2 * norm.cdf(np.sqrt(2) * theta) - 1
        others = 2 * norm.cdf(theta / np.sqrt(2)) - 1
        return float((direct + (count - 2) * others) / (count - 1))

    low, high = 0.0, 5.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if found(middle) < gap else (low, middle)
    return low


def board_of(ballots: Floats, runs: int = 1) -> Columns:
    """Return (round, judge, candidate) ballots as columns, as if each run had the same suite."""
    rounds, count = ballots.shape[0], ballots.shape[-1]
    members = NAMES[:count]
    authored = np.full((rounds, count, len(AUTHOR_FIELDS)), np.nan, dtype=np.float32)
    authored[:, :, AUTHOR_FIELDS.index("share")] = np.nanmean(ballots, axis=1)
    authored[:, :, AUTHOR_FIELDS.index("absent")] = 0
    pairs = np.full((rounds, count * (count - 1) // 2, len(PAIR_FIELDS)), np.nan, dtype=np.float32)
    for k, (one, other) in enumerate(combinations(range(count), 2)):
        gaps = ballots[:, :, one] - ballots[:, :, other]
        pairs[:, k, PAIR_FIELDS.index("margin")] = np.nanmean(gaps, axis=1)
        pairs[:, k, PAIR_FIELDS.index("won")] = np.nanmean(0.5 + 0.5 * np.sign(gaps), axis=1)
    return Columns(
        rows=_rows(rounds, runs),
        members=members,
        judges=members,
        authored=authored,
        judged=np.full((rounds, count, len(JUDGE_FIELDS)), np.nan, dtype=np.float32),
        whole=np.full((rounds, len(ROUND_FIELDS)), np.nan, dtype=np.float32),
        blocks=(Block(np.arange(rounds), members, pairs),),
    )


def _rows(rounds: int, runs: int) -> tuple[PackedRecord, ...]:
    each = rounds // runs
    return tuple(
        PackedRecord(
            round_id=f"run{i // each}.{i % each + 1}",
            asked_at=MONDAY + timedelta(days=7 * (i // each), minutes=i % each),
            panel="house",
            scope="",
            bakeoff=f"run{i // each}",
            number=i % each + 1,
            suite="sql",
            suite_version="v1",
            category="",
            shape="",
            numbers=b"",
            version=VERSION,
        )
        for i in range(rounds)
    )

"""The correlation of judges' errors (ρ), estimated from rounds whose right answers are known."""

from collections.abc import Iterable, Iterator, Mapping
from math import pi, sin

import numpy as np

from council.bakeoffs.bias.vote_arrays import pair_signs, vote_blocks
from council.bakeoffs.record_arrays import Floats, record_columns
from council.bakeoffs.records import PackedRecord

MIN_ROUNDS = 30
MAX_RHO, RHO_STEP = 0.5, 0.05


def estimate_rho(rounds: Iterable[tuple[Floats, Floats]]) -> float | None:
    """Return ρ, 0 to .5 in steps of .05; None with fewer than 30 rounds that tell of it.

    A round is its shares by (judge, answer), NaN where not seen, and the grades of its answers:
    1 right, 0 wrong, NaN unknown. Two answers with the same grade are equally good, so what two
    judges agree on about them is error. Errors with correlation ρ order such a pair alike with
    probability ½ + asin(ρ)/π (Sheppard 1899); a tie counts as half.
    """
    agreed, pairs, count = 0.0, 0, 0
    for shares, grades in rounds:
        first, second = np.triu_indices(len(grades), 1)
        alike = grades[first] == grades[second]
        signs = pair_signs(shares[:, first[alike]], shares[:, second[alike]])
        judges = (~np.isnan(signs)).sum(axis=0)
        # The sum over two judges j ≠ k of s_j·s_k is (Σs)² − Σs².
        agreed += float((np.nansum(signs, axis=0) ** 2 - np.nansum(signs**2, axis=0)).sum())
        pairs += int((judges * (judges - 1)).sum())
        count += bool((judges > 1).any())
    if count < MIN_ROUNDS:
        return None
    rho = sin(pi / 2 * agreed / pairs)
    return min(MAX_RHO, max(0.0, round(rho / RHO_STEP) * RHO_STEP))


def grades_by_round(records: Iterable[PackedRecord]) -> dict[str, dict[str, float]]:
    """Return the grades of the members of each graded round, NaN for one that has none."""
    columns = record_columns(records)
    lines = zip(columns.rows, columns.author("correct"), strict=True)
    return {
        row.round_id: dict(zip(columns.members, line.tolist(), strict=True))
        for row, line in lines
        if not np.isnan(line).all()
    }


def graded_rounds(
    grades: Mapping[str, Mapping[str, float]], votes: Iterable[PackedRecord]
) -> Iterator[tuple[Floats, Floats]]:
    """Yield the shares and the grades of each graded round that has votes."""
    for vote in votes:
        for block in vote_blocks([vote]) if vote.round_id in grades else ():
            members = block.judges[: block.members]
            yield block.shares[0], np.array([grades[vote.round_id][member] for member in members])

"""How strict each judge is with the same work, beside the judge in the middle."""

import numpy as np

from council.bakeoffs.columns import Floats
from council.bias.grades.paired import Paired, paired
from council.bias.grades.sheet import Sheet

FEWEST_JUDGES = 3  # of two, either is as strict as the other is lenient


def leniencies(sheet: Sheet) -> dict[int, Paired]:
    """Give how much higher each judge grades the same work than the middle judge, its own left out.

    D is the mean over a judge's grades for others of grade less the mean that the rest gave to the
    same work. With judge effects c and complete grades of m judges, D_j − D_k is
    (c_j − c_k)·m/(m − 1); the middle is the judge, or the mean of the two, of median D, so that
    one strict judge does not make all others look lenient. Nothing for fewer than three judges.
    """
    apart = _apart(sheet)
    found = {judge: _by_judge(sheet, apart, judge) for judge in range(len(sheet.judges))}
    told = {judge: each for judge, each in found.items() if not np.isnan(each).all()}
    if len(told) < FEWEST_JUDGES:
        return {}
    order = sorted(told, key=lambda judge: float(np.nanmean(told[judge])))
    middle = order[(len(order) - 1) // 2 : len(order) // 2 + 1]
    zero = sum((told[judge] for judge in middle), np.zeros(sheet.items)) / len(middle)
    shrunk = (len(told) - 1) / len(told)
    return {judge: paired((each - zero) * shrunk) for judge, each in told.items()}


def _apart(sheet: Sheet) -> Floats:
    """Give each grade less the mean that the rest gave to the same work, NaN without a rest."""
    work = sheet.author * sheet.items + sheet.item
    _, at = np.unique(np.where(sheet.by_peers, work, -1), return_inverse=True)
    counted = sheet.by_peers.astype(float)
    totals = np.bincount(at, sheet.score * counted)
    rest = np.bincount(at, counted)[at] - 1
    none = np.full(len(sheet.score), np.nan)
    others: Floats = np.divide(totals[at] - sheet.score, rest, out=none, where=rest > 0)
    return np.where(sheet.by_peers, sheet.score - others, np.nan)


def _by_judge(sheet: Sheet, apart: Floats, judge: int) -> Floats:
    return sheet.means((sheet.judge == judge) & ~np.isnan(apart), apart)

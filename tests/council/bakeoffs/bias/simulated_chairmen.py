"""Simulated rounds of a chairman that favours what is good, long, read early, or its own."""

from dataclasses import dataclass

import numpy as np

from council.bakeoffs.record_arrays import Columns, pack_record, record_columns
from council.bakeoffs.records import AuthorRecord, CouncilRecord, Record
from tests.builders import ASKED_AT

MEMBERS = ("chair", "bob", "cyd", "dee", "eve")


@dataclass(frozen=True, slots=True)
class Chairman:
    """Log-odds by which it draws on an answer; `better` and `longer` are its own answers."""

    own: float = 0.0
    early: float = 0.0
    points: float = 2.0
    length: float = 0.5
    usual: float = -1.2
    better: float = 0.5
    longer: float = 0.3


def chaired(rounds: int, chairman: Chairman, seed: int) -> Columns:
    """Return rounds of five members, the first of which is the chairman."""
    draw = np.random.RandomState(seed)
    return record_columns(pack_record(_round(i, chairman, draw)) for i in range(rounds))


def _round(number: int, chairman: Chairman, draw: np.random.RandomState) -> Record:
    count = len(MEMBERS)
    is_own = np.arange(count) == 0
    worth = draw.standard_normal(count) + chairman.better * is_own
    seen = worth + draw.standard_normal((count, count))
    np.fill_diagonal(seen, -np.inf)  # nobody ranks itself
    places = seen.argsort(axis=1).argsort(axis=1) - 1.0
    np.fill_diagonal(places, np.nan)
    share = np.nanmean(places, axis=0) / (count - 2)
    words = np.round(np.exp(5 + 0.4 * draw.standard_normal(count) + chairman.longer * is_own))
    slots = draw.permutation(count) + 1
    logits = chairman.usual + chairman.points * share + chairman.own * is_own
    logits += chairman.early * (count - slots) / (count - 1)
    logits += chairman.length * (np.log(words) - 5) + 0.7 * draw.standard_normal()
    drawn = draw.uniform(size=count) < 1 / (1 + np.exp(-logits))
    authored = tuple(
        AuthorRecord(
            member,
            share=float(share[i]),
            place=1 + int((share > share[i]).sum()),
            words=int(words[i]),
            chair_slot=int(slots[i]),
            drawn_on=bool(drawn[i]) if drawn.any() else None,
        )
        for i, member in enumerate(MEMBERS)
    )
    return Record(
        round_id=f"r{number}",
        asked_at=ASKED_AT,
        panel="house",
        scope="",
        authored=authored,
        judged=(),
        margins=(),
        whole=CouncilRecord(departs=False),
        chairman=MEMBERS[0],
    )

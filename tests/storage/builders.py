"""Rounds as a store is given them: opened bare, then one artefact after another."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from council.answers import Prompt, Reply
from council.ballots import Ballot
from council.panel import Panel
from council.ports import Store
from council.rounds import Artefact, Closing, Round, Synthesis
from tests.builders import a_panel, a_round, answered, ranked

BOTH = ("sqlite", "postgres")
on_sqlite = pytest.mark.parametrize("database", ["sqlite"])  # of a file that is on both


def a_closed_round(round_id: str = "r1", panel: Panel | None = None) -> Round:
    """Give a round that came to its end; by default four members make twelve artefacts."""
    round_ = ranked(answered(replace(a_round(panel or a_panel(4)), id=round_id)))
    chairman = round_.panel.members[0].key
    written = Synthesis(
        "Yes.", chairman, prompt=Prompt("system", "user"), reply=Reply("Yes.", cost_usd=0.01)
    )
    return replace(round_, synthesis=written, closing=Closing(31.5))


def bare(round_: Round) -> Round:
    """Give the round as it was opened."""
    own = (round_.id, round_.question, round_.panel, round_.seed, round_.asked_at, round_.versions)
    return Round(*own, bakeoff=round_.bakeoff)


def artefacts(round_: Round) -> list[Artefact]:
    """Give all a round holds, in the order it comes about."""
    late = (round_.tally, round_.synthesis, round_.closing)
    return [
        *round_.answers,
        *round_.absences,
        *([round_.draw] if round_.draw else []),
        *round_.spoiled,
        *round_.ballots,
        *(artefact for artefact in late if artefact),
    ]


def closing_last(kept: Sequence[Artefact]) -> list[Artefact]:
    """Give artefacts in their order, but for the closing, after which nothing is added."""
    return sorted(kept, key=lambda artefact: isinstance(artefact, Closing))


async def keep(store: Store, round_: Round) -> None:
    """Have the store keep a round with all it holds."""
    assert await store.open(bare(round_))
    for artefact in artefacts(round_):
        await store.save(round_.id, artefact)


def an_audit(ballot: Ballot, kind: str = "own answer visible") -> Ballot:
    """Give the ballot as if it had been cast to measure bias."""
    return replace(ballot, audit=kind)

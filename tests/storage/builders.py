"""Builders of rounds for store tests, and helpers that store them artefact by artefact."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from council.answers import Prompt, Reply
from council.ballots import Ballot
from council.panel import Panel
from council.places import Place
from council.ports import Store
from council.rounds import Artefact, Closing, Round, Synthesis
from tests.builders import a_panel, a_round, with_answers, with_ballots

T1, T2 = Place("slack", "T1", "C1"), Place("slack", "T2", "C1")
BOTH = ("sqlite", "postgres")
in_memory_too = pytest.mark.in_memory_too  # the promises that other tests expect of the fakes
on_sqlite = pytest.mark.parametrize("database", ["sqlite"])  # in a module whose DATABASES are both


def a_closed_round(round_id: str = "r1", panel: Panel | None = None) -> Round:
    """Return a closed round; by default of four members, with twelve artefacts."""
    round_ = with_ballots(with_answers(replace(a_round(panel or a_panel(4)), id=round_id)))
    chairman = round_.panel.members[0].key
    written = Synthesis(
        "Yes.", chairman, prompt=Prompt("system", "user"), reply=Reply("Yes.", cost_usd=0.01)
    )
    return replace(round_, synthesis=written, closing=Closing(31.5))


async def wait_until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


def without_artefacts(round_: Round) -> Round:
    """Return the round without artefacts."""
    return Round(
        id=round_.id,
        question=round_.question,
        panel=round_.panel,
        seed=round_.seed,
        asked_at=round_.asked_at,
        versions=round_.versions,
        bakeoff=round_.bakeoff,
    )


def artefacts(round_: Round) -> list[Artefact]:
    """Return the artefacts of a round in the order in which they come about."""
    late = (round_.tally, round_.synthesis, round_.closing)
    return [
        *round_.answers,
        *round_.absences,
        *round_.late,
        *([round_.draw] if round_.draw else []),
        *round_.spoiled,
        *round_.ballots,
        *(artefact for artefact in late if artefact),
    ]


def closing_last(items: Sequence[Artefact]) -> list[Artefact]:
    """Return the artefacts in their order, but the closing last."""
    return sorted(items, key=lambda artefact: isinstance(artefact, Closing))


async def store_round(store: Store, round_: Round) -> None:
    """Store a round with all its artefacts."""
    assert await store.open(without_artefacts(round_))
    for artefact in artefacts(round_):
        await store.save(round_.id, artefact)


def an_audit(ballot: Ballot, kind: str = "own answer visible") -> Ballot:
    """Return the ballot as one that was cast to measure bias."""
    return replace(ballot, audit=kind)

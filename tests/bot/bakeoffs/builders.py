"""Builders of random records of rounds, from a seed: as many as a leaderboard needs."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations
from random import Random

from council.bakeoffs.record_arrays import pack_record
from council.bakeoffs.records import (
    AuthorRecord,
    CouncilRecord,
    JudgeRecord,
    Margin,
    PackedRecord,
    Record,
)

FIRST = datetime(2026, 10, 12, 9, tzinfo=UTC)
MEMBERS = ("openai/gpt", "anthropic/claude", "gemini/pro", "ollama/qwen", "mistral/large")
STRENGTHS = (0.68, 0.62, 0.5, 0.4, 0.3)
WEEK = timedelta(weeks=1)
QUESTIONS = 12


def a_record(draw: Random) -> Record:
    """Return the record of one round: the first member is the best, as the draw has it."""
    judged_by = len(MEMBERS) - 1
    worth = [strength + draw.gauss(0, 0.15) for strength in STRENGTHS]
    order = sorted(range(len(MEMBERS)), key=lambda at: -worth[at])
    shares = {at: 1 - place / judged_by for place, at in enumerate(order)}
    authored = tuple(
        AuthorRecord(
            member,
            share=shares[at],
            place=order.index(at) + 1,
            correct=draw.random() < STRENGTHS[at] + 0.1,
            words=100 + 40 * at,
            tokens_out=150 + 60 * at,
            cost_usd=0.01 / (at + 1),
            seconds=3.0 + at,
        )
        for at, member in enumerate(MEMBERS)
    )
    margins = tuple(
        Margin(MEMBERS[a], MEMBERS[b], shares[a] - shares[b], 3, float(shares[a] > shares[b]))
        for a, b in combinations(range(len(MEMBERS)), 2)
    )
    judged = tuple(
        JudgeRecord(
            member, valid=True, tau_b=draw.uniform(0, 1), first_slot=draw.random(), cost_usd=0.004
        )
        for member in MEMBERS
    )
    whole = CouncilRecord(MEMBERS[order[0]], draw.random() < 0.8, 0.06, 21.0)
    return Record("r1", FIRST, "house", "", authored, judged, margins, whole)


def runs_of(
    suite: str, runs: int, version: str = "3f2a1b9c77de", scope: str = ""
) -> Iterator[Record]:
    """Return the records of a suite that was run each week."""
    draw = Random(f"{suite} {version}")
    for run in range(runs):
        for number in range(1, QUESTIONS + 1):
            bakeoff = f"sched:{suite}-{version}@{run}"
            yield replace(
                a_record(draw),
                round_id=f"{bakeoff}.{number}",
                asked_at=FIRST + run * WEEK + timedelta(minutes=number),
                scope=scope,
                bakeoff=bakeoff,
                number=number,
                suite=suite,
                suite_version=version,
                category=("joins", "windows")[number % 2],
            )


def packed_all(records: Iterator[Record] | Sequence[Record]) -> list[PackedRecord]:
    """Return records as they are stored."""
    return [pack_record(record) for record in records]

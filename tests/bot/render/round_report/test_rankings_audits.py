"""Audit ballots have one line next to the ballots and change nothing else."""

from dataclasses import replace

import pytest

from bot.chat import Steps
from bot.render.round_json import round_document
from bot.render.round_report.placements import placement_table
from bot.render.round_status import progress_post
from council.panel import Terms
from council.round_rules import due_audit
from council.rounds import Round
from tests.bot.rounds import held, names_of, root_of, stages_of, thread_of
from tests.builders import NAMES, a_panel
from tests.fakes.gateway import FakeGateway, ScriptEntry, rank_by_slot, rank_by_text

ALWAYS = a_panel(4, terms=Terms(audit_share=1))
NEVER = a_panel(4, terms=Terms(audit_share=0))


async def _judge() -> str:
    round_ = await held(panel=ALWAYS)
    assert round_.draw
    due = due_audit(round_, round_.draw)
    assert due
    return due.slate.judge


async def _audited(again: ScriptEntry) -> Round:
    return await held(FakeGateway(judges={await _judge(): [rank_by_text, again]}), ALWAYS)


def _line(round_: Round) -> str:
    (line,) = (line for line in thread_of(round_).splitlines() if "an audit" in line)
    return line


async def test_an_unchanged_audit_ranking_is_reported() -> None:
    round_ = await _audited(rank_by_text)

    (audit,) = (ballot for ballot in round_.ballots if not ballot.counts)
    assert round_.draw
    names = names_of(round_)
    ranked = " > ".join(names[label] for (label,) in audit.ranking)
    assert _line(round_) == (
        f"{NAMES[audit.judge]} saw the same answers again in reverse and ranked {ranked}; "
        "an audit, not counted."
    )
    marked = [(b["audit"], b["attempts"], b["counted"]) for b in round_document(round_)["ballots"]]
    assert marked.count(("order", 1, False)) == 1
    assert [counted for *_, counted in marked].count(True) == 4


@pytest.mark.parametrize(
    ("kind", "seen"),
    [
        ("named", "saw the same answers again with their authors' names and ranked"),
        ("own", "saw its own answer among the others and ranked"),
        ("loud", "voted again (loud) and ranked"),
    ],
)
async def test_every_kind_of_audit_says_what_the_judge_saw(kind: str, seen: str) -> None:
    round_ = await _audited(rank_by_text)
    ballots = tuple(b if b.counts else replace(b, audit=kind) for b in round_.ballots)

    assert seen in _line(replace(round_, ballots=ballots))


async def test_a_spoiled_audit_ballot_is_reported_as_one() -> None:
    round_ = await _audited("I like them all.")

    assert "'s reply" not in thread_of(round_)
    assert _line(round_).endswith("held no JSON object with a ranking.")
    assert [spoiled["audit"] for spoiled in round_document(round_)["spoiled"]] == [True]


@pytest.mark.parametrize(
    "again", [rank_by_text, rank_by_slot, "babble"], ids=["same", "other", "spoiled"]
)
async def test_an_audit_changes_only_its_own_line(again: ScriptEntry) -> None:
    audited, plain = await _audited(again), await held(panel=NEVER)

    assert root_of(audited) == root_of(plain)
    lines = [line for line in thread_of(audited).splitlines() if "an audit" not in line]
    assert lines == thread_of(plain).splitlines()
    assert audited.draw
    assert plain.draw
    assert placement_table(audited, audited.draw) == placement_table(plain, plain.draw)


async def test_progress_never_counts_an_audit_ballot() -> None:
    audited = await stages_of(FakeGateway(), ALWAYS)
    uncounted = [replace(round_, tally=None, synthesis=None) for round_ in audited[:-1]]

    posts = [progress_post(round_, 3) for round_ in uncounted if round_.draw]

    assert posts[-1].summary == "4 of 4 judges voted"
    assert all(len(_steps(post.parts)) == 4 + 4 + 1 for post in posts)


def _steps(parts: tuple[object, ...]) -> tuple[object, ...]:
    return next(part.steps for part in parts if isinstance(part, Steps))

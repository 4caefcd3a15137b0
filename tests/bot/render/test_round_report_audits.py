"""Audit ballots have one line next to the ballots and change nothing else."""

from dataclasses import replace

import pytest

from bot.chat import Steps
from bot.render.round_json import round_document
from bot.render.round_report import findings, placement_table
from bot.render.round_status import progress_post
from council.panel import Terms
from council.round_rules import due_audit
from council.rounds import Round
from tests.bot.rounds import held, root_of, stages_of, thread_of
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
    ranked = " > ".join(label for (label,) in audit.ranking)
    assert _line(round_) == (
        f"{NAMES[audit.judge]} saw the same answers again in reverse and ranked {ranked}: "
        "the same; an audit, not counted"
    )
    marked = [(b["audit"], b["attempts"], b["counted"]) for b in round_document(round_)["ballots"]]
    assert marked.count(("order", 1, False)) == 1
    assert [counted for *_, counted in marked].count(True) == 4


async def test_changed_pairs_and_a_known_cost_are_shown() -> None:
    one = await held(FakeGateway(vote=rank_by_slot), a_panel(3, terms=Terms(audit_share=1)))
    (audit,) = (ballot for ballot in one.ballots if not ballot.counts)
    assert audit.paper
    paper = replace(audit.paper, reply=replace(audit.paper.reply, cost_usd=0.0021))
    paid = tuple(b if b.counts else replace(b, paper=paper) for b in one.ballots)

    assert _line(replace(one, ballots=paid)).endswith(
        ": changed 1 of 1 pair; an audit for $0.0021, not counted"
    )


@pytest.mark.parametrize(
    ("kind", "seen"),
    [
        ("named", "saw the same answers again with their authors' names and ranked"),
        ("loud", "voted again (loud) and ranked"),
    ],
)
async def test_every_kind_of_audit_says_what_the_judge_saw(kind: str, seen: str) -> None:
    assert seen in _line(_shown_as(await _audited(rank_by_text), kind, own=False))


async def test_a_spoiled_audit_ballot_is_reported_as_one() -> None:
    round_ = await _audited("I like them all.")

    assert "'s reply" not in thread_of(round_)
    assert _line(round_).endswith("held no JSON object with a ranking; an audit, not counted")
    assert [spoiled["audit"] for spoiled in round_document(round_)["spoiled"]] == [True]
    assert findings(round_) == []


def _shown_as(round_: Round, kind: str, own: bool) -> Round:
    """Return the round with its audit of another kind, with or without the judge's own answer."""
    (audit,) = (ballot for ballot in round_.ballots if not ballot.counts)
    assert round_.draw
    label = round_.draw.labels.label_of(audit.judge)
    assert label
    place = ((label,),) if own else ()
    shown = (label, *audit.shown) if own else audit.shown
    told = replace(audit, audit=kind, ranking=(*place, *audit.ranking), shown=shown)
    return replace(round_, ballots=tuple(b if b.counts else told for b in round_.ballots))


async def test_the_place_of_the_judges_own_answer_is_shown() -> None:
    round_ = _shown_as(await _audited(rank_by_text), "own", own=True)
    other = _shown_as(await held(FakeGateway(vote=rank_by_slot), ALWAYS), "own", own=True)

    (audit,) = (ballot for ballot in round_.ballots if not ballot.counts)
    assert _line(round_).startswith(
        f"{NAMES[audit.judge]} saw its own answer among the others and ranked {audit.shown[0]} > "
    )
    assert _line(round_).endswith(
        f": its own, {audit.shown[0]}, at 1 of 4; the others as before; an audit, not counted"
    )
    assert "at 1 of 4; changed 3 of 3 other pairs; an audit" in _line(other)


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

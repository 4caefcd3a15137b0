"""Rankings as lines for other people's measurements: round trip, and what is left out."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.bakeoffs.parts import bakeoff_stores
from bot.research.judgments import judgment_lines
from bot.research.services import export_judgments
from council.bakeoffs.models import Grading, Reference, SuiteQuestion
from council.feedback import HumanVote
from council.panel import Panel
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.rounds import Round
from tests.bench.aggregation import official, read
from tests.bot.app_fakes import an_app
from tests.builders import ASKED_AT, CLAUDE, GEMINI, GROK, a_member, a_panel, a_round
from tests.council.research.registries import LABORATORY
from tests.fakes.gateway import FakeGateway, rank_by_slot
from tests.fakes.memory_store import MemoryStore
from tests.storage.bakeoffs.benches import a_bakeoff, suite_of


async def ranked(panel: Panel, store: MemoryStore | None = None, **about: Any) -> Round:  # noqa: ANN401
    """Return a closed round whose judges vote by position; Claude's answer alone is right."""
    store = store or MemoryStore()
    opened = replace(a_round(panel, registry=LABORATORY), **about)
    await store.open(opened)
    gateway = FakeGateway(vote=rank_by_slot, answers={CLAUDE: "It is 42."})
    return await run_round(opened.id, RoundServices(gateway, store))


def by_method(method: str, audit_share: float = 0.0) -> Panel:
    panel = a_panel(4)
    return replace(panel, terms=replace(panel.terms, method=method, audit_share=audit_share))


@pytest.mark.parametrize("method", ["blind-ranking", "both-orders"])
async def test_exported_rounds_count_as_they_did(tmp_path: Path, method: str) -> None:
    round_ = await ranked(by_method(method))
    votes = [HumanVote("r1", "U1", "K", GEMINI, ASKED_AT, blind=True)]
    (tmp_path / "a.jsonl").write_text(judgment_lines(round_, votes, {}), encoding="utf-8")

    judgments = read(tmp_path)

    ((name, item),) = judgments.items.items()
    passes = 1 if method == "blind-ranking" else 2
    assert [len(cast) for cast in item.cast.values()] == [passes] * 4
    assert item.human[0][0] == (GEMINI,)
    assert round_.draw
    assert round_.tally
    if passes == 1:
        (counted,) = official(name, item)
        scores = {round_.draw.labels.label_of(m): x for m, x in counted.items()}
        assert scores == {line.label: line.share for line in round_.tally.standings}


@pytest.mark.parametrize("method", ["multiple-evidence", "peer-discussion", "pairwise-elimination"])
async def test_judges_that_rank_more_than_once_are_exported_so_that_they_can_be_read(
    tmp_path: Path, method: str
) -> None:
    panel = by_method(method)
    panel = replace(panel, outside_judges=(a_member(GROK),))
    lines = judgment_lines(await ranked(panel), [], {})
    (tmp_path / "a.jsonl").write_text(lines, encoding="utf-8")

    if method == "pairwise-elimination":
        assert not lines
    else:
        assert read(tmp_path).items


async def test_an_audit_in_reverse_order_is_a_repeat_and_other_audits_are_left_out() -> None:
    round_ = await ranked(by_method("blind-ranking"))
    own, order = (
        replace(round_.ballots[0], audit=kind, shown=round_.ballots[0].shown[::-1])
        for kind in ("own", "order")
    )
    audited = replace(round_, ballots=(*round_.ballots, own, order))

    lines = [json.loads(line) for line in judgment_lines(audited, [], {}).splitlines()]

    assert len(lines) == 5
    assert lines[-1]["order"] == lines[0]["order"][::-1]
    assert {line["family"] for line in lines} == {s.family for s in round_.panel.members}


async def test_a_blind_vote_is_exported_with_its_whole_order_and_no_other_vote_is() -> None:
    round_ = await ranked(by_method("blind-ranking"))
    assert round_.draw
    (first, best), (second, other), *rest = round_.draw.labels.pairs
    ranking = ((best,), (other,))
    blind = HumanVote("r1", "U1", best, first, ASKED_AT, blind=True, ranking=ranking)
    late = HumanVote("r1", "U2", best, first, ASKED_AT, ranking=ranking)

    lines = judgment_lines(round_, [blind, late], {}).splitlines()

    assert [one["human"] for line in lines if "human" in (one := json.loads(line))] == [
        [[first], [second], [author for author, _ in rest]]
    ]


async def test_a_vote_orders_only_answers_that_a_judge_ranked(tmp_path: Path) -> None:
    round_ = await ranked(by_method("blind-ranking"))
    assert round_.draw
    unseen = round_.draw.labels.pairs[0][1]
    seen = tuple(ballot for ballot in round_.ballots if unseen not in ballot.shown)
    strange = HumanVote("r1", "U1", "?", "nobody", ASKED_AT, blind=True, ranking=(("?",),))
    unranked = HumanVote("r1", "U2", unseen, CLAUDE, ASKED_AT, blind=True, ranking=((unseen,),))
    lines = judgment_lines(replace(round_, ballots=seen), [strange, unranked], {})
    (tmp_path / "a.jsonl").write_text(lines, encoding="utf-8")

    assert not [item for item in read(tmp_path).items.values() if item.human]


async def test_no_text_and_no_person_is_exported() -> None:
    round_ = await ranked(by_method("blind-ranking"))

    vote = HumanVote("r1", "U-ANA", "K", CLAUDE, ASKED_AT, blind=True)
    text = judgment_lines(round_, [vote], {})

    assert '"by": "vote"' in text
    assert "U-ANA" not in text
    assert round_.question.text not in text
    assert not any(ballot.reason in text for ballot in round_.ballots if ballot.reason)


async def test_a_round_without_a_result_has_no_lines() -> None:
    assert judgment_lines(a_round(), [], {}) == ""


async def test_right_answers_of_a_bakeoff_are_better_than_wrong_ones() -> None:
    store = MemoryStore()
    app = an_app(store=store)
    suite = replace(
        suite_of("A?"), questions=(SuiteQuestion("A?", reference=Reference(Grading.NUMBER, "42")),)
    )
    bakeoff = replace(a_bakeoff("bo:1"), suite=suite)
    await bakeoff_stores(app).bakeoffs.open(bakeoff)
    id_ = "bo:1.1"
    round_ = await ranked(by_method("blind-ranking"), store, id=id_, bakeoff="bo:1")

    exported = await export_judgments(app, id_)

    others = [seat.key for seat in round_.panel.members[1:]]
    assert json.loads(exported.splitlines()[-1]) == {
        "item": id_,
        "human": [[CLAUDE], others],
        "by": "reference",
    }

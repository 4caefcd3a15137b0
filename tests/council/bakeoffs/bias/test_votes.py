"""The votes of a round say who ranked whom and how, and contain no texts."""

from dataclasses import replace

import pytest

from council.bakeoffs.bias.votes import STYLE, Vote, build_votes, count_style
from council.ballots import AUDIT_ATTEMPT, Ballot
from council.integrity.erasure import forget
from council.panel import Terms
from council.round_rules import AUDIT_POLICY, Audit, compute_draw, due_audit
from council.rounds import Closing, Round
from tests.builders import (
    ASKED_AT,
    CLAUDE,
    DEEPSEEK,
    GEMINI,
    GPT,
    a_panel,
    a_round,
    a_spoiled_ballot,
    an_absence,
    an_exchange,
    ballot_text,
    with_answers,
    with_ballots,
)

TEXTS = {CLAUDE: "Yes.", GPT: "- **No.**\n- Never.", GEMINI: "`Perhaps`", DEEPSEEK: "It depends."}


def _round(outside: int = 0) -> Round:
    panel = a_panel(4, outside=outside, terms=Terms(audit_share=1))
    opened = replace(a_round(panel), versions=(("audits", AUDIT_POLICY),))
    return with_ballots(with_answers(opened, TEXTS)).with_(Closing(12.5))


def _audit(round_: Round) -> Audit:
    audit = due_audit(round_, compute_draw(round_))
    assert audit
    return audit


def test_a_ballot_is_its_judge_whom_it_saw_and_their_ranks() -> None:
    round_ = _round()
    draw = compute_draw(round_)

    found = build_votes(round_)

    ballot = round_.ballots[0]
    authors = tuple(draw.labels.author_of(label) for label in ballot.shown)
    ranking = [draw.labels.author_of(label) for (label,) in ballot.ranking]
    ranks = tuple(float(1 + ranking.index(author)) for author in authors)
    assert found.ballots[0] == Vote(ballot.judge, authors, ranks)
    assert [vote.judge for vote in found.ballots] == [CLAUDE, GPT, GEMINI, DEEPSEEK]


def test_answers_are_stored_by_length_and_style() -> None:
    found = {one.author: one for one in build_votes(_round()).written}

    # Three bytes a token, rounded up.
    assert {author: one.length for author, one in found.items()} == {
        CLAUDE: 2,
        GPT: 6,
        GEMINI: 3,
        DEEPSEEK: 4,
    }
    assert found[GPT].style == (2, 0, 1, 0)
    assert found[GEMINI].style == (0, 0, 0, 1)
    assert [author for author, one in found.items() if one.is_first] == [_winner()]


def test_length_and_style_of_forgotten_answers_are_unknown() -> None:
    before, after = build_votes(_round()), build_votes(forget(_round(), ASKED_AT, "salt"))

    unknown = (replace(one, length=None, style=None) for one in before.written)
    assert after == replace(before, written=tuple(unknown))


def _winner() -> str:
    round_ = _round()
    assert round_.tally
    (first,) = (line.label for line in round_.tally.standings if line.place == 1)
    return compute_draw(round_).labels.author_of(first)


def test_an_audit_ballot_is_kept_with_its_kind_and_cost() -> None:
    round_ = _round()
    audit = _audit(round_)
    paper = an_exchange(ballot_text("B A", audit.nonce), nonce=audit.nonce, attempt=AUDIT_ATTEMPT)
    paid = replace(paper, reply=replace(paper.reply, cost_usd=0.25))

    found = build_votes(round_.with_(audit.cast(paid)))

    assert found.audit
    assert (found.audit.judge, found.audit.kind) == (audit.slate.judge, audit.kind)
    assert found.audit.cost_usd == 0.25
    assert found.audit.vote
    assert len(found.audit.vote.shown) == len(audit.slate.shown)
    assert len(found.ballots) == 4
    assert build_votes(round_).audit is None


def test_a_spoiled_audit_is_of_no_kind_that_is_known() -> None:
    round_ = _round()
    spoiled = replace(a_spoiled_ballot(GPT, attempt=AUDIT_ATTEMPT))

    found = build_votes(round_.with_(spoiled)).audit

    assert found
    assert (found.judge, found.kind, found.vote, found.cost_usd) == (GPT, "", None, None)


def test_an_audit_without_its_reply_has_an_unknown_cost() -> None:
    round_ = _round()
    audit = _audit(round_)
    voted = audit.cast(an_exchange(ballot_text("A", audit.nonce), attempt=AUDIT_ATTEMPT))

    assert isinstance(voted, Ballot)
    found = build_votes(round_.with_(replace(voted, paper=None)))

    assert found.audit
    assert found.audit.cost_usd is None


def test_spoiled_ballots_are_counted_for_each_judge_that_was_asked() -> None:
    round_ = _round().with_(a_spoiled_ballot(GPT)).with_(a_spoiled_ballot(GPT, attempt=2))
    round_ = round_.with_(a_spoiled_ballot(GPT, attempt=AUDIT_ATTEMPT))

    assert build_votes(round_).spoiled == ((CLAUDE, 0), (GPT, 2), (GEMINI, 0), (DEEPSEEK, 0))


@pytest.mark.parametrize(
    "round_",
    [
        pytest.param(replace(_round(), closing=Closing(1.0, "Only one answered.")), id="failed"),
        pytest.param(a_round(a_panel(4)).with_(an_absence()), id="not-drawn"),
        pytest.param(replace(_round(), tally=None), id="not-counted"),
    ],
)
def test_of_a_round_that_failed_the_seats_are_kept(round_: Round) -> None:
    found = build_votes(round_)

    assert found.judges == (CLAUDE, GPT, GEMINI, DEEPSEEK)
    assert (found.ballots, found.audit, found.spoiled, found.written) == ((), None, (), ())


def _found(text: str) -> dict[str, int]:
    return {name: count for name, count in zip(STYLE, count_style(text), strict=True) if count}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("", {}, id="nothing"),
        pytest.param("Two * three is six; C# is no heading, 3. neither.", {}, id="prose"),
        pytest.param("- one\n- two\n\n1. three", {"lists": 3}, id="lists"),
        pytest.param("# One\n\ntext\n\n### Two", {"headings": 2}, id="headings"),
        pytest.param("This is **bold** and __so__ is this.", {"bold": 2}, id="bold"),
        pytest.param("Use `git`:\n\n```sh\n# no heading\n- no list\n```", {"code": 2}, id="code"),
        pytest.param("- **a**: `b`", {"lists": 1, "bold": 1, "code": 1}, id="one-in-another"),
    ],
)
def test_style_elements_are_counted(text: str, found: dict[str, int]) -> None:
    assert _found(text) == found

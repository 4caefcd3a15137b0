"""What a judge sees in an audit that includes its own answer, and in one that names authors."""

from dataclasses import replace

from council.answers import Call, Role
from council.ballots import Ballot
from council.errors import ContextOverflowError
from council.integrity.verification import verify
from council.panel import Terms
from council.round_rules import AUDIT_POLICY, NAMED, OWN, compute_draw, due_audit
from council.rounds import Round
from tests.builders import NAMES, a_panel, a_round, with_answers, with_ballots
from tests.council.pipeline.helpers import run_with_fakes
from tests.fakes.gateway import FakeGateway, rank_by_text, read_prompt

PANEL = a_panel(4, terms=Terms(audit_share=1))


def _opened(kind: str) -> Round:
    for nth in range(100):
        opened = replace(a_round(PANEL, seed=f"round {nth}"), versions=(("audits", AUDIT_POLICY),))
        round_ = with_ballots(with_answers(opened))
        audit = due_audit(round_, compute_draw(round_))
        if audit and audit.kind == kind:
            return opened
    raise AssertionError(f"none of a hundred rounds is due {kind!r}")


def _audit(round_: Round) -> Ballot:
    (audit,) = (ballot for ballot in round_.ballots if not ballot.counts)
    return audit


async def _asked(kind: str) -> tuple[Round, Call, Call]:
    """Return the round, and the calls for the counted ballot and for the audit."""
    gateway = FakeGateway()
    round_ = await run_with_fakes(_opened(kind), gateway)
    first, again = gateway.of(Role.BALLOT, _audit(round_).judge)
    return round_, first, again


async def test_the_own_answer_is_fenced_like_any_other() -> None:
    round_, first, again = await _asked(OWN)

    before, now = read_prompt(first.prompt), read_prompt(again.prompt)
    assert [*now.texts] == ["A", "B", "C", "D"]
    assert {*before.texts.values()} < {*now.texts.values()}
    assert again.prompt.system == first.prompt.system
    assert again.schema != first.schema
    assert verify(round_) == ()


async def test_names_precede_unchanged_fences() -> None:
    round_, first, again = await _asked(NAMED)

    assert read_prompt(again.prompt).texts == read_prompt(first.prompt).texts
    audit = _audit(round_)
    assert round_.draw
    authors = [round_.draw.labels.author_of(label) for label in audit.shown]
    said = [
        f"Response {letter} was written by {NAMES[author]}."
        for letter, author in zip("ABC", authors, strict=True)
    ]
    before, _, _ = again.prompt.user.partition("<response label=")
    assert [line for line in before.splitlines() if "written by" in line] == said
    assert "Their authors are named." in again.prompt.system
    assert "Their authors are hidden from you." in first.prompt.system
    assert not any(name in first.prompt.user for name in NAMES.values())
    assert verify(round_) == ()


async def test_an_own_answer_that_does_not_fit_shortens_all_answers() -> None:
    opened = _opened(OWN)
    texts = {seat.key: letter * 6_000 for seat, letter in zip(PANEL.members, "abcd", strict=True)}
    # Three of them fit, four do not.
    gateway = FakeGateway(answers=texts, contexts=dict.fromkeys(texts, 7_600))

    round_ = await run_with_fakes(opened, gateway)

    papers = [b.paper for b in round_.ballots if b.judge == _audit(round_).judge and b.paper]
    lengths = [paper.cut_to for paper in papers]
    assert lengths[0] is None
    assert lengths[1] is not None


async def test_without_room_for_all_answers_there_is_no_audit() -> None:
    opened, found = _opened(OWN), set[tuple[bool, bool]]()
    texts = {seat.key: letter * 123 for seat, letter in zip(PANEL.members, "abcd", strict=True)}
    for context in range(1_000, 1_600, 10):
        gateway = FakeGateway(answers=texts, contexts=dict.fromkeys(texts, context))
        round_ = await run_with_fakes(opened, gateway)
        papers = [b.paper for b in round_.ballots if b.counts and b.paper]
        whole = len(papers) == 4 and all(paper.cut_to is None for paper in papers)
        found.add((whole, len(round_.ballots) > len(papers)))

    # Nobody voted, all but for the audit, and all with the audit.
    assert found == {(False, False), (True, False), (True, True)}


async def test_an_overflowing_audit_leaves_no_trace() -> None:
    opened = _opened(OWN)
    judge = _audit(await run_with_fakes(opened)).judge
    overflow = ContextOverflowError("takes no more")

    round_ = await run_with_fakes(opened, FakeGateway(judges={judge: [rank_by_text, overflow]}))

    assert all(ballot.counts for ballot in round_.ballots)
    assert not round_.absence(judge, Role.BALLOT)

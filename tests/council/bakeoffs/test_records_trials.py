"""Records of trials: answers used again count in their own round, absences are wrong."""

from dataclasses import replace

from council.answers import Origin, Role
from council.bakeoffs.models import Bakeoff, Grading, Reference, Suite, SuiteQuestion
from council.bakeoffs.records import Record, build_record
from council.panel import Trial
from council.places import NOWHERE
from council.round_rules import compute_draw, compute_tally
from council.rounds import Closing, Round
from tests.builders import (
    ASKED_AT,
    CLAUDE,
    GEMINI,
    GPT,
    a_ballot,
    a_panel,
    a_round,
    an_absence,
    an_answer,
)

SUITE = Suite("sums", (SuiteQuestion("6 × 7?", reference=Reference(Grading.EXACT, "42")),))


def a_trial_round(*, is_ranked: bool = True) -> Round:
    """Return a closed round of GPT against Claude, whose answer is used again like Gemini's."""
    panel = replace(a_panel(3), trial=Trial(GPT, CLAUDE, is_ranked))
    origin = Origin("bo:0.1", ASKED_AT)
    reused = (an_answer(CLAUDE, "41", cost=0.5), an_answer(GEMINI, "43", cost=0.5))
    answers = (*(replace(x, origin=origin) for x in reused), an_answer(GPT, "42", cost=0.25))
    round_ = replace(a_round(panel), id="bo:1.1", bakeoff="bo:1", answers=answers)
    draw = compute_draw(round_)
    cast = [a_ballot(" ".join(slate.shown), by=slate.judge) for slate in draw.slates]
    round_ = replace(round_, draw=draw, ballots=tuple(cast))
    return replace(round_, tally=compute_tally(round_, draw), closing=Closing(1.0))


def build(round_: Round, *, with_reused: bool = False) -> Record:
    bakeoff = Bakeoff("bo:1", SUITE, round_.panel, NOWHERE, "U1", ASKED_AT)
    return build_record(round_, bakeoff, with_reused=with_reused)


def test_an_answer_used_again_counts_and_costs_nothing_twice() -> None:
    round_ = a_trial_round()
    record = build(round_)

    lines = {one.member: one for one in record.authored}
    assert (lines[GPT].correct, lines[GPT].cost_usd) == (True, 0.25)
    assert (lines[CLAUDE].correct, lines[CLAUDE].absent, lines[CLAUDE].cost_usd) == (None,) * 3
    assert {(x.first, x.second) for x in record.margins} == {(CLAUDE, GPT), (GPT, GEMINI)}
    assert [x.judge for x in record.judged] == [GEMINI]  # the pair does not judge
    assert (record.whole.winner, record.whole.council_correct) == (None, None)
    assert 0.5 not in {reply.cost_usd for reply in round_.replies}


def test_the_trial_itself_shows_both_models() -> None:
    record = build(a_trial_round(), with_reused=True)

    lines = {one.member: one for one in record.authored}
    assert (lines[CLAUDE].correct, lines[CLAUDE].cost_usd) == (False, 0.5)
    assert len(record.margins) == 3
    assert record.whole.winner is not None


def test_an_erased_answer_is_unknown_also_there() -> None:
    round_ = a_trial_round()
    gone = replace(round_.answers[0], reply=replace(round_.answers[0].reply, text=""))
    record = build(replace(round_, answers=(gone, *round_.answers[1:])), with_reused=True)

    assert record.authored[0].correct is None


def test_without_rankings_nobody_wins_and_an_absence_is_wrong() -> None:
    round_ = replace(a_trial_round(is_ranked=False), ballots=())
    absent = replace(round_, answers=round_.answers[:2], absences=(an_absence(GPT, Role.ANSWER),))

    assert build(round_, with_reused=True).whole.winner is None
    line = next(one for one in build(absent).authored if one.member == GPT)
    assert (line.absent, line.correct, line.grade) == (True, False, 0.0)

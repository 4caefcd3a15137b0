"""Trials of a candidate: stored answers are used again, and they stop when the answer is clear."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.bakeoffs.commands.trials import new_trial, plan_trial
from bot.bakeoffs.leaderboard import LeaderboardQuery, load_leaderboard
from bot.bakeoffs.lifecycle import load_progress, reopen_bakeoff, run_bakeoff
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.records import update_records
from bot.bakeoffs.render.trials import (
    detail_lines,
    trial_document,
    trial_proposal_post,
    trial_sentence,
)
from bot.bakeoffs.trials import Tried, find_reusable, load_tried, trial_of
from bot.chat import Asker, IncomingMessage
from bot.context import AppContext
from bot.coordination.clock import now
from bot.runners.local import LocalRunner
from council.answers import Reply, Role
from council.bakeoffs.models import Bakeoff, Grading, Reference, Suite, SuiteQuestion
from council.bakeoffs.trial import USUAL_SPREAD, Outcome
from council.budget import Budget
from council.budget_caps import Caps
from council.errors import GatewayError, PanelError, SuiteError
from council.integrity.verification import verify
from council.panel import Panel
from council.rounds import Round
from tests.bot.app_fakes import an_app, ready
from tests.bot.bakeoffs.fakes import DEAR, HERE, a_bakeoff, a_graded_suite, run_to_end
from tests.bot.rounds import words_of
from tests.builders import CLAUDE, GEMINI, GPT, GROK, KEYS, a_member, a_panel
from tests.fakes.gateway import FakeGateway
from tests.fakes.memory_ledger import MemoryLedger

QUESTIONS = 12
GRADED = a_graded_suite(*["42"] * QUESTIONS)
OPEN = Suite("open", tuple(SuiteQuestion(f"Question {n}?") for n in range(1, QUESTIONS + 1)))
MESSAGE = IncomingMessage("", Asker("U1", "Ada"), HERE, "try1")
PRICES = dict.fromkeys(KEYS, DEAR)
OTHER = replace(a_panel(2), name="other", members=(a_member(GROK), a_member(GPT)))


def a_gateway(**answers: object) -> FakeGateway:
    said = {CLAUDE: _costing("41", 0.03), GROK: _costing("42", 0.01)}
    return FakeGateway(answers={**said, **answers}, prices=PRICES)  # type: ignore[dict-item]


def _costing(text: str, usd: float, model: str = "") -> Reply:
    return Reply(text, cost_usd=usd, seconds=2.0, tokens_in=10, reported_model=model)


def a_paying_app(gateway: FakeGateway) -> AppContext:
    app = an_app(gateway, panels=[a_panel(3), OTHER])
    app.budget = Budget(MemoryLedger(), Caps(), now)
    app.runner = LocalRunner(app.store, gateway, ready, paying=app.budget.paying)
    return app


async def run_first(app: AppContext, suite: Suite = GRADED, panel: Panel | None = None) -> Bakeoff:
    """Run a suite on the panel, so that there are answers to use again."""
    progress = await run_to_end(app, None, a_bakeoff(suite, panel))
    return progress.bakeoff


def a_trial(
    app: AppContext, suite: Suite = GRADED, panel: Panel | None = None, cap: int | None = None
) -> Bakeoff:
    trial = new_trial(app, MESSAGE, suite, panel or a_panel(3), (GROK, ""))
    return replace(trial, at=trial.at + timedelta(days=400), cap_micro=cap)


async def run_trial(app: AppContext, trial: Bakeoff) -> Tried:
    await bakeoff_stores(app).bakeoffs.open(trial)
    await run_bakeoff(app, None, trial)
    return await stored(app, trial)


async def stored(app: AppContext, trial: Bakeoff) -> Tried:
    again = await bakeoff_stores(app).bakeoffs.load(trial.id)
    return await load_tried(app, await load_progress(app, again))


async def rounds_of(app: AppContext, trial: Bakeoff) -> list[Round]:
    lines = await app.store.list_summaries()
    ids = [line.id for line in lines if line.id.startswith(trial.id)]
    return [await app.store.load(id_) for id_ in ids]


async def test_with_stored_answers_only_the_candidate_is_asked_until_the_answer_is_clear() -> None:
    gateway = a_gateway()
    app = a_paying_app(gateway)
    await run_first(app)
    gateway.asked.clear()

    tried = await run_trial(app, a_trial(app))

    assert gateway.times_asked() == {(GROK, Role.ANSWER): 9}  # 9 of 12: √9 ≥ 2.3 · √(12 / 9)
    result = tried.result
    assert (result.outcome, result.asked, result.questions) == (Outcome.SWITCH, 9, QUESTIONS)
    assert trial_sentence(tried) == (
        "Switch to Grok 4: right on 9 of 9 where Claude Sonnet 4.6 is on 0, for a third of the "
        "price."
    )
    assert len(tried.reused[CLAUDE]) == 9
    assert {origin.round_id.partition(".")[0] for origin in tried.reused[CLAUDE]} == {"bo:beef"}
    document = trial_document(tried)
    assert (document["verdict"], document["asked"], document["reused"]) == ("switch", 9, 9)
    assert document["right"] == {"candidate": 9, "incumbent": 0, "of": 9}
    # The incumbent's answers were paid for once.
    assert document["cost_usd"] == {"candidate": 0.01, "incumbent": 0.03, "spent": 0.09}
    rounds = await rounds_of(app, a_trial(app))
    assert len(rounds) == 9
    assert all(verify(one) == () and one.synthesis is None for one in rounds)
    assert all(not one.closing or one.closing.failure is None for one in rounds)


async def test_the_result_joins_the_suites_board_and_no_answer_counts_twice() -> None:
    app = a_paying_app(a_gateway())
    await run_first(app)
    await run_trial(app, a_trial(app))
    await update_records(app)

    board = await load_leaderboard(bakeoff_stores(app), LeaderboardQuery("graded"), {})

    lines = {line.member: line for line in board.board.rows}
    assert (lines[GROK].graded, lines[GROK].right, lines[GROK].answers) == (9, 9, 9)
    assert (lines[CLAUDE].graded, lines[CLAUDE].answers) == (QUESTIONS, QUESTIONS)
    assert board.board.ranked_by == "grades"
    assert board.board.rows[0].member == GROK


async def test_without_an_earlier_run_the_incumbent_is_asked_too() -> None:
    gateway = a_gateway()
    app = a_paying_app(gateway)
    reuse, cost, _ = await plan_trial(app, a_trial(app))

    tried = await run_trial(app, a_trial(app))

    assert (reuse.count(CLAUDE), reuse.unfit, cost.micro > 0) == (0, (), True)
    assert set(gateway.times_asked()) == {(GROK, Role.ANSWER), (CLAUDE, Role.ANSWER)}
    assert tried.result.outcome is Outcome.SWITCH
    assert tried.reused == {}


async def test_an_incumbent_whose_settings_changed_is_asked_again() -> None:
    app = a_paying_app(a_gateway())
    await run_first(app)
    warm = replace(a_panel(3).members[0], temperature=0.2)
    panel = replace(a_panel(3), members=(warm, *a_panel(3).members[1:]))

    reuse = await find_reusable(app, a_trial(app, panel=panel))

    assert (reuse.count(CLAUDE), reuse.unfit) == (0, (CLAUDE,))


async def test_answers_of_an_earlier_version_of_the_model_are_not_used_again() -> None:
    gateway = a_gateway(**{CLAUDE: _costing("41", 0.03, "claude-4-6-old")})
    app = a_paying_app(gateway)
    await run_first(app)
    gateway.answers = {**gateway.answers, CLAUDE: _costing("42", 0.03, "claude-4-6-new")}
    newer = replace(GRADED, questions=GRADED.questions[:2])
    await run_to_end(app, None, replace(a_bakeoff(newer), id="bo:new", at=now()))

    reuse = await find_reusable(app, a_trial(app))

    assert {n for n, answers in reuse.answers.items() if CLAUDE in answers} == {1, 2}


async def test_of_an_edited_suite_only_the_same_questions_are_used_again() -> None:
    app = a_paying_app(a_gateway())
    await run_first(app)
    questions = [replace(GRADED.questions[0], text="A new one?"), *GRADED.questions[1:]]

    reuse = await find_reusable(app, a_trial(app, replace(GRADED, questions=tuple(questions))))

    assert reuse.count(CLAUDE) == QUESTIONS - 1
    assert not reuse.answers.get(1)


async def test_without_grades_the_others_rank_among_stored_answers_and_no_chairman_writes() -> None:
    gateway = a_gateway(**{CLAUDE: "Zebra", GROK: "Aardvark"})  # judges rank alphabetically
    app = a_paying_app(gateway)
    await run_first(app, OPEN)
    gateway.asked.clear()

    tried = await run_trial(app, a_trial(app, OPEN))

    asked = gateway.times_asked()
    assert asked[GROK, Role.ANSWER] == tried.result.asked
    assert {role for _, role in asked} == {Role.ANSWER, Role.BALLOT}
    assert {key for key, role in asked if role is Role.BALLOT} == {GPT, GEMINI}
    assert tried.result.outcome is Outcome.SWITCH
    assert trial_sentence(tried).startswith(
        "Switch to Grok 4: the judges prefer its answer on 9 of 9, and that of Claude Sonnet 4.6 "
        "on 0"
    )
    assert trial_document(tried)["right"] == {"candidate": None, "incumbent": None, "of": 9}
    for one in await rounds_of(app, a_trial(app)):
        assert {answer.member for answer in one.answers if answer.origin} == {CLAUDE, GPT, GEMINI}
        assert verify(one) == ()


async def test_a_candidate_that_fails_half_of_its_answers_is_said_first() -> None:
    fails = GatewayError("did not answer: its server failed (500)")
    gateway = a_gateway(**{CLAUDE: "42", GROK: [fails, "42"] * QUESTIONS})
    app = a_paying_app(gateway)
    await run_first(app)

    gateway.answers = {**gateway.answers, GROK: fails}
    tried = await run_trial(app, a_trial(app))

    missed = tried.result.candidate.absences
    assert trial_sentence(tried) == (
        f"Keep Claude Sonnet 4.6: Grok 4 did not answer {missed} of {missed} questions."
    )
    assert trial_document(tried)["missing"] == [f"Grok 4 did not answer {missed} of {missed}."]


async def test_a_cap_in_the_middle_of_a_look_leaves_it_undecided_and_resumable() -> None:
    gateway = a_gateway()
    app = a_paying_app(gateway)
    await run_first(app)
    plan = await plan_trial(app, a_trial(app))
    one = plan[1].micro // QUESTIONS
    trial = a_trial(app, cap=10_000 * 4 + one)  # about four answers
    gateway.asked.clear()

    capped = await run_trial(app, trial)
    again = await reopen_bakeoff(app, capped.progress.bakeoff, 10_000_000)
    await run_bakeoff(app, None, again)
    done = await stored(app, trial)

    assert capped.result.outcome is Outcome.UNDECIDED
    assert 0 < capped.result.asked < 9
    assert f"Undecided: stopped after {capped.result.asked} of 12 questions" in (
        trial_sentence(capped)
    )
    assert done.result.outcome is Outcome.SWITCH
    assert gateway.times_asked() == {(GROK, Role.ANSWER): 9}  # nothing was asked twice


async def test_what_it_can_show_rests_on_the_last_finished_run_and_not_on_a_trial() -> None:
    app = a_paying_app(a_gateway(**{GPT: "42", GEMINI: "41"}))
    assert (await plan_trial(app, a_trial(app)))[2] == USUAL_SPREAD
    first = await run_first(app)  # the incumbent is wrong as Gemini is, and GPT never
    await run_trial(app, a_trial(app))  # the candidate differs on every question
    later = replace(a_trial(app), id="bo:later", at=now() + timedelta(days=800))
    stopped = replace(a_bakeoff(GRADED), id="bo:stopped", at=now() + timedelta(days=500))
    await bakeoff_stores(app).bakeoffs.open(stopped)

    assert first.at < stopped.at < later.at
    assert (await plan_trial(app, later))[2] == 0.5
    other = replace(later, panel=replace(later.panel, name="other"))
    assert (await plan_trial(app, other))[2] == USUAL_SPREAD


async def plan_words(app: AppContext, trial: Bakeoff) -> str:
    return words_of(trial_proposal_post(trial, trial_of(trial), await plan_trial(app, trial)))


async def test_only_who_is_asked_receives_questions() -> None:
    app = a_paying_app(a_gateway())
    trial = a_trial(app)
    before = await plan_words(app, trial)
    await run_first(app)
    after = await plan_words(app, trial)
    ranked = a_trial(app, OPEN)
    judged = await plan_words(app, ranked)

    assert "The questions go to Anthropic and xAI." in before
    assert "The questions go to xAI." in after
    assert "The questions go to Anthropic, xAI, OpenAI and Google." in judged


async def test_outside_judges_of_rubrics_receive_questions() -> None:
    app = a_paying_app(a_gateway())
    question = SuiteQuestion("Why?", reference=Reference(Grading.JUDGE, "Says why."))
    panel = replace(a_panel(2), outside_judges=(a_member(GEMINI),))
    trial = a_trial(app, Suite("r", (question,) * 6), panel)

    words = await plan_words(app, trial)

    assert "The questions go to Anthropic, xAI and Google." in words


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        ((None, 0.03), "is on 0; its price is unknown."),
        ((0.01, None), "is on 0; the price of Claude Sonnet 4.6 is unknown."),
        ((0.0, 0.03), "is on 0, for $0 instead of $0.030 a question."),
        ((0.0, 0.0), "is on 0."),
    ],
)
async def test_a_price_that_is_unknown_is_said(
    costs: tuple[float | None, float | None], said: str
) -> None:
    app = a_paying_app(a_gateway())
    await run_first(app)
    tried = await run_trial(app, a_trial(app))
    candidate, incumbent = (
        replace(side, cost_usd=usd)
        for side, usd in zip((tried.result.candidate, tried.result.incumbent), costs, strict=True)
    )

    priced = replace(tried.result, candidate=candidate, incumbent=incumbent)
    tried = replace(tried, result=priced)
    open_ = replace(tried, result=replace(priced, outcome=Outcome.UNDECIDED))

    assert trial_sentence(tried).endswith(said)
    assert ("unknown" in trial_sentence(open_)) == (None in costs)
    details = [*detail_lines(tried)]
    assert ("Grok 4: cost unknown, 2.0 s." in details) == (costs[0] is None)


async def test_equal_models_are_undecided_and_the_price_is_said() -> None:
    app = a_paying_app(a_gateway(**{GROK: _costing("41", 0.01)}))
    await run_first(app)

    tried = await run_trial(app, a_trial(app))

    assert tried.result.outcome is Outcome.UNDECIDED
    sentence = trial_sentence(tried)
    assert sentence.startswith("Undecided: no difference shown (±")
    assert "; Grok 4 costs a third. About 240 questions would settle ±5." in sentence


@pytest.mark.parametrize("candidate", [CLAUDE, "nobody/knows"])
async def test_a_candidate_of_the_panel_or_an_unknown_one_is_refused(candidate: str) -> None:
    app = a_paying_app(a_gateway())

    with pytest.raises(PanelError):
        new_trial(app, MESSAGE, GRADED, a_panel(3), (candidate, ""))


async def test_rubrics_need_an_outside_judge_who_is_not_the_candidate() -> None:
    question = SuiteQuestion("Why?", reference=Reference(Grading.JUDGE, "Says why."))
    with pytest.raises(SuiteError, match="outside judges grade"):
        new_trial(
            a_paying_app(a_gateway()), MESSAGE, Suite("r", (question,) * 6), a_panel(3), (GROK, "")
        )

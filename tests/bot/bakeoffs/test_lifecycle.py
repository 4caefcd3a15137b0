"""Life of a bake-off: a few rounds at a time, resumed after any stop."""

import asyncio
from dataclasses import replace

import pytest

from bot.bakeoffs import runner
from bot.bakeoffs.lifecycle import begin_bakeoff, reopen_bakeoff, run_bakeoff, stop_bakeoff
from bot.bakeoffs.parts import bakeoff_registry, bakeoff_settings, bakeoff_stores
from bot.bakeoffs.runner import UNFORESEEN
from bot.context import AppContext
from council.answers import Call, Reply, Role
from council.errors import BakeoffError, GatewayError
from council.ports import RoundQuery
from council.providers import BreakerState, Health, ModelHealth
from council.rounds import Round, Stage
from tests.bot.app_fakes import Room, an_app
from tests.bot.bakeoffs.fakes import (
    a_bakeoff,
    a_graded_suite,
    a_suite,
    questions_asked,
    run_to_end,
    store_bakeoff,
)
from tests.builders import ASKED_AT, CLAUDE, GPT, a_panel
from tests.fakes.gateway import FakeGateway, Hangs


async def rounds_of(app: AppContext) -> list[Round]:
    ids = await app.store.ids(wanted=RoundQuery(bakeoff="bo:beef"))
    return [await app.store.load(id_) for id_ in sorted(ids)]


async def until_under_way(app: AppContext, rounds: int) -> None:
    """Wait until so many rounds are being carried."""
    async with asyncio.timeout(10):
        while True:
            lines = await app.store.list_summaries(wanted=RoundQuery(bakeoff="bo:beef"))
            if sum(app.runner.latest(line.id) is not None for line in lines) == rounds:
                return
            await asyncio.sleep(0)


def health(*breakers: BreakerState) -> Health:
    members = a_panel().members
    models = zip(members, breakers, strict=True)
    return Health(models=tuple(ModelHealth(m.model_id, "x", state) for m, state in models))


async def test_no_question_fails_for_an_outage_that_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "RELOAD_SECONDS", 0.01)
    opened, half, closed = BreakerState.OPEN, BreakerState.HALF_OPEN, BreakerState.CLOSED
    states = iter([health(opened, opened, closed)] * 3 + [health(half, half, closed)] * 2)
    gateway = FakeGateway()
    app, seen = an_app(gateway), []

    def observe() -> Health:
        seen.append(len(gateway.asked))
        return next(states, health(closed, closed, closed))

    app.health = observe

    progress = await run_to_end(app)

    assert (progress.over, progress.failed) == (3, ())
    # Nothing is asked during the outage; then one round alone is the probe.
    assert seen[:4] == [0] * 4


async def test_a_bake_off_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "RELOAD_SECONDS", 0.01)
    monkeypatch.setattr(runner, "MAX_OUTAGE_SECONDS", 0.03)
    app = an_app()
    app.health = lambda: health(*[BreakerState.OPEN] * 3)

    assert (await run_to_end(app)).over == 3


async def test_every_question_becomes_a_round_of_the_bake_off() -> None:
    app = an_app()

    progress = await run_to_end(app)

    rounds = await rounds_of(app)
    assert [round_.id for round_ in rounds] == ["bo:beef.1", "bo:beef.2", "bo:beef.3"]
    assert {(round_.bakeoff, round_.stage) for round_ in rounds} == {("bo:beef", Stage.CLOSED)}
    assert [round_.question.text for round_ in rounds] == [
        "Question 1?",
        "Question 2?",
        "Question 3?",
    ]
    assert len({round_.seed for round_ in rounds}) == 3
    assert (progress.over, progress.failed, progress.under_way) == (3, (), 0)
    ending = (await bakeoff_stores(app).bakeoffs.load("bo:beef")).ending
    assert ending
    assert ending.failure is None


async def test_no_more_rounds_run_at_once_than_configured() -> None:
    gateway = FakeGateway({CLAUDE: Hangs()})
    app = an_app(gateway)

    await begin_bakeoff(app, None, await store_bakeoff(app, a_bakeoff(a_suite(5))))
    await until_under_way(app, 2)
    for _ in range(50):
        await asyncio.sleep(0)

    assert len(await rounds_of(app)) == 2
    await stop_bakeoff(app, await bakeoff_stores(app).bakeoffs.load("bo:beef"), "Enough.")


async def test_a_failed_question_is_reported_and_does_not_fail_the_others() -> None:
    lost = GatewayError("hung up")
    gateway = FakeGateway({key: ["Yes.", lost, "No."] for key in (CLAUDE, GPT)})
    app, chat = an_app(gateway), Room()
    bakeoff_settings(app).rounds_at_once = 1

    progress = await run_to_end(app, chat)

    assert progress.over == 3
    assert [failed.number for failed in progress.failed] == [2]
    assert "1 of 3 questions failed. Question 2: Only 1 of 3 models answered" in chat.edited[-1]


async def test_an_invalid_question_and_an_unexpected_error_fail_only_their_question() -> None:
    suite = a_suite(3)
    invalid = replace(suite.questions[0], text="w" * 20_001)
    suite = replace(suite, questions=(invalid, *suite.questions[1:]))
    app = an_app(BrokenGateway(), panels=[a_panel()])
    app.access = replace(app.access, rounds_per_hour=1)  # holds for single questions alone

    progress = await run_to_end(app, None, a_bakeoff(suite))

    first, second = progress.failed
    assert progress.is_complete
    assert "the limit is 20,000" in first.why
    assert (second.number, second.why) == (2, UNFORESEEN)
    assert len(await rounds_of(app)) == 2


class BrokenGateway(FakeGateway):
    """Does what nobody foresaw at the second question."""

    async def complete(self, call: Call) -> Reply:
        if "Question 2?" in call.prompt.user:
            raise ZeroDivisionError
        return await super().complete(call)


async def test_a_cancelled_bakeoff_stops_spending_and_keeps_its_results() -> None:
    gateway = FakeGateway({CLAUDE: ["Yes.", Hangs()]})
    app, chat = an_app(gateway), Room()
    bakeoff_settings(app).rounds_at_once = 1
    bakeoff = await store_bakeoff(app)
    await begin_bakeoff(app, chat, bakeoff)
    await until_second_question(gateway)

    over = await stop_bakeoff(app, bakeoff, "It was cancelled.")
    async for _ in bakeoff_registry(app).subscribe(bakeoff.id):
        pass

    assert over == 1
    assert app.runner.latest("bo:beef.2") is None
    assert bakeoff_registry(app).latest(bakeoff.id) is None
    assert "It was cancelled. 1 of 3 questions are saved" in chat.edited[-1]
    assert not [words for words in chat.said_in("C1") if "ended early" in words]
    ending = (await bakeoff_stores(app).bakeoffs.load(bakeoff.id)).ending
    assert ending
    assert ending.failure == "It was cancelled."


async def until_second_question(gateway: FakeGateway) -> None:
    async with asyncio.timeout(10):
        while "Question 2?" not in questions_asked(gateway):  # noqa: ASYNC110
            await asyncio.sleep(0)


async def until_answered(app: AppContext, round_id: str, answers: int) -> None:
    async with asyncio.timeout(10):
        while len((await app.store.load(round_id)).answers) < answers:  # noqa: ASYNC110
            await asyncio.sleep(0)


async def test_a_resumed_bakeoff_asks_only_open_questions() -> None:
    gateway = FakeGateway({CLAUDE: ["Yes.", Hangs(), "Yes.", "Yes."]})
    app = an_app(gateway)
    bakeoff_settings(app).rounds_at_once = 1
    bakeoff = await store_bakeoff(app)
    await begin_bakeoff(app, None, bakeoff)
    await until_second_question(gateway)
    await until_answered(app, "bo:beef.2", 2)
    await stop_bakeoff(app, bakeoff, "It was cancelled.")
    async for _ in bakeoff_registry(app).subscribe(bakeoff.id):
        pass

    progress = await run_bakeoff(app, None, await reopen_bakeoff(app, bakeoff))

    assert progress.over == 3
    answers = [
        (call.member.key, text)
        for call, text in zip(gateway.of(Role.ANSWER), questions_asked(gateway), strict=True)
    ]
    assert answers.count((GPT, "Question 2?")) == 1
    assert answers.count((CLAUDE, "Question 2?")) == 2
    assert answers.count((CLAUDE, "Question 1?")) == 1


async def test_a_finished_bakeoff_can_be_neither_cancelled_nor_resumed() -> None:
    app = an_app()
    bakeoff = (await run_to_end(app)).bakeoff

    with pytest.raises(BakeoffError, match="has already ended"):
        await stop_bakeoff(app, bakeoff, "It was cancelled.")
    with pytest.raises(BakeoffError, match="has no questions left. `/council bakeoff"):
        await reopen_bakeoff(app, bakeoff)


async def test_a_cancelled_round_is_one_failed_question() -> None:
    gateway = FakeGateway({CLAUDE: [Hangs(), "Yes.", "Yes."]})
    app = an_app(gateway)
    bakeoff_settings(app).rounds_at_once = 1
    await begin_bakeoff(app, None, await store_bakeoff(app))
    await until_under_way(app, 1)
    for _ in range(20):
        await asyncio.sleep(0)

    await app.store.pause("bo:beef.1", paused=True)
    await app.runner.stop("bo:beef.1")
    seen = [progress async for progress in bakeoff_registry(app).subscribe("bo:beef")]

    assert seen[-1].over == 3
    assert [failed.why for failed in seen[-1].failed] == ["its round was cancelled"]


async def test_judges_read_references_only_where_the_suite_says_so() -> None:
    shown, unshown = FakeGateway(), FakeGateway()

    await run_to_end(an_app(shown), None, a_bakeoff(a_graded_suite("42", seen=True)))
    await run_to_end(an_app(unshown), None, a_bakeoff(a_graded_suite("42")))

    def prompts(gateway: FakeGateway, role: Role) -> str:
        return "\n".join(call.prompt.user for call in gateway.of(role))

    assert "The right answer, known beforehand:\n42" in prompts(shown, Role.BALLOT)
    assert "42" not in prompts(shown, Role.ANSWER) + prompts(shown, Role.SYNTHESIS)
    assert "known beforehand" not in prompts(unshown, Role.BALLOT)


async def test_a_changed_suite_is_reported_and_the_run_keeps_its_version() -> None:
    app, chat = an_app(), Room()
    bakeoff = await store_bakeoff(app)
    newer = a_suite(4)
    await bakeoff_stores(app).suites.save(newer, "U1", ASKED_AT)

    progress = await run_bakeoff(app, chat, bakeoff)

    assert progress.questions == 3
    assert progress.changed == newer.version
    assert "Suite sql has changed since this bake-off started" in chat.edited[-1]

"""A study runs within its caps, resumes, and reads the same from what is stored."""

import asyncio
from dataclasses import replace

import pytest

from council.answers import Call, Prompt, Reply, Role
from council.errors import ContextOverflowError, GatewayError, StudyPausedError, UncoveredError
from council.money import Price
from council.panel import Terms
from council.research import study_runner
from council.research.study import Arm, Fault, Part, Slot, StoredCall
from council.research.study_runner import LiveCalls, StudyRun, method_entry, study_round
from tests.builders import CLAUDE, GEMINI, GPT, a_member, a_panel
from tests.council.research.study_builders import (
    COUNCIL,
    FUSION,
    Pupils,
    a_study,
    read_again,
    run_live,
)

PRICE = Price(1e-6, 1e-6, max_tokens_out=100)
PRICED = {CLAUDE: PRICE, GPT: PRICE, GEMINI: PRICE}


def same(one: StudyRun, other: StudyRun) -> bool:
    return (one.results, one.draws, one.plans, one.missing) == (
        other.results,
        other.draws,
        other.plans,
        other.missing,
    )


async def test_stored_calls_alone_give_the_same_results() -> None:
    study, gateway = a_study(4), Pupils(right={CLAUDE: {1, 2}, COUNCIL: {3}}, failing={GPT})

    run, calls, _ = await run_live(study, gateway, at_once=3)
    again = await read_again(study, calls)

    assert same(run, again)
    assert not run.missing
    assert not again.unused


async def test_a_study_that_was_cut_anywhere_resumes_with_the_calls_that_are_not_stored() -> None:
    study = a_study(4)
    whole, calls, _ = await run_live(study, Pupils(right={CLAUDE: {1}}))

    for cut in range(0, len(calls), 7):
        gateway = Pupils(right={CLAUDE: {1}})
        resumed, stored, _ = await run_live(study, gateway, calls[:cut])

        assert same(whole, resumed)
        assert len(gateway.asked) == len(calls) - cut
        assert stored[:cut] == calls[:cut]


async def test_every_reply_is_stored_before_it_is_used() -> None:
    study = a_study(4, arms=(Arm.FUSION, Arm.COUNCIL))
    stored: list[StoredCall] = []
    seen: list[tuple[int, int]] = []

    class Watched(Pupils):
        async def complete(self, call: Call) -> Reply:
            seen.append((len(self.asked), len(stored)))
            return await super().complete(call)

    gateway = Watched()
    await StudyRun(study, [], LiveCalls(study, gateway, [], stored.append)).run()

    # At most the calls of one stage are under way at once.
    assert all(asked - kept < 3 for asked, kept in seen)
    assert len(stored) == len(gateway.asked)


async def test_the_cap_of_the_study_holds_and_what_is_missing_is_known() -> None:
    study = a_study(4, cap_micro=5_000)
    gateway = Pupils(prices=PRICED, costs=dict.fromkeys(PRICED, 0.0003), more=0.0003)

    run, calls, live = await run_live(study, gateway, at_once=4)
    again = await read_again(study, calls)

    assert sum(call.micro for call in calls) <= 5_000
    assert "The cap of the study, $0.005, is reached." in live.refusal
    assert {part for _, part in again.missing} == {Part.ROUND, Part.DRAWS}
    assert len(calls) == len(gateway.asked)
    assert len(run.results) < 4


async def test_a_call_waits_for_money_that_others_have_reserved() -> None:
    """Each call may cost far more than it does: together they would exceed the cap."""
    study = a_study(4, question_cap_micro=2_500, arms=(Arm.BEST, Arm.COUNCIL))
    gateway = Pupils(prices=PRICED, costs=dict.fromkeys(PRICED, 0.00001), more=0.00001)

    run, calls, _ = await run_live(study, gateway)

    assert not run.missing
    assert not [call for call in calls if call.fault]


async def test_the_cap_of_a_question_refuses_its_calls_and_the_next_question_is_asked() -> None:
    study = a_study(4, question_cap_micro=1_700, arms=(Arm.FUSION, Arm.COUNCIL))
    gateway = Pupils(prices=PRICED, costs=dict.fromkeys(PRICED, 0.0005), more=0.0005)

    run, calls, _ = await run_live(study, gateway)
    again = await read_again(study, calls)

    refused = [call for call in calls if call.fault is Fault.REFUSED]
    assert "the cap of the question, $0.0017, is reached" in refused[0].why
    assert {call.slot.number for call in refused} == {1, 2, 3, 4}
    for number in study.numbers:
        assert sum(call.micro for call in calls if call.slot.number == number) <= 1_700
    assert same(run, again)
    assert not again.missing


async def test_a_call_that_waits_for_money_until_its_deadline_is_refused() -> None:
    terms = Terms(answer_seconds=0.01, audit_share=0)
    panel = a_panel(2, chairmen=(CLAUDE,), terms=terms)
    study = a_study(4, panels=(panel,), question_cap_micro=300, arms=(Arm.BEST, Arm.COUNCIL))
    live_price = {CLAUDE: PRICE, GPT: PRICE}

    class Hanging(Pupils):
        async def complete(self, call: Call) -> Reply:
            if call.role is Role.ANSWER:
                await asyncio.Event().wait()
            return await super().complete(call)

    _, calls, _ = await run_live(study, Hanging(prices=live_price))

    assert {call.why for call in calls} == {
        "did not answer in time",
        "was not asked in time, since other calls had reserved the money",
    }
    late = next(call for call in calls if call.fault is Fault.FAILED)
    assert late.micro > 0  # it may be paid for
    assert len(calls) == 8


async def test_an_unknown_cost_counts_as_the_most_it_can_be() -> None:
    study = a_study(4, arms=(Arm.BEST, Arm.COUNCIL))
    gateway = Pupils(prices=PRICED, costs=dict.fromkeys(PRICED), more=0.0)

    run, calls, _ = await run_live(study, gateway)

    assert all(call.micro > 0 for call in calls if call.slot.role is Role.ANSWER)
    assert run.results["house", 1].council.cost_usd is None


async def test_a_budget_of_the_installation_stops_the_study() -> None:
    class Broke(Pupils):
        async def complete(self, call: Call) -> Reply:
            if len(self.asked) == 9:
                raise UncoveredError("was not asked: your budget is used up")
            return await super().complete(call)

    study = a_study(4)
    run, calls, live = await run_live(study, Broke(), at_once=2)

    assert live.refusal == "Claude Sonnet 4.6 was not asked: your budget is used up." or (
        "was not asked: your budget is used up" in live.refusal
    )
    assert len(calls) == 9
    assert run.missing
    resumed, *_ = await run_live(study, Pupils(), calls)
    assert not resumed.missing


async def test_a_paid_call_is_stored_even_if_another_stops_the_question() -> None:
    study = a_study(4)

    class Slow(Pupils):
        async def complete(self, call: Call) -> Reply:
            for _ in range(5 if call.member.key == CLAUDE else 20):
                await asyncio.sleep(0)
            if call.member.key == CLAUDE:
                raise UncoveredError("was not asked")
            return await super().complete(call)

    _, calls, _ = await run_live(study, Slow())

    assert sorted(call.slot.seat for call in calls) == [GEMINI, GPT]


async def test_a_model_that_fails_half_of_its_calls_has_wrong_answers_there() -> None:
    study = a_study(6)
    right = {GPT: study.numbers, CLAUDE: {1}}

    run, calls, _ = await run_live(study, Pupils(right=right, failing={GPT}))

    given = [run.results["house", number].answers[GPT] for number in study.numbers]
    assert {one.right for one in given} == {None, True}
    assert next(call.why for call in calls if call.fault) == "failed (500)"
    for one in given:
        assert one.score == (1.0 if one.right else 0.0)


async def test_too_few_answers_leave_council_and_fusion_without_one() -> None:
    class Mute(Pupils):
        async def complete(self, call: Call) -> Reply:
            if call.member.key != CLAUDE:
                raise GatewayError("failed")
            return await super().complete(call)

    study = a_study(4)
    run, calls, _ = await run_live(study, Mute(right={CLAUDE: study.numbers}))

    result = run.results["house", 2]
    assert (result.council.right, result.fusion and result.fusion.right) == (None, None)
    assert result.standings == {}
    assert result.answers[CLAUDE].right is True
    assert run.draws["house", 2].given.right is True
    assert same(run, await read_again(study, calls))


async def test_a_seat_that_never_answers_has_no_draws_to_count() -> None:
    class Silent(Pupils):
        async def complete(self, call: Call) -> Reply:
            if call.role is Role.ANSWER and call.member.key == CLAUDE:
                raise GatewayError("failed")
            return await super().complete(call)

    run, *_ = await run_live(a_study(4), Silent())

    drawn = run.draws["house", 1]  # all members are equal: the first is picked
    assert (drawn.seat, drawn.answered, drawn.votes) == (GPT, drawn.asked, drawn.asked) or (
        drawn.seat,
        drawn.answered,
        drawn.given.right,
    ) == (CLAUDE, 0, None)


async def test_the_most_frequent_of_the_draws_counts_and_of_equal_ones_the_first() -> None:
    said = {1: ["1", "7", "7"], 2: ["2", "9", "9"], 3: ["8", "3", ""], 4: ["4", "5", "6"]}

    class Drawn(Pupils):
        async def complete(self, call: Call) -> Reply:
            if call.role is Role.ANSWER and call.member.key == CLAUDE:
                number = int(call.prompt.user.split()[2].rstrip("?"))
                count = sum(c.member.key == CLAUDE and c.prompt == call.prompt for c in self.asked)
                answers = [c for c in self.asked if c.role is Role.ANSWER]
                count = sum(c.member.key == CLAUDE and c.prompt == call.prompt for c in answers)
                self.asked.append(call)
                return Reply(f"Answer: {said[number][count]}")
            return await super().complete(call)

    study = a_study(4, most_draws=3)
    run, *_ = await run_live(study, Drawn())

    drawn = {number: run.draws["house", number] for number in study.numbers}
    assert {one.seat for one in drawn.values()} == {CLAUDE}
    assert [drawn[n].votes for n in study.numbers] == [2, 2, 1, 1]
    assert [drawn[n].given.right for n in study.numbers] == [False, False, False, True]


async def test_fusion_sees_the_blind_answers_and_no_ranking() -> None:
    study, gateway = a_study(4), Pupils(right={FUSION: {2}})

    run, calls, _ = await run_live(study, gateway)

    merged = [
        call
        for call in gateway.asked
        if call.role is Role.SYNTHESIS and "council" not in call.prompt.system
    ]
    assert len(merged) == 4
    for call in merged:
        assert "rank" not in call.prompt.system + call.prompt.user
        assert "points" not in call.prompt.user
        assert call.prompt.user.count("<response label=") == 3
    fusions = [run.results["house", number].fusion for number in study.numbers]
    assert [one and one.right for one in fusions] == [False, True, False, False]
    assert {call.slot.part for call in calls} == {*Part}


async def test_fusion_without_a_chairman_is_the_first_members_answer() -> None:
    class NoChairman(Pupils):
        async def complete(self, call: Call) -> Reply:
            if call.role is Role.SYNTHESIS:
                raise GatewayError("failed")
            return await super().complete(call)

    run, *_ = await run_live(a_study(4), NoChairman(right={CLAUDE: {3}}))

    fusions = [run.results["house", number].fusion for number in range(1, 5)]
    assert [one and one.right for one in fusions] == [False, False, True, False]


async def test_fusion_shortens_cut_answers_that_do_not_fit() -> None:
    class Small(Pupils):
        async def complete(self, call: Call) -> Reply:
            if call.role is Role.ANSWER:
                self.asked.append(call)
                return Reply("Long words. " * 100, cut=True)
            if call.role is Role.SYNTHESIS and len(call.prompt.user) > 3_000:
                raise ContextOverflowError("is too long")
            return await super().complete(call)

    study = a_study(4)
    run, calls, _ = await run_live(study, Small(right={FUSION: study.numbers}))

    assert run.results["house", 1].fusion is not None
    assert {call.fault for call in calls if call.slot.part is Part.FUSION} == {Fault.TOO_LONG, None}
    assert same(run, await read_again(study, calls))


async def test_fusion_that_never_fits_is_the_first_members_answer() -> None:
    class Tiny(Pupils):
        async def complete(self, call: Call) -> Reply:
            if call.role is Role.SYNTHESIS:
                raise ContextOverflowError("is too long")
            return await super().complete(call)

    run, *_ = await run_live(a_study(4), Tiny(right={CLAUDE: {1}}))

    fusion = run.results["house", 1].fusion
    assert fusion
    assert fusion.right is True


async def test_a_reply_that_is_too_long_to_store_is_a_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(study_runner, "MAX_REPLY_CHARACTERS", 5)

    _, calls, _ = await run_live(a_study(4), Pupils())

    assert calls[0].fault is Fault.FAILED
    assert calls[0].why == "sent 9 characters, more than can be stored"


async def test_a_changed_prompt_finds_no_reply_of_this_program_but_one_of_another() -> None:
    study = a_study(4)
    whole, calls, _ = await run_live(study, Pupils(right={CLAUDE: {1}}))
    changed = [replace(call, prompt="0") for call in calls]

    assert (await read_again(study, changed)).missing
    older = replace(study, versions=(*study.versions, ("prompts", "0")))
    again = await read_again(older, changed)
    assert not again.missing
    assert again.results == whole.results


async def test_a_call_that_nothing_asks_for_is_named() -> None:
    study = a_study(4)
    _, calls, _ = await run_live(study, Pupils())
    extra = replace(calls[0], prompt="0")

    assert (await read_again(study, [*calls, extra])).unused == [extra]


async def test_without_draws_and_fusion_only_rounds_are_asked() -> None:
    study = a_study(4, arms=(Arm.BEST, Arm.COUNCIL))

    run, calls, _ = await run_live(study, Pupils())

    assert {call.slot.part for call in calls} == {Part.ROUND}
    assert run.results["house", 1].fusion is None
    assert not run.draws
    assert not run.missing


async def test_a_study_without_a_reply_has_no_plan() -> None:
    run = await read_again(a_study(4), [])

    assert run.plans == {}
    assert len(run.missing) == 8


async def test_the_gateway_of_a_question_knows_what_was_known_when_the_study_began() -> None:
    study = a_study(4, contexts=((CLAUDE, 4096),))
    gateway = study_runner.QuestionGateway(study, ("house", 1), [], None)

    assert gateway.context_tokens(CLAUDE) == 4096
    assert gateway.context_tokens(GPT) is None
    assert gateway.versions == dict(study.versions)
    assert (await gateway.price(a_member())).is_free
    assert not await gateway.sees_images(a_member())
    with pytest.raises(StudyPausedError, match="No reply of Claude"):
        await gateway.complete(Call(a_member(), Prompt("", "")))


def test_a_round_keeps_the_version_of_its_panels_method() -> None:
    study, panel = a_study(4), a_panel()
    with_method = replace(study, versions=((method_entry(panel), "2"),))

    assert dict(study_round(with_method, panel, 1).versions)["method"] == "2"
    assert "method" not in dict(study_round(study, panel, 1).versions)


async def test_a_fault_of_the_store_ends_the_study() -> None:
    study = a_study(4)

    def fail(_: StoredCall) -> None:
        raise StudyPausedError("full")

    live = LiveCalls(study, Pupils(), [], fail)

    with pytest.raises(StudyPausedError, match="full"):
        await live.ask(
            Slot("house", 1, Part.ROUND, Role.ANSWER, CLAUDE),
            Call(a_member(), Prompt("", "")),
        )

"""Outside judges grade answers by a rubric: blind, once each, counted by majority, verified."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from council.answers import Call, Reply, Role, Scores
from council.budget import estimate_round
from council.errors import ContextOverflowError, GatewayError
from council.integrity.erasure import forget, removable_texts
from council.integrity.verification import verify
from council.money import Price
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.pipeline.stages import TOO_LONG_WHOLE
from council.prompts.shared import nonce_for
from council.rounds import Artefact, Closing, Fallback, Question, Round, Synthesis
from council.rubric_grader import (
    GRADE,
    SYNTHESIS,
    GradeCount,
    count_grades,
    grade_reasons,
    graded_keys,
    grader_agreement,
    reread_grade,
    usable_grades,
)
from tests.builders import ASKED_AT, CLAUDE, DEEPSEEK, GEMINI, GPT, GROK, a_panel, a_round
from tests.council.pipeline.helpers import run_with_fakes
from tests.fakes.gateway import FakeGateway, PowerCutError, read_prompt
from tests.fakes.memory_store import MemoryStore

RUBRIC = "Says yes, and says why."
Grades = Callable[[str], int]  # whether a text meets the rubric


def meets_yes(text: str) -> int:
    return int("yes" in text)


def meets_no(_text: str) -> int:
    return 0


def grades_reply(call: Call, grades: Grades) -> str:
    shown = read_prompt(call.prompt)
    found = {x: {"reason": f"On {t[:9]}", "meets": grades(t)} for x, t in shown.texts.items()}
    return json.dumps({"nonce": shown.nonces[0], "grades": found})


class GradingGateway(FakeGateway):
    """A fake gateway whose outside judges grade by script; an error or a text is the reply."""

    def __init__(
        self, grades: Mapping[str, Grades | str | GatewayError], **scripts: object
    ) -> None:
        answers = {CLAUDE: "yes, as it locks", GPT: "no", GEMINI: "perhaps"}
        super().__init__(**{"answers": answers, "chairmen": {CLAUDE: "yes indeed"}} | scripts)  # type: ignore[arg-type]
        self.grades = grades

    async def complete(self, call: Call) -> Reply:
        if call.role is not Role.GRADE:
            return await super().complete(call)
        self.asked.append(call)
        entry = self.grades[call.member.key]
        if isinstance(entry, GatewayError):
            raise entry
        return Reply(entry if isinstance(entry, str) else grades_reply(call, entry), cost_usd=0.01)

    def graded(self) -> list[Call]:
        return [call for call in self.asked if call.role is Role.GRADE]


def a_rubric_round(outside: int = 2, **panel: object) -> Round:
    question = Question("Is it?", rubric=RUBRIC)
    return a_round(a_panel(3, outside=outside, **panel), question=question)  # type: ignore[arg-type]


async def test_each_outside_judge_grades_all_answers_and_the_synthesis_in_one_call() -> None:
    gateway = GradingGateway({DEEPSEEK: meets_yes, GROK: meets_yes})

    round_ = await run_with_fakes(a_rubric_round(), gateway)

    assert [call.member.key for call in gateway.graded()] == [DEEPSEEK, GROK]
    for call in gateway.graded():
        shown = [*read_prompt(call.prompt).texts.values()]
        assert sorted(shown) == ["no", "perhaps", "yes indeed", "yes, as it locks"]
        assert RUBRIC in call.prompt.user
        assert CLAUDE not in call.prompt.user
    assert [x.kind for x in round_.exchanges] == [GRADE, GRADE]
    assert len({graded_keys(round_, judge) for judge in (DEEPSEEK, GROK)}) == 2
    assert sum(reply.cost_usd or 0 for reply in round_.replies) == pytest.approx(0.02)
    assert verify(round_) == ()


async def test_the_majority_grades_answers_and_a_tie_decides_nothing() -> None:
    gateway = GradingGateway({DEEPSEEK: meets_yes, GROK: meets_no})
    agreed = await run_with_fakes(
        a_rubric_round(), GradingGateway({DEEPSEEK: meets_yes, GROK: meets_yes})
    )

    split = await run_with_fakes(a_rubric_round(), gateway)

    assert count_grades(agreed)[SYNTHESIS] == GradeCount(2, 2)
    assert count_grades(split)[SYNTHESIS] == GradeCount(1, 2)


async def test_a_judge_that_wrote_the_synthesis_does_not_grade_it() -> None:
    gateway = GradingGateway(
        {DEEPSEEK: meets_yes, GROK: meets_no}, chairmen={DEEPSEEK: "yes indeed"}
    )

    round_ = await run_with_fakes(a_rubric_round(chairmen=[DEEPSEEK]), gateway)

    assert SYNTHESIS not in graded_keys(round_, DEEPSEEK)
    assert count_grades(round_)[SYNTHESIS] == GradeCount(0, 1)


async def test_a_synthesis_that_copies_an_answer_has_its_grade() -> None:
    failed = {seat: GatewayError("is out of credit") for seat in (CLAUDE, GPT, GEMINI)}
    gateway = GradingGateway({DEEPSEEK: meets_yes}, chairmen=failed)

    round_ = await run_with_fakes(a_rubric_round(outside=1), gateway)

    assert round_.synthesis is not None
    assert round_.synthesis.fallback is Fallback.ANSWER
    assert len(graded_keys(round_, DEEPSEEK)) == 3
    (label,) = round_.synthesis.drawn_on
    assert count_grades(round_)[SYNTHESIS] == count_grades(round_)[label]
    nameless = replace(round_, synthesis=Synthesis("yes", None))
    assert SYNTHESIS not in count_grades(nameless)


async def test_without_usable_grades_a_question_is_not_graded_and_says_why() -> None:
    gateway = GradingGateway({DEEPSEEK: GatewayError("is out of credit"), GROK: "Both are fine."})

    round_ = await run_with_fakes(a_rubric_round(), gateway)

    absences = [(x.member, x.role, x.reason) for x in round_.absences]
    assert absences == [(DEEPSEEK, Role.GRADE, "is out of credit")]
    assert [(x.seat, x.attempt) for x in round_.exchanges] == [(GROK, 1), (GROK, 2)]
    again = gateway.graded()[-1].prompt.user
    assert "An earlier reply could not be counted because it held no JSON object." in again
    assert grade_reasons(round_, round_.exchanges[0]) == {}
    assert usable_grades(round_) == ()
    assert round_.closing is not None
    assert round_.closing.failure is None


@pytest.mark.parametrize(
    "grades",
    [
        pytest.param({"A": {"reason": "", "meets": 1}}, id="letters-are-missing"),
        pytest.param(["A"], id="no-object"),
        pytest.param(dict.fromkeys("ABCD", 1), id="no-reasons"),
        pytest.param({key: {"reason": 1, "meets": 1} for key in "ABCD"}, id="a-reason-is-no-text"),
        pytest.param({key: {"reason": "", "meets": 2} for key in "ABCD"}, id="a-grade-is-no-grade"),
        pytest.param({key: {"meets": 1} for key in "ABCD"}, id="a-reason-is-missing"),
    ],
)
async def test_a_reply_that_does_not_grade_each_letter_once_is_asked_for_again(
    grades: object,
) -> None:
    round_ = a_rubric_round(outside=1)
    reply = json.dumps({"nonce": nonce_for(round_.seed, DEEPSEEK, GRADE), "grades": grades})

    ran = await run_with_fakes(round_, GradingGateway({DEEPSEEK: reply}))

    assert len(ran.exchanges) == 2
    assert all("grades" in exchange.fault for exchange in ran.exchanges)
    assert verify(ran) == ()


async def test_a_changed_grade_is_found_and_one_of_another_key_is_a_fault() -> None:
    round_ = await run_with_fakes(a_rubric_round(outside=1), GradingGateway({DEEPSEEK: meets_yes}))
    (exchange,) = round_.exchanges
    changed = replace(exchange, scores=tuple((key, 1.0) for key, _ in exchange.scores))
    extra = replace(exchange, reply=replace(exchange.reply, text='{"nonce": "x", "also": 1}'))

    (found,) = verify(replace(round_, exchanges=(changed,)))

    assert found.field == f"grade[{DEEPSEEK} #1].scores"
    assert "nonce" in reread_grade(round_, extra).fault
    signed = replace(
        exchange.reply, text=exchange.reply.text.replace('"grades"', '"a": 1, "grades"')
    )
    assert "grades" in reread_grade(round_, replace(exchange, reply=signed)).fault


@pytest.mark.parametrize(
    ("versions", "is_read"),
    [((), False), ((("ballots", "2"),), False), ((("ballots", "3"),), True)],
    ids=["first", "second", "third"],
)
async def test_grades_are_read_by_the_rules_of_their_round(
    versions: tuple[tuple[str, str], ...], is_read: bool
) -> None:
    round_ = await run_with_fakes(a_rubric_round(outside=1), GradingGateway({DEEPSEEK: meets_yes}))
    (exchange,) = round_.exchanges
    reply = replace(exchange.reply, text=f"Final answer:\n{exchange.reply.text}")
    older = replace(round_, versions=versions)

    assert reread_grade(older, exchange) == exchange
    assert (reread_grade(older, replace(exchange, reply=reply)).fault == "") is is_read


async def test_forgetting_a_round_erases_rubric_and_reasons_and_keeps_grades() -> None:
    round_ = await run_with_fakes(a_rubric_round(outside=1), GradingGateway({DEEPSEEK: meets_yes}))
    reasons = grade_reasons(round_, round_.exchanges[0])
    assert sorted(reasons) == sorted(graded_keys(round_, DEEPSEEK))
    assert reasons[SYNTHESIS] == "On yes indee"

    forgotten = forget(round_, ASKED_AT, "salt")

    assert removable_texts(forgotten) == ()
    assert forgotten.question.rubric == ""
    assert count_grades(forgotten) == count_grades(round_)
    assert verify(forgotten) == ()


class CutStore(MemoryStore):
    """A memory store that fails as if the power was cut before the first closing."""

    was_cut = False

    async def save(self, round_id: str, *artefacts: Artefact) -> None:
        if not self.was_cut and any(isinstance(one, Closing) for one in artefacts):
            self.was_cut = True
            raise PowerCutError
        await super().save(round_id, *artefacts)


async def test_a_resumed_round_asks_no_judge_for_its_grades_again() -> None:
    overflow = ContextOverflowError("takes no more")
    store, gateway = CutStore(), GradingGateway({DEEPSEEK: meets_yes, GROK: overflow})
    with pytest.raises(PowerCutError):
        await run_with_fakes(a_rubric_round(), gateway, store)

    round_ = await run_round("r1", RoundServices(gateway, store))

    assert [call.member.key for call in gateway.graded()] == [DEEPSEEK, GROK]
    assert [one.seat for one in round_.exchanges] == [DEEPSEEK]
    assert [(one.member, one.reason) for one in round_.absences] == [(GROK, TOO_LONG_WHOLE)]


async def test_a_rubric_adds_the_outside_judges_to_the_estimate() -> None:
    price = Price(1.0, 1.0)
    prices = {DEEPSEEK: price, GROK: None}
    plain = replace(a_rubric_round(), question=Question("Is it?"))

    with_grades = await estimate_round(a_rubric_round(), FakeGateway(prices=prices))
    without = await estimate_round(plain, FakeGateway(prices=prices))

    assert with_grades.micro > without.micro
    assert with_grades.unknown == without.unknown == (GROK,)


def test_an_unanswered_round_has_nothing_to_grade() -> None:
    assert graded_keys(a_rubric_round(), DEEPSEEK) == ()


def test_agreement_is_the_share_of_equal_pairs_and_fleiss_kappa() -> None:
    # By hand: of three texts with two judges, two are graded the same, so P = 2/3. Of six grades,
    # three are 1: chance is 1/4 + 1/4, and kappa (2/3 - 1/2) / (1 - 1/2) = 1/3.
    first, second = (("K", 1.0), ("L", 1.0), ("M", 0.0)), (("K", 1.0), ("L", 0.0), ("M", 0.0))
    rounds: list[list[Scores]] = [
        [(("K", 1.0), ("L", 1.0))],
        [first, (("K", 1.0), ("L", 1.0), ("M", 0.0))],
    ]

    agreement = grader_agreement([[first, second]])
    alike = grader_agreement([[(("K", 1.0),), (("K", 1.0),)]])

    assert agreement is not None
    assert agreement.same == pytest.approx(2 / 3)
    assert agreement.texts == 3
    assert agreement.kappa == pytest.approx(1 / 3)
    assert alike is not None
    assert (alike.same, alike.kappa) == (1.0, None)
    assert grader_agreement([[first], []]) is None
    assert (found := grader_agreement(rounds)) is not None
    assert (found.same, found.texts) == (1.0, 3)


async def test_a_second_readable_reply_of_a_judge_counts_nothing_and_is_named() -> None:
    round_ = await run_with_fakes(
        a_rubric_round(), GradingGateway({DEEPSEEK: meets_yes, GROK: meets_no})
    )
    first = next(one for one in round_.exchanges if one.seat == DEEPSEEK)

    forged = replace(round_, exchanges=(replace(first, attempt=2), *round_.exchanges))

    assert count_grades(forged) == count_grades(round_)
    assert {one.field.partition("]")[0] for one in verify(forged)} == {f"grade[{DEEPSEEK} #2"}

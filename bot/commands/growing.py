"""Suites that grow: the question of a stored round joins one, or begins one."""

from dataclasses import dataclass, replace

from bot.access import NotYoursError
from bot.chat import Said
from bot.commands.desk import Desk
from bot.commands.looking import meant_or_last
from bot.suite_files import MOST_QUESTIONS, checked_name, same_question
from council.bakeoffs.grading import check_reference, usual_grading
from council.bakeoffs.models import Reference, Suite, SuiteQuestion
from council.errors import SuiteError
from council.integrity.erasure import check_remembered
from council.rounds import Round


@dataclass(frozen=True, slots=True)
class Joining:
    """Which suite a round's question joins, and its right answer where somebody knows it."""

    name: str
    answer: str = ""


async def grown(desk: Desk, said: Said, name: str, wanted: str) -> Suite:
    """Give a suite with the question of a round that may be read here; it is not kept yet."""
    return await with_question(desk, said, await meant_or_last(desk, said, wanted), Joining(name))


async def with_question(desk: Desk, said: Said, round_: Round, joining: Joining) -> Suite:
    """Give a scope's suite with a round's question at its end, a new suite where there is none."""
    check_remembered(round_)
    asked = round_.question
    if asked.place.private and asked.asked_by != said.asker.id:
        raise NotYoursError(
            "Only the one who asked can add a private question to a suite, which others can read."
        )
    question = SuiteQuestion(asked.text, "", _reference(joining.answer), asked.context)
    before = await _before(desk, said.place.scope, checked_name(joining.name))
    if any(same_question(question, other) for other in before.questions):
        raise SuiteError(f"Suite {before.name} asks this already.")
    if len(before.questions) >= MOST_QUESTIONS:
        raise SuiteError(
            f"Suite {before.name} has {MOST_QUESTIONS:,} questions, the most that a suite takes: "
            "begin another."
        )
    return replace(before, questions=(*before.questions, question), scope=said.place.scope)


async def _before(desk: Desk, scope: str, name: str) -> Suite:
    lines = await desk.bench.suites.lines(scope)
    if any(line.name == name for line in lines):
        return await desk.bench.suites.load(scope, name)
    return Suite(name, (), scope=scope)


def _reference(answer: str) -> Reference | None:
    value = answer.strip()
    if not value:
        return None
    reference = Reference(usual_grading(value), value)
    check_reference(reference)
    return reference


async def join(desk: Desk, said: Said, round_: Round, joining: Joining) -> Suite:
    """Keep a suite with a round's question, and give it."""
    suite = await with_question(desk, said, round_, joining)
    await desk.bench.suites.keep(suite, said.asker.id, desk.now())
    return suite

"""Builders of suites and bake-offs."""

from bot.bakeoffs.lifecycle import run_bakeoff
from bot.bakeoffs.parts import bakeoff_stores
from bot.chat import Chat
from bot.context import AppContext
from council.answers import Role
from council.bakeoffs.models import (
    Bakeoff,
    BakeoffProgress,
    Grading,
    Reference,
    Suite,
    SuiteQuestion,
)
from council.money import Price
from council.panel import Panel
from council.places import Place
from tests.builders import ASKED_AT, a_panel
from tests.fakes.gateway import FakeGateway

HERE = Place("slack", "T1", "C1")
DEAR = Price(1e-6, 2e-6, 100)


def a_suite(questions: int = 3, name: str = "sql") -> Suite:
    texts = [f"Question {number}?" for number in range(1, questions + 1)]
    asked = tuple(SuiteQuestion(text) for text in texts)
    return Suite(name, asked)


def a_graded_suite(*answers: str, seen: bool = False) -> Suite:
    asked = tuple(
        SuiteQuestion(f"Question {number}?", reference=Reference(Grading.EXACT, answer))
        for number, answer in enumerate(answers, start=1)
    )
    return Suite("graded", asked, judges_see_references=seen)


def a_bakeoff(
    suite: Suite | None = None,
    panel: Panel | None = None,
    *,
    place: Place = HERE,
    cap: int | None = None,
    id_: str = "bo:beef",
) -> Bakeoff:
    suite, panel = suite or a_suite(), panel or a_panel()
    return Bakeoff(id_, suite, panel, place, "U1", ASKED_AT, cap)


async def store_bakeoff(app: AppContext, bakeoff: Bakeoff | None = None) -> Bakeoff:
    """Store a bake-off and its suite."""
    bakeoff = bakeoff or a_bakeoff()
    await bakeoff_stores(app).suites.save(bakeoff.suite, "U1", ASKED_AT)
    await bakeoff_stores(app).bakeoffs.open(bakeoff)
    return bakeoff


async def run_to_end(
    app: AppContext, chat: Chat | None = None, bakeoff: Bakeoff | None = None
) -> BakeoffProgress:
    """Store a bake-off and run it to its end."""
    return await run_bakeoff(app, chat, await store_bakeoff(app, bakeoff))


def questions_asked(gateway: FakeGateway) -> list[str]:
    """Return the text of every question that a member was asked, in order."""
    prompts = [call.prompt.user for call in gateway.of(Role.ANSWER)]
    return [next(line for line in p.split("\n") if line.startswith("Question ")) for p in prompts]

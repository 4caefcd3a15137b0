"""Builders of experiments, and fake judges that grade."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from council.answers import Reply
from council.bakeoffs.models import Suite, SuiteQuestion
from council.research.experiment import Experiment, ExperimentAnswer, GradeReply, GradeRequest
from council.research.grades import Framing
from tests.builders import ASKED_AT, CLAUDE, GPT, a_panel
from tests.fakes.gateway import FakeGateway, ReadPrompt


def a_suite(questions: int = 2) -> Suite:
    asked = (SuiteQuestion(f"Question {number}?") for number in range(1, questions + 1))
    return Suite("small", tuple(asked))


def an_experiment(members: int = 2, questions: int = 2, **fields: Any) -> Experiment:  # noqa: ANN401
    own = Experiment("bx:1", a_suite(questions), a_panel(members), "U1", ASKED_AT)
    return replace(own, **fields)


def a_work(number: int = 1, member: str = CLAUDE, text: str = "Yes.") -> ExperimentAnswer:
    return ExperimentAnswer(number, member, Reply(text, tokens_in=5, tokens_out=2, cost_usd=0.01))


def a_cell(
    number: int = 1,
    author: str = CLAUDE,
    framing: Framing = Framing.POSITIVE,
    judge: str = GPT,
) -> GradeRequest:
    return GradeRequest(number, author, framing, judge)


def a_mark(cell: GradeRequest | None = None, raw: int | None = 4, attempt: int = 1) -> GradeReply:
    reply = Reply("…", tokens_in=7, tokens_out=3)
    return GradeReply(cell or a_cell(), reply, raw, "" if raw else "it held no grade", attempt)


def grading(grade: object = 4) -> Callable[[ReadPrompt], str]:
    """Return a judge that gives every answer this grade."""
    return lambda shown: graded(shown, grade)


def graded(shown: ReadPrompt, grade: object, **others: object) -> str:
    return json.dumps({"nonce": shown.nonces[0], "reason": "So.", "grade": grade, **others})


def a_gateway(**fields: Any) -> FakeGateway:  # noqa: ANN401
    """Return models that answer, and grade 4 whatever the framing."""
    return FakeGateway(**{"vote": grading(), **fields})

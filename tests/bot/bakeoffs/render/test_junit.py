"""A bake-off as JUnit XML: one test case for each question and model."""

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import replace

from bot.bakeoffs.render.bakeoffs import escape_markdown, summary_markdown
from bot.bakeoffs.render.headline import headline
from bot.bakeoffs.render.junit import Outcome, bakeoff_cases, junit_xml
from council.bakeoffs.leaderboard import Absences, Gap
from council.bakeoffs.models import (
    BakeoffProgress,
    FailedQuestion,
    Grading,
    Reference,
    Suite,
    SuiteQuestion,
)
from council.rounds import Closing, Round
from tests.bot.bakeoffs.fakes import a_bakeoff
from tests.bot.bakeoffs.render.boards.builders import EMPTY, graded, some_changes
from tests.builders import CLAUDE, GPT, a_panel, a_round, with_answers

FORTY_TWO = Reference(Grading.NUMBER, "42")
SUITE = Suite(
    "sums",
    (
        SuiteQuestion("6 × 7?", reference=FORTY_TWO),
        SuiteQuestion("Why?"),
        SuiteQuestion("Which?", reference=FORTY_TWO),
        SuiteQuestion("Broken?", reference=Reference(Grading.JSON, "{")),
        SuiteQuestion("Later?"),
    ),
)
BAKEOFF = a_bakeoff(SUITE, a_panel(2))
PROGRESS = BakeoffProgress(BAKEOFF, over=4, failed=(FailedQuestion(3, "nobody answered"),))


def _round(number: int, texts: Mapping[str, str]) -> Round:
    round_ = with_answers(a_round(BAKEOFF.panel), texts)
    own = {"id": BAKEOFF.round_id(number), "bakeoff": BAKEOFF.id, "closing": Closing(1.0)}
    return replace(round_, **own)  # type: ignore[arg-type]


ROUNDS = (
    _round(1, {CLAUDE: "It is 42.", GPT: "It is 41.\x00\x1b"}),
    _round(2, {CLAUDE: "Because."}),
    _round(4, {CLAUDE: "[]", GPT: "{}"}),
)


def test_a_wrong_answer_fails_and_what_could_not_be_graded_is_an_error() -> None:
    cases = bakeoff_cases(PROGRESS, ROUNDS)

    assert [(one.number, one.member, one.outcome) for one in cases] == [
        (1, CLAUDE, Outcome.PASSED),
        (1, GPT, Outcome.WRONG),
        (2, CLAUDE, Outcome.PASSED),
        (2, GPT, Outcome.ERROR),
        (3, CLAUDE, Outcome.ERROR),
        (3, GPT, Outcome.ERROR),
        (4, CLAUDE, Outcome.ERROR),
        (4, GPT, Outcome.ERROR),
        (5, CLAUDE, Outcome.SKIPPED),
        (5, GPT, Outcome.SKIPPED),
    ]
    assert "hung up" in cases[3].message
    assert cases[4].message == "nobody answered"
    assert "grader json failed" in cases[6].message


def test_the_xml_counts_its_cases_and_quotes_the_wrong_answer() -> None:
    written = junit_xml(PROGRESS, bakeoff_cases(PROGRESS, ROUNDS))

    [suite] = ET.fromstring(written)  # noqa: S314
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "10",
        "failures": "1",
        "errors": "5",
        "skipped": "2",
    }
    [failure] = suite.iter("failure")
    assert failure.text == "Expected (number): 42\nAnswer: It is 41."
    assert suite[0].get("name") == "1. 6 × 7?"


def test_the_markdown_lists_who_was_wrong() -> None:
    wrong = [(1, GPT), (1, CLAUDE), (2, GPT)]

    written = summary_markdown(PROGRESS, EMPTY, None, wrong=wrong)

    assert "## 3 wrong answers" in written
    assert "| 1 | 6 × 7? |" in written
    assert written.index("wrong answers") < written.index("4 of 5 questions")


def test_the_markdown_says_what_is_missing_above_what_changed() -> None:
    board = replace(EMPTY, absences=Absences((Gap(GPT, 2, 5),)))

    written = summary_markdown(PROGRESS, board, some_changes())

    assert 0 < written.index("did not answer 2 of 5.") < written.index("fell from")


def test_the_markdown_says_who_leads_above_the_table() -> None:
    board = graded(10, 2)

    written = summary_markdown(PROGRESS, board, None)

    assert 0 < written.index(escape_markdown(headline(board))) < written.index("| Model |")

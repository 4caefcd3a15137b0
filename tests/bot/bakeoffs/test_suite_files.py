"""Parsers of suite files: CSV, JSON, YAML and text."""

import codecs

import pytest

from bot.bakeoffs.suite_files import (
    parse_suite_file,
    suite_csv,
)
from council.bakeoffs.models import Grading, Reference, Suite, SuiteQuestion
from council.errors import SuiteError
from council.plugin import Plugin
from council.registry import build_registry

CSV = """question,category,answer,grading,tolerance,context
What is 6 × 7?,maths,42,,,
"Which is right, A or B?",,B,,,
How far?,maths,3.1,number,0.1,It is a circle.
Why?,,,,,
"""
JSON_LINES = """
{"question": "What is 6 × 7?", "category": "maths", "answer": 42}
{"question": "Which is right, A or B?", "answer": "B"}

{"question":"How far?","category":"maths","answer":3.1,"tolerance":0.1,"context":"It is a circle."}
"Why?"
"""
YAML = """
# of ours
- question: What is 6 × 7?
  category: maths
  answer: 42
- {question: "Which is right, A or B?", answer: B, context: ~}
- question: How far?
  category: maths
  answer: 3.1
  grading: number
  tolerance: 0.1
  context: It is a circle.
- Why?
"""
JSON = f"[{','.join(line for line in JSON_LINES.splitlines() if line)}]"
QUESTIONS = (
    SuiteQuestion("What is 6 × 7?", "maths", Reference(Grading.NUMBER, "42")),
    SuiteQuestion("Which is right, A or B?", "", Reference(Grading.CHOICE, "B")),
    SuiteQuestion("How far?", "maths", Reference(Grading.NUMBER, "3.1", 0.1), "It is a circle."),
    SuiteQuestion("Why?"),
)


@pytest.mark.parametrize(
    ("filename", "text"),
    [
        ("sql.csv", CSV),
        ("sql.CSV", CSV.replace("\n", "\r\n")),
        ("sql.csv", CSV.replace("question,category", "Question , CATEGORY")),
        ("sql.csv", f"\n\n{CSV}\n,,,,,\n"),
        ("sql.jsonl", JSON_LINES),
        ("sql.json", JSON),
        ("sql.yaml", YAML),
        ("sql.yml", YAML),
    ],
)
def test_every_file_format_gives_the_same_suite(filename: str, text: str) -> None:
    assert parse_suite_file("sql", filename, text.encode()) == Suite("sql", QUESTIONS)


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_other_delimiters_of_spreadsheets_are_detected(delimiter: str) -> None:
    text = f"question{delimiter}answer\nWhy, if at all?{delimiter}42\n"

    (question,) = parse_suite_file("sql", "sql.csv", text.encode()).questions

    assert question == SuiteQuestion("Why, if at all?", "", Reference(Grading.NUMBER, "42"))


@pytest.mark.parametrize(
    ("filename", "text"),
    [
        ("sql.txt", "Why?\n\n  How, then?  \n"),
        ("sql.csv", 'Why?\n"How, then?"\n'),
        ("sql.csv", 'question\nWhy?\n"How, then?"\n'),
        ("sql.yaml", "- Why?\n- How, then?\n"),
        ("sql.jsonl", '"Why?"\n"How, then?"\n'),
    ],
)
def test_a_plain_list_is_a_suite(filename: str, text: str) -> None:
    assert [q.text for q in parse_suite_file("sql", filename, text.encode()).questions] == [
        "Why?",
        "How, then?",
    ]


def test_questions_of_several_lines_stay_whole() -> None:
    text = 'question,answer\n"Given:\n- a\n- b\nWhich?",a\n'

    (question,) = parse_suite_file("sql", "sql.csv", text.encode()).questions

    assert question.text == "Given:\n- a\n- b\nWhich?"


def test_yaml_is_read_as_it_is_written() -> None:
    text = "- question: Is it?\n  answer: no\n- question: Which day?\n  answer: 2026-11-21\n"

    read = parse_suite_file("sql", "sql.yaml", text.encode()).questions

    assert [q.reference.value for q in read if q.reference] == ["no", "2026-11-21"]


def test_json_values_are_read_as_text() -> None:
    text = '{"question": "How many?", "answer": 1.5}\n{"question": "Is it?", "answer": true}\n'

    read = parse_suite_file("sql", "sql.jsonl", text.encode()).questions

    assert [q.reference.value for q in read if q.reference] == ["1.5", "true"]


def test_no_cell_of_a_csv_file_starts_a_formula() -> None:
    texts = ["=HYPERLINK(0)", "+1+1", "-2+3", "@SUM(A1)", "'=1", "-5", "Why?"]
    suite = Suite("sql", tuple(SuiteQuestion(text) for text in texts))

    written = suite_csv(suite)

    assert [line[0] for line in written.splitlines()[1:]] == ["'"] * 5 + ["-", "W"]
    assert parse_suite_file("sql", "sql.csv", written.encode()) == suite


@pytest.mark.parametrize(
    "content",
    [
        codecs.BOM_UTF8 + CSV.encode(),
        codecs.BOM_UTF16_LE + CSV.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + CSV.encode("utf-16-be"),
    ],
    ids=["utf-8", "utf-16-le", "utf-16-be"],
)
def test_a_byte_order_mark_is_not_part_of_the_first_column(content: bytes) -> None:
    assert parse_suite_file("sql", "sql.csv", content).questions == QUESTIONS


def read_haiku(text: str) -> list[object]:
    """Return the questions of a plug-in's format: one a paragraph, with its answer."""
    if "%" in text:
        raise SuiteError("Line 1 has a % sign. Remove it.")
    first, *others = text.split("\n\n")
    return [first, *({"question": one, "answer": int(one[-1])} for one in others)]


HAIKU = build_registry([Plugin(name="haiku", suite_formats={".haiku": f"{__name__}:read_haiku"})])


def test_the_format_of_a_plug_in_is_read_by_the_ending_of_the_file() -> None:
    suite = parse_suite_file("poems", "Poems.HAIKU", b"Why?\n\nWhat is 1 + 1", registry=HAIKU)

    assert [question.text for question in suite.questions] == ["Why?", "What is 1 + 1"]
    assert suite.questions[1].reference == Reference(Grading.NUMBER, "1")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        pytest.param(b"%", "poems.haiku: Line 1 has a % sign", id="wrong file"),
        pytest.param(
            b"Why?\n\nWhen?", "The plug-in haiku can't read it", id="fault of the plug-in"
        ),
    ],
)
def test_a_file_that_a_plug_in_cannot_read_is_one_sentence(content: bytes, why: str) -> None:
    with pytest.raises(SuiteError, match=why):
        parse_suite_file("poems", "poems.haiku", content, registry=HAIKU)


def test_a_format_of_a_disabled_plug_in_is_named() -> None:
    plugin = Plugin(name="haiku", suite_formats={".haiku": "nowhere:READ"})

    with pytest.raises(SuiteError, match="the plug-in haiku, which is disabled"):
        parse_suite_file(
            "poems", "poems.haiku", b"Why?", registry=build_registry([], disabled=[plugin])
        )

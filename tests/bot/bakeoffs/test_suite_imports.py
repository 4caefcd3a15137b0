"""Suites of promptfoo and OpenAI Evals are imported; what cannot be is named with its place."""

import json

import pytest

from bot.bakeoffs.file_parsers import MAX_BYTES
from bot.bakeoffs.suite_files import (
    MAX_QUESTIONS,
    ReadingOptions,
    SuiteFile,
    parse_suite_file,
    read_suite_file,
    suite_csv,
    suite_document,
)
from council.bakeoffs.graders import is_correct
from council.bakeoffs.models import Grading, Reference, SuiteQuestion
from council.errors import SuiteError
from storage.bakeoffs.bakeoffs import SUITE, suite_from_body
from tests.bot.bakeoffs.promptfoo_examples import EXAMPLES, SIX, Example


def read_text(name: str, filename: str, text: str, *, partial: bool = False) -> SuiteFile:
    return read_suite_file(name, filename, text.encode(), ReadingOptions(partial=partial))


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES.keys())
def test_an_example_of_promptfoo_is_imported_or_refused_by_name(example: Example) -> None:
    if not example.questions:
        with pytest.raises(SuiteError, match="It has no usable question. This can't be imported"):
            read_text("s", "s.yaml", example.yaml)
        return

    file = read_text("s", "s.yaml", example.yaml)

    found = tuple(
        (one.text, str(ref.grading) if ref else "", ref.value if ref else "")
        for one in file.suite.questions
        for ref in [one.reference]
    )
    assert found == example.questions
    assert sorted(one.name for one in file.left_out) == sorted(example.left_out)


def test_there_are_at_least_twenty_examples() -> None:
    assert len(EXAMPLES) >= 20


@pytest.mark.parametrize(
    ("assertions", "right", "wrong"),
    [
        ("{type: contains, value: six}", "It is six.", "It is SIX."),
        ("{type: icontains, value: six}", "It is SIX.", "It is 6."),
        ("{type: contains-all, value: [a, b]}", "b\nthen a", "only a"),
        ("{type: not-contains-all, value: [a, b]}", "only a", "b\nthen a"),
        ("{type: not-contains-any, value: [a, b]}", "c", "b"),
        ("{type: not-regex, value: '^no'}", "yes, no", "no"),
        ("{type: starts-with, value: Six}", "Six it is.", "It is Six."),
        ("{type: not-starts-with, value: Six}", "It is Six.", "Six it is."),
        ("{type: contains, value: 'a.b'}, {type: regex, value: c$}", "a.b\nc", "axb c"),
        ("{type: is-json}", '```json\n{"a": 1}\n```', "{a: 1}"),
        ("{type: equals, value: {a: 1}}", '{"a": 1.0}', '{"a": true}'),
    ],
)
def test_an_imported_grader_grades_as_the_assertion_does(
    assertions: str, right: str, wrong: str
) -> None:
    file = read_text("s", "s.yaml", f"{SIX.rstrip()} [{assertions}]\n")

    [question] = file.suite.questions
    assert file.left_out == ()
    assert question.reference
    assert is_correct(question.reference, right)
    assert not is_correct(question.reference, wrong)


@pytest.mark.parametrize(
    ("test", "right", "wrong"),
    [
        (
            "threshold: 0.5, assert: [{type: contains, value: a}, {type: contains, value: b}]",
            "b",
            "c",
        ),
        (
            "threshold: 0.6, assert: [{type: contains, value: a, weight: 2},"
            " {type: contains, value: b}]",
            "a",
            "b",
        ),
        (
            "threshold: 0.6, assert: [{type: contains, value: a}, {type: contains, value: b},"
            " {type: not-contains, value: c}]",
            "a",
            "a c",
        ),
        ("threshold: 1, assert: [{type: equals, value: six}]", "six", "seven"),
        (
            "assert: [{type: contains, value: c}, {type: assert-set, threshold: 0.5,"
            " assert: [{type: contains, value: a}, {type: contains, value: b}]}]",
            "c b",
            "a b",
        ),
        (
            "assert: [{type: contains, value: a}, {type: javascript, value: x, weight: 0}]",
            "a",
            "b",
        ),
    ],
)
def test_weights_and_thresholds_decide_as_in_promptfoo(test: str, right: str, wrong: str) -> None:
    file = read_text("s", "s.yaml", f"prompts: [Six?]\ntests: [{{{test}}}]\n")

    [question] = file.suite.questions
    assert question.reference
    assert question.checks == ""
    assert is_correct(question.reference, right)
    assert not is_correct(question.reference, wrong)


_TWO = "[{type: contains, value: a}, {type: contains, value: b}]"


@pytest.mark.parametrize(
    ("test", "why"),
    [
        (f"threshold: 0, assert: {_TWO}", "every answer would pass"),
        (f"threshold: 2, assert: {_TWO}", "no answer could reach the threshold"),
        (f"threshold: often, assert: {_TWO}", "its threshold is not a number"),
        (f"threshold: .nan, assert: {_TWO}", "its threshold is not a number"),
        ("assert: [{type: contains, value: a, weight: -1}]", "its weight is not a number"),
        ("assert: [{type: contains, value: a, weight: {a: 1}}]", "its weight is not a number"),
        ("assert: [{type: llm-rubric, value: polite, threshold: 0.8}]", "without a score"),
        ("threshold: 0.8, assert: [{type: llm-rubric, value: polite}]", "without a score"),
        (f"threshold: 0.5, assert: [{{type: assert-set, assert: {_TWO}}}]", "set of checks"),
        (f"threshold: 0.5, assert: [{', '.join(['{type: contains, value: a}'] * 9)}]", "only 8"),
        (f"options: {{transform: output.trim()}}, assert: {_TWO}", "transform changes how"),
        (f"assertScoringFunction: file://a.js, assert: {_TWO}", "is not followed"),
        ("assert: file://assertions.yaml", "write its type and value"),
    ],
)
@pytest.mark.parametrize("partial", [False, True])
def test_a_question_with_a_rule_that_is_not_honoured_gets_no_grade(
    test: str, why: str, partial: bool
) -> None:
    text = f"prompts: [Six?]\ntests: [{{{test}}}]\n"

    file = read_text("s", "s.yaml", text, partial=partial)

    [question] = file.suite.questions
    assert not question.is_graded
    assert question.checks.startswith("0 of ")
    assert any(why in one.why for one in file.left_out)


def test_a_default_test_in_another_place_may_have_checks_that_are_lost() -> None:
    text = f"prompts: [Six?]\ndefaultTest: file://d.yaml\ntests: [{{assert: {_TWO}}}]\n"

    [question] = read_text("s", "s.yaml", text).suite.questions

    assert (question.is_graded, question.checks) == (False, "2 of 3")


PARTIAL = SIX + "  - {type: contains, value: x}\n  - {type: javascript, value: y}\n"


def test_a_question_that_lost_a_check_is_graded_by_the_others_only_on_request() -> None:
    [whole] = read_text("s", "s.yaml", PARTIAL).suite.questions
    [partial] = read_text("s", "s.yaml", PARTIAL, partial=True).suite.questions

    assert whole.reference == Reference(Grading.MISSING, "assert javascript", checks="1 of 2")
    assert partial.reference == Reference(Grading.CONTAINS, "x", checks="1 of 2")


@pytest.mark.parametrize("partial", [False, True])
def test_a_lost_check_survives_export_import_and_versions(partial: bool) -> None:
    suite = read_text("s", "s.yaml", PARTIAL, partial=partial).suite

    rows = json.dumps(suite_document(suite)["questions"])
    again = [
        read_text("s", "s.csv", suite_csv(suite)).suite,
        read_text("s", "s.json", rows).suite,
        suite_from_body("", "s", json.loads(SUITE.dump_json(suite))),
    ]

    assert {one.version for one in again} == {suite.version}
    assert all(one.questions == suite.questions for one in again)


def test_what_is_left_out_has_its_line() -> None:
    text = SIX + "  - {type: contains, value: x}\n  - {type: latency, threshold: 5}\n"

    [left_out] = read_text("s", "s.yaml", text).left_out

    assert (left_out.where, left_out.name) == ("Line 5", "assert latency")


def test_a_place_without_room_for_notes_refuses_a_file_that_loses_a_check() -> None:
    text = b"prompts: [Six?]\ntests: [{assert: [{type: latency}]}]\n"

    with pytest.raises(SuiteError, match="Line 2: assert latency.*council suite add s s.yaml"):
        parse_suite_file("s", "s.yaml", text)


def test_settings_without_meaning_do_not_make_a_file_incomplete() -> None:
    text = b"providers: [x]\ndescription: Sums\nextensions: [x]\nprompts: [Six?]\n"

    assert len(parse_suite_file("s", "s.yaml", text).questions) == 1


def test_too_many_questions_are_refused_with_their_number() -> None:
    text = "prompts: ['{{a}} {{b}}?']\ntests: [{vars: {a: [%s], b: [%s]}}]\n"
    hundred = ", ".join(map(str, range(100)))

    with pytest.raises(SuiteError, match=f"make 10,100 questions; the limit .* {MAX_QUESTIONS:,}"):
        read_text("s", "s.yaml", text % (hundred, f"{hundred}, 100"))


def _laughs(levels: int) -> str:
    lines = ["x: &a0 [ha]"]
    lines += [f"x{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(["prompts: [Six?]", *lines, ""])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (_laughs(20), "its aliases expand to more text"),
        ("prompts: &a\n- *a\n", "its aliases expand to more text"),
        ("prompts: &a [Six?]\ntests: &b\n- vars: *b\n", "its aliases expand to more text"),
        (f"prompts: {'[' * 500}", "YAML can't be read"),
        (
            f"prompts: ['{'{{a}}' * 30_000}']\ntests: [{{vars: {{a: {'x' * 20_000}}}}}]\n",
            "more than 20,000 characters",
        ),
        (
            "prompts: ['{{a}}{{b}}']\ntests:\n"
            + f"- vars: {{a: {'x' * 15_000}, b: {[*range(900)]}}}\n",
            "variables expand to more text",
        ),
        (
            f"prompts: ['{{{{a}}}}?']\ntests:\n- vars: {{a: {[*range(9_000)]}}}\n  assert:\n"
            + "  - {type: contains, value: x}\n" * 400,
            "more than 200,000 checks and variables",
        ),
        (
            f"prompts: ['{{{{a}}}}?']\ntests:\n- vars: {{a: {[*range(9_000)]}}}\n"
            f"  assert: [{{type: icontains, value: '{{{{a}}}}{'x' * 300}'}}]\n",
            "regular expressions have more than 100,000 characters",
        ),
    ],
    ids=[
        "laughs",
        "itself",
        "itself-in-vars",
        "deep",
        "long-question",
        "much-text",
        "many-checks",
        "many-patterns",
    ],
)
@pytest.mark.timeout(10)
def test_a_bomb_is_refused(text: str, told: str) -> None:
    assert len(text) <= MAX_BYTES

    with pytest.raises(SuiteError, match=told):
        read_text("s", "s.yaml", text)


# --- OpenAI Evals


def _evals(*lines: object) -> str:
    return "\n".join(map(json.dumps, lines))


def test_lines_of_openai_evals_become_questions_with_graders() -> None:
    system = {"role": "system", "content": "Be brief."}
    ask = {"role": "user", "content": "6 × 7?"}
    text = _evals(
        {"input": [system, ask], "ideal": "42"},
        {"input": [{"role": "user", "content": "Name a city."}], "ideal": ["Rome", "Oslo"]},
        {"input": "Yes or no?", "ideal": "Yes"},
        {
            "input": [
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": "Hello"},
                {"role": "user", "content": [{"type": "input_text", "text": "Why?"}]},
            ],
            "ideal": {"a": 1},
        },
        {"item": {"question": "2 + 2?", "correct_label": "4", "category": "sums"}},
        {"item": {"ticket_text": "My screen is black.", "correct_label": "Hardware"}},
    )

    file = read_text("s", "s.jsonl", text)

    assert file.left_out == ()
    assert file.suite.questions == (
        SuiteQuestion("6 × 7?", "", Reference(Grading.NUMBER, "42"), "Be brief."),
        SuiteQuestion("Name a city.", "", Reference(Grading.REGEX, r"(?<!\w)(?:Rome|Oslo)(?!\w)")),
        SuiteQuestion("Yes or no?", "", Reference(Grading.EXACT, "Yes")),
        SuiteQuestion(
            "Why?", "", Reference(Grading.JSON, '{"a": 1}'), "User: Hi\n\nAssistant: Hello"
        ),
        SuiteQuestion("2 + 2?", "sums", Reference(Grading.NUMBER, "4")),
        SuiteQuestion("My screen is black.", "", Reference(Grading.EXACT, "Hardware")),
    )


@pytest.mark.parametrize(
    ("line", "name", "why"),
    [
        ({"item": {"id": 1}}, "question", "it has no column with a question"),
        (
            {"input": [{"role": "user", "content": [{"type": "image_url"}]}]},
            "question",
            "only text",
        ),
        ({"input": [7], "ideal": "x"}, "question", "only text"),
        ({"input": [], "ideal": "x"}, "question", "no column with a question"),
        (
            {
                "input": [
                    {"role": "user", "content": "Why?"},
                    {"role": "assistant", "content": "Because"},
                ],
                "ideal": "So",
            },
            "question",
            "a message follows the question",
        ),
        ({"input": "Why?", "ideal": "x" * 3000}, "ideal", "the limit is 2,000"),
        ({"input": "Why?", "ideal": ["x" * 600, "y"]}, "ideal", "the limit is 500"),
        ({"input": "Why?", "speaker": {"a": 1}}, "speaker", "no such column"),
        ({"item": {"question": "Why?"}, "sample": {"a": 1}}, "sample", "no such column"),
        ({"item": {"question": "Why?", "speaker": 7}}, "speaker", "no such column"),
        ({"input": "x" * 20_001}, "question", "the limit is 20,000"),
        ({"input": "Known?"}, "question", "asks the same as line 1"),
    ],
)
def test_what_openai_evals_has_and_a_suite_has_not_is_named(
    line: object, name: str, why: str
) -> None:
    text = _evals({"input": "Known?", "ideal": "yes"}, line)

    file = read_text("s", "s.jsonl", text)

    [left_out] = file.left_out
    assert (left_out.where, left_out.name) == ("Line 2", name)
    assert why in left_out.why


def test_an_import_with_nothing_usable_is_refused() -> None:
    with pytest.raises(SuiteError, match=r"no usable question.*Line 1: question.*and 2 more"):
        read_text("s", "s.jsonl", _evals(*[{"item": {}}] * 7))


# --- Data sets


SOLUTION = "In May she sold <<48/2=24>>24 clips.\n48 + 24 = <<48+24=72>>72\n#### 72"


@pytest.mark.parametrize(
    "line",
    [
        {"question": "How many?", "answer": SOLUTION},
        {"question": "How many?", "answer": SOLUTION, "grading": "number"},
        {"item": {"question": "How many?", "answer": SOLUTION}},
    ],
)
def test_a_solution_of_gsm8k_is_read_as_its_number(line: object) -> None:
    [question] = read_text("s", "s.jsonl", _evals(line)).suite.questions

    assert question.reference == Reference(Grading.NUMBER, "72")


@pytest.mark.parametrize("name", ["s.json", "s.jsonl"])
def test_an_object_of_alpaca_keeps_its_instruction(name: str) -> None:
    item = {"instruction": "Translate to French.", "input": "Hello", "output": "Bonjour"}
    text = json.dumps([item]) if name == "s.json" else json.dumps(item)

    file = read_text("s", name, text)

    right = Reference(Grading.EXACT, "Bonjour")
    assert file.left_out == ()
    assert file.suite.questions == (SuiteQuestion("Translate to French.", "", right, "Hello"),)


@pytest.mark.parametrize("header", ["question", "Questions", "prompt"])
def test_a_header_of_one_column_is_a_header(header: str) -> None:
    [question] = read_text("s", "s.csv", f"{header}\nWhy?\n").suite.questions

    assert question.text == "Why?"


def test_a_git_lfs_pointer_is_called_one() -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"

    with pytest.raises(SuiteError, match=r"s\.csv is a Git LFS pointer.*git lfs pull"):
        parse_suite_file("s", "s.csv", pointer)

"""Suites of promptfoo and OpenAI Evals are imported; what cannot be is named with its place."""

import json

import pytest

from bot.suite_files import MAX_BYTES, MAX_QUESTIONS, parse_suite_file, read_suite_text
from council.bakeoffs.grading import is_correct
from council.bakeoffs.models import Grading, Reference, SuiteQuestion
from council.errors import SuiteError
from tests.bot.promptfoo_examples import EXAMPLES, SIX, Example


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES.keys())
def test_an_example_of_promptfoo_is_imported_or_refused_by_name(example: Example) -> None:
    if not example.questions:
        with pytest.raises(SuiteError, match="It has no usable question. This can't be imported"):
            read_suite_text("s", "s.yaml", example.yaml)
        return

    file = read_suite_text("s", "s.yaml", example.yaml)

    found = tuple(
        (one.text, ref.grading.value if ref else "", ref.value if ref else "")
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
    file = read_suite_text("s", "s.yaml", f"{SIX.rstrip()} [{assertions}]\n")

    [question] = file.suite.questions
    assert file.left_out == ()
    assert question.reference
    assert is_correct(question.reference, right)
    assert not is_correct(question.reference, wrong)


def test_what_is_left_out_has_its_line() -> None:
    text = SIX + "  - {type: contains, value: x}\n  - {type: latency, threshold: 5}\n"

    [left_out] = read_suite_text("s", "s.yaml", text).left_out

    assert (left_out.where, left_out.name) == ("Line 5", "assert latency")


def test_a_place_without_room_for_notes_refuses_a_file_that_leaves_something_out() -> None:
    with pytest.raises(SuiteError, match="Line 1: providers.*council suite add s s.yaml"):
        parse_suite_file("s", "s.yaml", b"providers: [x]\nprompts: [Six?]\n")


def test_ten_thousand_questions_are_refused_with_their_number() -> None:
    text = "prompts: ['{{a}} {{b}}?']\ntests: [{vars: {a: [%s], b: [%s]}}]\n"
    hundred = ", ".join(map(str, range(100)))

    with pytest.raises(SuiteError, match=f"make 10,000 questions; the limit .* {MAX_QUESTIONS:,}"):
        read_suite_text("s", "s.yaml", text % (hundred, hundred))


def _laughs(levels: int) -> str:
    lines = ["x: &a0 [ha]"]
    lines += [f"x{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(["prompts: [Six?]", *lines, ""])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (_laughs(20), "its aliases expand to too much"),
        ("prompts: &a\n- *a\n", "its aliases expand to too much"),
        ("prompts: &a [Six?]\ntests: &b\n- vars: *b\n", "its aliases expand to too much"),
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
    ],
    ids=["laughs", "itself", "itself-in-vars", "deep", "long-question", "much-text"],
)
@pytest.mark.timeout(10)
def test_a_bomb_is_refused(text: str, told: str) -> None:
    assert len(text) <= MAX_BYTES

    with pytest.raises(SuiteError, match=told):
        read_suite_text("s", "s.yaml", text)


# --- OpenAI Evals


def _evals(*lines: object) -> str:
    return "\n".join(map(json.dumps, lines))


def test_lines_of_openai_evals_become_questions_with_graders() -> None:
    system = {"role": "system", "content": "Be brief."}
    ask = {"role": "user", "content": "6 × 7?"}
    text = _evals(
        {"input": [system, ask], "ideal": "42"},
        {"input": [{"role": "system", "content": "Name a city."}], "ideal": ["Rome", "Oslo"]},
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

    file = read_suite_text("s", "s.jsonl", text)

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
        ({"item": {"id": 1}}, "question", "it has no field with a question"),
        ({"input": [{"role": "user", "content": [{"type": "image_url"}]}]}, "input", "only text"),
        ({"input": ["Why?"], "ideal": "x"}, "input", "only text"),
        ({"input": [], "ideal": "x"}, "question", "no field with a question"),
        (
            {
                "input": [
                    {"role": "user", "content": "Why?"},
                    {"role": "assistant", "content": "Because"},
                ]
            },
            "input",
            "a message follows the question",
        ),
        ({"input": "Why?", "ideal": ""}, "ideal", "it is empty"),
        ({"input": "Why?", "ideal": "x" * 3000}, "ideal", "the limit is 2,000"),
        ({"input": "Why?", "ideal": ["x" * 600, "y"]}, "ideal", "the limit is 500"),
        ({"input": "Why?", "metadata": {"a": 1}}, "metadata", "no such field"),
        ({"item": {"question": "Why?"}, "sample": {}}, "sample", "only the item"),
        ({"item": {"question": "Why?", "id": 7}}, "id", "no such field"),
        ({"input": "x" * 20_001}, "question", "the limit is 20,000"),
        ({"input": "Known?"}, "question", "asks the same as line 1"),
    ],
)
def test_what_openai_evals_has_and_a_suite_has_not_is_named(
    line: object, name: str, why: str
) -> None:
    text = _evals({"input": "Known?", "ideal": "yes"}, line)

    file = read_suite_text("s", "s.jsonl", text)

    [left_out] = file.left_out
    assert (left_out.where, left_out.name) == ("Line 2", name)
    assert why in left_out.why


def test_an_import_with_nothing_usable_is_refused() -> None:
    with pytest.raises(SuiteError, match=r"no usable question.*Line 1: question.*and 2 more"):
        read_suite_text("s", "s.jsonl", _evals(*[{"item": {}}] * 7))

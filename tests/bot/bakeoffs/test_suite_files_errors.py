"""Errors in suite files name the line and say what to do."""

import pytest

from bot.bakeoffs.file_parsers import MAX_BYTES
from bot.bakeoffs.suite_files import (
    parse_suite_file,
    validate_suite_name,
)
from bot.chat import MAX_QUESTION_CHARACTERS
from council.errors import SuiteError

LONG = "x" * (MAX_QUESTION_CHARACTERS + 1)


@pytest.mark.parametrize(
    ("filename", "text", "told"),
    [
        pytest.param("s.csv", "", "There are no questions in it", id="empty"),
        pytest.param(
            "s.csv", "question,answer\n", "There are no questions in it", id="header-only"
        ),
        pytest.param("s.jsonl", "\n\n", "There are no questions in it", id="blank"),
        pytest.param("s.yaml", "# nothing\n", "There are no questions in it", id="comment"),
        pytest.param("s.json", " ", "There are no questions in it", id="empty-json"),
        pytest.param("s.docx", "Why?", "Save it as .csv", id="ending"),
        pytest.param("questions", "Why?", "Save it as .csv", id="no-ending"),
        pytest.param(
            "s.csv",
            "question,answr\nWhy?,1\n",
            "Line 2: answr, a suite has no such column; if it is the answer, add",
            id="column",
        ),
        ("s.csv", "question,Question\nWhy?,1\n", "names the column 'question' twice"),
        ("s.csv", "name,age\nAnn,42\n", "Line 1 is no header: it has no column with a question"),
        ("s.csv", "name,age\nAnn,42\n", "The columns are: name, age."),
        ("s.jsonl", '{"name": "Ann"}', "The columns are: name."),
        ("s.csv", "question,answer 1\nWhy?,1\n", 'as in `--answer "answer 1"`'),
        ("s.csv", f"question{',x' * 100}\n", "Line 1 has more than 100 columns. Remove some."),
        ("s.jsonl", '{"question": "Why?", "x": ' + "[" * 50, "nested more than 50 deep"),
        pytest.param(
            "s.csv",
            ",".join(["question", *(f"x{n}" for n in range(90))]) + f"\n{',' * 90}" * 4_000,
            "Up to line 3297 there are more than 300,000 cells. Remove columns",
            id="cells",
        ),
        pytest.param(
            "s.csv",
            "question,answer,grading\n"
            + "".join(f"Why {n}?,a{{9}}{n},regex\n" for n in range(200)),
            "regular expressions have more than 100,000 characters in all",
            id="patterns",
        ),
        ("s.csv", "prompt,query\nWhy?,How?\n", "Line 2 has two columns that could be the question"),
        ("s.jsonl", '{"a b": "x", "a_b": "y"}', "Line 1 has two columns of nearly the same name"),
        ("s.jsonl", f'{{"question": "Why?", "answer": "{"x" * 20_000}"}}', "the limit is 2,000"),
        pytest.param("s.csv", "question,question\n", "names the column 'question' twice", id="2x"),
        pytest.param(
            "s.csv", 'question\nWhy?\n"How?\n', "Line 3 is not valid CSV", id="open-quote"
        ),
        pytest.param("s.csv", 'question\n"a"b\n', "Line 2 is not valid CSV", id="quote-inside"),
        pytest.param(
            "s.csv",
            "question,answer\nWhy?\nHow?,1\nNo, a, b\n",
            "Line 4 has 3 columns, but the header has",
            id="too-many",
        ),
        pytest.param(
            "s.csv", "question,\nWhy?,x\n", "Line 2 has a cell without a column name", id="none"
        ),
        ("s.csv", "Why?\nHow, then?\n", "Line 2 has 2 columns and no header"),
        ("s.csv", "question,answer\n,42\n", "Line 2 has no question"),
        ("s.csv", "question\nWhy?\nHow?\nwhy ?\nWHY?\n", "Line 5 asks the same as line 2"),
        pytest.param("s.txt", f"Why?\n{LONG}\n", "Line 2 has a question of 20,001", id="long"),
        ("s.csv", f"question,category\nWhy?,{'c' * 61}\n", "Line 2 has a category of 61"),
        pytest.param(
            "s.csv",
            "question,answer,grading\nWhy?,1,guess\n",
            "Line 2 has an unknown grading 'guess'. Choose one of exact, number, choice, regex",
            id="grading",
        ),
        ("s.csv", "question,answer,rubric\nWhy?,a,b\n", "Line 2 needs a rubric and no answer"),
        ("s.csv", "question,grading\nWhy?,judge\n", "Line 2 needs a rubric and no answer"),
        ("s.csv", "question,grading,rubric\nWhy?,exact,b\n", "Line 2 needs a rubric and no"),
        ("s.csv", "question,answer,grading\nWhy?,ten,number\n", "Line 2: 'ten' is not a number"),
        pytest.param(
            "s.csv",
            "question,answer,grading\nWhy?,(,regex\n",
            "Line 2: '(' is not a valid regular expression",
            id="pattern",
        ),
        ("s.csv", "question,answer,grading\nWhy?,,exact\n", "Line 2: the answer is empty"),
        ("s.csv", "question,answer,tolerance\nWhy?,3,much\n", "Line 2: the tolerance must be"),
        pytest.param(
            "s.jsonl", '"Why?"\n{"question": "How?"', "Line 2 is not valid JSON", id="json"
        ),
        pytest.param("s.jsonl", '"Why?"\n42\n', "Line 2 is not a question", id="json-number"),
        pytest.param("s.jsonl", '{"question": [7]}', "more than text", id="list"),
        pytest.param("s.jsonl", "[" * 100_000, "Line 1 ", id="json-deep"),
        pytest.param("s.json", '[\n"Why?",\n]', "Line 3 is not valid JSON", id="json-comma"),
        pytest.param(
            "s.json", '{"question": "Why?"}', "Line 1 does not start a list", id="no-list"
        ),
        pytest.param("s.yaml", "- Why?\n- [\n", "Line 3 is not valid YAML", id="yaml"),
        pytest.param("s.yaml", "- Why?\n- a: b: c\n", "Line 2 is not valid YAML", id="yaml-colon"),
        pytest.param(
            "s.yaml", "question: Why?\n", "Line 1 does not start a list", id="yaml-mapping"
        ),
        pytest.param("s.yaml", "- Why?\n- - How?\n", "Line 2 is not a question", id="yaml-nested"),
        pytest.param("s.yaml", "- question: [[a]]\n", "more than text", id="yaml-list"),
        pytest.param("s.yaml", "- \x07\n", "This YAML can't be read", id="yaml-bell"),
        pytest.param("s.yaml", "[" * 50_000, "YAML", id="yaml-deep"),
    ],
)
def test_the_wrong_line_is_named(filename: str, text: str, told: str) -> None:
    with pytest.raises(SuiteError) as caught:
        parse_suite_file("sql", filename, text.encode())

    assert str(caught.value).startswith(f"{filename}: ")
    assert told in str(caught.value)


@pytest.mark.parametrize("ending", ["txt", "csv", "jsonl", "yaml"])
def test_ten_thousand_questions_are_refused_in_one_sentence(ending: str) -> None:
    quote = {"jsonl": '"', "yaml": "- "}.get(ending, "")
    lines = (f"{quote}Question {n}{quote.strip('- ')}" for n in range(10_001))

    with pytest.raises(SuiteError, match="more than 10,000 questions|more than .* values"):
        parse_suite_file("sql", f"s.{ending}", "\n".join(lines).encode())


@pytest.mark.parametrize(
    ("ending", "line"),
    [
        ("txt", "Question {}"),
        ("csv", "Question {}"),
        ("jsonl", '{{"question": "Question {}", "answer": "{}"}}'),
        ("yaml", "- {{question: Question {}, answer: B, category: x}}"),
    ],
)
def test_ten_thousand_questions_are_a_suite(ending: str, line: str) -> None:
    text = "\n".join(line.format(n, n) for n in range(10_000))

    assert len(parse_suite_file("sql", f"s.{ending}", text.encode()).questions) == 10_000


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("question\nWhy\u00e9?\n".encode("latin-1"), "Line 2 of s.csv is not UTF-8"),
        pytest.param(
            "question\nWhy?\n".encode("utf-16-le"), "s.csv is not a text file", id="utf-16"
        ),
        pytest.param(b"\xff\xfeq", "Line 1 of s.csv is not UTF-8", id="half"),
        pytest.param(b"PAR1rest", "s.csv is a Parquet file. Convert it with pandas", id="parquet"),
        pytest.param(b"\x1f\x8brest", "s.csv is compressed. Unpack it", id="gzip"),
        pytest.param(b"PK\x03\x04rest", "s.csv is a spreadsheet or an archive", id="xlsx"),
        pytest.param(b"x" * (MAX_BYTES + 1), "s.csv has 2,000,001 bytes", id="big"),
    ],
)
def test_a_file_that_is_not_utf_8_is_refused(content: bytes, told: str) -> None:
    with pytest.raises(SuiteError) as caught:
        parse_suite_file("sql", "s.csv", content)

    assert told in str(caught.value)


@pytest.mark.parametrize("name", ["", "a b", "../x", "-x", "x" * 41, "keep", "last", "ä?", "a\nb"])
def test_a_name_that_cannot_be_typed_is_refused(name: str) -> None:
    with pytest.raises(SuiteError, match="A suite can't be called"):
        validate_suite_name(name)

"""Files of data sets and other tools come in with the right question, answer and grader."""

import sys
from pathlib import Path

import pytest

from bot.bakeoffs.item_values import HOW_TO_CHOOSE
from bot.bakeoffs.suite_files import ReadingOptions, parse_suite_file, read_suite_file
from council.bakeoffs.graders import is_correct
from council.bakeoffs.models import Grading, Reference, SuiteQuestion
from council.errors import SuiteError
from tests.bot.bakeoffs.foreign_files import SHAPES, Shape
from tests.bot.bakeoffs.promptfoo_shapes import CONFIGS, Config


def check_shape(shape: Shape) -> bool:
    """Return whether a shape can be imported; fail if anything in it is not as it must be."""
    if shape.refused:
        with pytest.raises(SuiteError, match=shape.refused):
            read_suite_file("s", shape.filename, shape.text.encode())
        return False
    file = read_suite_file("s", shape.filename, shape.text.encode())
    question = file.suite.questions[0]
    assert {one.name for one in file.left_out} == shape.left_out
    assert (question.category, question.context) == (shape.category, shape.context)
    if shape.choice:
        check_choice(shape, question)
        return True
    assert question.text == shape.question
    if shape.lost:
        assert question.reference
        assert question.reference.grading == Grading.MISSING
        return False
    wanted = Reference(shape.grading, shape.value, others=shape.others) if shape.grading else None
    assert question.reference == wanted
    return True


def check_choice(shape: Shape, question: SuiteQuestion) -> None:
    asked, *choices = question.text.split("\n")
    right = [line[0] for line in choices if line[1:] == f") {shape.choice}"]
    letters = [line[0] for line in choices if line[1:2] == ")"]
    assert asked == shape.question
    assert question.text.endswith(HOW_TO_CHOOSE)
    assert question.reference
    assert question.reference.grading == Grading.CHOICE
    assert [x for x in letters if is_correct(question.reference, f"Answer: {x}")] == right


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_a_shape_has_the_right_question_answer_and_grader(shape: Shape) -> None:
    check_shape(shape)


def test_most_shapes_come_in_and_none_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    right = sum(map(check_shape, SHAPES.values()))

    with capsys.disabled():
        sys.stdout.write(f"\n{right} of {len(SHAPES)} shapes of files are right, 0 are wrong\n")
    assert len(SHAPES) >= 55
    assert right >= 45


def check_config(config: Config, folder: Path) -> bool:
    """Return whether a configuration comes in without a loss; fail if a loss is silent."""
    for name, text in config.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    options = ReadingOptions(folder=folder)
    if not config.questions:
        with pytest.raises(SuiteError, match="no usable question.*Line [0-9]"):
            read_suite_file("s", "promptfooconfig.yaml", config.yaml.encode(), options)
        return False
    file = read_suite_file("s", "promptfooconfig.yaml", config.yaml.encode(), options)
    graded = sum(one.is_graded for one in file.suite.questions)
    assert tuple(one.name for one in file.left_out) == config.lost
    assert (len(file.suite.questions), graded) == (config.questions, config.graded)
    return not file.left_out


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())
def test_a_configuration_of_promptfoo_loses_nothing_silently(
    config: Config, tmp_path: Path
) -> None:
    check_config(config, tmp_path)


def test_configurations_of_promptfoo_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = 0
    for number, config in enumerate(CONFIGS.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        whole += check_config(config, folder)

    with capsys.disabled():
        sys.stdout.write(f"\n{whole} of {len(CONFIGS)} configurations lose nothing, 0 silently\n")
    assert whole >= 45


OWN_NAMES = b"title,body,solved\nSums,What is 17 + 25?,42\n"


def test_columns_can_be_chosen() -> None:
    columns = {"question": "Body", "answer": "solved", "category": "title"}

    file = read_suite_file("s", "s.csv", OWN_NAMES, ReadingOptions(columns=columns))

    sums = SuiteQuestion("What is 17 + 25?", "Sums", Reference(Grading.NUMBER, "42"))
    assert (file.suite.questions, file.left_out) == ((sums,), ())


def test_a_chosen_question_decides_between_two() -> None:
    options = ReadingOptions(columns={"question": "query"})

    file = read_suite_file("s", "s.csv", b"prompt,query\nWhy?,How?\n", options)

    assert [one.text for one in file.suite.questions] == ["How?"]
    assert [one.name for one in file.left_out] == ["prompt"]


def test_a_chosen_column_that_no_line_has_is_refused() -> None:
    options = ReadingOptions(columns={"answer": "solution"})

    with pytest.raises(
        SuiteError, match="no column 'solution' for `--answer`. The columns are: answer, q"
    ):
        read_suite_file("s", "s.csv", b"question,answer\nWhy?,42\n", options)


def test_a_column_that_is_left_out_is_named_once() -> None:
    text = "\n".join(f'{{"question": "{n}?", "level": {n}}}' for n in range(1, 100))

    file = read_suite_file("s", "s.jsonl", text.encode())

    assert len(file.suite.questions) == 99
    assert [(one.where, one.name) for one in file.left_out] == [("Line 1", "level")]


def test_ten_thousand_foreign_questions_come_in_without_the_same_ones() -> None:
    text = "\n".join(f'{{"problem": "{n % 9_999}?", "id": {n}}}' for n in range(10_000))

    file = read_suite_file("s", "s.jsonl", text.encode())

    assert len(file.suite.questions) == 9_999
    assert [one.where for one in file.left_out] == ["Line 10000"]
    assert "asks the same as line 1" in file.left_out[0].why


def test_shuffled_choices_are_the_same_in_each_import() -> None:
    shape = SHAPES["GPQA"]
    first, second = (
        read_suite_file("s", shape.filename, shape.text.encode()).suite for _ in range(2)
    )

    assert first.version == second.version


def test_a_test_with_several_values_asks_several_questions() -> None:
    text = b'{"vars": {"question": ["Why?", "How?"]}, "assert": [{"type": "is-json"}]}'

    file = read_suite_file("s", "s.jsonl", text)

    assert [one.text for one in file.suite.questions] == ["Why?", "How?"]
    assert all(one.is_graded for one in file.suite.questions)


def test_a_template_is_no_question() -> None:
    with pytest.raises(SuiteError, match="Line 1: question, it is a template"):
        read_suite_file("s", "s.jsonl", b'{"vars": {"question": "{{a}}?", "a": 1}}')


def test_more_columns_than_can_be_named_are_counted() -> None:
    columns = ",".join(f"c{n}" for n in range(60))

    file = read_suite_file("s", "s.csv", f"question,{columns}\nWhy?{',x' * 60}\n".encode())

    assert len(file.left_out) == 51
    assert file.left_out[-1].name == "other columns"


@pytest.mark.parametrize(
    ("filename", "text"),
    [
        ("s.csv", "question,answer,level\nWhy?,42,hard\n"),
        ("s.json", '{"features": [{"name": "x"}], "rows": [{"row": {"prompt": "Why?"}}]}'),
    ],
)
def test_what_cannot_lose_a_check_does_not_make_a_file_incomplete(filename: str, text: str) -> None:
    assert read_suite_file("s", filename, text.encode()).left_out
    assert len(parse_suite_file("s", filename, text.encode()).questions) == 1


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        (
            '{"train": [{"question": "Why?"}], "test": [{"question": "How?"}]}',
            "train, test is read",
        ),
        ('[{"question": "Why?", "options": ["a", "b"], "right": "a"}]', "right, a suite has no"),
        ('[{"question": "Why?", "output": "42", "model": "gpt"}]', "output, it seems to be what"),
    ],
)
def test_what_can_lose_a_check_makes_a_file_incomplete(text: str, lost: str) -> None:
    with pytest.raises(SuiteError, match=lost):
        parse_suite_file("s", "s.json", text.encode())

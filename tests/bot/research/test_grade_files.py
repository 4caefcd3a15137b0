"""Grade files are read in both forms, and every error names its line."""

import json
import time

import pytest

from bot.research.grade_files import MAX_JUDGES, read_grades
from council.errors import GradesError
from council.research.grades import Framing, Grade

GOOD = {"item": "1", "framing": "pos", "judge": "a", "author": "b", "score": 4}


def lines(*rows: object) -> bytes:
    return "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows).encode()


def other(**fields: object) -> dict[str, object]:
    return {**GOOD, **fields}


def test_the_short_form_is_read() -> None:
    read = read_grades("g.jsonl", lines(GOOD, "", other(framing="neg", score=None)))

    assert read.column == "score"
    assert read.grades == (
        Grade("1", Framing.POSITIVE, "a", "b", 4.0),
        Grade("1", Framing.NEGATIVE, "a", "b", None),
    )


def test_groups_and_an_objective_score_are_read() -> None:
    read = read_grades(
        "g.jsonl", lines(other(group=7, truth=0.5), other(judge="b", group="7", truth=0.5))
    )

    assert [(one.group, one.truth) for one in read.grades] == [("7", 0.5)] * 2
    assert read_grades("g.jsonl", lines(other(group=None, truth=None))).grades[0].truth is None


def thesis_row(**fields: object) -> dict[str, object]:
    own = {"raw": 2, "thesis_score": 4, "parse": "junk", "tokens_in": 5, "tokens_out": 6}
    return {**other(score=None), **own, **fields, "article_id": "x1"}


@pytest.mark.parametrize(
    ("strict", "score", "column"),
    [
        pytest.param(False, 4.0, "thesis_score", id="published"),
        pytest.param(True, None, "score", id="strict"),
    ],
)
def test_the_columns_of_the_thesis_are_read_either_way(
    strict: bool,
    score: float | None,
    column: str,
) -> None:
    row = thesis_row()
    del row["item"]

    read = read_grades("g.jsonl", lines(row), strict=strict)

    assert read.grades == (Grade("x1", Framing.POSITIVE, "a", "b", score),)
    assert read.column == column


def test_numbers_may_name_items_and_a_mark_may_open_the_file() -> None:
    read = read_grades("g.jsonl", b"\xef\xbb\xbf" + lines(other(item=7)) + b"\r\n")

    assert read.grades[0].item == "7"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(b"", "The file has no grades. Write one per line, such as", id="empty"),
        pytest.param(b"\n  \n", "The file has no grades", id="blank"),
        pytest.param(lines(GOOD, "{broken"), "Line 2 is not a JSON object", id="broken"),
        pytest.param(lines([GOOD]), "Line 1 is not a JSON object", id="list"),
        pytest.param(lines("[" * 9_000), "Line 1 is not a JSON object", id="deep"),
        pytest.param(lines(GOOD, other(score=6)), "Line 2 has 6 in 'score'", id="above"),
        pytest.param(lines(other(score=0)), "Line 1 has 0 in 'score'", id="below"),
        pytest.param(lines(other(score="4")), "Line 1 has '4' in 'score'", id="text"),
        pytest.param(lines(other(score=True)), "Line 1 has True in 'score'", id="truth"),
        pytest.param(lines(other(score=float("nan"))), "Line 1 has nan in 'score'", id="nan"),
        pytest.param(lines(other(score=float("inf"))), "Line 1 has inf in 'score'", id="endless"),
        pytest.param(lines(other(score=10**400)), "Grades are numbers from", id="huge"),
        pytest.param(
            lines(other(framing="positive")), "Line 1 has the framing 'positive'", id="framing"
        ),
        pytest.param(lines(other(framing=["pos"])), "has the framing", id="framing-list"),
        pytest.param(lines({"item": "1"}), "Line 1 has the framing", id="no-framing"),
        pytest.param(lines(other(judge="")), "Line 1 has no 'judge'", id="no-judge"),
        pytest.param(lines(other(author=None)), "Line 1 has no 'author'", id="no-author"),
        pytest.param(lines(other(item="x" * 201)), "201 characters in 'item'", id="long-name"),
        pytest.param(
            lines(GOOD, other(item="2"), GOOD), "Lines 1 and 3 hold the same judge's", id="twice"
        ),
        pytest.param(lines(thesis_row(), GOOD), "Line 2 has no 'thesis_score'", id="mixed"),
        pytest.param(
            lines(other(group="t1"), other(judge="b", group="t2")),
            "Line 2 puts item '1' in another group",
            id="two-groups",
        ),
        pytest.param(
            lines(other(group="t1"), other(item="2")), "Item '2' has no group", id="no-group"
        ),
        pytest.param(lines(other(group="")), "Line 1 has no 'group'", id="empty-group"),
        pytest.param(lines(other(truth="good")), "Line 1 has 'good' in 'truth'", id="truth"),
        pytest.param(lines(other(truth=True)), "Line 1 has True in 'truth'", id="truth-boolean"),
        pytest.param(lines(other(truth=1e10)), "a number of at most 1e+09", id="truth-large"),
        pytest.param(
            lines(json.dumps(GOOD)[:-1] + ', "truth": NaN}'), "Line 1 has nan in 'truth'", id="nan"
        ),
        pytest.param(
            lines(other(truth=0.5), other(judge="b", truth=0.6)),
            "Line 2 has another truth for the same work",
            id="two-truths",
        ),
        pytest.param(b'{"item": "\xff"}', "Line 1 is not UTF-8", id="latin"),
        pytest.param(
            lines(*(other(judge=str(n)) for n in range(MAX_JUDGES + 1))),
            "The file names 101 judges",
            id="judges",
        ),
    ],
)
def test_an_error_names_its_line(content: bytes, said: str) -> None:
    with pytest.raises(GradesError) as refused:
        read_grades("g.jsonl", content)

    assert str(refused.value).startswith("g.jsonl: ")
    assert said in str(refused.value)
    assert str(refused.value).endswith(".")


def test_a_lone_surrogate_in_a_name_is_replaced() -> None:
    read = read_grades("g.jsonl", lines('{"item": "\\ud800"' + json.dumps(GOOD)[12:]))

    read.grades[0].item.encode()


@pytest.mark.nightly
def test_a_hundred_thousand_lines_are_quick() -> None:
    members = range(5)
    rows = [
        other(item=str(item), judge=f"m{judge}", author=f"m{author}", score=1 + item % 5)
        for item in range(4_000)
        for judge in members
        for author in members
    ]
    content = lines(*rows)

    began = time.process_time()
    read = read_grades("g.jsonl", content)

    assert len(read.grades) == 100_000
    assert time.process_time() - began < 10  # about one second on two slow cores

"""`council suite`: suites are added, shown and removed on the command line."""

import pytest

from tests.bot.homes import Home

CSV = "question,category,answer\nWhat is 6 x 7?,maths,42\nWhy?,,\n"


@pytest.fixture
def filed(home: Home) -> Home:
    """Return a home with a file of questions."""
    (home.folder / "sql.csv").write_text(CSV, encoding="utf-8")
    return home


def add(home: Home, *more: str, name: str = "sql") -> None:
    result = home.invoke("suite", "add", name, str(home.folder / "sql.csv"), "--yes", *more)
    assert (result.code, result.err) == (0, "")


def test_a_suite_is_added_listed_shown_and_removed(filed: Home) -> None:
    add(filed)

    listed = filed.invoke("suite", "list", "--json").json
    shown = filed.invoke("suite", "show", "SQL", "--json").json
    texts = (filed.invoke("suite", "list").out, filed.invoke("suite", "show", "sql").out)
    removed = filed.invoke("suite", "remove", "sql")

    assert [(one["name"], one["questions"], one["graded"]) for one in listed] == [("sql", 2, 1)]
    assert shown["version"] == listed[0]["version"]
    assert shown["questions"][0] == {
        "question": "What is 6 x 7?",
        "category": "maths",
        "answer": "42",
        "grading": "number",
    }
    assert (shown["panel"], shown["cost_usd"], shown["cost_unknown"]) == ("house", 0, [])
    assert "sql" in texts[0]
    assert "2 questions, 1 with a reference answer." in " ".join(texts[1].split())
    assert (removed.code, "Suite sql is removed" in removed.out) == (0, True)
    assert filed.invoke("suite", "list", "--json").json == []


def test_adding_a_suite_shows_its_cost_and_asks(filed: Home) -> None:
    path = str(filed.folder / "sql.csv")

    no = filed.invoke("suite", "add", "sql", path, stdin="n\n")
    nobody = filed.invoke("suite", "add", "sql", path)
    yes = filed.invoke("suite", "add", "sql", path, stdin="y\n")

    for result in (no, nobody):
        assert (result.code, "Nothing was saved" in result.err) == (2, True)
    assert "Suite sql: 2 questions" in yes.out
    assert "One run on panel house costs nothing." in yes.out
    assert (yes.code, "Suite sql is saved" in yes.out) == (0, True)


def test_json_says_whether_a_suite_is_new(filed: Home) -> None:
    path = str(filed.folder / "sql.csv")

    first = filed.invoke("suite", "add", "sql", path, "--json").json
    second = filed.invoke("suite", "add", "sql", path, "--json").json

    assert (first["new"], second["new"]) == (True, False)
    assert first["version"] == second["version"]


def test_a_question_of_a_round_is_added_to_a_suite(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round

    by_id = home.invoke("suite", "add", "queues", round_id, "--json").json
    again = home.invoke("suite", "add", "queues", "last", "--yes")

    assert [one["question"] for one in by_id["questions"]] == ["Which queue should we use?"]
    assert (again.code, "already has this question" in again.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "sql"), "There is no suite 'sql'"),
        (("remove", "sql"), "There is no suite 'sql'"),
        (("add", "sql", "gone.csv"), "Can't read gone.csv: No such file"),
        (("add", "a b", "gone.csv"), "A suite can't be called"),
    ],
)
def test_bad_usage_is_one_line_and_exits_with_2(
    home: Home, arguments: tuple[str, ...], message: str
) -> None:
    result = home.invoke("suite", *arguments)

    assert (result.code, result.out, len(result.lines)) == (2, "", 1)
    assert message in result.err


def test_a_broken_file_names_its_line(home: Home) -> None:
    (home.folder / "sql.csv").write_text("question\nWhy?\nWhy?\n", encoding="utf-8")

    result = home.invoke("suite", "add", "sql", str(home.folder / "sql.csv"), "--yes")

    assert result.code == 2
    assert result.err.strip() == "sql.csv: Line 3 asks the same as line 2. Remove one of them."


def test_what_a_file_leaves_out_is_listed(home: Home) -> None:
    path = home.folder / "p.yaml"
    path.write_text("prompts: [Why?]\nextensions: [a]\ntests: [{vars: {}, speaker: b}]\n")

    shown = home.invoke("suite", "add", "p", str(path), "--yes")
    document = home.invoke("suite", "add", "p", str(path), "--json").json

    assert shown.code == 0
    assert "Not imported:" in shown.err
    assert [(one["where"], one["name"]) for one in document["left_out"]] == [
        ("Line 2", "extensions"),
        ("Line 3", "speaker"),
    ]


def test_columns_of_other_names_can_be_chosen(home: Home) -> None:
    path = home.folder / "own.csv"
    path.write_text("title,body,solved\nSums,6 x 7?,42\n", encoding="utf-8")
    columns = ("--question", "body", "--answer", "solved", "--category", "title")

    added = home.invoke("suite", "add", "sums", str(path), *columns, "--json").json

    assert added["questions"] == [
        {"question": "6 x 7?", "category": "Sums", "answer": "42", "grading": "number"}
    ]
    assert added["left_out"] == []


def test_files_beside_a_configuration_of_promptfoo_are_read(home: Home) -> None:
    (home.folder / "p.yaml").write_text("prompts: file://q.txt\nproviders: [x]\n")
    (home.folder / "q.txt").write_text("Six?")

    added = home.invoke("suite", "add", "six", str(home.folder / "p.yaml"), "--json").json

    assert [one["question"] for one in added["questions"]] == ["Six?"]
    assert added["left_out"] == []

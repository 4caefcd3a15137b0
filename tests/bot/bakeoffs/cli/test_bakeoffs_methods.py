"""`council bakeoff run --method A --method B`: one bake-off, each question under each method."""

from pathlib import Path

import pytest

from tests.bot.homes import Home, scripted_config


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sums.csv").write_text(
        "question,answer,grading\nWhat is 2 + 2?,4,contains\nWhat is 3 + 3?,6,contains\n"
    )
    return Home(tmp_path).with_config(scripted_config(5)).with_tables()


def test_methods_are_shown_side_by_side(home: Home) -> None:
    methods = ("blind-ranking", "critique", "peer-review", "pairwise-elimination")
    options = [word for method in methods for word in ("--method", method)]

    ran = home.invoke("bakeoff", "run", "sums.csv", "--json", *options).json
    shown = home.invoke("bakeoff", "show", ran["id"])
    table = home.folder / "matrix.csv"
    home.invoke("bakeoff", "show", ran["id"], "--csv", str(table))

    lines = ran["methods"]
    assert [(line["method"], line["over"], line["graded"]) for line in lines] == [
        (method, 2, 2) for method in methods
    ]
    assert [line["winner_right"] for line in lines] == [0, 0, None, 0]
    assert [line["council_right"] for line in lines] == [0] * 4
    assert all(line["cost_usd"] == 0 and line["seconds"] for line in lines)
    assert lines[0]["tau_b"] is not None
    assert {cell["method"] for cell in ran["cells"]} == {*methods}
    assert "Methods side by side" in shown.out
    assert "not ranked" in shown.out
    assert "fewer than 10 rounds" not in shown.out
    assert "What is 2 + 2? · critique" in shown.out
    assert "pairwise-elimination" in table.read_text()
    assert home.invoke("verify", "--all").code == 0


def test_a_run_under_one_method_is_an_ordinary_one(home: Home) -> None:
    ran = home.invoke("bakeoff", "run", "sums.csv", "--json", "--method", "both-orders").json

    assert ran["methods"] == []
    assert [row["number"] for row in ran["rounds"]] == [1, 2]
    (round_id,) = home.sql("SELECT id FROM round LIMIT 1")[0]
    assert home.invoke("show", round_id, "--json").json["method"] == "both-orders"


def test_a_method_that_does_not_fit_is_refused_before_anything_is_asked(home: Home) -> None:
    refused = home.invoke(
        "bakeoff",
        "run",
        "sums.csv",
        "--method",
        "critique",
        "--method",
        "panel-of-judges",
    )
    unknown = home.invoke("bakeoff", "run", "sums.csv", "--method", "guess")

    assert refused.code
    assert "outside judge" in refused.err
    assert "There is no method 'guess'" in unknown.err
    assert home.sql("SELECT count(*) FROM round") == [(0,)]


def test_a_suite_keeps_its_version_and_does_not_count_as_changed(home: Home) -> None:
    home.invoke("suites", "import", "sums.csv")
    ran = home.invoke(
        "bakeoff",
        "run",
        "sums.csv",
        "--json",
        "--method",
        "critique",
        "--method",
        "blind-ranking",
    ).json

    assert "has changed" not in home.invoke("bakeoff", "show", ran["id"]).out

"""`council bias run`: started, resumed and refused, with members that answer at random."""

import json
from pathlib import Path

import pytest

from bot.research.experiments import NO_EXPERIMENTS
from tests.bot.homes import Home, panel_toml, scripted_config, seat_toml


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Return a home that is the working folder, with a suite of three questions."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sql.txt").write_text("Is Postgres enough?\nWhich queue?\nWhich index?\n")
    return Home(tmp_path).with_config(scripted_config(3)).with_tables()


def test_an_experiment_prints_its_cost_and_its_report(home: Home) -> None:
    result = home.invoke("bias", "run", "sql.txt", "--yes")

    text = " ".join(result.err.split())
    assert result.code == 0, result.err
    assert "3 questions, each answered by North, South and East. Each of them then" in text
    assert "That takes 63 calls. It costs nothing." in text
    assert "63 of 63 calls" in text
    assert "9 answers, 54 grades; $0 spent." in text
    assert "Self-preference by grades" in result.out
    assert "54 grades, by 3 judges on 3 items." in result.out


def test_json_is_one_document_with_the_report_and_the_experiment(home: Home) -> None:
    document = home.invoke("bias", "run", "sql.txt", "--yes", "--json").json

    assert len(document["rows"]) == 6
    assert document["experiment"]["id"].startswith("bx:")
    assert document["experiment"]["suite"] == "sql"
    assert (document["experiment"]["answers"], document["experiment"]["grades"]) == (9, 54)
    assert document["experiment"]["stopped"] is None


def test_a_complete_experiment_is_not_resumed(home: Home) -> None:
    first = home.invoke("bias", "run", "sql.txt", "--yes", "--json").json
    second = home.invoke("bias", "run", "sql.txt", "--yes", "--json").json

    assert first["experiment"]["id"] != second["experiment"]["id"]


@pytest.mark.parametrize(("options", "experiments"), [((), 1), (("--new",), 2)])
def test_an_incomplete_experiment_is_resumed_unless_a_new_one_is_wanted(
    home: Home, options: tuple[str, ...], experiments: int
) -> None:
    home.invoke("bias", "run", "sql.txt", "--yes")
    home.sql("DELETE FROM experiment_mark WHERE number = 2")

    result = home.invoke("bias", "run", "sql.txt", "--yes", *options)

    assert result.code == 0, result.err
    assert ("45 of 63 calls are done" in " ".join(result.err.split())) is not bool(options)
    assert home.sql("SELECT count(*) FROM experiment") == [(experiments,)]
    assert home.sql("SELECT count(*) FROM experiment_mark")[0][0] % 54 == 36 * (experiments - 1)


def test_other_members_start_a_new_experiment(home: Home) -> None:
    home.invoke("bias", "run", "sql.txt", "--yes")
    home.sql("DELETE FROM experiment_mark")

    home.with_config(scripted_config(4)).invoke("bias", "run", "sql.txt", "--yes")

    assert home.sql("SELECT count(*) FROM experiment") == [(2,)]


def test_the_grades_are_written_to_a_file(home: Home) -> None:
    result = home.invoke("bias", "run", "sql.txt", "--yes", "--output", "g.jsonl")

    rows = [json.loads(line) for line in Path("g.jsonl").read_text().splitlines()]
    assert "Written to g.jsonl." in result.err
    assert len(rows) == 54
    assert home.invoke("bias", "g.jsonl", "--json").json["grades"] == 54


def test_suite_and_panel_of_council_toml_are_found_by_name(tmp_path: Path) -> None:
    suite = '[suites.small]\nquestions = ["Why?", "How?"]\n'
    home = Home(tmp_path).with_config(scripted_config(3) + suite).with_tables()

    result = home.invoke("bias", "run", "small", "--panel", "house", "--yes", "--json")

    assert result.json["experiment"]["questions"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(("nope",), "There is no suite 'nope'", id="unknown-suite"),
        pytest.param(("sql.txt", "--panel", "x"), "There is no panel 'x'", id="unknown-panel"),
        pytest.param(
            ("sql.txt", "--usd", "lots"), "'lots' is not an amount of money", id="bad-cap"
        ),
    ],
)
def test_bad_usage_exits_with_2_and_says_why(
    home: Home, arguments: tuple[str, ...], message: str
) -> None:
    result = home.invoke("bias", "run", *arguments, "--yes")

    assert result.code == 2
    assert message in result.err
    assert result.out == ""


def test_a_file_that_cannot_be_written_is_reported_before_any_call(home: Home) -> None:
    result = home.invoke("bias", "run", "sql.txt", "--yes", "--output", "none/g.jsonl")

    assert result.code == 1
    assert "Can't write " in result.err
    assert home.sql("SELECT count(*) FROM experiment") == [(0,)]


def test_an_experiment_without_answers_exits_with_1(tmp_path: Path) -> None:
    (tmp_path / "mute.json").write_text('{"answers": []}')
    (tmp_path / "sql.txt").write_text("Why?\n")
    seats = "".join(seat_toml(key, model="scripted/mute.json") for key in ("one", "two"))
    home = Home(tmp_path).with_config(panel_toml(("one", "two")) + seats).with_tables()

    result = home.invoke("bias", "run", "sql.txt", "--yes")

    assert result.code == 1
    assert "no answers left in its script" in " ".join(result.err.split())


def test_a_stored_experiment_is_shown_and_listed(home: Home) -> None:
    result = home.invoke("bias", "run", "sql.txt", "--yes", "--json")

    shown = home.invoke("bias", "show", "--json", "--output", "g.jsonl")
    listed = home.invoke("bias", "list")

    assert shown.json == result.json
    assert len(Path("g.jsonl").read_text().splitlines()) == 54
    assert listed.out.startswith("sql by house · ")
    assert f"{result.json['experiment']['id']}\n  63 of 63 calls" in listed.out


def test_an_unknown_experiment_is_reported(home: Home) -> None:
    assert home.invoke("bias", "list").out == f"{NO_EXPERIMENTS}\n"
    before = home.invoke("bias", "show")
    home.invoke("bias", "run", "sql.txt", "--yes")
    after = home.invoke("bias", "show", "nope")

    assert (before.code, after.code) == (1, 1)
    assert "No experiments yet" in before.err
    assert "No experiment starts with 'nope'" in after.err
    assert home.invoke("bias", "show", "bx:").code == 0

"""`council bias run`: begun, gone on with, refused, with members that answer at random."""

import json
from pathlib import Path

import pytest

from tests.bot.homes import Home, panel_toml, scripted_config, seat_toml


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Return a home that is the working folder, with a suite of three questions."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sql.txt").write_text("Is Postgres enough?\nWhich queue?\nWhich index?\n")
    return Home(tmp_path).with_config(scripted_config(3))


def test_it_says_what_it_comes_to_and_prints_the_report(home: Home) -> None:
    ran = home.invoke("bias", "run", "sql.txt", "--yes")

    said = " ".join(ran.err.split())
    assert ran.code == 0, ran.err
    assert "3 questions, each answered by North, South and East; each of them then" in said
    assert "That takes 63 calls. It costs nothing." in said
    assert "63 of 63 calls" in said
    assert "9 answers, 54 grades; $0.00 spent." in said
    assert "Self-preference by grades" in ran.out
    assert "54 grades, by 3 judges on 3 items." in ran.out


def test_json_is_one_document_with_the_report_and_what_it_comes_from(home: Home) -> None:
    document = home.invoke("bias", "run", "sql.txt", "--yes", "--json").json

    assert len(document["rows"]) == 6
    assert document["experiment"]["id"].startswith("bx:")
    assert document["experiment"]["suite"] == "sql"
    assert (document["experiment"]["answers"], document["experiment"]["grades"]) == (9, 54)
    assert document["experiment"]["stopped"] is None


def test_one_that_is_whole_is_followed_by_another(home: Home) -> None:
    first = home.invoke("bias", "run", "sql.txt", "--yes", "--json").json
    second = home.invoke("bias", "run", "sql.txt", "--yes", "--json").json

    assert first["experiment"]["id"] != second["experiment"]["id"]


@pytest.mark.parametrize(("options", "experiments"), [((), 1), (("--new",), 2)])
def test_one_that_is_not_whole_is_gone_on_with_unless_a_new_one_is_wanted(
    home: Home, options: tuple[str, ...], experiments: int
) -> None:
    home.invoke("bias", "run", "sql.txt", "--yes")
    home.sql("DELETE FROM experiment_mark WHERE number = 2")

    ran = home.invoke("bias", "run", "sql.txt", "--yes", *options)

    assert ran.code == 0, ran.err
    assert ("45 of 63 calls are there already" in " ".join(ran.err.split())) is not bool(options)
    assert home.sql("SELECT count(*) FROM experiment") == [(experiments,)]
    assert home.sql("SELECT count(*) FROM experiment_mark")[0][0] % 54 == 36 * (experiments - 1)


def test_other_members_begin_another(home: Home) -> None:
    home.invoke("bias", "run", "sql.txt", "--yes")
    home.sql("DELETE FROM experiment_mark")

    home.with_config(scripted_config(4)).invoke("bias", "run", "sql.txt", "--yes")

    assert home.sql("SELECT count(*) FROM experiment") == [(2,)]


def test_the_grades_go_to_a_file(home: Home) -> None:
    ran = home.invoke("bias", "run", "sql.txt", "--yes", "--output", "g.jsonl")

    rows = [json.loads(line) for line in Path("g.jsonl").read_text().splitlines()]
    assert "Written to g.jsonl." in ran.err
    assert len(rows) == 54
    assert home.invoke("bias", "g.jsonl", "--json").json["grades"] == 54


def test_a_suite_of_council_toml_goes_by_its_name_and_a_panel_by_its_own(tmp_path: Path) -> None:
    suite = '[suites.small]\nquestions = ["Why?", "How?"]\n'
    home = Home(tmp_path).with_config(scripted_config(3) + suite)

    ran = home.invoke("bias", "run", "small", "--panel", "house", "--yes", "--json")

    assert ran.json["experiment"]["questions"] == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("nope",), "There is no suite 'nope'", id="unknown-suite"),
        pytest.param(("sql.txt", "--panel", "x"), "There is no panel 'x'", id="unknown-panel"),
        pytest.param(("sql.txt", "--usd", "lots"), "'lots' is no cap", id="bad-cap"),
    ],
)
def test_bad_usage_is_told_in_a_sentence_and_ends_with_2(
    home: Home, arguments: tuple[str, ...], said: str
) -> None:
    ran = home.invoke("bias", "run", *arguments, "--yes")

    assert ran.code == 2
    assert said in ran.err
    assert ran.out == ""


def test_a_file_that_cannot_be_written_is_told_before_anything_is_asked(home: Home) -> None:
    ran = home.invoke("bias", "run", "sql.txt", "--yes", "--output", "none/g.jsonl")

    assert ran.code == 1
    assert "none/g.jsonl cannot be written" in ran.err
    assert not home.database.exists()


def test_members_that_never_answer_make_a_failed_run(tmp_path: Path) -> None:
    (tmp_path / "mute.json").write_text('{"answers": []}')
    (tmp_path / "sql.txt").write_text("Why?\n")
    seats = "".join(seat_toml(key, model="scripted/mute.json") for key in ("one", "two"))
    home = Home(tmp_path).with_config(panel_toml(("one", "two")) + seats)

    ran = home.invoke("bias", "run", "sql.txt", "--yes")

    assert ran.code == 1
    assert "no answers left in its script" in " ".join(ran.err.split())


def test_what_came_of_it_is_shown_again_and_written(home: Home) -> None:
    ran = home.invoke("bias", "run", "sql.txt", "--yes", "--json")

    shown = home.invoke("bias", "show", "--json", "--output", "g.jsonl")
    listed = home.invoke("bias", "list")

    assert shown.json == ran.json
    assert len(Path("g.jsonl").read_text().splitlines()) == 54
    assert listed.out.startswith(f"{ran.json['experiment']['id']}  ")
    assert "sql by house  63 of 63 calls" in listed.out


def test_one_that_is_not_there_is_told(home: Home) -> None:
    before = home.invoke("bias", "show")
    home.invoke("bias", "run", "sql.txt", "--yes")
    after = home.invoke("bias", "show", "nope")

    assert (before.code, after.code) == (1, 1)
    assert "No experiment has been held yet" in before.err
    assert "No experiment begins with 'nope'" in after.err
    assert home.invoke("bias", "show", "bx:").code == 0

"""`council bakeoff try`: one sentence, JSON, and what is refused before anything is spent."""

from pathlib import Path

import pytest

from tests.bot.homes import Home, panel_toml, seat_toml

SEATS = ("north", "south", "east")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Return a home with three models and a fourth one that no panel has."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"What is {n} + {n}?,{2 * n},contains\n" for n in range(1, 9))
    (tmp_path / "sums.csv").write_text(f"question,answer,grading\n{rows}")
    (tmp_path / "few.txt").write_text("Why?\nHow?\n")
    (tmp_path / "open.txt").write_text("".join(f"Which queue {n}?\n" for n in range(6)))
    seats = "".join(seat_toml(key, model="scripted/random") for key in (*SEATS, "new"))
    return Home(tmp_path).with_config(panel_toml(SEATS) + seats).with_tables()


def test_it_ends_in_one_sentence_and_uses_answers_again(home: Home) -> None:
    first = home.invoke("bakeoff", "try", "new", "sums.csv", "--yes", "--json")
    home.invoke("bakeoff", "run", "sums.csv", "--yes")
    again = home.invoke("bakeoff", "try", "new", "sums.csv", "--yes", "--incumbent", "north")

    result = first.json
    assert (first.code, result["verdict"]) == (0, "undecided")
    assert (result["candidate"], result["incumbent"]) == ("new", "north")
    assert (result["of"], result["reused"]) == (8, 0)
    assert {*result["right"]} == {"candidate", "incumbent", "of"}
    assert result["cost_usd"] == {"candidate": 0, "incumbent": 0, "spent": 0}
    assert "8 questions can show a difference of about 35 points." in first.err
    assert "North is asked 8 questions, too" in first.err
    assert (again.code, "8 answers of North used again" in again.err) == (0, True)
    assert "Undecided: no difference shown" in " ".join(again.out.split())
    assert home.invoke("verify", "--all").code == 0
    shown = home.invoke("bakeoff", "show", "last", "--json").json
    asked = shown["trial"]["asked"]
    assert (shown["trial"]["reused"], len(shown["cells"])) == (asked, 2 * asked)
    listed = home.invoke("bakeoff", "list").out
    assert shown["trial"]["sentence"].rstrip(".") in " ".join(listed.split())
    assert shown["headline"] == shown["trial"]["sentence"]
    assert shown["news"] == []


def test_boards_name_a_candidate_that_no_panel_has(home: Home) -> None:
    home.invoke("bakeoff", "run", "sums.csv", "--yes")
    home.invoke("bakeoff", "try", "new", "sums.csv", "--yes")
    home.invoke("bakeoff", "run", "sums.csv", "--yes")

    for arguments in (("--suite", "sums"), ()):
        rows = home.invoke("leaderboard", *arguments, "--json").json["rows"]
        assert {row["member"]: row["name"] for row in rows}["new"] == "New"
    listed = home.invoke("bakeoff", "list", "--json").json
    trial = next(one["id"] for one in listed if "Undecided" in one["headline"])
    shown = home.invoke("bakeoff", "show", "last", "--against", trial).out
    assert "New answered only in the earlier run." in " ".join(shown.split())


def test_without_grades_the_others_rank(home: Home) -> None:
    home.invoke("bakeoff", "run", "open.txt", "--yes")

    ran = home.invoke("bakeoff", "try", "new", "open.txt", "--yes", "--json")

    assert ran.json["ranked_by"] == "points"
    assert ran.json["reused"] == 3 * ran.json["asked"]
    assert "South and East rank the answers without names, in both orders." in ran.err
    assert home.invoke("verify", "--all").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(("north", "sums.csv"), "is already in panel house", id="in-the-panel"),
        pytest.param(("nobody", "sums.csv"), "There is no model 'nobody'", id="unknown"),
        pytest.param(
            ("openai/gpt-5.1", "sums.csv"),
            "there is no key for it. Set OPENAI_API_KEY",
            id="no-key",
        ),
        pytest.param(
            ("new", "sums.csv", "--incumbent", "west"), "has no model 'west'", id="incumbent"
        ),
        pytest.param(("new", "nope"), "There is no suite 'nope'", id="no-suite"),
        pytest.param(("new", "sums.csv", "--cap", "x"), "is not an amount of money", id="cap"),
    ],
)
def test_what_cannot_be_tried_is_refused_before_anything_is_asked(
    home: Home, arguments: tuple[str, ...], message: str
) -> None:
    result = home.invoke("bakeoff", "try", *arguments)

    assert result.code in {1, 2}
    assert message in " ".join(result.err.split())
    assert home.invoke("bakeoff", "list", "--json").json == []


def test_a_forgotten_answer_is_gone_from_the_trial_that_used_it_again(home: Home) -> None:
    first = home.invoke("bakeoff", "run", "open.txt", "--yes", "--json").json
    ran = home.invoke("bakeoff", "try", "new", "open.txt", "--yes", "--json").json
    taken = ran["reused_from"][0]["round_id"]
    number = taken.rpartition(".")[2]
    (before,) = [home.invoke("show", f"{ran['id']}.{number}", "--json").json]

    forgotten = home.invoke("forget", taken, "--yes")

    after = home.invoke("show", f"{ran['id']}.{number}", "--json").json
    assert (forgotten.code, taken.startswith(first["id"])) == (0, True)
    texts = {one["member"]: one["text"] for one in after["answers"]}
    kept = {one["member"]: one["text"] for one in before["answers"]}
    assert {member for member, text in texts.items() if text} == {"new"}
    assert texts["new"] == kept["new"]
    assert home.invoke("verify", "--all").code == 0

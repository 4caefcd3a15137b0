"""`council ask` on a scripted panel, and the commands that look at what it left behind."""

import json
import re

from bot.render.round_report.thread import DISCLAIMER
from tests.bot.homes import Home, scripted_config
from tests.bot.pdfs import a_pdf

DRAWN = ("answers", "ballots", "standings", "verdict")


def without_time(document: dict[str, object]) -> str:
    """Return everything that a seed decides, as one text."""
    kept = {name: document[name] for name in DRAWN}
    # Ballots are added up as they came in, so the last digit of a mean may differ.
    rounded = json.loads(json.dumps(kept), parse_float=lambda digits: round(float(digits), 9))
    for answer in rounded["answers"]:
        del answer["seconds"]
    return json.dumps(rounded)


def test_a_round_in_the_terminal_shows_answer_standings_and_ballots(home: Home) -> None:
    result = home.invoke("ask", "Which queue should we use?")

    assert (result.code, result.err) == (0, "")
    order = [
        r"Which queue should we use\?",
        re.escape(DISCLAIMER),
        "Results",
        "Rankings",
    ]
    text = " ".join(result.out.split())
    found = [match.start() for words in order if (match := re.search(words, text))]
    assert len(found) == len(order)
    assert found == sorted(found)


def test_json_is_the_only_output(home: Home) -> None:
    result = home.council("ask", "Why?", "--json")

    document = result.json
    assert result.code == 0
    assert (document["question"], document["stage"]) == ("Why?", "closed")
    assert document["failure"] is None
    assert len(document["answers"]) == len(document["ballots"]) == 5


def test_the_same_seed_draws_the_same_labels_slates_and_standings(
    shared_stored_round: tuple[Home, str], home: Home
) -> None:
    first, round_id = shared_stored_round
    again = home.invoke("ask", "Which queue should we use?", "--seed", "s", "--json")

    before = first.invoke("show", round_id, "--json").json

    assert without_time(again.json) == without_time(before)


def test_slates_match_a_round_with_the_same_seed(
    shared_stored_round: tuple[Home, str],
) -> None:
    home, round_id = shared_stored_round
    drawn = home.invoke("slates", "--candidates", "5", "--seed", "s", "--json").json

    round_ = home.invoke("show", round_id, "--json").json

    seats = [answer["member"] for answer in round_["answers"]]
    shown = {ballot["judge"]: ballot["shown"] for ballot in round_["ballots"]}
    assert drawn["labels"] == [answer["label"] for answer in round_["answers"]]
    assert {seats[slate["judge"]]: slate["shown"] for slate in drawn["slates"]} == shown


def test_stored_rounds_are_listed_newest_first(stored_round: tuple[Home, str]) -> None:
    home, first = stored_round
    second = home.invoke("ask", "And how?", "--json").json["id"]

    listed = home.invoke("rounds", "--json").json

    assert [line["id"] for line in listed] == [second, first]
    assert set(listed[0]) == {"id", "question", "asked_at", "stage"}
    assert {line["stage"] for line in listed} == {"closed"}


def test_an_unchanged_round_verifies(shared_stored_round: tuple[Home, str]) -> None:
    home, round_id = shared_stored_round

    one, every = home.invoke("verify", round_id), home.invoke("verify", "--all")

    assert (one.code, every.code) == (0, 0)
    assert round_id in one.out
    assert one.out.endswith("; unchanged since it closed, link 1 of the main hash chain\n")
    assert every.out.startswith(one.out)


def test_a_panel_and_a_method_can_be_chosen(home: Home) -> None:
    text = scripted_config(3) + '[panels.pair]\nmembers = ["north", "south"]\n'
    home = home.with_config(text)

    result = home.invoke("ask", "Why?", "--panel", "pair", "--method", "blind-ranking", "--json")

    assert result.code == 0
    assert (result.json["panel"], result.json["method"]) == ("pair", "blind-ranking")
    assert result.json["ballots"] == []


def test_resuming_a_closed_round_changes_nothing(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round
    before = home.invoke("show", round_id, "--json").json

    again = home.invoke("ask", "--resume", round_id, "--json")

    assert again.code == 0
    assert again.json == before


def test_the_schema_is_upgraded(home: Home) -> None:
    first, second = home.invoke("db", "upgrade"), home.invoke("db", "upgrade")

    assert (first.code, second.code) == (0, 0)
    assert home.sql("SELECT version_num FROM alembic_version")[0][0] in first.out
    assert home.invoke("rounds", "--json").json == []


def test_all_members_failing_is_a_failed_round_with_a_reason(home: Home) -> None:
    home = home.with_config('[panels.house]\nmembers = ["scripted/a.json", "scripted/b.json"]\n')

    human, machine = home.invoke("ask", "Why?"), home.invoke("ask", "Why?", "--json")

    assert (human.code, machine.code) == (1, 1)
    assert "Only 0 of 2 models answered, and 2 are needed" in " ".join(human.out.split())
    assert machine.json["failure"].startswith("Only 0 of 2 models answered")
    assert machine.json["stage"] == "closed"
    verified = home.invoke("verify", "--all")
    assert (verified.code, "standings and verdict too" in verified.out) == (0, False)


def test_files_come_with_a_question_and_are_exported(home: Home) -> None:
    (home.folder / "sales.csv").write_text("month,sales\n1,7\n")
    (home.folder / "report.pdf").write_bytes(a_pdf("Revenue fell."))

    asked = home.invoke(
        "ask", "What fell?", "--file", "sales.csv", "--file", "report.pdf", "--json"
    )
    exported = home.invoke("export")

    assert asked.json["files"] == [
        {"name": "sales.csv", "media_type": "text/plain"},
        {"name": "report.pdf", "media_type": "application/pdf"},
    ]
    assert "Revenue fell." in exported.out


def test_a_file_that_is_not_there_is_one_sentence(home: Home) -> None:
    result = home.invoke("ask", "Why?", "--file", "nowhere.txt")

    assert result.code != 0
    assert "nowhere.txt can't be opened: No such file or directory." in result.err

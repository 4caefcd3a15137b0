"""`council ask` on a scripted panel, and the commands that look at what it left behind."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO
from typing import Any, cast

import pytest
from rich.cells import cell_len

from bot.bootstrap import open_app
from bot.cli import rounds
from bot.cli.output import MISUSED
from bot.cli.rounds import PARTS
from bot.context import AppContext
from bot.render.round_report.thread import DISCLAIMER
from tests.bot.homes import Home, Result, scripted_config
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


REST = ("Results", "Rankings")
MOST_LINES = 6  # under an answer


def lines_under_answer(result: Result, round_: dict[str, Any]) -> list[str]:
    """Return the lines after the last words of the council's answer, without blank ones."""
    last_word = round_["synthesis"]["text"].split()[-1]
    after = result.out[result.out.rindex(last_word) + len(last_word) :]
    return [line for line in after.splitlines() if line.strip()]


def test_a_round_in_the_terminal_is_the_answer_and_a_few_lines(home: Home) -> None:
    result = home.invoke("ask", "Which queue should we use?")

    under = lines_under_answer(result, home.invoke("show", "last", "--json").json)
    assert (result.code, result.err) == (0, "")
    assert 1 <= len(under) <= MOST_LINES
    assert DISCLAIMER in under
    assert "Which queue" not in result.out
    assert not any(title in result.out for title in REST)


def test_who_is_missing_stands_before_the_answer(home: Home) -> None:
    home = home.with_config(
        f'{scripted_config(3)}[panels.gap]\nmembers = ["north", "south", "x"]\n'
        '[models.x]\nmodel = "scripted/gone.json"\ndisplay = "Gone"\n'
    )

    result = home.invoke("ask", "Why?", "--panel", "gap")

    answer = home.invoke("show", "last", "--json").json["synthesis"]["text"]
    assert result.out.index("Gone (") < result.out.index(answer.split()[0])


def test_the_rest_of_a_round_is_printed_on_request(shared_stored_round: tuple[Home, str]) -> None:
    home, round_id = shared_stored_round

    whole = home.invoke("show", round_id, "--full").out
    parts = {part: home.invoke("show", round_id, part).out for part in PARTS}
    brief = home.invoke("show", round_id).out

    assert [title in whole for title in REST] == [True, True]
    assert "Results" in parts["details"]
    assert "Rankings" in parts["rankings"]
    answers = home.invoke("show", round_id, "--json").json["answers"]
    for one in answers:
        assert " ".join(one["text"].split()) in " ".join(parts["answers"].split())
    assert "Which queue should we use?" in brief
    assert not any(title in brief for title in REST)
    assert home.invoke("show", round_id, "nonsense").code == MISUSED


def test_a_whole_round_can_be_printed_as_soon_as_it_is_in(home: Home) -> None:
    result = home.invoke("ask", "Why?", "--full")

    assert [title in result.out for title in REST] == [True, True]


def test_what_goes_to_a_file_is_plain_text_without_trailing_spaces(home: Home) -> None:
    result = home.invoke("ask", "Why?")

    assert "\x1b" not in result.out
    assert [line for line in result.out.splitlines() if line != line.rstrip()] == []


def test_the_answer_is_out_before_the_program_waits_for_late_replies(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = []

    @asynccontextmanager
    async def opened(*arguments: Any) -> AsyncIterator[AppContext]:  # noqa: ANN401
        async with open_app(*arguments) as app:
            yield app
            sys.stdout.flush()
            printed.append(cast("BytesIO", sys.stdout.buffer).getvalue())

    monkeypatch.setattr(rounds, "open_app", opened)

    document = home.invoke("ask", "Why?", "--json")
    text = home.invoke("ask", "Why?")

    assert [document.out.encode(), text.out.encode()] == printed


# --- The list of rounds

QUESTIONS = ("Which queue should we use?", "数据库 " * 30, "An unbroken " + "x" * 300)


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Return a site with a few rounds."""
    home = Home(tmp_path_factory.mktemp("listed")).with_config(scripted_config(3)).with_tables()
    for question in QUESTIONS:
        assert home.invoke("ask", question).code == 0
    return home


@pytest.mark.parametrize("columns", [40, 60, 80, 200])
def test_no_line_of_the_list_is_wider_than_the_terminal(listed: Home, columns: int) -> None:
    result = listed.with_settings(COLUMNS=str(columns)).invoke("rounds")

    ids = [line["id"] for line in listed.invoke("rounds", "--json").json]
    assert all(round_id in result.out for round_id in ids)
    assert max(map(cell_len, result.out.splitlines())) <= columns


def test_a_row_of_80_columns_says_who_won_how_clearly_and_for_how_much(listed: Home) -> None:
    head, *rows = listed.with_settings(COLUMNS="80").invoke("rounds").out.splitlines()
    stored = listed.invoke("rounds", "--json").json

    assert head.split() == ["Question", "Winner", "Lead", "Cost", "Asked", "Round"]
    assert len(rows) == len(stored)
    for row, one in zip(rows, stored, strict=True):
        document = listed.invoke("show", one["id"], "--json").json
        strength = document["verdict"]["strength"]
        is_tied = sum(line["place"] == 1 for line in document["standings"]) > 1
        words = {"close": "slight", "no consensus": "no clear"}
        if document["verdict"]["p"] > 0.05:
            words["unanimous"] = "too few judges"
        assert ("Tied" if is_tied else words.get(strength, strength)) in row
        assert " $0 " in row


def test_the_list_has_winners_and_filters(listed: Home) -> None:
    first = {}  # several where they tie
    for one in listed.invoke("rounds", "--json").json:
        standings = listed.invoke("show", one["id"], "--json").json["standings"]
        first[one["id"]] = [line["member"] for line in standings if line["place"] == 1]
    queue = listed.invoke("rounds", "QUEUE", "--json").json
    key = first[queue[0]["id"]][0]

    names = listed.invoke("rounds").out
    by_winner = [one["id"] for one in listed.invoke("rounds", "--winner", key, "--json").json]

    assert [one["question"] for one in queue] == [QUESTIONS[0]]
    assert all(won[0].capitalize() in names for won in first.values() if len(won) == 1)
    assert set(by_winner) == {id_ for id_, won in first.items() if key in won}
    assert listed.invoke("rounds", "--winner", key.upper(), "--json").json
    assert len(listed.invoke("rounds", "--limit", "1", "--json").json) == 1
    assert listed.invoke("rounds", "--by", "nobody", "--json").json == []
    assert "matches" in listed.invoke("rounds", "--panel", "nope").out
    assert len(listed.invoke("rounds", "--by", "terminal", "--since", "1d").out.splitlines()) == 4


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
    assert "No model answered (2 are needed)" in " ".join(human.out.split())
    assert machine.json["failure"].startswith("No model answered (2 are needed)")
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

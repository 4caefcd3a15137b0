"""`council leaderboard`: the table, the JSON contract, the files, and what is refused."""

import pytest

from tests.bot.homes import LETTERS, Home, scripted_config

SCREEN = 24  # lines


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Return a home with three closed rounds."""
    home = Home(tmp_path_factory.mktemp("asked")).with_config(scripted_config()).with_tables()
    for question in ("Why?", "How?", "When?"):
        assert home.invoke("ask", question, "--seed", question, "--json").code == 0
    return home


def test_no_rounds_are_no_failure(home: Home) -> None:
    plain, as_json = home.invoke("leaderboard"), home.invoke("leaderboard", "--json")

    assert (plain.code, as_json.code) == (0, 0)
    assert "No rounds yet" in " ".join(plain.out.split())
    assert as_json.json["rows"] == []


def test_the_json_has_a_row_for_each_member_best_first(asked: Home) -> None:
    result = asked.invoke("leaderboard", "--json")

    rows = result.json["rows"]
    assert result.code == 0
    assert {row["member"] for row in rows} == {*LETTERS}
    assert [row["place"] for row in rows] == sorted(row["place"] for row in rows)
    for row in rows:
        low, high = row["ci"]
        assert 0 <= low <= row["share"] <= high <= 1
        assert row["rounds"] == 3
    assert sum(row["share"] for row in rows) == pytest.approx(5 / 2)


def test_the_table_says_what_it_counts(asked: Home) -> None:
    result = asked.invoke("leaderboard")

    text = " ".join(result.out.split())
    assert result.code == 0
    assert "with fewer than 10 rounds, that can be chance." in text
    assert "3 rounds, panel house" in text


@pytest.mark.parametrize(
    "command", [("leaderboard",), ("leaderboard", "--as", "judge"), ("bias", "--rounds")]
)
def test_a_board_fits_a_screen_and_the_rest_is_printed_on_request(
    asked: Home, command: tuple[str, ...]
) -> None:
    result, full = asked.invoke(*command), asked.invoke(*command, "--full")

    assert result.out.count("\n") <= SCREEN
    assert "--full" in result.out
    assert "--full" not in full.out
    assert full.out.count("\n") > result.out.count("\n")


@pytest.mark.parametrize("name", ["uniform", "family"])
def test_weights_add_rows_and_change_none(asked: Home, name: str) -> None:
    plain = asked.invoke("leaderboard", "--json").json
    weighed = asked.invoke("leaderboard", "--weights", name, "--json").json

    assert (plain["weighted"], weighed["weighted"]["weights"]) == (None, name)
    assert weighed["rows"] == plain["rows"]
    assert {row["member"] for row in weighed["weighted"]["rows"]} == {*LETTERS}
    assert weighed["weighted"]["rounds"] == 3
    assert sum(line["weight"] for line in weighed["weighted"]["judges"]) == pytest.approx(1)


def test_the_csv_and_the_picture_are_written(asked: Home) -> None:
    table, picture = asked.folder / "board.csv", asked.folder / "board.png"

    result = asked.invoke("leaderboard", "--csv", str(table), "--png", str(picture), "--json")

    assert result.json["rows"]
    assert len(table.read_text().splitlines()) == 6
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--as", "reader", "as:author or as:judge"),
        ("--since", "soon", "I can't read"),
        (
            "--weights",
            "loudness",
            "Judges can be weighted by uniform, consistency, human, family, peerrank",
        ),
    ],
)
def test_an_invalid_filter_is_bad_usage(asked: Home, option: str, value: str, message: str) -> None:
    result = asked.invoke("leaderboard", option, value)

    assert result.code == 2
    assert message in result.err


def test_a_file_that_cannot_be_written_exits_with_1(asked: Home) -> None:
    result = asked.invoke("leaderboard", "--csv", str(asked.folder / "no" / "such" / "board.csv"))

    assert result.code == 1
    assert "Can't write " in result.err


def test_an_unreadable_round_is_reported_and_not_counted(
    stored_round: tuple[Home, str],
) -> None:
    home, bad = stored_round
    good = home.invoke("ask", "And how?", "--json").json["id"]
    home.sql("UPDATE verdict SET strength = 'crushing' WHERE round_id = ?", bad)
    home.sql("DELETE FROM record WHERE round_id = ?", bad)  # as if it had not been counted yet

    result = home.invoke("leaderboard", "--json")

    assert result.code == 0
    assert {row["rounds"] for row in result.json["rows"]} == {1}
    assert [line.partition(":")[0] for line in result.lines] == [
        f"Round {bad!r} is not counted on any leaderboard"
    ]
    assert home.sql("SELECT round_id FROM record") == [(good,)]

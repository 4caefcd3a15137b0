"""A round that cannot be read is in no leaderboard, and is told of beside it."""

from tests.bot.homes import Home


def test_a_board_is_whole_without_a_round_that_cannot_be_read(held: tuple[Home, str]) -> None:
    home, bad = held
    good = home.invoke("ask", "And how?", "--json").json["id"]
    home.sql("UPDATE verdict SET strength = 'crushing' WHERE round_id = ?", bad)

    ran = home.invoke("leaderboard", "--json")

    assert ran.code == 0
    assert {row["rounds"] for row in ran.json["rows"]} == {1}
    assert [line.partition(":")[0] for line in ran.lines] == [f"Round {bad!r} is in no board"]
    assert home.sql("SELECT round_id FROM record") == [(good,)]

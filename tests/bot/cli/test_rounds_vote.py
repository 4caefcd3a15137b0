"""`council vote`: people's votes in the terminal."""

import json

from tests.bot.homes import LETTERS, Home

VOTES = "SELECT label, blind, ranking FROM human_vote ORDER BY at"


def test_a_vote_after_the_result_is_stored_as_such(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round
    standings = home.invoke("show", round_id, "--json").json["standings"]
    first, second, *_ = [line["label"] for line in standings]

    told = home.invoke("vote", "last", first, second)
    asked = home.invoke("vote", round_id)

    assert "Noted: you chose " in told.out
    assert (asked.code, "has its result" in asked.err) == (1, True)
    assert home.sql(VOTES) == [(first, 0, json.dumps([[first], [second]]))]
    assert "voted after the result" not in home.invoke("show", round_id).out  # one is not public


def delete_result(home: Home) -> None:
    """Leave the rounds of a site as they are before their results."""
    for change in (
        "DELETE FROM verdict",
        "DELETE FROM standing",
        "DELETE FROM synthesis",
        "UPDATE round SET seconds = NULL",
    ):
        home.sql(change)


def test_until_the_result_show_names_no_author(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round
    labels = [line["label"] for line in home.invoke("show", round_id, "--json").json["standings"]]
    delete_result(home)

    shown = home.invoke("show", round_id).out
    document = home.invoke("show", round_id, "--json").out

    assert all(f"Response {label}\n" in shown for label in labels)
    assert not [name for name in LETTERS if name in f"{shown} {document}".lower()]
    assert json.loads(document)["seed"] is None  # the labels can be drawn from it

"""`council key`: API keys from the terminal."""

import json

import pytest

from tests.bot.homes import Home


def test_a_key_is_printed_once_and_listed_without_its_text(home: Home) -> None:
    added = home.invoke("key", "add", "ci", "--panel", "house", "--cap", "2.5")
    home.invoke("key", "add", "open")
    listed = home.invoke("key", "list")
    first, second = home.invoke("key", "list", "--json").json

    text = added.out.strip()
    assert (added.code, text.startswith("council_ci.")) == (0, True)
    assert "only once" in added.err
    assert text not in listed.out
    assert "active\n  $2.50 a day · house\n" in listed.out
    assert "active\n  no limit · all panels\n" in listed.out
    assert (first["name"], first["panels"], first["cap_usd"]) == ("ci", ["house"], 2.5)
    assert (second["name"], second["panels"], second["cap_usd"]) == ("open", [], None)
    assert text.encode() not in home.stored_bytes()


def test_no_keys_yet_says_how_to_make_one(home: Home) -> None:
    assert "council key add NAME" in home.invoke("key", "list").out
    assert home.invoke("key", "list", "--json").json == []


def test_a_key_is_revoked(home: Home) -> None:
    home.invoke("key", "add", "ci")

    revoked = home.invoke("key", "revoke", "ci")

    assert (revoked.code, revoked.out) == (0, "The key ci no longer works.\n")
    assert "revoked 20" in home.invoke("key", "list").out
    assert home.invoke("key", "list", "--json").json[0]["revoked_at"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("add", "C I"), "can't be the name of a key"),
        (("add", "ci", "--panel", "none"), "There is no panel 'none'. Known panels: house."),
        (("add", "ci", "--cap", "-1"), "US dollars a day"),
        (("add", "ci", "--cap", "nan"), "US dollars a day"),
        (("revoke", "none"), "There is no key named 'none'"),
    ],
)
def test_bad_usage_is_one_sentence(home: Home, words: tuple[str, ...], why: str) -> None:
    result = home.invoke("key", *words)

    assert (result.code, result.out) == (2, "")
    assert why in result.err
    assert home.invoke("key", "list", "--json").json == []


def test_a_key_of_an_earlier_version_is_named_because_its_maker_is_unknown(home: Home) -> None:
    home.invoke("key", "add", "new")
    [(text,)] = home.sql("SELECT text FROM memo WHERE name = 'new'")
    stored = json.loads(text)
    del stored["made_by"]
    home.sql("UPDATE memo SET text = ? WHERE name = 'new'", json.dumps(stored))
    home.invoke("key", "add", "newer")

    listed, checked = home.invoke("key", "list"), home.invoke("doctor")

    limits = [line for line in listed.out.splitlines() if line.startswith(" ")]
    assert ["maker unknown" in line for line in limits] == [True, False]
    assert "API key new: an earlier version did not store who made it" in checked.out
    assert "API key newer" not in checked.out

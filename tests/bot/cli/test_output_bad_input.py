"""Bad input ends with one line on stderr and the right exit code."""

import pytest

from tests.bot.homes import Home, Result


def is_one_line(result: Result, code: int) -> bool:
    return (result.code, result.out, len(result.lines)) == (code, "", 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ask",), "Give a question"),
        (("ask", ""), "Give a question"),
        (("ask", " \u200b\t "), "The question is empty"),
        (("ask", "a" * 100_000), "100,000 characters; the limit is"),
        (("ask", "Why?", "--resume", "x"), "Give a question"),
        (("ask", "Why?", "--panel", "nope"), "There is no panel 'nope'. Known panels: house."),
        (("ask", "Why?", "--method", "nope"), "There is no method 'nope'"),
        (("export", "x", "--since", "2001-01-01"), "Name one round, or give --since DATE."),
        (("export", "--since", "yesterday"), "as a time. Write 30d"),
        (("forget",), "Name one round, or give --older-than DAYS."),
        (("forget", "x", "--older-than", "3"), "Name one round, or give --older-than DAYS."),
        (("import", "missing.jsonl"), "Can't read missing.jsonl"),
        (("verify", "--text", "x"), "Name one round or an export, or use --all."),
        (("verify", "x", "--since-head", "x"), "Name one round or an export, or use --all."),
        (("verify", "x", "--all"), "Name one round or an export, or use --all."),
        (("verify",), "Name one round or an export, or use --all."),
        (("slates", "--candidates", "11", "--seed", "s"), "Between 2 and 10"),
    ],
)
def test_bad_usage_is_one_line_and_exits_with_2(
    home: Home, arguments: tuple[str, ...], message: str
) -> None:
    result = home.invoke(*arguments)

    assert is_one_line(result, 2)
    assert message in result.err


@pytest.mark.parametrize(
    "arguments",
    [("show", "zzzz"), ("verify", "zzzz"), ("ask", "--resume", "zzzz"), ("forget", "zzzz")],
)
def test_an_unknown_round_is_one_line_and_exits_with_1(
    home: Home, arguments: tuple[str, ...]
) -> None:
    result = home.invoke(*arguments)

    assert is_one_line(result, 1)
    assert "There is no round 'zzzz'" in result.err
    assert "/council" not in result.err


def test_an_ambiguous_id_asks_for_more_of_it(
    stored_round: tuple[Home, str],
) -> None:
    home, round_id = stored_round
    home.sql(
        "INSERT INTO round (id, question, asked_by, context, asked_at, panel_name, panel, seed, "
        "versions, seconds, failure) SELECT id || 'x', question, asked_by, context, asked_at, "
        "panel_name, panel, seed, versions, seconds, failure FROM round"
    )

    result = home.invoke("show", round_id[:5])

    assert is_one_line(result, 1)
    assert "Give more of the id" in result.err


def test_bytes_that_are_no_text_do_not_crash_the_program(home: Home) -> None:
    result = home.council("ask", b"Why \xff?", "--json", fresh=True)

    assert "Traceback" not in result.err
    assert result.code in {0, 2}


@pytest.mark.parametrize("seed", ["ключ 🔑 \x1b", ""])
def test_any_text_is_a_seed(home: Home, seed: str) -> None:
    result = home.invoke("ask", "Why?", "--seed", seed, "--json")

    assert (result.code, result.json["seed"]) == (0, seed)


def test_a_missing_configuration_file_is_one_line(home: Home) -> None:
    result = home.with_settings(COUNCIL_CONFIG="nowhere.toml").invoke("ask", "Why?")

    assert is_one_line(result, 2)
    assert "nowhere.toml" in result.err


def test_no_panel_is_one_line_and_exits_with_2(home: Home) -> None:
    result = home.with_config("").invoke("ask", "Why?")

    assert is_one_line(result, 2)
    assert "council.toml" in result.err


def test_an_invalid_setting_is_named(home: Home) -> None:
    result = home.with_settings(COUNCIL_PORT="many").invoke("rounds")

    assert is_one_line(result, 2)
    assert result.err.startswith("COUNCIL_PORT: ")

"""Bad input ends with one line on stderr and the right exit code."""

import pytest

from tests.bot.homes import Home, Result


def is_one_line(result: Result, code: int) -> bool:
    return (result.code, result.out, len(result.lines)) == (
        code,
        "",
        1,
    ) and "Traceback" not in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(("ask",), "Give a question", id="no-question"),
        pytest.param(("ask", ""), "Give a question", id="empty"),
        pytest.param(("ask", " \u200b\t "), "The question is empty", id="invisible"),
        pytest.param(("ask", "a" * 100_000), "100,000 characters and at most 20,000", id="long"),
        pytest.param(("ask", "Why?", "--resume", "x"), "Give a question", id="both"),
        pytest.param(
            ("ask", "Why?", "--panel", "nope"),
            "There is no panel 'nope'; known panels: house.",
            id="panel",
        ),
        pytest.param(("ask", "Why?", "--method", "nope"), "There is no method 'nope'", id="method"),
        pytest.param(("verify",), "Name one round, or give --all.", id="verify-nothing"),
        pytest.param(("verify", "x", "--all"), "Name one round, or give --all.", id="verify-both"),
        pytest.param(
            ("slates", "--candidates", "11", "--seed", "s"), "Between 2 and 10", id="too-many"
        ),
    ],
)
def test_bad_usage_is_one_line_and_exits_with_2(
    home: Home, arguments: tuple[str, ...], message: str
) -> None:
    result = home.invoke(*arguments)

    assert is_one_line(result, 2)
    assert message in result.err


@pytest.mark.parametrize(
    "arguments", [("show", "zzzz"), ("verify", "zzzz"), ("ask", "--resume", "zzzz")]
)
def test_an_unknown_round_is_one_line_and_exits_with_1(
    home: Home, arguments: tuple[str, ...]
) -> None:
    result = home.invoke(*arguments)

    assert is_one_line(result, 1)
    assert "There is no round 'zzzz'" in result.err


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
    assert "give more of the id" in result.err


def test_control_and_bidirectional_characters_are_removed_from_a_question(home: Home) -> None:
    result = home.invoke("ask", "Wh\x07y \u202enot\u202c?\r\n\x1b[1m", "--json")

    assert result.code == 0
    assert result.json["question"] == "Why not?\n[1m"


def test_bytes_that_are_no_text_do_not_crash_the_program(home: Home) -> None:
    result = home.council("ask", b"Why \xff?", "--json")

    assert "Traceback" not in result.err
    assert result.code in {0, 2}


def test_any_text_is_a_seed(home: Home) -> None:
    result = home.invoke("ask", "Why?", "--seed", "ключ 🔑 \x1b", "--json")

    assert (result.code, result.json["seed"]) == (0, "ключ 🔑 \x1b")


def test_the_empty_text_is_a_seed(home: Home) -> None:
    result = home.invoke("ask", "Why?", "--seed", "", "--json")

    assert result.json["seed"] == ""


def test_each_configuration_error_is_a_line(home: Home) -> None:
    home = home.with_config(
        '[panels.house]\nmembers = ["openai/a", "openai/b"]\nmethod = "guessing"\n'
        '[panels.night]\nmembers = ["openai/a", "openai/b"]\nquorum = 9\n[pannels.day]\n'
    )

    result = home.invoke("ask", "Why?")

    assert (result.code, result.out, len(result.lines)) == (2, "", 3)
    assert all(line.startswith("council.toml: ") for line in result.lines)


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


def test_an_unknown_command_is_bad_usage(home: Home) -> None:
    result = home.invoke("nonsense")

    assert (result.code, result.out) == (2, "")
    assert "nonsense" in result.err


def test_a_refused_question_stores_no_round(home: Home) -> None:
    home.invoke("ask", "Why?", "--method", "nope")

    assert home.invoke("rounds", "--json").json == []

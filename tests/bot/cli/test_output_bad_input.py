"""Bad input is one clear sentence and the right exit code; nothing is lost by it."""

import pytest

from tests.bot.homes import Home, Result


def is_one_sentence(ran: Result, code: int) -> bool:
    return (ran.code, ran.out, len(ran.lines)) == (code, "", 1) and "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
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
def test_bad_usage_is_a_sentence_and_ends_with_2(
    home: Home, arguments: tuple[str, ...], said: str
) -> None:
    ran = home.invoke(*arguments)

    assert is_one_sentence(ran, 2)
    assert said in ran.err


@pytest.mark.parametrize(
    "arguments", [("show", "zzzz"), ("verify", "zzzz"), ("ask", "--resume", "zzzz")]
)
def test_an_unknown_round_is_a_sentence_and_ends_with_1(
    home: Home, arguments: tuple[str, ...]
) -> None:
    ran = home.invoke(*arguments)

    assert is_one_sentence(ran, 1)
    assert "There is no round 'zzzz'" in ran.err


def test_an_id_that_begins_several_rounds_asks_for_more_of_it(held: tuple[Home, str]) -> None:
    home, round_id = held
    home.sql(
        "INSERT INTO round (id, question, asked_by, context, asked_at, panel_name, panel, seed, "
        "versions, seconds, failure) SELECT id || 'x', question, asked_by, context, asked_at, "
        "panel_name, panel, seed, versions, seconds, failure FROM round"
    )

    ran = home.invoke("show", round_id[:5])

    assert is_one_sentence(ran, 1)
    assert "give more of the id" in ran.err


def test_control_and_bidirectional_characters_leave_the_question(home: Home) -> None:
    ran = home.invoke("ask", "Wh\x07y \u202enot\u202c?\r\n\x1b[1m", "--json")

    assert ran.code == 0
    assert ran.json["question"] == "Why not?\n[1m"


def test_bytes_that_are_no_text_are_a_question_or_a_sentence(home: Home) -> None:
    ran = home.council("ask", b"Why \xff?", "--json")

    assert "Traceback" not in ran.err
    assert ran.code in {0, 2}


def test_any_text_is_a_seed(home: Home) -> None:
    ran = home.invoke("ask", "Why?", "--seed", "ключ 🔑 \x1b", "--json")

    assert (ran.code, ran.json["seed"]) == (0, "ключ 🔑 \x1b")


def test_the_empty_text_is_a_seed_like_any_other(home: Home) -> None:
    ran = home.invoke("ask", "Why?", "--seed", "", "--json")

    assert ran.json["seed"] == ""


def test_three_faults_in_the_configuration_are_three_lines(home: Home) -> None:
    home = home.with_config(
        '[panels.house]\nmembers = ["openai/a", "openai/b"]\nmethod = "guessing"\n'
        '[panels.night]\nmembers = ["openai/a", "openai/b"]\nquorum = 9\n[pannels.day]\n'
    )

    ran = home.invoke("ask", "Why?")

    assert (ran.code, ran.out, len(ran.lines)) == (2, "", 3)
    assert all(line.startswith("council.toml: ") for line in ran.lines)


def test_a_configuration_that_was_named_and_is_not_there_is_a_sentence(home: Home) -> None:
    ran = home.with_settings(COUNCIL_CONFIG="nowhere.toml").invoke("ask", "Why?")

    assert is_one_sentence(ran, 2)
    assert "nowhere.toml" in ran.err


def test_without_any_panel_a_sentence_says_what_to_do(home: Home) -> None:
    ran = home.with_config("").invoke("ask", "Why?")

    assert is_one_sentence(ran, 2)
    assert "council.toml" in ran.err


def test_a_setting_that_cannot_be_is_a_line_with_its_name(home: Home) -> None:
    ran = home.with_settings(COUNCIL_PORT="many").invoke("rounds")

    assert is_one_sentence(ran, 2)
    assert ran.err.startswith("COUNCIL_PORT: ")


def test_an_unknown_command_is_bad_usage(home: Home) -> None:
    ran = home.invoke("nonsense")

    assert (ran.code, ran.out) == (2, "")
    assert "nonsense" in ran.err


def test_a_refused_question_leaves_no_round_behind(home: Home) -> None:
    home.invoke("ask", "Why?", "--method", "nope")

    assert home.invoke("rounds", "--json").json == []

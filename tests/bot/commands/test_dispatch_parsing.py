"""Command parser: whatever is not a whole command is a question."""

import pytest

from bot.commands.dispatch import COMMANDS


def read(text: str) -> tuple[str, str]:
    order = COMMANDS.read(text)
    return order.command.name, order.argument


@pytest.mark.parametrize(
    ("text", "command", "argument"),
    [
        ("", "help", ""),
        ("   ", "help", ""),
        ("/council", "help", ""),
        ("/council help", "help", ""),
        ("/COUNCIL Help", "help", ""),
        ("help show", "help", "show"),
        ("/council rounds", "rounds", ""),
        ("rounds 5", "rounds", "5"),
        ("ROUNDS", "rounds", ""),
        ("/council show last", "show", "last"),
        ("show LAST", "show", "LAST"),
        ("show 12ab", "show", "12ab"),
        ("/council cancel last", "cancel", "last"),
        ("cancel slack:T1:1.2", "cancel", "slack:T1:1.2"),
        ("show slack:T1:123.456@0", "show", "slack:T1:123.456@0"),
        ("budget", "budget", ""),
        ("forget 12ab", "forget", "12ab"),
        ("/council forget slack:T1:123.456@0", "forget", "slack:T1:123.456@0"),
        ("panel", "panel", ""),
        ("panel house", "panel", "house"),
        ("  /council   rounds  ", "rounds", ""),
        ("leaderboard", "leaderboard", ""),
        ("leaderboard sql@3f2a as:judge", "leaderboard", "sql@3f2a as:judge"),
        ("leaderboard sql weights:family", "leaderboard", "sql weights:family"),
        ('leaderboard q category:"a b" since:2w', "leaderboard", 'q category:"a b" since:2w'),
        ("bias", "bias", ""),
        ('bias house suite:sql category:"a b"', "bias", 'house suite:sql category:"a b"'),
    ],
)
def test_a_command_is_its_name_alone_or_with_its_own_grammar(
    text: str, command: str, argument: str
) -> None:
    assert read(text) == (command, argument)


@pytest.mark.parametrize(
    "question",
    [
        "help me pick a queue",
        "history of Rome",
        "show tables in Postgres",
        "show me the rounds of a boxing match",
        "cancel my subscription?",
        "rounds of golf per year?",
        "rounds 12345",
        "panel data or time series?",
        "show",
        "forget",
        "forget last",
        "forget about tabs?",
        "last",
        "helping hands",
        "budget for a trip to Rome?",
        "Wie heißt die Hauptstadt? 🏛",
        "помощь",
        "cafe show",
        "rounds\nof golf",
        "/councilor, what is a quorum?",
        "suite case in law?",
        "suite show me the money",
        "suite add to this",
        "bakeoff the right word for this?",
        "bakeoff or contest, which?",
        "Bakeoff: is it fair?",
        "schedule a meeting for me?",
        "schedule pause for a marathon runner",
        "scheduled tasks in Postgres?",
        "vote for whom?",
        "vote beef1",
        "vote on this: K or L?",
        "vote K beef1",
        "leaderboard design for a game",
        "Leaderboards: are they fair?",
        "leaderboard since when?",
        "bias in hiring: what is known?",
        "bias sql@3f2a",
        "biases of judges",
    ],
)
def test_anything_else_is_a_question(question: str) -> None:
    assert read(question) == ("ask", question)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("ask help", "help"),
        ("/council ask show 12ab", "show 12ab"),
        ("ASK rounds", "rounds"),
        ("ask Why?\nAnd how?", "Why?\nAnd how?"),
        ("ask ask", "ask"),
        ("ask", ""),
    ],
)
def test_ask_always_makes_a_question(text: str, question: str) -> None:
    assert read(text) == ("ask", question)


@pytest.mark.parametrize("text", ["ask\nWhy is the sky blue?", "help\n", "/council\nrounds"])
def test_a_line_break_parts_a_command_from_what_follows_as_a_space_does(text: str) -> None:
    _, argument = read(text)

    assert argument in {"Why is the sky blue?", ""}

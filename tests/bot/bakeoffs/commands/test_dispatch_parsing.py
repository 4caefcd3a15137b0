"""Commands of bake-offs: a command, a typo, or a question."""

import pytest

from bot.commands.registry import Typo
from tests.bot.app_fakes import COMMANDS, an_app, replies_to
from tests.bot.commands.test_dispatch_parsing import parse


@pytest.mark.parametrize(
    ("text", "command", "arguments"),
    [
        (
            "leaderboard sql@3f2a as:judge weights:family",
            "leaderboard",
            {"suite": "sql@3f2a", "as": "judge", "weights": "family"},
        ),
        (
            'bias house category:"a b" since:2w',
            "bias",
            {"panel": "house", "category": "a b", "since": "2w"},
        ),
        ("suite", "suite list", {}),
        ("suite add sql last", "suite add", {"name": "sql", "round": "last"}),
        (
            "suite add sql\nWhy?\nHow so?",
            "suite add",
            {"name": "sql", "questions": "Why?\nHow so?"},
        ),
        ("bakeoff", "bakeoff list", {}),
        ("bakeoff sql", "bakeoff run", {"suite": "sql"}),
        ("bakeoff cap:$2 sql now", "bakeoff run", {"cap": "$2", "suite": "sql", "now": "now"}),
        ("bakeoff show", "bakeoff show", {}),
        ("bakeoff resume bo:1 cap:$3", "bakeoff resume", {"bakeoff": "bo:1", "cap": "$3"}),
        ("schedule", "schedule list", {}),
        (
            "schedule add weekly suite:sql every monday 09:00 #general",
            "schedule add",
            {"name": "weekly", "suite": "sql", "when": "every monday 09:00 #general"},
        ),
    ],
)
def test_a_command_is_its_name_with_values_that_fit(
    text: str, command: str, arguments: dict[str, str]
) -> None:
    assert parse(text) == (command, arguments)


@pytest.mark.parametrize(
    "question",
    [
        "bakeoff the right word for this?",
        "schedule a meeting for me?",
        "leaderboard design for a game",
        "Leaderboards: are they fair?",
        "bias in hiring: what is known?",
    ],
)
def test_anything_else_is_a_question(question: str) -> None:
    assert parse(question) == ("ask", {"question": question})


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("leaderbord", ["leaderboard"]),
        ("schedule lsit", None),
        ("schedule remove", ["remove"]),
        ("suites", None),
        ("add to suite", ["add"]),
        ("leaderboard sql law and more as:judge", ["leaderboard"]),
        ("bakeoff sql law panel:house cap:$2", ["run", "try", "resume"]),
    ],
)
def test_a_short_line_that_begins_like_a_command_is_a_typo(
    line: str, meant: list[str] | None
) -> None:
    parsed = COMMANDS.parse(line)

    assert isinstance(parsed, Typo)
    group = line.split()[0].rstrip("s")
    expected = meant or [
        one.name for one in COMMANDS.commands if one.group == group and not one.hidden
    ]
    assert [one.name for one in parsed.meant] == expected


@pytest.mark.parametrize("line", ["leaderbord", "schedule lsit"])
async def test_a_typo_costs_nothing_and_says_how_to_ask_it_anyway(line: str) -> None:
    app = an_app()

    reply = await replies_to(app, f"/council {line}")

    assert await app.store.ids() == ()
    assert "/council " in reply
    assert "To ask it anyway, end it with a question mark." in reply

"""The terminal chat, tested by its transcript."""

import asyncio
import re
import signal
import sys
from contextlib import suppress

import pytest

from bot.commands.registry import ASK
from bot.terminal import MORE, NEW_CONVERSATION
from tests.bot.app_fakes import COMMANDS
from tests.bot.homes import TIMEOUT_SECONDS, Home, scripted_config, wait_for_exit

HERE = "Asking North, South, East, West and Middle"


@pytest.fixture(scope="module")
def transcript(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the output of a chat, line by line."""
    home = Home(tmp_path_factory.mktemp("chat")).with_config(
        scripted_config() + '[panels.pair]\nmembers = ["north", "south"]\n'
    )
    inputs = [
        "/council rounds",
        "/council show last",
        "Why is the sky blue?",
        "/council rounds",
        "/council show last",
        "help",
        "/council panel nope",
        "panel:nope Why?",
        "/council show beef",
        "ronds",
        "/council panel pair",
        "panel:house How?",
        "",
    ]
    result = home.council("chat", said="\n".join(inputs))
    assert result.code == 0
    assert "Traceback" not in result.err
    return result.out.splitlines()


def lines_with(transcript: list[str], words: str) -> list[str]:
    return [line for line in transcript if words in line]


def test_the_chat_starts_with_the_panels_and_how_to_leave(transcript: list[str]) -> None:
    text = " ".join(transcript[:6])

    assert "Panel house: North, South, East, West, Middle" in text
    assert "(in use)" in text
    assert "Ctrl-D quits" in text


def test_a_question_is_accepted_followed_and_answered(transcript: list[str]) -> None:
    accepted = transcript.index(lines_with(transcript, HERE)[0])

    after = transcript[accepted:]

    order = ["5 of 5 models answered", "5 of 5 judges voted", MORE]
    found = [after.index(next(line for line in after if words in line)) for words in order]
    assert found == sorted(found)


def test_the_rest_is_printed_on_request(home: Home) -> None:
    home.with_config(scripted_config(3))

    asked = ["Which database should we use?", "answers", "rankings", "details", ""]
    lines = home.council("chat", said="\n".join(asked)).out.splitlines()

    more = lines.index(MORE)
    assert not {"Results", "Rankings"} & {*lines[:more]}
    assert {"North", "South", "East", "Results", "Rankings"} <= {*lines[more:]}
    assert "Which database should we use?" not in lines


def test_a_chat_can_print_all_of_each_round(home: Home) -> None:
    home.with_config(scripted_config(3))

    lines = home.council("chat", "--full", said="Which database should we use?\n").out.splitlines()

    assert {"Results", "Rankings"} <= {*lines}
    assert MORE not in lines


def test_help_lists_the_commands_that_are_registered(transcript: list[str]) -> None:
    text = " ".join(" ".join(transcript).split())
    for command in COMMANDS.commands:
        name = "QUESTION" if command.name == ASK else command.full_name
        listed = re.search(rf"/council {name}\b", text)
        assert bool(listed) is not command.hidden, name


def test_a_typo_costs_nothing_and_names_the_command(transcript: list[str]) -> None:
    [line] = lines_with(transcript, "“ronds” looks like a command")

    after = transcript[transcript.index(line) + 1 :]
    assert after[0].startswith("/council rounds")
    assert "end it with a question mark" in " ".join(after[:5])


def test_unknown_panels_and_rounds_are_reported_in_one_sentence(transcript: list[str]) -> None:
    assert len(lines_with(transcript, "There is no panel 'nope'. Known panels: house, pair.")) == 2
    assert lines_with(transcript, "There is no round 'beef'")


def test_a_chosen_panel_stays_and_another_can_be_named_once(
    transcript: list[str],
) -> None:
    assert lines_with(transcript, "Questions here now go to panel")
    assert len(lines_with(transcript, HERE)) == 2


async def test_ctrl_c_at_the_prompt_exits_at_once_and_cleanly(home: Home) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bot",
        "chat",
        cwd=home.folder,
        env=home.environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while b"quits" not in await process.stdout.readline():
            pass
    process.send_signal(signal.SIGINT)
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await process.wait()  # the input is still open: nothing but Ctrl-C ends it
    finally:
        with suppress(ProcessLookupError):
            process.kill()
    result = await wait_for_exit(process)

    assert result.code in {0, 1, 130}
    assert "Traceback" not in result.err
    assert "Fatal" not in result.err


def test_a_question_continues_the_conversation_until_a_new_one(home: Home) -> None:
    home.with_config(scripted_config(3))

    asked = ["Which database?", "rounds", "And for ten users?", "new", "Which queue?", ""]
    ended = home.council("chat", said="\n".join(asked))

    assert ended.code == 0
    rows = home.sql("SELECT id, question, context, thread FROM round ORDER BY asked_at")
    first, second, third = rows
    assert "Which database?" in second[2]
    assert (second[3], third[2], third[3]) == (first[0], "", None)
    assert NEW_CONVERSATION in ended.out

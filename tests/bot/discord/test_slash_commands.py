"""The slash commands that Discord is given: their options, and Discord's limits."""

from collections.abc import Iterator
from typing import Any

import pytest

from bot.commands.parameters import Kind
from bot.commands.registry import ASK
from bot.coordination.tasks import BackgroundTasks
from bot.discord.listeners import DiscordClient
from bot.discord.servers import ServerTracker
from bot.discord.slash_commands import ADMIN, COMMANDS_CHANGED, COUNCIL
from tests.bot.app_fakes import COMMANDS, an_app
from tests.bot.discord.in_process import InProcessBot
from tests.wire.discord.checks.command import faults_of_command

Payload = dict[str, Any]

SUBCOMMAND, GROUP, STRING, INTEGER, BOOLEAN, CHANNEL, ATTACHMENT = 1, 2, 3, 4, 5, 7, 11
TYPES = {
    Kind.NUMBER: INTEGER,
    Kind.FLAG: BOOLEAN,
    Kind.FILE: ATTACHMENT,
    Kind.CHANNEL: CHANNEL,
}
COMPLETED = {Kind.ROUND, Kind.PANEL, Kind.METHOD, Kind.TOPIC, Kind.LABEL}


@pytest.fixture(scope="module")
def registered() -> dict[str, Payload]:
    app = an_app()
    tree = DiscordClient(app, BackgroundTasks(), ServerTracker(app, print)).tree
    return {one.name: one.to_dict(tree) for one in tree.get_commands()}


def subcommands(holder: Payload, group: str = "") -> Iterator[tuple[str, Payload]]:
    for one in holder["options"]:
        if one["type"] == GROUP:
            yield from subcommands(one, one["name"])
        else:
            yield f"{group} {one['name']}".strip(), one


def test_discord_accepts_every_command(registered: dict[str, Payload]) -> None:
    assert [fault for one in registered.values() for fault in faults_of_command(one)] == []


def test_commands_for_everyone_are_shown_everywhere(registered: dict[str, Payload]) -> None:
    council = registered[COUNCIL]
    names = {name for name, _ in subcommands(council)}
    assert names == {one.full_name for one in COMMANDS.commands if not one.hidden} - {
        one.full_name for one in COMMANDS.commands if one.for_admins
    }
    assert (council["contexts"], council["integration_types"]) == ([0, 1, 2], [0, 1])


def test_each_parameter_is_an_option_of_its_kind(registered: dict[str, Payload]) -> None:
    options = {
        (command, option["name"]): option
        for top in registered.keys() & {COUNCIL, ADMIN}
        for command, payload in subcommands(registered[top])
        for option in payload["options"]
    }

    expected = {
        (command.full_name, one.name): one
        for command in COMMANDS.commands
        for one in command.parameters
        if not command.hidden and not one.text_only
    }
    assert options.keys() == expected.keys()
    for name, one in expected.items():
        option = options[name]
        assert option["type"] == TYPES.get(one.kind, STRING), name
        opens_form = name[0] == ASK or COMMANDS[name[0]].form  # given nothing
        is_required = one.required and not opens_form
        assert bool(option.get("required")) == is_required, name
        assert bool(option.get("autocomplete")) == (
            one.kind in COMPLETED or one.suggest is not None
        ), name
        assert [each["value"] for each in option.get("choices") or []] == list(one.choices), name


def test_the_question_comes_first(registered: dict[str, Payload]) -> None:
    (ask,) = [one for name, one in subcommands(registered[COUNCIL]) if name == "ask"]

    names = [one["name"] for one in ask["options"]]
    assert names[:6] == ["question", "panel", "method", "seed", "private", "attachment"]
    assert names[6:] == [f"attachment{number}" for number in range(2, 11)]


@pytest.mark.asyncio(loop_scope="module")
async def test_a_command_that_discord_shows_from_before_an_update_says_so(
    bot: InProcessBot,
) -> None:
    (council,) = [one for one in bot.discord.state.commands if one["name"] == COUNCIL]
    old = {"type": SUBCOMMAND, "name": "old", "description": "Of an older version"}
    council["options"].append(old)

    await bot.run("old")

    council["options"].remove(old)
    assert COMMANDS_CHANGED in bot.private_texts()

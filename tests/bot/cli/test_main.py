"""The command line finds the commands of plug-ins, and works without them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from bot.chats import ChatPlugin, find_chats
from bot.cli.main import COMMANDS, LazyGroup, app
from bot.plugins import PluginSwitches, find_plugins
from tests.bot.distributions import install
from tests.bot.homes import Home, scripted_config


class First(ChatPlugin):
    title = "First"


class Second(ChatPlugin):
    title = "Second"


FIRST, SECOND = First(), Second()


def test_a_broken_council_toml_does_not_break_the_help(home: Home) -> None:
    result = home.with_config("[plugins").invoke("--help")

    assert result.code == 0
    assert "rounds" in result.out


def every_command(command: Any, name: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:  # noqa: ANN401
    """Yield the names of a command and of all below it."""
    yield name
    if not isinstance(command, TyperGroup):
        return
    load = command.load_command if isinstance(command, LazyGroup) else command.commands.get
    for below in command.list_commands(None):  # type: ignore[arg-type]
        yield from every_command(load(below), (*name, below))


def test_no_help_names_a_type_of_python_or_cuts_a_summary() -> None:
    names = [*every_command(get_command(app))]

    helps = {
        name: CliRunner().invoke(app, [*name, "--help"], terminal_width=80).output.splitlines()
        for name in names
    }
    lines = [
        (name, line) for name, help_ in helps.items() for line in help_ if "Usage:" not in line
    ]
    assert len(names) > len(COMMANDS)
    assert [(name, line) for name, line in lines if line.endswith("...")] == []
    assert [(name, line) for name, line in lines if "<list" in line or len(line) > 80] == []


def test_plug_ins_are_listed_with_their_states(home: Home) -> None:
    first, *others = (plugin.name for plugin in find_plugins().present)
    home = home.with_config(f'[plugins]\nenabled = ["haiku"]\ndisabled = ["{first}"]\n')

    result = home.invoke("plugins", "--json")

    states = {one["name"]: one["state"] for one in result.json}
    assert result.code == 0
    assert {*result.json[0]} == {"name", "from", "state", "why"}
    assert states[first] == "disabled"
    assert {states[name] for name in others} == {"loaded"}
    assert states["haiku"] == "failed"
    assert "haiku: failed. It is not installed" in home.invoke("plugins").out


def test_a_plug_in_that_failed_is_a_fault_of_the_doctor(home: Home) -> None:
    result = home.with_config('[plugins]\nenabled = ["haiku"]\n').invoke("doctor")

    assert result.code == 1
    assert "FAIL The plug-in haiku is left out: It is not installed" in result.out
    assert result.out.count("The plug-in haiku") == 1


def test_a_question_says_once_that_a_plug_in_is_left_out(home: Home) -> None:
    result = home.with_config('[plugins]\nenabled = ["haiku"]\n').invoke("ask", "--local", "Why?")

    assert result.err.count("The plug-in haiku is left out: It is not installed") == 1


def test_a_panel_that_needs_a_plug_in_that_failed_is_refused_with_its_name(home: Home) -> None:
    panel = '[plugins]\nenabled = ["haiku"]\n[panels.main]\nmethod = "haiku"\n'
    home = home.with_config(f'{panel}members = ["scripted/a", "scripted/b"]\n')

    result, checked = home.invoke("ask", "Why?"), home.invoke("doctor")

    assert result.code == 2
    assert result.err.count("The plug-in haiku is left out: It is not installed") == 1
    assert "A plug-in that failed may have it: haiku." in result.err
    assert checked.out.count("The plug-in haiku is left out") == 1


def test_a_panel_without_its_method_is_refused_and_stops_nothing_else(home: Home) -> None:
    broken = '[panels.odd]\nmethod = "guessing"\nmembers = ["scripted/a", "scripted/b"]\n'
    home = home.with_config(scripted_config(3) + broken)
    kept = home.invoke("ask", "Why?", "--json").json["id"]
    commands = "rounds", "budget", "verify --all", f"show {kept}", "export", f"forget {kept} --yes"

    codes = {command: home.invoke(*command.split()).code for command in commands}
    refused, checked = home.invoke("ask", "Why?", "--panel", "odd"), home.invoke("doctor")

    assert codes == dict.fromkeys(commands, 0)
    assert refused.code == 2
    assert refused.err.startswith("There is no method 'guessing'. Known methods: blind-ranking")
    assert "FAIL panel odd: There is no method 'guessing'." in checked.out
    assert checked.code == 1


def test_faults_of_panels_stop_no_duty(stored_round: tuple[Home, str]) -> None:
    home, kept = stored_round
    home = home.with_config("[panels.none]\nmembers = []\n")
    commands = "rounds", "verify --all", f"show {kept}", "export", f"forget {kept} --yes"

    codes = {command: home.invoke(*command.split()).code for command in commands}

    assert codes == dict.fromkeys(commands, 0)
    assert home.with_config("plugins = 3").invoke("rounds").code == 2


def test_of_two_chats_of_one_name_the_second_is_left_out_and_named(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "second"):
        made = f"Plugin(name='{name}', chats={{'post': '{__name__}:{name.upper()}'}})"
        text = f"from council.plugin import Plugin\nPLUGIN = {made}\n"
        install(tmp_path, monkeypatch, name, text)
    home = home.with_config('[plugins]\nenabled = ["first", "second"]\n')
    left_out = "The chat 'post' of the plug-in second is left out"
    sentence = f"{left_out}: that of the plug-in first has this name."

    asked, checked = home.invoke("budget"), home.invoke("doctor")

    assert asked.err.count(sentence) == 1
    assert checked.out.count(f"FAIL {sentence}") == 1
    chats = find_chats(find_plugins(PluginSwitches(enabled=("first", "second"))))
    assert chats["post"].title == "First"


def test_lines_of_an_absent_plug_in_are_left_out_with_its_name(home: Home) -> None:
    path = home.folder / "all.jsonl"
    path.write_text('{"format": 1, "kind": "haiku.poem"}\n' * 2, encoding="utf-8")

    result = home.invoke("import", str(path))

    assert result.code == 0
    assert result.err == "2 lines were left out. Install the plug-in haiku to read them.\n"


def test_a_command_that_is_no_function_is_named_and_the_others_of_its_group_run(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = "cli={'haiku': ('installed_haiku:X', 'Write.'), 'key haiku': ('installed_haiku:X', '')}"
    text = f"from council.plugin import Plugin\nX = 42\nPLUGIN = Plugin(name='haiku', {named})\n"
    install(tmp_path, monkeypatch, "haiku", text)
    home = home.with_config('[plugins]\nenabled = ["haiku"]\n')

    alone, of_group = home.invoke("haiku"), home.invoke("key", "list")

    why = "installed_haiku:X is of type int, but 'cli' needs a function. Ask its author."
    assert (alone.code, alone.err) == (1, f"The plug-in haiku can't be used here: {why}\n")
    assert of_group.code == 0
    assert why in of_group.err


def test_a_plugin_that_exits_on_import_is_named_and_council_goes_on(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "haiku", "import sys\nsys.exit(3)\n")
    home = home.with_config('[plugins]\nenabled = ["haiku"]\n')

    result = home.invoke("plugins")

    assert result.code == 0
    assert "failed. installed_haiku:PLUGIN can't be loaded (SystemExit: 3)." in result.out


def test_what_of_a_plugin_is_left_out_for_its_name_is_listed(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = """
from council.methods import BLIND_RANKING
from council.plugin import Plugin
from bot.commands.registry import Command
async def run(*_): ...
COMMANDS = (Command("show", "Show haiku", run),)
PLUGIN = Plugin(
    name="haiku",
    methods={"blind-ranking": "council.methods:BLIND_RANKING"},
    commands=("installed_haiku:COMMANDS",),
)
"""
    install(tmp_path, monkeypatch, "haiku", code)
    home = home.with_config('[plugins]\nenabled = ["haiku"]\n')

    result = home.invoke("plugins")

    line = next(line for line in result.out.splitlines() if line.startswith("haiku"))
    assert "loaded. The method 'blind-ranking' of the plug-in haiku is left out" in line
    assert "Its command show is left out" in line

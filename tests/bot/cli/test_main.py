"""The command line finds the commands of plug-ins, and works without them."""

import json
from pathlib import Path

import pytest

from bot.chats import ChatPlugin, find_chats
from bot.plugins import PluginSwitches, find_plugins
from tests.bot.distributions import install
from tests.bot.homes import Home

BALLOTS = {
    "candidates": ["x", "y", "z"],
    "ballots": [{"judge": "x", "shown": ["y", "z"], "ranking": [["y"], ["z"]]}],
}
CHAT = ChatPlugin()  # of another package
DISABLED = '[plugins]\ndisabled = ["bakeoffs", "research", "slack"]\n'


def test_the_help_lists_the_core_then_plug_ins(home: Home) -> None:
    shown = [line.split()[0] for line in home.invoke("--help").out.splitlines() if line.strip()]

    assert shown.index("ask") < shown.index("db") < shown.index("bakeoff") < shown.index("lab")
    assert not {"tally", "slates", "simulate", "criteria"} & {*shown}


def test_a_broken_council_toml_does_not_break_the_help(home: Home) -> None:
    result = home.with_config("[plugins").invoke("--help")

    assert result.code == 0
    assert "bakeoff" in result.out


def test_a_disabled_plug_in_has_no_commands_and_is_named(home: Home) -> None:
    home = home.with_config(DISABLED)

    assert "bakeoff" not in home.invoke("--help").out
    refused = home.invoke("bakeoff", "list")

    assert refused.code == 2
    assert "the plug-in bakeoffs, which is not on" in refused.err


def test_tools_of_researchers_keep_their_old_names(home: Home) -> None:
    (home.folder / "ballots.json").write_text(json.dumps(BALLOTS), encoding="utf-8")
    slates = ("slates", "--candidates", "3", "--seed", "s", "--json")
    tally = ("tally", "ballots.json", "--json")

    for command in (slates, tally):
        assert home.invoke("lab", *command).json == home.invoke(*command).json
    disabled = home.with_config(DISABLED)
    assert disabled.invoke(*tally).json["standings"][0]["candidate"] == "y"
    assert disabled.invoke(*slates).code == 0


def test_plug_ins_are_listed_with_their_states(home: Home) -> None:
    home = home.with_config('[plugins]\nenabled = ["haiku"]\ndisabled = ["slack"]\n')

    result = home.invoke("plugins", "--json")

    states = {one["name"]: one["state"] for one in result.json}
    assert result.code == 0
    assert {*result.json[0]} == {"name", "from", "state", "why"}
    assert states["slack"] == "disabled"
    assert states["discord"] == states["bakeoffs"] == states["research"] == "loaded"
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
    assert checked.out.count("The plug-in haiku is left out") == 1


def test_of_two_chats_of_one_name_the_second_is_left_out_and_named(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = f"Plugin(name='second', chats={{'slack': '{__name__}:CHAT'}})"
    install(
        tmp_path, monkeypatch, "second", f"from council.plugin import Plugin\nPLUGIN = {chat}\n"
    )
    home = home.with_config('[plugins]\nenabled = ["second"]\n')
    sentence = (
        "The chat 'slack' of the plug-in second is left out: that of the plug-in slack has this "
        "name."
    )

    asked, checked = home.invoke("budget"), home.invoke("doctor")

    assert asked.err.count(sentence) == 1
    assert checked.out.count(f"FAIL {sentence}") == 1
    chats = find_chats(find_plugins(PluginSwitches(enabled=("second",))))
    assert chats["slack"].title == "Slack"


@pytest.mark.parametrize("switches", ["", DISABLED])
def test_stored_data_is_exported_whether_its_plug_in_is_on_or_not(
    home: Home, other_home: Home, switches: str
) -> None:
    (home.folder / "suite.csv").write_text("question\nWhy?\n", encoding="utf-8")
    assert home.invoke("suite", "add", "sql", "suite.csv", "--yes").code == 0
    home, other_home = home.with_config(switches), other_home.with_config(switches)
    path = home.folder / "all.jsonl"

    exported = home.invoke("export", "--to", str(path))
    imported = other_home.invoke("import", str(path))

    assert exported.out.startswith("0 rounds and 1 version of a suite written")
    assert imported.out.startswith("0 rounds and 1 version of a suite imported")


def test_lines_of_an_absent_plug_in_are_left_out_with_its_name(home: Home) -> None:
    path = home.folder / "all.jsonl"
    path.write_text('{"format": 1, "kind": "haiku.poem"}\n' * 2, encoding="utf-8")

    result = home.invoke("import", str(path))

    assert result.code == 0
    assert result.err == "2 lines were left out. Install the plug-in haiku to read them.\n"

"""The command line finds the commands of the laboratory, and some by their old names."""

import json

from tests.bot.homes import Home

BALLOTS = {
    "candidates": ["x", "y", "z"],
    "ballots": [{"judge": "x", "shown": ["y", "z"], "ranking": [["y"], ["z"]]}],
}


DISABLED = '[plugins]\ndisabled = ["bakeoffs", "research", "slack"]\n'


def test_the_help_lists_the_core_then_plug_ins(home: Home) -> None:
    shown = [line.split()[0] for line in home.invoke("--help").out.splitlines() if line.strip()]

    assert shown.index("ask") < shown.index("db") < shown.index("bakeoff") < shown.index("lab")
    assert not {"tally", "slates", "simulate", "criteria"} & {*shown}


def test_tools_of_researchers_keep_their_old_names(home: Home) -> None:
    (home.folder / "ballots.json").write_text(json.dumps(BALLOTS), encoding="utf-8")
    slates = ("slates", "--candidates", "3", "--seed", "s", "--json")
    tally = ("tally", "ballots.json", "--json")

    for command in (slates, tally):
        assert home.invoke("lab", *command).json == home.invoke(*command).json
    disabled = home.with_config(DISABLED)
    assert disabled.invoke(*tally).json["standings"][0]["candidate"] == "y"
    assert disabled.invoke(*slates).code == 0

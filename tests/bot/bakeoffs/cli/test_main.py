"""The command line with the plug-in of bake-offs on and off."""

import pytest

from tests.bot.homes import Home

DISABLED = '[plugins]\ndisabled = ["bakeoffs", "research", "slack"]\n'


def test_a_disabled_plug_in_has_no_commands_and_is_named(home: Home) -> None:
    home = home.with_config(DISABLED)

    assert "bakeoff" not in home.invoke("--help").out
    refused = home.invoke("bakeoff", "list")

    assert refused.code == 2
    assert "the plug-in bakeoffs, which is not on" in refused.err


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

"""The command line finds the commands of plug-ins, and works without them."""

from bot.plugins import find_plugins
from tests.bot.homes import Home


def test_a_broken_council_toml_does_not_break_the_help(home: Home) -> None:
    result = home.with_config("[plugins").invoke("--help")

    assert result.code == 0
    assert "rounds" in result.out


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
    assert "FAIL plug-in haiku: It is not installed" in result.out


def test_lines_of_an_absent_plug_in_are_left_out_with_its_name(home: Home) -> None:
    path = home.folder / "all.jsonl"
    path.write_text('{"format": 1, "kind": "haiku.poem"}\n' * 2, encoding="utf-8")

    result = home.invoke("import", str(path))

    assert result.code == 0
    assert result.err == "2 lines were left out. Install the plug-in haiku to read them.\n"

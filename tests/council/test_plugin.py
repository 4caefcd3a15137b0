"""Plug-ins as values: their addresses, and the objects at them."""

from pathlib import Path

import pytest

from council.plugin import Plugin, PluginError, addresses, load_object


def test_the_addresses_are_those_of_every_field() -> None:
    plugin = Plugin(
        name="haiku",
        requires=("bakeoffs",),
        methods={"first": "haiku.methods:FIRST"},
        cli={"haiku": ("haiku.cli:app", "Write haiku.")},
        checks=("haiku.checks:check",),
    )

    assert sorted(addresses(plugin)) == [
        ("checks", "haiku.checks:check"),
        ("cli", "haiku.cli:app"),
        ("methods", "haiku.methods:FIRST"),
    ]


def test_an_object_is_found_at_its_address() -> None:
    assert load_object("council.plugin:Plugin") is Plugin


@pytest.mark.parametrize("address", ["council.plugin:Missing", "council.nowhere:Plugin", "council"])
def test_an_address_without_an_object_is_refused_by_name(address: str) -> None:
    with pytest.raises(PluginError, match=f"{address} can't be loaded"):
        load_object(address)


def test_an_object_whose_module_exits_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "exits_on_import.py").write_text("import sys\nsys.exit(3)\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(PluginError, match=r"exits_on_import:X can't be loaded \(SystemExit: 3\)"):
        load_object("exits_on_import:X")


def test_a_plugin_with_a_field_of_a_newer_council_says_that_it_needs_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "from council.plugin import Plugin\nPLUGIN = Plugin(name='haiku', api=9, songs=())\n"
    (tmp_path / "newer_plugin.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(PluginError, match="'songs' in a Plugin.* needs a newer Council"):
        load_object("newer_plugin:PLUGIN")

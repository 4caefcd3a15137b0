"""Plug-ins as values: their addresses, and the objects at them."""

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
        "haiku.checks:check",
        "haiku.cli:app",
        "haiku.methods:FIRST",
    ]


def test_an_object_is_found_at_its_address() -> None:
    assert load_object("council.plugin:Plugin") is Plugin


@pytest.mark.parametrize("address", ["council.plugin:Missing", "council.nowhere:Plugin", "council"])
def test_an_address_without_an_object_is_refused_by_name(address: str) -> None:
    with pytest.raises(PluginError, match=f"{address} can't be loaded"):
        load_object(address)

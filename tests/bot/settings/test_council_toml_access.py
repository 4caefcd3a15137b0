"""`[access]` in council.toml: who may ask where, and what goes for one channel."""

from dataclasses import replace
from pathlib import Path

import pytest

from bot.access import Access, ChannelRules
from bot.settings import PanelConfig, SettingsError, load_panel_config
from council.places import Place

PANELS = """
[panels.house]
members = ["openai/a", "anthropic/b"]
[panels.cheap]
members = ["openai/a", "openai/b"]
"""


def house_panel(folder: Path, text: str) -> PanelConfig:
    path = folder / "council.toml"
    path.write_text(PANELS + text, encoding="utf-8")
    return load_panel_config(path)


def test_every_rule_of_access_is_read(tmp_path: Path) -> None:
    text = """
    [access]
    channels = ["C1", "D1"]
    admins = ["U1"]
    roles = ["R1"]
    shared_channels = true
    guests = true
    direct_messages = false
    rounds_per_hour = 20
    rounds_per_day = 100
    rounds_at_once = 3
    [access.in."C1"]
    panel = "cheap"
    vendors = ["openai"]
    day_usd = 0.5
    [access.in."D1"]
    vendors = ["anthropic", "openai"]
    [access.workspaces."T1"]
    rounds_at_once = 5
    day_usd = 2
    [access.workspaces."T2"]
    admins = []
    channels = ["C9"]
    [access.workspaces."T2".in."C9"]
    panel = "cheap"
    day_usd = 0.25
    """

    found = house_panel(tmp_path, text)

    rules = {
        "C1": ChannelRules("cheap", ("openai",)),
        "D1": ChannelRules(None, ("anthropic", "openai")),
    }
    common = Access(
        channels=("C1", "D1"),
        admins=("U1",),
        roles=("R1",),
        shared_channels=True,
        guests=True,
        direct_messages=False,
        rounds_per_hour=20,
        rounds_per_day=100,
        rules=rules,
        rounds_at_once=3,
    )
    workspaces = {
        "T1": replace(common, rounds_at_once=5),
        "T2": replace(
            common, admins=(), channels=("C9",), rules={**rules, "C9": ChannelRules("cheap")}
        ),
    }
    assert found.access == replace(common, workspaces=workspaces)
    assert found.caps.channels == {"C1": 500_000, "C9": 250_000}
    assert found.caps.workspaces == {"T1": 2_000_000}


@pytest.mark.parametrize("text", ["", "[access]"], ids=["none", "empty"])
def test_without_rules_ordinary_channels_and_direct_messages_are_open(
    tmp_path: Path, text: str
) -> None:
    found = house_panel(tmp_path, text)

    assert (found.access, found.caps.channels) == (Access(), {})


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param("[access]\nguest = true", "access.guest: ", id="typing-error"),
        pytest.param("[access]\nchannels = 'C1'", "access.channels: ", id="no-list"),
        pytest.param("[access]\nrounds_per_hour = 0", "access.rounds_per_hour: ", id="no-round"),
        pytest.param("[access.in.C1]\nday_usd = -1", "access.in.C1.day_usd: ", id="negative"),
        pytest.param("[access]\nrounds_at_once = 0", "access.rounds_at_once: ", id="no-room"),
        ("[access.workspaces.T1]\npanel = 'x'", "access.workspaces.T1.panel: "),
        (
            "[access.workspaces.T1.in.C1]\npanel = 'x'",
            (
                "access.workspaces.T1.in.C1.panel: there is no panel 'x'; add it, or name another "
                "panel."
            ),
        ),
        pytest.param("[access]\nin = 3", "access.in: ", id="no-channels"),
        (
            "[access.in.C1]\npanel = 'x'",
            ("access.in.C1.panel: there is no panel 'x'; add it, or name another panel."),
        ),
        ("[panels.odd]\nmembers = ['openai/a']\n[access.in.C1]\npanel = 'odd'", "panels.odd: "),
        pytest.param(
            "[access.in.C1]\npanel = 'house'\nvendors = ['openai']",
            (
                "access.in.C1.panel: panel 'house' includes models that are not from openai; take "
                "them out, or allow their vendor."
            ),
            id="contradiction",
        ),
    ],
)
def test_a_fault_is_one_line(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(SettingsError) as caught:
        house_panel(tmp_path, text)

    assert len(caught.value.faults) == 1
    assert caught.value.faults[0].startswith(f"council.toml: {fault}")


def test_what_is_written_is_fixed_where_it_holds_even_if_it_is_the_default(tmp_path: Path) -> None:
    text = """
    [access]
    guests = false
    [access.in."C1"]
    vendors = ["openai"]
    [access.workspaces."T1"]
    rounds_per_day = 5
    """

    access = house_panel(tmp_path, text).access

    assert access.fixed_at(Place("slack", "T1", "C1")) == {"guests", "rounds_per_day", "vendors"}
    assert access.fixed_at(Place("slack", "T2", "C2")) == {"guests"}

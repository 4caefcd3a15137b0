"""Which plug-ins run, which do not, and why."""

import math
from functools import partial
from pathlib import Path

import pytest

from bot.plugins import (
    Parts,
    PluginSwitches,
    failures,
    find_plugins,
    list_installed,
    load_everything,
)
from council.plugin import Plugin, PluginError
from tests.bot.distributions import install

HAIKU = """
from council.plugin import Plugin
PLUGIN = Plugin(name={name!r}{more})
ANSWER = 42
NONE = ()
"""
# Our own plug-ins of these tests.
FIRST = Plugin(name="first", stores=("math:sin",), on_closed=("math:sqrt",))
SECOND = Plugin(name="second", requires=("first",))
PLUGIN = FIRST


def haiku(name: str = "haiku", more: str = "") -> str:
    return HAIKU.format(name=name, more=f", {more}" if more else "")


def test_a_package_that_is_absent_is_skipped() -> None:
    found = find_plugins(own=("bot.nowhere.plugin", "tests.bot.test_plugins"))

    assert [plugin.name for plugin in found.active] == ["first"]
    assert [(one.name, one.state) for one in found.statuses] == [("first", "loaded")]


def test_the_plugin_of_another_package_runs_only_if_it_is_enabled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "haiku", haiku(more="commands=('installed_haiku:NONE',)"))

    off = find_plugins(own=())
    on = find_plugins(PluginSwitches(enabled=("haiku",)), own=())

    assert off.active == []
    assert [(one.name, one.origin, one.state) for one in list_installed(off)] == [
        ("haiku", "council-haiku 1.2", "not enabled")
    ]
    assert on.load(lambda plugin: plugin.commands) == [()]
    assert failures(on) == []


@pytest.mark.parametrize(
    ("name", "code", "why"),
    [
        pytest.param("haiku", "raise OSError('no disk')", "OSError: no disk", id="raises"),
        pytest.param("haiku", "", "AttributeError", id="lacks the attribute"),
        pytest.param("haiku", "PLUGIN = 1", "is not a Plugin", id="something else"),
        pytest.param("haiku", "import nowhere", "ModuleNotFoundError", id="lacks a package"),
        pytest.param("haiku", haiku(more="api=99"), "needs a newer Council", id="newer"),
        pytest.param("haiku", haiku("other"), "but itself 'other'", id="other name"),
        pytest.param("first", haiku("first"), "already a plug-in 'first'", id="name taken"),
    ],
)
def test_a_plugin_that_fails_is_named_once_and_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: str, why: str
) -> None:
    install(tmp_path, monkeypatch, name, code)

    found = find_plugins(PluginSwitches(enabled=(name,)), own=("tests.bot.test_plugins",))

    assert [plugin.name for plugin in found.active] == ["first"]
    [sentence] = failures(found)
    assert why in sentence
    assert len(list_installed(found)) == 2


def test_a_plugin_that_is_enabled_but_not_installed_is_named() -> None:
    found = find_plugins(PluginSwitches(enabled=("haiku",)), own=())

    [sentence] = failures(found)
    assert sentence.startswith("The plug-in haiku is left out: It is not installed.")


def test_a_disabled_name_that_no_plugin_has_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "haiku", haiku())
    own = ("bot.absent.plugin", "tests.bot.test_plugins")
    switches = PluginSwitches(disabled=("first", "absent", "haiku", "slak"))

    found = find_plugins(switches, own=own)

    [sentence] = failures(found)
    assert sentence.startswith("There is no plug-in slak.")


def test_a_disabled_plugin_keeps_its_duties(monkeypatch: pytest.MonkeyPatch) -> None:
    found = find_plugins(PluginSwitches(disabled=("first",)), own=("tests.bot.test_plugins",))

    assert found.load(lambda plugin: plugin.stores) == []
    assert found.load_duties(lambda plugin: plugin.on_closed) == [math.sqrt]
    assert [(one.name, one.state) for one in found.statuses] == [("first", "disabled")]


def test_a_plugin_without_the_one_it_builds_on_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "second", haiku("second", "requires=('first',)"))
    switches = PluginSwitches(enabled=("second",), disabled=("first",))

    found = find_plugins(switches, own=("tests.bot.test_plugins",))

    assert found.active == []
    assert "It needs first, which is not on." in [one.why for one in found.statuses]


def test_an_object_that_fails_when_it_is_used_leaves_its_plugin_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "haiku", haiku(more="commands=('installed_haiku:NOTHING',)"))
    found = find_plugins(PluginSwitches(enabled=("haiku",)), own=())
    reported: list[str] = []
    found.report = reported.append

    assert found.load(lambda plugin: plugin.commands) == []

    assert found.active == []
    assert len(reported) == 1
    assert [one.state for one in found.statuses] == ["failed"]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("commands=('installed_haiku:ANSWER',)", "'commands' needs a tuple of Command"),
        ("commands=('installed_haiku:__name__',)", "type str, but 'commands' needs a tuple"),
        (
            "on_forgotten=('installed_haiku:ANSWER',)",
            "type int, but 'on_forgotten' needs a function",
        ),
        ("cli={'haiku': ('installed_haiku:ANSWER', 'Write.')}", "'cli' needs a function"),
        ("chats={'post': 'installed_haiku:ANSWER'}", "'chats' needs a ChatPlugin"),
        ("methods={'haiku': 'installed_haiku:ANSWER'}", "'methods' needs a Method"),
    ],
)
def test_an_object_of_a_wrong_type_leaves_its_plugin_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str, why: str
) -> None:
    install(tmp_path, monkeypatch, "haiku", haiku(more=more))
    found = find_plugins(PluginSwitches(enabled=("haiku",)), own=("tests.bot.test_plugins",))

    load_everything(found)

    assert [plugin.name for plugin in found.active] == ["first"]
    [sentence] = failures(found)
    assert sentence.startswith("The plug-in haiku is left out: installed_haiku:")
    assert why in sentence


def test_parts_are_found_by_their_type() -> None:
    parts = Parts("text", 1)
    parts.add(2)

    assert (parts.get(str), parts.get(int), parts.all(int)) == ("text", 2, [1, 2])
    assert parts.find(bytes) is None
    with pytest.raises(PluginError, match="bytes"):
        parts.get(bytes)


def test_a_later_part_is_made_once_and_only_if_it_is_needed() -> None:
    made = list[str]()

    def make(*new: object) -> list[object]:
        made.extend(type(one).__name__ for one in new)
        return [*new]

    parts = Parts("text")
    parts.add_later(int, partial(make, 1))
    parts.add_later(object, partial(make, 2.0))
    parts.add(True)

    assert (parts.get(str), made) == ("text", [])
    assert (parts.all(bool), made) == ([True], ["float"])
    assert (parts.all(int), parts.get(float), parts.find(bytes)) == ([1, True], 2.0, None)
    assert made == ["float", "int"]


def test_every_object_of_our_own_plugins_can_be_loaded() -> None:
    found = find_plugins()

    for plugin in [*found.present]:
        found.check(plugin)

    assert failures(found) == []
    bot = Path(__file__).parents[2] / "bot"
    own = [name for name in ("slack", "discord", "bakeoffs", "research") if (bot / name).exists()]
    assert [plugin.name for plugin in found.active] == own

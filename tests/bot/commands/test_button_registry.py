"""Commands and buttons of plug-ins: merged with the core's, and what is left without them."""

from bot.chat import Button, Buttons, IncomingMessage, Line, Post
from bot.commands.button_registry import ButtonSet, buttons_of
from bot.commands.buttons import CORE_BUTTONS, build_buttons
from bot.commands.registry import Command, commands_of
from bot.commands.table import CORE_COMMANDS, build_registry
from bot.context import AppContext
from bot.plugins import Plugins, PluginStatus, PluginSwitches, find_plugins
from council.plugin import Plugin
from tests.bot.app_fakes import ANA, HERE, an_app, replies_to

MESSAGE = IncomingMessage("", ANA, HERE, "k")


async def _run(*_: object) -> None:
    """Do nothing."""


ADDED_COMMANDS = (Command("haiku", "Write a haiku", _run), Command("ask", "Ask me", _run))
ADDED_BUTTONS = ButtonSet(
    handlers={"haiku": _run, "again": _run}, round_buttons=(("haiku", "Haiku"),)
)
HAIKU = Plugin(
    name="haiku",
    commands=("tests.bot.commands.test_button_registry:ADDED_COMMANDS",),
    buttons=("tests.bot.commands.test_button_registry:ADDED_BUTTONS",),
)


def an_app_of_the_core() -> AppContext:
    """Return an app whose own plug-ins are off."""
    names = tuple(plugin.name for plugin in find_plugins().active)
    plugins = find_plugins(PluginSwitches(disabled=names))
    app = an_app()
    app.parts.add(build_registry(plugins))
    app.parts.add(build_buttons(plugins))
    return app


def test_a_name_that_is_taken_is_left_out_and_named() -> None:
    said: list[str] = []
    status = PluginStatus("haiku", "", "loaded")
    plugins = Plugins(active=[HAIKU], statuses=[status], report=said.append)

    commands, buttons = build_registry(plugins), build_buttons(plugins)

    assert commands["haiku"].run is _run
    assert commands["ask"] in CORE_COMMANDS
    assert buttons.handlers["haiku"] is _run
    assert buttons.handlers["again"] is CORE_BUTTONS.handlers["again"]
    assert [("ask" in line, "again" in line) for line in said] == [(True, False), (False, True)]
    assert plugins.statuses[0].state == "loaded"
    assert "ask" in plugins.statuses[0].why


def test_the_menu_under_a_round_has_the_buttons_of_plugins_after_the_first() -> None:
    buttons = build_buttons(Plugins(active=[HAIKU]))
    menu = (Button("again", "Run again", "r1"), Button("export", "Export", "r1"))
    plain = Post((Line("An answer"), Buttons((), menu)), "An answer")

    changed = buttons.add_round_buttons(plain, "r1").parts[-1]

    assert isinstance(changed, Buttons)
    assert changed.more == (menu[0], Button("haiku", "Haiku", "r1"), menu[1])
    assert CORE_BUTTONS.add_round_buttons(plain, "r1") == plain


async def test_without_plugins_help_and_menus_have_only_the_core() -> None:
    core = an_app_of_the_core()

    said = await replies_to(core, "help")

    assert commands_of(core).commands == CORE_COMMANDS
    assert buttons_of(core) == CORE_BUTTONS
    assert "`/council rounds`: " in said
    assert "For admins" not in said
    assert "suite" not in said
    assert "bake-off" not in said

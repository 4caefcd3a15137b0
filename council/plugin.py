"""Plug-ins: what a package adds to the council, as names and addresses of objects.

Pure, and quick to import: an object is imported when it is first used (`load_object`).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib import import_module
from typing import Any

from council.errors import CouncilError

API = 1  # grows when a field is added that an older program would not understand
ENTRY_POINTS = "council.plugins"  # the group of entry points that names plug-ins of others
_UNKNOWN_ARGUMENT = re.compile(r"Plugin\.__init__\(\) got an unexpected keyword argument '(\w+)'")


class PluginError(CouncilError):
    """A plug-in that cannot be used; the message says why, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """What a package adds; each object is named by its address, "package.module:object".

    For everybody, from api 1 on:

    - `methods`, `graders`: by the name that panels and suites use
    - `suite_formats`: functions by the ending of a file's name, such as ".xyz"; each returns the
      questions in a text, as texts or as mappings of a suite's columns
    - `chats`: by name; an object of `bot.chats.ChatPlugin`
    - `commands`: tuples of `bot.commands.registry.Command`, in every chat
    - `cli`: subcommands of `council` by name, each with its line in `council --help`, or hidden
      without one; a name such as "bias run" adds to the group of another plug-in
    - `checks`: coroutines for `council doctor`, of (CheckReport, AppContext, Settings)
    - `gather`: coroutines that return files for a question, before it is answered
    - `on_closed`, `on_forgotten`, `on_export`, `on_import`, `on_verify`: hooks on stored rounds
      (`bot.exports` has the interfaces of the last three)

    For the council's own parts, until their interfaces have settled: `filters`, `gateways`
    (functions of the Settings by the provider in their models' ids), `buttons`, `pages`
    (`bot.web.pages.Pages`), `tools` (`bot.mcp.McpTool`), `sections` of council.toml, `stores` and
    `services`. Forms and suggestions show a plug-in's methods, unless `offers_methods` is False:
    then only those that a panel names.

    `requires` names the plug-ins it builds on, `api` the newest interface it uses.
    """

    name: str
    summary: str = ""
    api: int = API
    requires: tuple[str, ...] = ()

    methods: Mapping[str, str] = field(default_factory=dict)
    graders: Mapping[str, str] = field(default_factory=dict)
    suite_formats: Mapping[str, str] = field(default_factory=dict)
    chats: Mapping[str, str] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    cli: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    checks: tuple[str, ...] = ()
    gather: tuple[str, ...] = ()
    on_closed: tuple[str, ...] = ()
    on_forgotten: tuple[str, ...] = ()
    on_export: tuple[str, ...] = ()
    on_import: tuple[str, ...] = ()
    on_verify: tuple[str, ...] = ()

    filters: tuple[str, ...] = ()
    offers_methods: bool = True
    gateways: Mapping[str, str] = field(default_factory=dict)
    buttons: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    sections: Mapping[str, str] = field(default_factory=dict)
    stores: tuple[str, ...] = ()
    services: tuple[str, ...] = ()


def addresses(plugin: Plugin) -> list[tuple[str, str]]:
    """Return the address of each object of a plug-in, after the field that names it."""
    found = [("cli", address) for address, _ in plugin.cli.values()]
    for one in fields(plugin):
        value = getattr(plugin, one.name)
        if isinstance(value, tuple) and one.name != "requires":
            found += [(one.name, address) for address in value]
        elif isinstance(value, Mapping) and one.name != "cli":
            found += [(one.name, address) for address in value.values()]
    return found


def load_object(address: str) -> Any:  # noqa: ANN401 - the caller knows its type
    """Import and return the object at "package.module:object"; raise PluginError if there is none.

    Whatever its module raises when it is imported is the cause of the error.
    """
    module, _, name = address.partition(":")
    try:
        return getattr(import_module(module), name)
    except (Exception, SystemExit) as error:
        why = f"({type(error).__name__}: {error})."
        if unknown := _UNKNOWN_ARGUMENT.match(str(error)):
            why = f"because this Council does not know {unknown[1]!r} in a Plugin. The plug-in "
            why += "probably needs a newer Council. Upgrade Council."
        raise PluginError(f"{address} can't be loaded {why}") from error

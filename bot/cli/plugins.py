"""The command `council plugins`: which plug-ins are there, and why one is off."""

import typer

from bot.cli.output import Json, async_command, print_json
from bot.commands.table import build_registry
from bot.plugins import (
    OWN,
    Plugins,
    PluginStatus,
    find_plugins,
    list_installed,
    load_everything,
    read_switches,
)
from bot.settings import SettingsError, load_settings
from bot.settings.panels import registry_of


@async_command
async def plugins(as_json: Json = False) -> None:
    """List plug-ins: those of this program, and others that are installed."""
    found = _find_plugins()
    load_everything(found)
    for conflict in registry_of(found).conflicts:
        found.warn(conflict.plugin, str(conflict))
    build_registry(found)  # it warns of commands that are left out
    statuses = list_installed(found)
    if as_json:
        print_json([_document(status) for status in statuses])
        return
    for status in statuses:
        origin = f" (from {status.origin})" if status.origin not in {"", OWN} else ""
        typer.echo(f"{status.name}{origin}: {status.state}. {status.why}".rstrip())


def _find_plugins() -> Plugins:
    file = load_settings().config_file
    try:
        return find_plugins(read_switches(file))
    except (ValueError, OSError) as error:
        raise SettingsError([f"{file} can't be read: {error}."]) from None


def _document(status: PluginStatus) -> dict[str, str]:
    return {
        "name": status.name,
        "from": status.origin,
        "state": status.state,
        "why": status.why,
    }

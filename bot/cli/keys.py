"""The commands `council key`: named API keys for the HTTP API."""

from typing import Annotated, Any

import typer

from bot.api_keys import ApiKey, ApiKeyError, list_keys, new_key, revoke_key, save_key
from bot.bootstrap import open_app
from bot.cli.completion import complete
from bot.cli.output import Json, async_command, print_items, print_json
from bot.commands.parameters import Kind
from bot.settings import load_settings
from council.money import MICRO_USD, format_usd

key_app = typer.Typer(help="Manage API keys.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The key's name.", show_default=False)]
Panels = Annotated[
    list[str] | None,
    typer.Option(
        "--panel",
        help="A panel that the key may ask; repeat it for more. Without it: all.",
        autocompletion=complete(Kind.PANEL),
    ),
]
Cap = Annotated[
    float | None,
    typer.Option(help="What the key may spend a day, in US dollars.", show_default=False),
]


@key_app.command("add")
@async_command
async def add(name: Name, panel: Panels = None, cap: Cap = None) -> None:
    """Create a key and print it, once."""
    async with open_app(load_settings()) as app:
        chosen = tuple(dict.fromkeys(panel or ()))
        if unknown := [one for one in chosen if one not in app.panels]:
            known = ", ".join(app.panels) or "none"
            raise ApiKeyError(f"There is no panel {unknown[0]!r}. Known panels: {known}.")
        key, text = new_key(name, app.now(), chosen, cap)
        await save_key(app.key_values, key)
    typer.echo("This key is shown only once. Keep it safe.", err=True)
    typer.echo(text)


@key_app.command("list")
@async_command
async def list_(as_json: Json = False) -> None:
    """List keys with their panels and limits."""
    async with open_app(load_settings()) as app:
        keys, user_day = await list_keys(app.key_values), app.budget.caps.user_day
    if as_json:
        print_json([_document(key) for key in keys])
        return
    if not keys:
        typer.echo("No keys yet. Make one for a program with: council key add NAME")
    items = []
    for key in keys:
        state = "active" if key.digest else "imported: add it again"
        state = f"revoked {key.revoked_at:%Y-%m-%d}" if key.revoked_at else state
        panels = ", ".join(key.panels) or "all panels"
        cap = key.day_limit(user_day)
        limit = "no limit" if cap is None else f"{format_usd(cap)} a day"
        limit += ", shared with its maker" if key.made_by else ""
        limit += ", maker unknown" if key.made_by is None else ""
        facts = (key.name, f"{key.created_at:%Y-%m-%d}", state)
        items.append((facts, f"{limit} · {panels}"))
    print_items(items)


@key_app.command("revoke")
@async_command
async def revoke(name: Name) -> None:
    """Revoke a key from now on; its questions stay."""
    async with open_app(load_settings()) as app:
        await revoke_key(app.key_values, name, app.now())
    typer.echo(f"The key {name} no longer works.")


def _document(key: ApiKey) -> dict[str, Any]:
    return {
        "name": key.name,
        "created_at": key.created_at.isoformat(),
        "revoked_at": key.revoked_at.isoformat() if key.revoked_at else None,
        "panels": list(key.panels),
        "made_by": key.made_by or None,
        "cap_usd": None if key.cap_micro_usd is None else key.cap_micro_usd / MICRO_USD,
    }

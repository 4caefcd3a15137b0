"""Handlers of the page Models: panels and their editor, providers' keys, and API keys."""

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.api_keys import CAP_RULE, ApiKey, ApiKeyError, list_keys, save_key
from bot.api_keys import new_key as new_api_key
from bot.api_keys import revoke_key as revoke
from bot.settings.connections import (
    Connection,
    ConnectionFormError,
    Connections,
    PanelConflictError,
    PanelDraft,
    check_panel_seats,
    connection_name,
    known_seats,
    parse_address,
    read_document,
    store_panel,
    stored_panel,
)
from bot.settings.council_toml import Document
from bot.settings.default_panels import LARGE_SIZE, LOCAL, LOCAL_LARGE, propose_seats
from bot.settings.panels import Seat
from bot.settings.provider_keys import Address, ProviderKeys, read_keys
from bot.web.auth import Form, FormError, visitor_of
from bot.web.context import WebContext, is_page_admin
from bot.web.pages import Handler
from council.errors import CouncilError, ModelListError
from council.money import format_usd
from council.panel import MAX_MEMBERS, MIN_MEMBERS
from council.providers import PROVIDERS, find_provider, is_loopback

ONE_MODEL = (
    "The only chat model listed is {}. A panel needs at least two, since models do not rank "
    "themselves: connect a provider with more models first."
)
PENDING_SECONDS = 30 * 60.0
MAX_PENDING = 20
MAX_JUDGES = 3
_MAX_SEATS_TRIED = 3
_MAX_KEY_CHARACTERS = 500
_SHOWN_MEMBERS = 5
NO_FIELDS: Form = {}


@dataclass(frozen=True, slots=True)
class NewKey:
    """What the page says about an API key that was to be created: its text, once, or an error."""

    text: str = ""
    error: str = ""


async def models_page(
    context: WebContext,
    request: Request,
    form: Form = NO_FIELDS,
    error: str = "",
    new_key: NewKey = NewKey(),
) -> Response:
    """Show the panels, the form for a provider and the API keys, with what was entered wrongly."""
    app = context.app
    user_day = app.budget.caps.user_day
    stored = await list_keys(app.key_values)
    return await context.render_page(
        request,
        "models.html",
        status=422 if error or new_key.error else 200,
        default=app.default,
        local=LOCAL,
        saved=request.query_params.get("saved", ""),
        providers=PROVIDERS,
        chosen=form.get("provider") or PROVIDERS[0].name,
        address=form.get("address", ""),
        error=error,
        keys=[(key, _may_revoke(context, request, key)) for key in stored],
        user_day=user_day,
        most="" if user_day is None or is_page_admin(context, request) else format_usd(user_day),
        made=new_key,
        base=f"{request.base_url}v1",
        **await _connection_values(context, request),
        larger=LARGE_SIZE if LOCAL_LARGE in context.app.panels else "",
    )


async def _connection_values(context: WebContext, request: Request) -> dict[str, Any]:
    """Return what the page shows of connections, or why the visitor may not change them."""
    try:
        connections, document = await _open(context, request)
    except FormError as error:
        return {"refused": str(error), "added": {}, "own": {}, "ollama": ""}
    added = {name: stored_panel(document, name) for name in document.get("panels", {})}
    own = connections.own.panels
    return {"refused": "", "added": added, "own": own, "ollama": connections.ollama}


def moved(part: str) -> Handler:
    """Return the handler of an address that is now a part of the page Models."""

    async def redirect(_context: WebContext, request: Request) -> Response:
        query = request.scope["query_string"].decode("latin-1")
        return RedirectResponse(f"/models{'?' * bool(query)}{query}{part}", status_code=303)

    return redirect


# --- Connect: enter a key, see the proposed panel


async def check_connection(context: WebContext, request: Request, form: Form) -> Response:
    """Test a key with its provider; show the panel its models can form, or what is wrong."""
    connections, document = await _open(context, request)
    stored, keys = known_seats(document), await asyncio.to_thread(read_keys, connections.folder)
    try:
        connection = _entered_connection(form, connections, keys, stored)
        key = connection.key.get_secret_value()
        models = await connections.list_models(connection.provider, connection.base, key)
        members, judges = propose_seats(models)
        await _try_models(connections, connection, members)
        seats = _proposed_seats(connection, members, stored)
    except (ConnectionFormError, ModelListError) as error:
        fixes = error.fixes if isinstance(error, ConnectionFormError) else {}
        return await models_page(context, request, {**form, **fixes}, str(error))
    tested_at = context.app.now().timestamp()
    found = replace(
        connection, models=models, owner=visitor_of(request).secret, tested_at=tested_at
    )
    name = connection.name
    while name in connections.own.panels:  # council.toml's would be used instead
        name += "-2"
    outside = tuple(f"{connection.name}/{model}" for model in judges)
    draft = replace(stored_panel(document, name), members=seats, judges=outside)
    return await _render_panel_form(context, request, draft, pending=_keep(connections, found))


def _entered_connection(
    form: Form, connections: Connections, keys: ProviderKeys, stored: Mapping[str, Seat]
) -> Connection:
    """Return the connection of a form; raise ConnectionFormError, which never quotes the key.

    Without a key it is the one stored for the same origin, if any.
    """
    provider = find_provider(form["provider"])
    if provider is None:
        raise ConnectionFormError("Choose a provider.")
    key = form["key"].strip()
    is_key = key.isascii() and key.isprintable() and " " not in key
    if not is_key or len(key) > _MAX_KEY_CHARACTERS:
        raise ConnectionFormError(
            "This does not look like a key: it has spaces or unusual characters. Copy it again."
        )
    if provider.key_page and not key:
        raise ConnectionFormError(f"Enter a key. You can create one at {provider.key_page}.")
    is_ollama = provider.name == "ollama"
    address = form["address"] or (connections.ollama if is_ollama else "")
    base = provider.base or parse_address(address)
    secret = SecretStr(key) if key else keys.find(Address.parse(base))
    if secret is None or is_ollama:
        secret = SecretStr("")
    parts = (stored, connections.own.seats, connections.offers.seats)
    name = connection_name(provider, base, (seat for part in parts for seat in part.values()))
    return Connection(name, provider, base, secret)


def _proposed_seats(
    connection: Connection, models: Sequence[str], known: Mapping[str, Seat]
) -> tuple[str, ...]:
    """Return the proposed seats, joined by those of other providers if there is only one."""
    seats = tuple(f"{connection.name}/{model}" for model in models)
    if len(seats) < MIN_MEMBERS:
        seats = tuple(dict.fromkeys((*seats, *known)))[:MAX_MEMBERS]
    if len(seats) < MIN_MEMBERS:
        raise ConnectionFormError(ONE_MODEL.format(models[0]))
    return seats


async def _try_models(connections: Connections, connection: Connection, models: list[str]) -> None:
    """Make a tiny call; raise ModelListError if none of the first models answers it."""
    for i, model in enumerate(models[:_MAX_SEATS_TRIED], start=1):
        try:
            await connections.try_seat(connection, connection.seat(model))
        except ModelListError as error:
            if error.is_final or i == min(len(models), _MAX_SEATS_TRIED):
                raise
        else:
            return


def _keep(connections: Connections, found: Connection) -> str:
    """Keep a tested connection in memory, and forget the old ones; return its code."""
    pending = connections.pending
    for code, one in [*pending.items()]:
        if len(pending) >= MAX_PENDING or one.tested_at < found.tested_at - PENDING_SECONDS:
            del pending[code]
    code = secrets.token_urlsafe(16)
    pending[code] = found
    return code


# --- Panels: edit, save, remove


async def panel_page(context: WebContext, request: Request) -> Response:
    """Show the editor of a panel that was added on the page."""
    _, document = await _open(context, request)
    if not (draft := stored_panel(document, request.path_params["name"])).members:
        raise FormError("This panel cannot be edited here. See the list of panels.", 404)
    return await _render_panel_form(context, request, draft)


async def save_panel(context: WebContext, request: Request, form: Form) -> Response:
    """Store a panel, with the key of a new connection, and put it into use."""
    connections, document = await _open(context, request)
    members, judges = _listed(form, "member", MAX_MEMBERS), _listed(form, "judge", MAX_JUDGES)
    draft = PanelDraft(form["name"].strip(), members, judges, form["version"])
    found = _pending(context, request, code := form["pending"])
    try:
        if code and not found:
            raise ConnectionFormError(
                "The key is not kept for longer than half an hour before you save. Connect again."
            )
        if form["remove"]:
            draft = PanelDraft(draft.name, version=draft.version)
        else:
            check_panel_seats(draft.name, members, judges)
        seats = _chosen_seats((*draft.members, *draft.judges), known_seats(document, found))
        is_default = form["default"] == "yes"
        chosen = replace(draft, becomes_default=is_default)
        plugins = connections.own.plugins
        await asyncio.to_thread(store_panel, connections.folder, chosen, seats, found, plugins)
    except OSError as error:
        why = error.strerror or "another process uses it"
        failed = ConnectionFormError(f"{connections.folder} cannot be written ({why}). Try again.")
        return await _render_panel_form(context, request, draft, failed, code)
    except CouncilError as error:
        if isinstance(error, PanelConflictError):
            document = await asyncio.to_thread(read_document, connections.folder)
            draft = replace(draft, version=stored_panel(document, draft.name).version)
        return await _render_panel_form(context, request, draft, error, code)
    connections.pending.pop(code, None)
    await connections.activate(draft.name if is_default else None)
    return RedirectResponse(f"/models?saved={draft.name}", status_code=303)


def _listed(form: Form, kind: str, most: int) -> tuple[str, ...]:
    """Return the seats entered in the numbered fields of a kind."""
    entered = (form[f"{kind}{i}"].strip() for i in range(1, most + 1))
    return tuple(filter(None, entered))


def _pending(context: WebContext, request: Request, code: str) -> Connection | None:
    """Return the connection that this visitor has tested, unless that was too long ago."""
    found = _connections(context, request).pending.get(code)
    if found is None or not secrets.compare_digest(found.owner, visitor_of(request).secret):
        return None
    is_fresh = context.app.now().timestamp() - found.tested_at < PENDING_SECONDS
    return found if is_fresh else None


def _chosen_seats(keys: tuple[str, ...], known: Mapping[str, Seat]) -> dict[str, Seat]:
    unknown = next((key for key in keys if key not in known), None)
    if unknown:
        near = get_close_matches(unknown, known, 1)
        hint = f"Did you mean {near[0]}?" if near else "Choose one from the list."
        raise ConnectionFormError(f"{unknown} is not among the connected models. {hint}")
    return {key: known[key] for key in keys}


async def _render_panel_form(
    context: WebContext,
    request: Request,
    draft: PanelDraft,
    error: CouncilError | None = None,
    pending: str = "",
) -> Response:
    connections, document = await _open(context, request)
    found = _pending(context, request, pending)
    is_conflict = isinstance(error, PanelConflictError)
    failed = 409 if is_conflict else 422
    return await context.render_page(
        request,
        "panel.html",
        status=failed if error else 200,
        draft=draft,
        member_fields=min(MAX_MEMBERS, max(_SHOWN_MEMBERS, len(draft.members) + 1)),
        judge_fields=min(MAX_JUDGES, len(draft.judges) + 1),
        choices=known_seats(document, found),
        stored=stored_panel(document, draft.name),
        is_conflict=is_conflict,
        error=str(error or ""),
        pending=pending,
        provider=found.provider.label if found else "",
        is_shadowed=draft.name in connections.own.panels,
        own_default=None if context.app.is_local else connections.own.default,
        is_default=context.app.default == draft.name,
        becomes_default=context.app.default in (None, LOCAL),
    )


# --- API keys


async def create_key(context: WebContext, request: Request, form: Form) -> Response:
    """Create a key and show it, once; on an error, show why there is none.

    A key of a visitor who is no admin spends the visitor's own budget.
    """
    app, is_admin = context.app, is_page_admin(context, request)
    chosen = tuple(name for name in app.panels if form[f"panel {name}"])
    made_by = "" if is_admin else visitor_of(request).asker.id
    try:
        cap_usd = _cap(form["cap"].strip())
        key, text = new_api_key(form["name"].strip(), app.now(), chosen, cap_usd, made_by)
        if not is_admin:
            _check_within(app.budget.caps.user_day, key)
        await save_key(app.key_values, key)
    except ApiKeyError as error:
        return await models_page(context, request, new_key=NewKey(error=str(error)))
    return await models_page(context, request, new_key=NewKey(text))


async def revoke_key(context: WebContext, request: Request, _form: Form) -> Response:
    """Revoke a key for every process, and redirect to the list."""
    key_values, name = context.app.key_values, request.path_params["name"]
    key = next((key for key in await list_keys(key_values) if key.name == name), None)
    if key and not _may_revoke(context, request, key):
        raise FormError("Only the person who made this key, or an admin, can revoke it.", 403)
    try:
        await revoke(key_values, name, context.app.now())
    except ApiKeyError as error:
        raise FormError(str(error), 404) from None
    return RedirectResponse("/models#keys", status_code=303)


def _may_revoke(context: WebContext, request: Request, key: ApiKey) -> bool:
    return is_page_admin(context, request) or key.made_by == visitor_of(request).asker.id


def _check_within(user_day: int | None, key: ApiKey) -> None:
    """Raise ApiKeyError for a key with a higher limit than that of a visitor."""
    if user_day is not None and (key.cap_micro_usd or 0) > user_day:
        raise ApiKeyError(
            f"You may spend {format_usd(user_day)} a day, and your keys share that. Choose a limit "
            "up to it, or ask an admin to make the key."
        )


def _cap(text: str) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        raise ApiKeyError(CAP_RULE) from None


# --- Connections


async def _open(context: WebContext, request: Request) -> tuple[Connections, Document]:
    """Return the connections and what is stored; raise as `_connections` does."""
    connections = _connections(context, request)
    return connections, await asyncio.to_thread(read_document, connections.folder)


def _connections(context: WebContext, request: Request) -> Connections:
    """Return the connections; raise FormError unless the visitor may change them.

    Without a token that is this machine alone, and not through a proxy.
    """
    host = request.client.host if request.client else ""
    is_local = is_loopback(host) and "x-forwarded-for" not in request.headers
    is_allowed = context.is_authenticated(request) if context.token else is_local
    if context.app.connections is None or not is_allowed:
        raise FormError("Models can only be connected on this machine, or after you sign in.", 403)
    return context.app.connections

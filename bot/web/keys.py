"""Handlers of the page's API keys: list, create and revoke them."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.api_keys import CAP_RULE, ApiKey, ApiKeyError, list_keys, new_key, save_key
from bot.api_keys import revoke_key as revoke
from bot.web.auth import Form, FormError, visitor_of
from bot.web.context import WebContext, is_page_admin
from council.money import format_usd


async def keys_page(
    context: WebContext, request: Request, text: str = "", error: str = ""
) -> Response:
    """Show every key, and a form that creates one, with the key that it made or its error."""
    user_day = context.app.budget.caps.user_day
    stored = await list_keys(context.app.key_values)
    return await context.render_page(
        request,
        "keys.html",
        status=422 if error else 200,
        keys=[(key, _may_revoke(context, request, key)) for key in stored],
        user_day=user_day,
        most="" if user_day is None or is_page_admin(context, request) else format_usd(user_day),
        text=text,
        error=error,
        base=f"{request.base_url}v1",
    )


async def create_key(context: WebContext, request: Request, form: Form) -> Response:
    """Create a key and show it, once; on an error, show why there is none.

    A key of a visitor who is no admin spends the visitor's own budget.
    """
    app, is_admin = context.app, is_page_admin(context, request)
    chosen = tuple(name for name in app.panels if form[f"panel {name}"])
    made_by = "" if is_admin else visitor_of(request).asker.id
    try:
        cap_usd = _cap(form["cap"].strip())
        key, text = new_key(form["name"].strip(), app.now(), chosen, cap_usd, made_by)
        if not is_admin:
            _check_within(app.budget.caps.user_day, key)
        await save_key(app.key_values, key)
    except ApiKeyError as error:
        return await keys_page(context, request, error=str(error))
    return await keys_page(context, request, text)


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
    return RedirectResponse("/keys", status_code=303)


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

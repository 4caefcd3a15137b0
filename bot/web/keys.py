"""Handlers of the page's API keys: list, create and revoke them."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.api_keys import CAP_RULE, ApiKeyError, list_keys, new_key, save_key
from bot.api_keys import revoke_key as revoke
from bot.web.auth import Form, FormError
from bot.web.context import WebContext


async def keys_page(
    context: WebContext, request: Request, text: str = "", error: str = ""
) -> Response:
    """Show every key, and a form that creates one, with the key that it made or its error."""
    return await context.render_page(
        request,
        "keys.html",
        status=422 if error else 200,
        keys=await list_keys(context.app.key_values),
        text=text,
        error=error,
        base=f"{request.base_url}v1",
    )


async def create_key(context: WebContext, request: Request, form: Form) -> Response:
    """Create a key and show it, once; on an error, show why there is none."""
    app = context.app
    chosen = tuple(name for name in app.panels if form[f"panel {name}"])
    try:
        key, text = new_key(form["name"].strip(), app.now(), chosen, _cap(form["cap"].strip()))
        await save_key(app.key_values, key)
    except ApiKeyError as error:
        return await keys_page(context, request, error=str(error))
    return await keys_page(context, request, text)


async def revoke_key(context: WebContext, request: Request, _form: Form) -> Response:
    """Revoke a key for every process, and redirect to the list."""
    try:
        await revoke(context.app.key_values, request.path_params["name"], context.app.now())
    except ApiKeyError as error:
        raise FormError(str(error), 404) from None
    return RedirectResponse("/keys", status_code=303)


def _cap(text: str) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        raise ApiKeyError(CAP_RULE) from None

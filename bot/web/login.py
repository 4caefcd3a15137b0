"""What a browser remembers: the session that the access token began, and the colours."""

import asyncio
import re

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.api_keys import find_key
from bot.web.auth import SESSION_COOKIE, Form, set_cookie
from bot.web.context import THEME_COOKIE, THEMES, WebContext

_LOCAL_PATH = re.compile(r"/(?![/\\])[\x21-\x7e]{0,200}")


async def login_page(context: WebContext, request: Request) -> Response:
    """Show the login form."""
    target = _local_path(request.query_params.get("next", ""))
    return await context.render_page(request, "login.html", wrong=False, next=target, lines=())


async def log_in(context: WebContext, request: Request, form: Form) -> Response:
    """Set a session cookie for a visitor who has entered the token; delay after a wrong one."""
    target = _local_path(form["next"])
    password, token = form["password"], context.token
    is_key = await find_key(context.app.key_values, password) is not None  # which is no guess
    if is_key or not token or not context.limits.is_right_token(request, token, password):
        await asyncio.sleep(context.failed_login_delay_seconds)
        return await context.render_page(
            request, "login.html", status=403, wrong=True, next=target, lines=()
        )
    response = RedirectResponse(target, status_code=303)
    set_cookie(response, request, SESSION_COOKIE, context.signer.session_token())
    return response


async def choose_theme(_context: WebContext, request: Request, form: Form) -> Response:
    """Remember the visitor's colours; anything that is no theme follows the system."""
    response = RedirectResponse(_local_path(form["next"]), status_code=303)
    theme = form["theme"] if form["theme"] in THEMES else "system"
    set_cookie(response, request, THEME_COOKIE, theme)
    return response


def _local_path(path: str) -> str:
    return path if _LOCAL_PATH.fullmatch(path) else "/"

"""oauth.v2.access: a code for a token, and a refresh token for the next one."""

from tests.wire.slack.calls import Call, Method, Payload, RefusalError
from tests.wire.slack.state import State, Token
from tests.wire.slack.workspace import APP

_CODE_SECONDS = 600


def access(state: State, call: Call) -> Payload:
    """Return a new token; codes and refresh tokens are valid once."""
    app = state.app
    if call.client is None or call.client[0] != app.client_id:
        raise RefusalError("invalid_client_id")
    if call.client[1] != app.client_secret:
        raise RefusalError("bad_client_secret")
    if call.text("grant_type") == "refresh_token":
        sites = state.refresh_tokens.pop(call.required("refresh_token"), None)
        if sites is None:
            raise RefusalError("invalid_refresh_token")
        return _granted(state, sites, "")
    code = state.codes.get(call.required("code", "invalid_code"))
    if code is None or state.now() - code.at > _CODE_SECONDS:
        raise RefusalError("invalid_code")
    if code.used:
        raise RefusalError("code_already_used")
    if code.redirect_uri != call.text("redirect_uri"):
        raise RefusalError("bad_redirect_uri")
    code.used = True
    return _granted(state, code.sites, code.user)


def _granted(state: State, sites: tuple[State, ...], user: str) -> Payload:
    home, is_org = sites[0], sites[0].is_org_install
    name = f"xoxb-{home.workspace.team}-{state.number()}"
    token = Token("bot", state.app.scopes)
    more: Payload = {}
    if state.app.token_seconds is not None:
        refresh_token = f"xoxe-1-{state.number()}"
        state.refresh_tokens[refresh_token] = sites
        token.expires_at = state.now() + state.app.token_seconds
        more = {"refresh_token": refresh_token, "expires_in": state.app.token_seconds}
    for site in sites:
        site.tokens[name] = token
    enterprise = home.workspace.enterprise
    return {
        "access_token": name,
        "token_type": "bot",
        "scope": ",".join(state.app.scopes),
        "bot_user_id": home.workspace.bot,
        "app_id": APP,
        "team": None if is_org else {"id": home.workspace.team, "name": home.workspace.name},
        "enterprise": {"id": enterprise, "name": f"Org {enterprise}"} if enterprise else None,
        "authed_user": {"id": user},
        "is_enterprise_install": is_org,
        **more,
    }


METHODS = {"oauth.v2.access": Method(access, token=None, takes_json=False)}

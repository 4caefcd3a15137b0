"""Who the token is, and where to connect: auth.*, apps.connections.open, team.info, bots.info."""

from tests.wire.slack.calls import Call, RefusalError
from tests.wire.slack.methods.method import Method, Payload
from tests.wire.slack.state import State
from tests.wire.slack.workspace import APP, BOT, BOT_ID, TEAM


def auth_test(state: State, call: Call) -> Payload:
    """Return the owner of the token."""
    token = state.tokens[call.token or ""]
    who: Payload = {"url": "https://home.slack.com/", "team": state.workspace.name, "team_id": TEAM}
    if token.kind == "app":
        return {"app_name": "council", "app_id": APP}
    return {
        **who,
        "user": "council",
        "user_id": BOT,
        "bot_id": BOT_ID,
        "is_enterprise_install": False,
    }


def auth_revoke(state: State, call: Call) -> Payload:
    """Revoke the token that asks, unless it only tries."""
    if not call.flag("test"):
        state.tokens[call.token or ""].trouble = "token_revoked"
    return {"revoked": not call.flag("test")}


def connections_open(state: State, _call: Call) -> Payload:
    """Return the URL of a new socket, valid once."""
    ticket = f"ticket-{state.number()}"
    state.tickets.add(ticket)
    address = state.address.replace("http://", "ws://", 1)
    return {"url": f"{address}/link/?ticket={ticket}&app_id={APP}"}


def team_info(state: State, _call: Call) -> Payload:
    """Return the workspace."""
    return {"team": {"id": TEAM, "name": state.workspace.name, "domain": "home"}}


def bots_info(_state: State, call: Call) -> Payload:
    """Return the only bot."""
    if call.text("bot") not in {None, BOT_ID}:
        raise RefusalError("bot_not_found")
    bot = {"id": BOT_ID, "app_id": APP, "user_id": BOT, "name": "council", "deleted": False}
    return {"bot": bot}


METHODS = {
    "auth.test": Method(auth_test, token="any"),
    "auth.revoke": Method(auth_revoke, token="any", takes_json=False),
    "apps.connections.open": Method(connections_open, ("connections:write",), token="app"),
    "team.info": Method(team_info, ("team:read",), takes_json=False),
    "bots.info": Method(bots_info, ("users:read",), takes_json=False),
}

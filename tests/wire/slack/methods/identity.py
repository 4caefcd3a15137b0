"""auth.test, apps.connections.open, users.info and blocks.validate."""

from tests.wire.slack.calls import Call, Method, Payload, RefusalError
from tests.wire.slack.checks import find_message_faults, find_view_faults
from tests.wire.slack.state import State
from tests.wire.slack.workspace import APP, User

ARGUMENT_CHARACTERS = 100_000


def auth_test(state: State, call: Call) -> Payload:
    if state.tokens[call.token or ""].kind == "app":
        return {"app_name": "council", "app_id": APP}
    return {
        "url": "https://home.slack.com/",
        "team": state.workspace.name,
        "team_id": state.team,
        "user": "council",
        "user_id": state.bot,
        "bot_id": state.bot_id,
        "is_enterprise_install": state.is_org_install,
        **({"enterprise_id": found} if (found := state.workspace.enterprise) else {}),
    }


def connections_open(state: State, _call: Call) -> Payload:
    ticket = f"ticket-{state.number()}"
    state.tickets.add(ticket)
    address = state.address.replace("http://", "ws://", 1)
    return {"url": f"{address}/link/?ticket={ticket}&app_id={APP}"}


def _described(user: User, *, met: bool) -> Payload:
    """Return a user as users.info shows them; for a deactivated one Slack returns little."""
    name = user.name.title()
    shown: Payload = {
        "id": user.id,
        "team_id": user.team,
        "name": user.name,
        "deleted": user.deleted,
        "is_bot": user.is_bot,
        "real_name": name,
        "profile": {"display_name": user.name, "real_name": name, "team": user.team},
    }
    if user.deleted:
        return shown
    shown |= {
        "is_admin": user.is_admin,
        "is_owner": False,
        "is_restricted": user.is_restricted,
        "is_ultra_restricted": user.is_ultra_restricted,
    }
    return shown | ({"is_stranger": not met} if user.is_stranger else {})


def users_info(state: State, call: Call) -> Payload:
    user = state.workspace.users.get(call.required("user", "user_not_found"))
    if user is None:
        raise RefusalError("user_not_found")
    places = state.workspace.channels.values()
    met = any({user.id, state.bot} <= channel.members for channel in places)
    return {"user": _described(user, met=met)}


def validate(_state: State, call: Call) -> Payload:
    """Check a view or a message; exactly one of them."""
    given = [name for name in ("view", "message") if call.text(name)]
    if len(given) != 1 or len(call.required(given[0])) > ARGUMENT_CHARACTERS:
        raise RefusalError("invalid_arguments")
    value = call.value(given[0])
    if given == ["view"]:
        faults = find_view_faults(value)
    else:
        assert isinstance(value, dict)
        faults = find_message_faults(value)
    if faults:
        errors = [{"code": f.code, "message": f.message, "pointer": f.pointer} for f in faults]
        raise RefusalError("invalid_blocks", errors=errors)
    return {}


METHODS = {
    "auth.test": Method(auth_test, token="any"),
    "apps.connections.open": Method(connections_open, ("connections:write",), token="app"),
    "users.info": Method(users_info, ("users:read",), takes_json=False),
    "blocks.validate": Method(validate, token=None),
}

"""users.info and usergroups.users.list: who someone is."""

from tests.wire.slack.calls import Call, RefusalError
from tests.wire.slack.methods.method import Method, Payload
from tests.wire.slack.state import State
from tests.wire.slack.workspace import BOT, User


def described(user: User, *, met: bool = True) -> Payload:
    """Return a user as users.info shows them; for a deactivated one Slack returns little."""
    told: Payload = {
        "id": user.id,
        "team_id": user.team,
        "name": user.name,
        "deleted": user.deleted,
        "is_bot": user.is_bot,
        "real_name": user.name.title(),
        "profile": {"display_name": user.name, "real_name": user.name.title(), "team": user.team},
    }
    if user.deleted:
        return told
    told |= {
        "is_admin": user.is_admin,
        "is_owner": False,
        "is_primary_owner": False,
        "is_restricted": user.is_restricted,
        "is_ultra_restricted": user.is_ultra_restricted,
        "is_app_user": False,
        "tz": "Etc/UTC",
    }
    return told | ({"is_stranger": not met} if user.is_stranger else {})


def info(state: State, call: Call) -> Payload:
    """Return one user."""
    user = state.workspace.users.get(call.required("user", "user_not_found"))
    if user is None:
        raise RefusalError("user_not_found")
    places = state.workspace.channels.values()
    met = any({user.id, BOT} <= channel.members for channel in places)
    return {"user": described(user, met=met)}


def usergroup(state: State, call: Call) -> Payload:
    """Return the members of a user group."""
    users = state.workspace.usergroups.get(call.required("usergroup", "no_such_subteam"))
    if users is None:
        raise RefusalError("no_such_subteam")
    return {"users": list(users)}


METHODS = {
    "users.info": Method(info, ("users:read",), takes_json=False),
    "usergroups.users.list": Method(usergroup, ("usergroups:read",), takes_json=False),
}

"""views.*: modals opened by a trigger, and changed."""

from tests.wire.slack.calls import Call, Method, Payload, RefusalError, refusal_for
from tests.wire.slack.checks import find_home_faults, find_view_faults
from tests.wire.slack.fields import elements_in
from tests.wire.slack.messages import with_ids
from tests.wire.slack.state import State, Trigger, View
from tests.wire.slack.workspace import APP

_EMPTY = {"private_metadata": "", "callback_id": "", "submit": None, "close": None}


def checked(view: object) -> Payload:
    """Return the view if Slack would show it, or refuse."""
    faults = find_view_faults(view)
    if faults:
        raise refusal_for(faults)
    assert isinstance(view, dict)
    return view


def _fill(state: State, view: View, given: Payload) -> None:
    view.given, view.errors = given, {}
    view.payload |= {
        **_EMPTY,
        **given,
        "blocks": with_ids(state, given["blocks"]),
        "hash": f"{state.now():.0f}.{state.number()}",
        "state": {"values": {}},
        "team_id": state.team,
        "app_id": APP,
        "app_installed_team_id": (
            state.workspace.enterprise if state.is_org_install else state.team
        ),
        "bot_id": state.bot_id,
    }


def _trigger(state: State, call: Call) -> Trigger:
    """Use the trigger of the call, once and in time."""
    found = state.triggers.get(call.required("trigger_id"))
    if found is None:
        raise RefusalError("invalid_trigger_id")
    if found.used:
        raise RefusalError("exchanged_trigger_id")
    if state.now() - found.at > state.rules.trigger_seconds:
        raise RefusalError("expired_trigger_id")
    found.used = True
    return found


def open_(state: State, call: Call) -> Payload:
    given = checked(call.value("view"))
    takes_files = any(one["type"] == "file_input" for _, one in elements_in(given["blocks"]))
    if takes_files and "files:read" not in state.tokens[call.token or ""].scopes:
        raise RefusalError("missing_scope")
    user = _trigger(state, call).user
    id_ = f"V{state.number():06d}"
    view = View(id_, user, {"id": id_, "root_view_id": id_, "previous_view_id": None}, given)
    _fill(state, view, given)
    state.modals[user] = [view]
    return {"view": view.payload}


def update(state: State, call: Call) -> Payload:
    """Update a modal if its hash has not changed."""
    id_ = call.required("view_id")
    every = (view for stack in state.modals.values() for view in stack)
    view = next((view for view in every if view.id == id_), None)
    if view is None:
        raise RefusalError("not_found")
    if call.text("hash") not in {None, view.payload["hash"]}:
        raise RefusalError("hash_conflict")
    _fill(state, view, checked(call.value("view")))
    return {"view": view.payload}


def publish(state: State, call: Call) -> Payload:
    """Replace the home of a user, unless it was replaced since the hash."""
    user, given = call.required("user_id"), call.value("view")
    if user not in state.workspace.users:
        raise RefusalError("user_not_found")
    shown = state.homes.get(user)
    if shown and call.text("hash") not in {None, shown.payload["hash"]}:
        raise RefusalError("hash_conflict")
    faults = find_home_faults(given)
    if faults:
        raise refusal_for(faults)
    assert isinstance(given, dict)
    id_ = shown.id if shown else f"V{state.number():06d}"
    ids = {"id": id_, "root_view_id": id_, "previous_view_id": None}
    view = View(id_, user, ids, given)
    _fill(state, view, given)
    state.homes[user] = view
    return {"view": view.payload}


METHODS = {
    "views.open": Method(open_),
    "views.update": Method(update),
    "views.publish": Method(publish),
}

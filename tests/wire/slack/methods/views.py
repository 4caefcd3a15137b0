"""views.*: modals opened by a trigger, stacked and changed; home tabs published."""

from tests.wire.slack.blockcheck import find_view_faults
from tests.wire.slack.calls import Call, RefusalError, refusal_for
from tests.wire.slack.messages import with_ids
from tests.wire.slack.methods.method import Method, Payload
from tests.wire.slack.state import State, Trigger, View
from tests.wire.slack.workspace import APP, BOT_ID, TEAM

STACK = 3
_EMPTY = {
    "private_metadata": "",
    "callback_id": "",
    "external_id": "",
    "submit": None,
    "close": None,
}


def checked(state: State, view: object, kind: str = "modal") -> Payload:
    """Return the view if Slack would show it, or refuse."""
    faults = find_view_faults(view)
    if faults:
        raise refusal_for(faults)
    assert isinstance(view, dict)
    given: Payload = view
    if given["type"] != kind:
        raise RefusalError("invalid_arguments")
    name = given.get("external_id")
    if name and any(one.given.get("external_id") == name for one in every(state)):
        raise RefusalError("duplicate_external_id")
    return given


def every(state: State) -> list[View]:
    """Return all open views."""
    return [*(view for stack in state.modals.values() for view in stack), *state.homes.values()]


def show(state: State, user: str, given: Payload, below: View | None = None) -> View:
    """Show a view on top of the open ones."""
    id_ = f"V{state.number():06d}"
    view = View(id_, user, {}, given)
    root = below.payload["root_view_id"] if below else id_
    view.payload = {
        "id": id_,
        "root_view_id": root,
        "previous_view_id": below.id if below else None,
    }
    _fill(state, view, given)
    return view


def _fill(state: State, view: View, given: Payload) -> None:
    view.given, view.errors = given, {}
    view.payload |= {
        **_EMPTY,
        **given,
        "blocks": with_ids(state, given["blocks"]),
        "hash": f"{state.now():.0f}.{state.number()}",
        "state": {"values": {}},
        "team_id": TEAM,
        "app_id": APP,
        "app_installed_team_id": TEAM,
        "bot_id": BOT_ID,
    }


def trigger(state: State, call: Call) -> Trigger:
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
    """Open a modal for the one who pulled the trigger."""
    given = checked(state, call.value("view"))
    user = trigger(state, call).user
    view = show(state, user, given)
    state.modals[user] = [view]
    return {"view": view.payload}


def push(state: State, call: Call) -> Payload:
    """Push a modal on top of those open."""
    given = checked(state, call.value("view"))
    user = trigger(state, call).user
    stack = state.modals.get(user, [])
    if not stack:
        raise RefusalError("not_found")
    if len(stack) >= STACK:
        raise RefusalError("push_limit_reached")
    view = show(state, user, given, stack[-1])
    stack.append(view)
    return {"view": view.payload}


def change(state: State, view: View, given: Payload) -> None:
    """Replace the content of a view."""
    _fill(state, view, given)


def _named(state: State, call: Call) -> View:
    id_, external = call.text("view_id"), call.text("external_id")
    if not id_ and not external:
        raise RefusalError("invalid_arguments")
    for view in every(state):
        if view.id == id_ or (external and view.given.get("external_id") == external):
            return view
    raise RefusalError("not_found")


def update(state: State, call: Call) -> Payload:
    """Update a modal if its hash has not changed."""
    view = _named(state, call)
    if call.text("hash") not in {None, view.payload["hash"]}:
        raise RefusalError("hash_conflict")
    before = view.given
    view.given = {}  # its own external_id may stay
    try:
        given = checked(state, call.value("view"), before["type"])
    finally:
        view.given = before
    change(state, view, given)
    return {"view": view.payload}


def publish(state: State, call: Call) -> Payload:
    """Publish a user's home tab."""
    user = call.required("user_id")
    if user not in state.workspace.users:
        raise RefusalError("user_not_found")
    old = state.homes.get(user)
    if old and call.text("hash") not in {None, old.payload["hash"]}:
        raise RefusalError("hash_conflict")
    given = checked(state, call.value("view"), "home")
    if old:
        change(state, old, given)
    else:
        state.homes[user] = show(state, user, given)
    return {"view": state.homes[user].payload}


METHODS = {
    "views.open": Method(open_),
    "views.push": Method(push),
    "views.update": Method(update),
    "views.publish": Method(publish),
}

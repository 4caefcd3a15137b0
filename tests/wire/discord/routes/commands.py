"""Application command routes: bulk overwrite."""

from typing import Any

from tests.wire.discord.calls import Call, RefusalError, Reply
from tests.wire.discord.checks import Fault, faults_of_command
from tests.wire.discord.message_store import refuse
from tests.wire.discord.sample_world import BOT
from tests.wire.discord.state import State

Payload = dict[str, Any]

MOST = {1: 100, 2: 15, 3: 15}
_KEPT = ("options", "contexts", "integration_types", "nsfw", "dm_permission")


def overwrite(state: State, call: Call) -> Reply:
    """PUT …/commands: these and no others; only unknown names count as created."""
    if call.names["application_id"] != BOT:
        raise RefusalError(50001)
    wanted = call.body if isinstance(call.body, list) else []
    refuse(
        [fault for place, one in enumerate(wanted) for fault in faults_of_command(one, str(place))]
    )
    _few_enough(wanted)
    old = {_key(one): one for one in state.commands}
    state.created += sum(_key(one) not in old for one in wanted)
    if state.created > state.rules.creates:
        raise RefusalError(30034, retry_after=86_400.0)
    state.commands = [_made(state, one, old.get(_key(one))) for one in wanted]
    return Reply(body=state.commands)


def _key(command: Payload) -> tuple[int, str]:
    return command.get("type") or 1, command["name"]


def _few_enough(commands: list[Payload]) -> None:
    """Refuse too many of a kind, and two of the same name."""
    keys = [_key(one) for one in commands]
    for place, key in enumerate(keys):
        if key in keys[:place]:
            said = "Application command names must be unique"
            refuse([Fault(f"{place}.name", "APPLICATION_COMMANDS_DUPLICATE_NAME", said)])
    for kind, most in MOST.items():
        if sum(key[0] == kind for key in keys) > most:
            raise RefusalError(30032, 400)


def _made(state: State, wanted: Payload, old: Payload | None) -> Payload:
    permissions = wanted.get("default_member_permissions")
    made: Payload = {
        "id": old["id"] if old else state.snowflake(),
        "application_id": BOT,
        "version": state.snowflake(),
        "type": wanted.get("type") or 1,
        "name": wanted["name"],
        "description": wanted.get("description") or "",
        "default_member_permissions": None if permissions is None else str(permissions),
    }
    return made | {name: wanted[name] for name in _KEPT if wanted.get(name) is not None}

"""blocks.validate and apps.manifest.validate: say what is wrong, change nothing."""

from collections.abc import Callable
from typing import Any

from tests.wire.slack.blockcheck import find_block_faults, find_message_faults, find_view_faults
from tests.wire.slack.blocks.shapes import Fault
from tests.wire.slack.calls import Call, RefusalError
from tests.wire.slack.manifest import find_manifest_faults
from tests.wire.slack.methods.method import Method, Payload
from tests.wire.slack.state import State

ARGUMENT_CHARACTERS = 100_000
_CHECKS: dict[str, Callable[[Any], list[Fault]]] = {
    "blocks": find_block_faults,
    "view": find_view_faults,
    "message": find_message_faults,
}


def _told(fault: Fault) -> Payload:
    return {"code": fault.code, "message": fault.message, "pointer": fault.pointer}


def blocks(_state: State, call: Call) -> Payload:
    """Check blocks, a view or a message; exactly one of them."""
    given = [name for name in _CHECKS if call.text(name)]
    if len(given) != 1 or len(call.required(given[0])) > ARGUMENT_CHARACTERS:
        raise RefusalError("invalid_arguments")
    faults = _CHECKS[given[0]](call.value(given[0]))
    if faults:
        raise RefusalError("invalid_blocks", errors=[_told(fault) for fault in faults])
    return {}


def manifest(_state: State, call: Call) -> Payload:
    """Check an app's manifest."""
    faults = find_manifest_faults(call.value("manifest", "invalid_manifest"))
    if faults:
        raise RefusalError("invalid_manifest", errors=[_told(fault) for fault in faults])
    return {"errors": []}


METHODS = {
    "blocks.validate": Method(blocks, token=None),
    "apps.manifest.validate": Method(manifest, token="config"),
}

"""blocks.validate and apps.manifest.validate: say what is wrong, change nothing."""

from collections.abc import Callable
from typing import Any

from tests.wire.slack.blockcheck import faults_of_blocks, faults_of_message, faults_of_view
from tests.wire.slack.blocks.shapes import Fault
from tests.wire.slack.calls import Call, RefusalError
from tests.wire.slack.manifest import faults_of_manifest
from tests.wire.slack.methods.method import Method, Payload
from tests.wire.slack.state import State

ARGUMENT_CHARACTERS = 100_000
_CHECKS: dict[str, Callable[[Any], list[Fault]]] = {
    "blocks": faults_of_blocks,
    "view": faults_of_view,
    "message": faults_of_message,
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
    faults = faults_of_manifest(call.value("manifest", "invalid_manifest"))
    if faults:
        raise RefusalError("invalid_manifest", errors=[_told(fault) for fault in faults])
    return {"errors": []}


METHODS = {
    "blocks.validate": Method(blocks, token=None),
    "apps.manifest.validate": Method(manifest, token="config"),
}

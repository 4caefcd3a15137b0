"""Effects of an acknowledgement's content: a reply is posted, or a modal changes."""

from typing import Any

from tests.wire.slack.calls import RefusalError
from tests.wire.slack.delivering import Acknowledgement
from tests.wire.slack.messages import check
from tests.wire.slack.methods.views import STACK, change, checked, show
from tests.wire.slack.response_urls import respond
from tests.wire.slack.state import SeenFault, State, View
from tests.wire.slack.workspace import Channel, Message

Payload = dict[str, Any]


class AcknowledgementEffects:
    """Applies acknowledgements; invalid content becomes an error that the user sees."""

    def __init__(self, state: State) -> None:
        self._state = state

    def to_command(self, user: str, channel: Channel, answer: Acknowledgement) -> Message | None:
        """Post the reply to a command, to this user only or in the channel."""
        if not answer.accepted or not answer.payload:
            return None
        try:
            check(self._state, answer.payload)
        except RefusalError as refusal:
            detail = f"{refusal.code} {refusal.more.get('errors', '')}"
            self._fault(user, "invalid_command_response", detail)
            return None
        return respond(self._state, user, channel.id, answer.payload)

    def to_submission(self, view: View, answer: Payload | None) -> None:
        """Close, clear, change or cover a modal, or leave it open with its errors."""
        stack = self._state.modals[view.user]
        try:
            match (answer or {}).get("response_action"):
                case None:
                    stack.remove(view)
                case "clear":
                    stack.clear()
                case "errors":
                    self._errors(view, (answer or {}).get("errors") or {})
                case "update":
                    view.given = {}
                    change(self._state, view, checked(self._state, (answer or {}).get("view")))
                case "push" if len(stack) < STACK:
                    given = checked(self._state, (answer or {}).get("view"))
                    stack.append(show(self._state, view.user, given, view))
                case other:
                    self._fault(view.user, "invalid_view_response", str(other))
        except RefusalError as refusal:
            detail = f"{refusal.code} {refusal.more.get('errors', '')}"
            self._fault(view.user, "invalid_view_response", detail)

    def _errors(self, view: View, errors: Payload) -> None:
        """Errors must stand beside an input that is there."""
        known = {block["block_id"] for block in view.payload["blocks"] if block["type"] == "input"}
        if not errors or not set(errors) <= known:
            self._fault(view.user, "invalid_view_response", f"errors beside {set(errors) - known}")
        view.errors = {name: str(text) for name, text in errors.items()}

    def _fault(self, user: str, what: str, detail: str) -> None:
        self._state.faults.append(SeenFault(user, what, detail))

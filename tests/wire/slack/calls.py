"""Calls and methods of the Web API: arguments, outcome and refusals."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from tests.wire.slack.shapes import Fault

if TYPE_CHECKING:
    from tests.wire.slack.state import State

Payload = dict[str, Any]


class RefusalError(Exception):
    """Slack answers `ok: false` with this code."""

    def __init__(self, code: str, **more: object) -> None:
        super().__init__(code)
        self.code = code
        self.more = more

    @property
    def body(self) -> Payload:
        return {"ok": False, "error": self.code, **self.more}


def refusal_for(faults: list[Fault]) -> RefusalError:
    """Return Slack's reply to invalid blocks or an invalid view, with the first fault's code."""
    said = [str(fault) for fault in faults]
    messages = {"messages": [f"[ERROR] {one}" for one in said]}
    return RefusalError(faults[0].code, errors=said, response_metadata=messages)


@dataclass(slots=True)
class Call:
    """One call of the Web API; `outcome` is "ok", an error code, or the fault that was injected."""

    method: str
    arguments: Payload
    token: str | None
    at: float
    style: str  # get, form, query or json: how the arguments came
    client: tuple[str, str] | None = None  # id and secret, of HTTP's Basic authentication
    outcome: str = "under way"
    response: Payload = field(default_factory=dict)

    def text(self, name: str) -> str | None:
        """Return an argument as a string; None if it is empty."""
        value = self.arguments.get(name)
        return None if value is None or value == "" else str(value)

    def required(self, name: str, code: str = "invalid_arguments") -> str:
        value = self.text(name)
        if value is None:
            missing = {"messages": [f"[ERROR] missing required field: {name}"]}
            raise RefusalError(code, response_metadata=missing)
        return value

    def flag(self, name: str, usual: bool = False) -> bool:
        """Return a boolean sent as 1, 0, true or false."""
        value = self.text(name)
        return usual if value is None else value.lower() in {"true", "1"}

    def number(self, name: str, usual: int) -> int:
        value = self.text(name)
        if value is None:
            return usual
        if not value.lstrip("-").isdigit():
            raise RefusalError("invalid_arguments")
        return int(value)

    def value(self, name: str, code: str = "invalid_arguments") -> object:
        """Return structured JSON, whether it was sent as such or in a string."""
        value = self.arguments.get(name)
        if not isinstance(value, str):
            return value
        if not value:
            return None
        try:
            return json.loads(value)
        except ValueError:
            raise RefusalError(code) from None


@dataclass(frozen=True, slots=True)
class Method:
    """One method; `token` None asks for no token, `takes_json` False reads no JSON body."""

    do: "Callable[[State, Call], Payload]"
    scopes: tuple[str, ...] = ()
    token: Literal["bot", "app", "any"] | None = "bot"
    takes_json: bool = True

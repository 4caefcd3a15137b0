"""A method of the Web API: its function, its scopes, and the tokens it accepts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from tests.wire.slack.calls import Call
from tests.wire.slack.state import State

Payload = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Method:
    """One method; `token` None asks for no token, `takes_json` False reads no JSON body."""

    do: Callable[[State, Call], Payload]
    scopes: tuple[str, ...] = ()
    token: Literal["bot", "app", "config", "any"] | None = "bot"
    takes_json: bool = True

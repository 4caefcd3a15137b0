"""A scripted model server that speaks OpenAI's chat protocol on loopback.

In process: `async with ModelServer() as server`, then `server.api_base`. As a process of its own:
`python -m tests.wire.models --latency 0.5` prints {"api_base": …} and ends when stdin closes.
"""

from tests.wire.models.behaviours import (
    answer,
    as_shown,
    by_role,
    content_filter,
    cut,
    drop,
    empty,
    fail,
    fences,
    hang,
    in_turn,
    judge,
    no_such_model,
    overflow,
    reasoning_only,
    rejects_schema,
    rejects_temperature,
    truncate_stream,
    wrong_key,
)
from tests.wire.models.says import Behaviour, Drop, Fail, Hang, Outcome, Request, Say
from tests.wire.models.server import ModelServer

__all__ = [
    "Behaviour",
    "Drop",
    "Fail",
    "Hang",
    "ModelServer",
    "Outcome",
    "Request",
    "Say",
    "answer",
    "as_shown",
    "by_role",
    "content_filter",
    "cut",
    "drop",
    "empty",
    "fail",
    "fences",
    "hang",
    "in_turn",
    "judge",
    "no_such_model",
    "overflow",
    "reasoning_only",
    "rejects_schema",
    "rejects_temperature",
    "truncate_stream",
    "wrong_key",
]

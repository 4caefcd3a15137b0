"""An HTTP client that asks with the form and reads the events of a round."""

import asyncio
import json
import re
from dataclasses import dataclass
from itertools import pairwise

import httpx

_FIELD = re.compile(r'name="(token|round)" value="([^"]*)"')


@dataclass(frozen=True, slots=True)
class ReceivedEvents:
    """A summary of one stream; `at` is the event loop's time at its end."""

    states: int
    closed: bool
    in_order: bool
    at: float


async def open_stream(client: httpx.AsyncClient, question: str, panel: str = "") -> str:
    """Ask with the form of the front page and return the path of the round's page."""
    fields = dict(_FIELD.findall((await client.get("/")).text))
    form = {**fields, "question": question, "panel": panel}
    answer = await client.post("/ask", data=form)
    assert answer.status_code == httpx.codes.SEE_OTHER, answer.text
    return answer.headers["location"]


async def read_events(client: httpx.AsyncClient, path: str) -> ReceivedEvents:
    """Read the events of a round until the stream ends."""
    async with client.stream("GET", f"{path}/events") as stream:
        lines = [line async for line in stream.aiter_lines() if line.startswith('data: {"closed"')]
    states = [json.loads(line.removeprefix("data: ")) for line in lines]
    times = [float(state["seconds"] or 0) for state in states]  # null before the first call
    return ReceivedEvents(
        len(states),
        bool(states and states[-1]["closed"]),
        all(one <= next_ for one, next_ in pairwise(times)),
        asyncio.get_running_loop().time(),
    )

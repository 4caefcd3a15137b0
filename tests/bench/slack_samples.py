"""Samples of all messages and modals, and their validation by Slack's `blocks.validate`.

`python -m tests.bench.slack_samples` sends them to Slack; this needs no token.
"""

import asyncio
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.bakeoffs.commands.forms import (
    ADD_TO_SUITE,
    addition_form,
    schedule_form,
    suite_form,
)
from bot.bakeoffs.render.schedules import NEW_SCHEDULE
from bot.bakeoffs.render.suites import NEW_SUITE
from bot.chat import Asker, Button, Buttons, IncomingMessage, Mentions, Note, Post, Table
from bot.commands.ask_form import PANEL, AskPlace, new_ask_form
from bot.render.lists import NEW
from bot.render.round_report.answers import answers_by_label
from bot.render.round_report.rankings import rankings_post
from bot.render.round_status import progress_post
from bot.settings import load_settings
from bot.slack import modals
from bot.slack.block_kit import render_ephemeral, render_message
from bot.slack.client import RefusedError, call_api, open_client
from bot.slack.modals import ModalState, View
from bot.slack.threads import offer_post
from bot.slack.workspace import CHAT
from council.answers import Absence, Answer, Prompt, Reply, Role
from council.ballots import Ballot
from council.panel import Member, ModelId, Panel
from council.people import ThreadReading
from council.places import Place
from council.prompts.shared import DEFAULT_RUBRIC
from council.round_rules import compute_draw, compute_tally
from council.rounds import Closing, Question, Round, Synthesis
from tests.bot.rounds import round_thread

_PROSE = """Yes, **for most teams**: see [the docs](https://www.postgresql.org/docs/) & `SKIP`.

## What it takes

1. one table, one index
2. `SELECT … FOR UPDATE SKIP LOCKED`
   - batches of 100

| load | enough? |
|:--|--:|
| 1,000 a second | yes |
| 50,000 a second | no |

```sql
SELECT id FROM jobs WHERE state = 'new' FOR UPDATE SKIP LOCKED LIMIT 1;
```

> Measure before you decide. ~~Never~~ *rarely* <!channel> @here
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """A payload for `blocks.validate`; `kind` is "message" or "view"."""

    name: str
    kind: str
    payload: str


def samples() -> Iterator[Sample]:
    """Yield every kind of message, also as an ephemeral one, and every modal."""
    closed = _closed_round()
    for name, post in _posts(closed):
        yield Sample(name, "message", json.dumps(render_message(post)))
        yield Sample(f"{name}, ephemeral", "message", json.dumps(render_ephemeral(post)))
    for name, view in _modals(closed):
        yield Sample(f"the modal of {name}", "view", json.dumps(view))


async def find_faults(client: AsyncWebClient, sample: Sample) -> list[str]:
    """Return what Slack would refuse in a sample, and where; this needs no token."""
    try:
        reply = await call_api(partial(_validate, client, sample), 120.0)
    except RefusedError as error:
        return [error.code]
    errors = reply.get("errors") or ()
    return [f"{error.get('pointer') or '/'}: {error.get('message')}" for error in errors]


async def _validate(client: AsyncWebClient, sample: Sample) -> AsyncSlackResponse:
    """Call `blocks.validate`; a refusal that lists errors is a reply too."""
    try:
        return await client.api_call("blocks.validate", json={sample.kind: sample.payload})
    except SlackApiError as error:
        reply = error.response
        if isinstance(reply, AsyncSlackResponse) and reply.get("errors"):
            return reply
        raise


def _posts(closed: Round) -> Iterator[tuple[str, Post]]:
    yield "a round that begins", progress_post(_asked_round(), 0.0)
    yield "a round under way", progress_post(replace(closed, tally=None, synthesis=None), 12.0)
    yield "an answer being written", progress_post(replace(closed, synthesis=None), 20.0, _PROSE)
    thread = round_thread(closed)
    yield "an answer", thread.root
    for reply in thread.replies:
        yield f"its thread, {reply.summary}", reply
    failed = replace(_asked_round(), closing=Closing(60.0, "Only one of four members answered."))
    yield "a round that failed", round_thread(failed).root
    read = IncomingMessage("Which?", Asker("U1", "ada"), Place("slack"), "k", _PROSE)
    read = replace(read, reading=ThreadReading(3, 1))
    offer = offer_post(read, closed.panel, "1.2|1.1|abc")
    yield "a thread to send along", offer
    rows = tuple((f"Model {number}", str(number)) for number in range(3))
    yield "a table to sort", Post((Table(("Model", "Rounds"), rows, frozenset({1})),), "A table")
    options = tuple(Button(name, name, closed.id) for name in ("again", "forget"))
    note = Note("Type `/council help` for **all** commands.")
    parts = (note, Mentions(("U1",)), Buttons(options, more=options))
    yield "a menu, styled words and a mention", Post(parts, "A menu")


def _modals(closed: Round) -> Iterator[tuple[str, View]]:
    panels = {closed.panel.name: closed.panel}
    here = IncomingMessage(_PROSE, Asker("U1", "Ada"), closed.question.place, "k", context=_PROSE)
    nowhere = replace(here, place=replace(here.place, channel="", thread=None))
    for name, message in (("a question in a thread", here), ("a question from anywhere", nowhere)):
        at = AskPlace("Everybody", has_private_answers=True, asks_channel=message is nowhere)
        form = new_ask_form(message, at, panels, {PANEL: closed.panel.name})
        yield name, modals.ask_view(form, message)
    yield "why it was not helpful", modals.reason_view(closed.id, here)
    for names in ((), ("sql", "maths")):
        form_view = modals.form_view(addition_form(names), ADD_TO_SUITE, closed.id, here)
        yield f"a suite to choose, of {len(names)}", form_view
    yield "a new suite", modals.form_view(suite_form(), NEW_SUITE, NEW, here)
    scheduled = schedule_form(("sql",), [f"panel{n}" for n in range(101)], "panel100")
    yield "a new schedule", modals.form_view(scheduled, NEW_SCHEDULE, NEW, here)
    if closed.draw:
        posts_by_kind = {
            "ballots": [rankings_post(closed, closed.draw)],
            "answers": [post for _, post in answers_by_label(closed, closed.draw)]
            * 5,  # so that there are pages
        }
        for what, posts in posts_by_kind.items():
            for page in range(len(modals.modal_pages(posts))):
                view = modals.page_view(
                    ModalState(what, closed.id, "C1", page), posts, what.title()
                )
                yield f"{what}, page {page + 1}", view


def _asked_round() -> Round:
    names = ("North", "South", "East", "West")
    seats = tuple(Member(name.lower(), ModelId("scripted/x"), name, name) for name in names)
    panel = Panel("house", seats, DEFAULT_RUBRIC)
    place = Place(CHAT, "T1", "C1", "1.1")
    question = Question("Is Postgres enough for a job queue?", "U1", place=place)
    return Round("0a1b2c", question, panel, "seed", datetime(2026, 1, 1, tzinfo=UTC))


def _closed_round() -> Round:
    round_ = _asked_round()
    *answering, absent = round_.panel.members
    for seat in answering:
        reply = Reply(_PROSE, cost_usd=0.01, seconds=4.0)
        round_ = round_.with_(Answer(seat.key, Prompt("", ""), reply))
    round_ = round_.with_(Absence(absent.key, Role.ANSWER, "did not answer in 60 s"))
    draw = compute_draw(round_)
    round_ = round_.with_(draw)
    for slate in draw.slates:
        ranking = tuple((label,) for label in sorted(slate.shown))
        round_ = round_.with_(Ballot(slate.judge, slate.shown, ranking, "It is right, & short."))
    round_ = round_.with_(compute_tally(round_, draw))
    drawn_on = draw.labels.labels[:2]
    round_ = round_.with_(Synthesis(_PROSE, answering[0].key, drawn_on=drawn_on))
    return round_.with_(Closing(21.4))


async def main(api_url: str) -> bool:
    """Print what Slack would refuse; return whether it would take every sample."""
    are_valid = True
    async with open_client(api_url) as client:
        for sample in samples():
            faults = await find_faults(client, sample)
            print(f"{'FAIL' if faults else 'ok  '} {sample.name}", *faults, sep="\n     ")
            are_valid = are_valid and not faults
    return are_valid


if __name__ == "__main__":
    sys.exit(not asyncio.run(main(load_settings().url("SLACK_API_URL", "https://slack.com/api/"))))

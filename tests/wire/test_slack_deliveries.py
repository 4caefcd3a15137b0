"""The fake Slack as slack_bolt's AsyncApp meets it, over Socket Mode and over signed HTTP."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import ClientSession, web
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.web.async_client import AsyncWebClient

from tests.wire.slack import BOT, FakeSlack, Rates, Rules

Payload = dict[str, Any]
Ack = Callable[..., Awaitable[None]]
Start = Callable[[FakeSlack], Awaitable[AsyncApp]]

RULES = Rules(ack_seconds=0.3, retry_delays=(0.0, 0.02, 0.04), rates=Rates(off=True))
BUTTONS = [
    {
        "type": "actions",
        "elements": [
            {
                "type": "button",
                "action_id": "inspect",
                "value": "round-1",
                "text": {"type": "plain_text", "text": "Inspect"},
            }
        ],
    }
]
FORM = {
    "type": "modal",
    "callback_id": "why",
    "title": {"type": "plain_text", "text": "Why?"},
    "submit": {"type": "plain_text", "text": "Send"},
    "blocks": [
        {
            "type": "input",
            "block_id": "reason",
            "label": {"type": "plain_text", "text": "Reason"},
            "element": {"type": "plain_text_input", "action_id": "text", "max_length": 20},
        }
    ],
}


def _app(slack: FakeSlack) -> AsyncApp:
    logging.getLogger("slack_bolt").setLevel(logging.CRITICAL)
    client = AsyncWebClient(slack.state.app.bot_token, base_url=slack.api_url)
    return AsyncApp(client=client, signing_secret=slack.state.app.signing_secret)


@asynccontextmanager
async def _linked(slack: FakeSlack, app: AsyncApp) -> AsyncIterator[None]:
    handler = AsyncSocketModeHandler(
        app, slack.state.app.app_token, web_client=app.client, ping_interval=0.1
    )
    # Bolt leaves these two untyped.
    await handler.connect_async()  # type: ignore[no-untyped-call]
    try:
        await slack.connected()
        yield
    finally:
        await handler.close_async()  # type: ignore[no-untyped-call]


@asynccontextmanager
async def _listening(slack: FakeSlack, app: AsyncApp) -> AsyncIterator[None]:
    runner = web.AppRunner(app.server(path="/slack/events").web_app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    slack.request_url.address = f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    try:
        yield
    finally:
        await runner.cleanup()


def running(slack: FakeSlack, app: AsyncApp) -> AbstractAsyncContextManager[None]:
    """Run an app on the transport of this Slack."""
    over_socket = slack.transport is slack.links
    return _linked(slack, app) if over_socket else _listening(slack, app)


@pytest.fixture(params=["socket", "http"])
async def slack(request: pytest.FixtureRequest) -> AsyncIterator[FakeSlack]:
    async with FakeSlack(request.param, RULES) as slack:
        yield slack


@pytest.fixture
async def app(slack: FakeSlack) -> AsyncIterator[AsyncApp]:
    app = _app(slack)
    async with running(slack, app):
        yield app


async def test_a_command_is_answered_to_its_author_alone(slack: FakeSlack, app: AsyncApp) -> None:
    @app.command("/council")
    async def council(ack: Ack, command: Payload) -> None:
        await ack(f"Asking: {command['text']}")

    deed = await slack.command("U1", "C1", "/council", "Why?")

    assert deed.accepted
    assert [message.text for message in slack.ephemerals("U1")] == ["Asking: Why?"]
    assert deed.message is slack.ephemerals("U1")[0]
    assert slack.messages("C1") == []


async def test_a_command_may_be_answered_in_the_channel(slack: FakeSlack, app: AsyncApp) -> None:
    @app.command("/council")
    async def council(ack: Ack) -> None:
        await ack(text="All of you: hello", response_type="in_channel")

    await slack.command("U1", "C1", "/council")

    assert [message.text for message in slack.messages("C1")] == ["All of you: hello"]


async def test_a_late_acknowledgement_is_a_fault_people_see(
    slack: FakeSlack, app: AsyncApp
) -> None:
    @app.command("/council")
    async def council(ack: Ack) -> None:
        await asyncio.sleep(0.4)
        await ack()

    deed = await slack.command("U1", "C1", "/council", "Why?")

    assert deed.timed_out
    assert [fault.what for fault in slack.faults] == ["operation_timeout"]


async def test_a_mention_is_heard_and_answered_in_its_thread(
    slack: FakeSlack, app: AsyncApp
) -> None:
    @app.event("app_mention")
    async def mentioned(event: Payload, client: AsyncWebClient) -> None:
        await client.chat_postMessage(channel=event["channel"], thread_ts=event["ts"], text="Here.")

    event = await slack.mention("U1", "C1", f"<@{BOT}> why?")

    assert event.accepted
    assert event.message
    root = event.message.ts
    await slack.until(lambda: slack.thread("C1", root))
    assert [message.text for message in slack.thread("C1", root)] == ["Here."]


async def test_an_event_nobody_takes_comes_three_times_more(
    slack: FakeSlack, app: AsyncApp
) -> None:
    tried: list[tuple[str, str]] = []

    @app.middleware
    async def broken(request: AsyncBoltRequest) -> None:
        number = request.headers.get("x-slack-retry-num", ["0"])[0]
        tried.append((request.body["event_id"], number))
        await asyncio.sleep(0.35)

    event = await slack.direct_message("U1", "Why?")
    await slack.until(lambda: len(event.acknowledgements) == 4)

    assert not event.accepted
    assert [number for _, number in tried] == ["0", "1", "2", "3"]
    assert len({id_ for id_, _ in tried}) == 1


async def test_an_event_can_be_delivered_again(slack: FakeSlack, app: AsyncApp) -> None:
    heard: list[str] = []

    @app.event("message")
    async def said(body: Payload) -> None:
        heard.append(body["event_id"])

    event = await slack.direct_message("U1", "Why?")
    again = await slack.deliver_again(event)
    await slack.until(lambda: len(heard) == 2)

    assert again.accepted
    assert heard[0] == heard[1]


async def test_a_click_opens_a_form_and_the_form_can_be_refused(
    slack: FakeSlack, app: AsyncApp
) -> None:
    @app.action("inspect")
    async def inspect(ack: Ack, body: Payload, client: AsyncWebClient) -> None:
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=FORM)

    @app.view("why")
    async def why(ack: Ack, view: Payload) -> None:
        text = view["state"]["values"]["reason"]["text"]["value"]
        await (
            ack() if text == "because" else ack(response_action="errors", errors={"reason": "?"})
        )

    await app.client.chat_postMessage(channel="C1", text="Round 1", blocks=BUTTONS)
    message = slack.messages("C1")[0]
    await slack.click(message, "inspect", "U2")
    await slack.until(lambda: slack.views("U2"))
    view = slack.views("U2")[0]

    await slack.submit(view, {"reason": "so"}, "U2")
    assert view.errors == {"reason": "?"}
    assert slack.views("U2") == [view]

    await slack.submit(view, {"reason": "because"}, "U2")
    assert slack.views("U2") == []


async def test_a_response_url_is_good_five_times(slack: FakeSlack, app: AsyncApp) -> None:
    answers: list[int] = []

    @app.command("/council")
    async def council(ack: Ack, respond: AsyncRespond) -> None:
        await ack()
        answers.extend([(await respond(f"{number}")).status_code for number in range(6)])

    await slack.command("U1", "C2", "/council")
    await slack.until(lambda: len(answers) == 6)

    assert answers == [200] * 5 + [404]
    assert slack.called("response_url")[-1].outcome == "used_url"
    assert [message.text for message in slack.ephemerals("U1")] == ["0", "1", "2", "3", "4"]


async def test_a_click_can_replace_and_delete_what_was_clicked(
    slack: FakeSlack, app: AsyncApp
) -> None:
    @app.action("inspect")
    async def inspect(ack: Ack, respond: AsyncRespond) -> None:
        await ack()
        await respond(text="Replaced", blocks=BUTTONS, replace_original=True)
        await respond(delete_original=True)

    await app.client.chat_postEphemeral(channel="C1", user="U1", text="Hidden", blocks=BUTTONS)
    message = slack.ephemerals("U1")[0]
    await slack.click(message, "inspect", "U1")
    await slack.until(lambda: not slack.ephemerals("U1"))

    assert message.text == "Replaced"


async def test_shortcuts_carry_their_message(slack: FakeSlack, app: AsyncApp) -> None:
    seen: list[str] = []

    @app.shortcut("ask")
    async def ask(ack: Ack, body: Payload) -> None:
        await ack()
        seen.append(body.get("message", {}).get("text", "none"))

    message = slack.says("U2", "C1", "Why is the sky blue?")
    await slack.shortcut("U1", "ask", message)
    await slack.shortcut("U1", "ask")

    assert seen == ["Why is the sky blue?", "none"]


async def test_the_home_tab_is_published_when_it_is_opened(slack: FakeSlack, app: AsyncApp) -> None:
    @app.event("app_home_opened")
    async def opened(event: Payload, client: AsyncWebClient) -> None:
        view = {"type": "home", "blocks": [{"type": "divider"}]}
        await client.views_publish(user_id=event["user"], view=view)

    await slack.opens_home("U1")
    await slack.until(lambda: slack.home("U1"))

    home = slack.home("U1")
    assert home
    assert home.payload["blocks"][0]["type"] == "divider"


async def test_the_app_hears_its_own_direct_messages(slack: FakeSlack, app: AsyncApp) -> None:
    answer = await app.client.chat_postMessage(channel="U1", text="psst")
    await app.client.chat_update(channel=answer["channel"], ts=answer["ts"], text="Psst!")
    await slack.until(lambda: len(slack.delivered) == 2)

    posted, changed = (parcel.payload["event"] for parcel in slack.delivered)
    assert posted["bot_id"] == "B0BOT"
    assert changed["subtype"] == "message_changed"


async def test_an_app_that_listens_nowhere_is_a_failed_dispatch() -> None:
    async with FakeSlack("socket", RULES) as slack:
        deed = await slack.command("U1", "C1", "/council")

    assert not deed.accepted
    assert [fault.what for fault in slack.faults] == ["dispatch_failed"]


async def test_a_stranger_is_known_by_their_team(slack: FakeSlack, app: AsyncApp) -> None:
    heard: list[Payload] = []

    @app.event("app_mention")
    async def mentioned(body: Payload) -> None:
        heard.append(body)

    await slack.mention("USTRANGER", "C4", f"<@{BOT}> hello")
    await slack.until(lambda: heard)

    assert heard[0]["is_ext_shared_channel"]
    assert heard[0]["event"]["user_team"] == "T0AWAY"


async def test_a_mention_where_the_bot_is_not_is_never_heard(
    slack: FakeSlack, app: AsyncApp
) -> None:
    event = await slack.mention("U1", "C2", f"<@{BOT}> hello")

    assert event.acknowledgements == []


@pytest.mark.parametrize("secret", ["right", "wrong"])
async def test_only_slacks_own_signature_is_believed(secret: str) -> None:
    async with FakeSlack("http", RULES) as slack:
        app = _app(slack)
        if secret == "wrong":
            slack.request_url.secret = "another"

        async with running(slack, app):
            verified = await slack.request_url.verify()
            slack.request_url.skew_seconds = 600
            stale = await slack.request_url.verify()

    assert verified is (secret == "right")
    assert not stale


@pytest.mark.parametrize("reason", ["refresh_requested", "link_disabled", "cut"])
async def test_a_lost_link_is_opened_anew(reason: str) -> None:
    async with FakeSlack("socket", RULES) as slack:
        app = _app(slack)

        @app.command("/council")
        async def council(ack: Ack) -> None:
            await ack("Here.")

        async with running(slack, app):
            if reason == "cut":
                slack.links.cut()
            else:
                await slack.links.say_disconnect(reason)
            await slack.until(lambda: slack.links.opened >= 2 and slack.links.open)
            deed = await slack.command("U1", "C1", "/council")

    assert deed.accepted


async def test_several_links_are_served_in_turn() -> None:
    async with FakeSlack("socket", RULES) as slack:
        first, second = _app(slack), _app(slack)
        answered: list[int] = []

        @first.command("/council")
        async def council(ack: Ack) -> None:
            answered.append(1)
            await ack()

        @second.command("/council")
        async def council_too(ack: Ack) -> None:
            answered.append(2)
            await ack()

        async with running(slack, first), running(slack, second):
            await slack.connected(2)
            for _ in range(4):
                await slack.command("U1", "C1", "/council")

    assert sorted(answered) == [1, 1, 2, 2]


async def test_there_are_no_more_links_than_allowed() -> None:
    async with FakeSlack("socket", replace(RULES, links=1)) as slack:
        one, two = _app(slack), _app(slack)
        async with running(slack, one):
            asked = await two.client.apps_connections_open(app_token=slack.state.app.app_token)
            async with ClientSession() as session, session.ws_connect(asked["url"]) as link:
                said = await link.receive_json()
            kept = len(slack.links.open)

    assert said["reason"] == "too_many_websockets"
    assert kept == 1


async def test_an_answer_slack_cannot_show_is_a_fault_people_see(
    slack: FakeSlack, app: AsyncApp
) -> None:
    @app.command("/council")
    async def council(ack: Ack) -> None:
        await ack(text="x", blocks=[{"type": "poll"}])

    @app.view("why")
    async def why(ack: Ack) -> None:
        await ack(response_action="errors", errors={"nowhere": "?"})

    deed = await slack.command("U1", "C1", "/council")
    await app.client.views_open(trigger_id=deed.sent["trigger_id"], view=FORM)
    await slack.submit(slack.views("U1")[0], {"text": "so"}, "U1")

    whats = [fault.what for fault in slack.faults]
    assert whats == ["invalid_command_response", "invalid_view_response"]


async def test_a_modal_tells_of_its_closing_when_asked_to(slack: FakeSlack, app: AsyncApp) -> None:
    closed: list[str] = []

    @app.view_closed("why")
    async def why(ack: Ack, view: Payload) -> None:
        await ack()
        closed.append(view["id"])

    trigger = slack.state.trigger("U1")
    await app.client.views_open(trigger_id=trigger, view={**FORM, "notify_on_close": True})
    view = slack.views("U1")[0]
    await slack.closes(view)

    assert closed == [view.id]
    assert slack.views("U1") == []


async def test_a_response_url_is_good_for_half_an_hour() -> None:
    now = [1_700_000_000.0]
    async with FakeSlack(rules=replace(RULES, now=lambda: now[0])) as slack:
        deed = await slack.command("U1", "C1", "/council")
        now[0] += 30 * 60 + 1
        async with (
            ClientSession() as session,
            session.post(deed.sent["response_url"], json={"text": "Late"}) as answer,
        ):
            said = await answer.json()

    assert (answer.status, said["error"]) == (404, "expired_url")

"""The fake Slack refuses what Slack refuses; what it grants, the tests of the product use."""

import json
from collections.abc import AsyncIterator, Awaitable
from typing import Any

import pytest
from aiohttp import ClientSession, web
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from tests.wire.slack import BOT, FakeSlack, Installation, Rates, Rules
from tests.wire.slack.server import RESPONSE_URL

Payload = dict[str, Any]

DIVIDER = {"type": "divider"}
POLL = json.dumps([{"type": "poll"}])
FORM: Payload = {
    "type": "modal",
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


class Clock:
    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def slack(clock: Clock) -> AsyncIterator[FakeSlack]:
    async with FakeSlack("http", Rules(now=clock, retry_delays=(0.0, 0.0, 0.0))) as slack:
        yield slack


@pytest.fixture
def client(slack: FakeSlack) -> AsyncWebClient:
    return client_of(slack, slack.state.app.bot_token)


def client_of(slack: FakeSlack, token: str | None) -> AsyncWebClient:
    return AsyncWebClient(token, base_url=slack.api_url, retry_handlers=[])


async def refused(call: Awaitable[AsyncSlackResponse]) -> Payload:
    """Return Slack's reply to a call it refuses."""
    with pytest.raises(SlackApiError) as refusal:
        await call
    answer = refusal.value.response.data
    assert isinstance(answer, dict)
    return answer


async def code(call: Awaitable[AsyncSlackResponse]) -> str:
    return str((await refused(call))["error"])


async def posted(client: AsyncWebClient, text: str = "Hello", **more: object) -> str:
    asked = {"channel": "C1", "text": text, **more}
    return str((await client.api_call("chat.postMessage", json=asked))["ts"])


@pytest.mark.parametrize(
    ("method", "arguments", "error"),
    [
        ("chat.shout", {}, "unknown_method"),
        ("chat.postMessage", {"channel": "C9", "text": "x"}, "channel_not_found"),
        ("chat.postMessage", {"channel": "C2", "text": "x"}, "not_in_channel"),
        ("chat.postMessage", {"channel": "C3", "text": "x"}, "is_archived"),
        ("chat.postMessage", {"channel": "G2", "text": "x"}, "channel_not_found"),
        ("chat.postMessage", {"channel": "C1"}, "no_text"),
        ("chat.postMessage", {"channel": "C1", "blocks": POLL}, "invalid_blocks"),
        ("chat.postMessage", {"channel": "C1", "blocks": "{}"}, "no_text"),
        ("chat.postMessage", {"channel": "C1", "blocks": "["}, "invalid_blocks_format"),
        (
            "chat.postMessage",
            {"channel": "C1", "text": "x", "metadata": '{"event_type": "r"}'},
            "invalid_metadata_format",
        ),
        (
            "chat.postMessage",
            {"channel": "C1", "text": "x", "thread_ts": "1.1"},
            "thread_not_found",
        ),
        ("chat.update", {"channel": "C1", "ts": "1.1", "text": "x"}, "message_not_found"),
        (
            "chat.postEphemeral",
            {"channel": "G1", "user": "UGUEST", "text": "x"},
            "user_not_in_channel",
        ),
        ("conversations.info", {"channel": "G2"}, "channel_not_found"),
        ("conversations.history", {"channel": "C2"}, "not_in_channel"),
        ("conversations.history", {"channel": "C1", "limit": 0}, "invalid_limit"),
        ("conversations.replies", {"channel": "C1", "ts": "1.1"}, "thread_not_found"),
        ("conversations.open", {}, "users_list_not_supplied"),
        ("conversations.open", {"users": "UGONE"}, "user_disabled"),
        ("conversations.open", {"users": "UOTHERBOT"}, "cannot_dm_bot"),
        ("users.conversations", {"types": "all"}, "invalid_types"),
        ("users.info", {"user": "U9"}, "user_not_found"),
        ("views.open", {"trigger_id": "1", "view": json.dumps(FORM)}, "invalid_trigger_id"),
        ("views.open", {"trigger_id": "1", "view": '{"type": "modal"}'}, "invalid_arguments"),
        ("views.update", {"view_id": "V0", "view": json.dumps(FORM)}, "not_found"),
        ("files.getUploadURLExternal", {"filename": "a", "length": 0}, "invalid_arguments"),
        ("files.completeUploadExternal", {"files": '[{"id": "F9"}]'}, "file_not_found"),
        ("blocks.validate", {}, "invalid_arguments"),
        ("blocks.validate", {"view": '{"type": "modal"}'}, "invalid_blocks"),
    ],
)
async def test_slack_refuses(
    client: AsyncWebClient, method: str, arguments: Payload, error: str
) -> None:
    assert await code(client.api_call(method, data=arguments)) == error


async def test_a_call_needs_a_live_token_of_the_right_kind(
    slack: FakeSlack, client: AsyncWebClient
) -> None:
    app = slack.state.app
    assert await code(client_of(slack, None).auth_test()) == "not_authed"
    assert await code(client_of(slack, "xoxb-other").auth_test()) == "invalid_auth"
    no_post = client_of(slack, app.app_token).chat_postMessage(channel="C1", text="x")
    assert await code(no_post) == "not_allowed_token_type"
    no_link = client.apps_connections_open(app_token=app.bot_token)
    assert await code(no_link) == "not_allowed_token_type"
    await slack.revokes()
    assert await code(client.auth_test()) == "token_revoked"
    await slack.uninstalls()
    assert await code(client.auth_test()) == "account_inactive"


async def test_a_missing_scope_is_named() -> None:
    async with FakeSlack(app=Installation(scopes=("commands", "channels:read"))) as slack:
        client = client_of(slack, slack.state.app.bot_token)
        answer = await refused(client.chat_postMessage(channel="C1", text="x"))
        private = await refused(client.conversations_info(channel="G1"))

    assert answer["error"] == "missing_scope"
    assert (answer["needed"], answer["provided"]) == ("chat:write", "commands,channels:read")
    assert private["needed"] == "groups:read"


async def test_a_method_that_reads_no_json_refuses_it(client: AsyncWebClient) -> None:
    asked = client.api_call("conversations.info", json={"channel": "C1"})

    assert await code(asked) == "invalid_arguments"


async def test_faulty_blocks_are_refused_in_slacks_shape(client: AsyncWebClient) -> None:
    answer = await refused(client.chat_postMessage(channel="C1", text="x", blocks=POLL))

    reason = "unsupported type: poll [json-pointer:/blocks/0/type]"
    assert answer["errors"] == [reason]
    assert answer["response_metadata"]["messages"] == [f"[ERROR] {reason}"]


async def test_a_long_post_is_cut_and_a_long_or_late_update_refused(clock: Clock) -> None:
    async with FakeSlack(rules=Rules(now=clock, edit_window_seconds=60)) as slack:
        client = client_of(slack, slack.state.app.bot_token)
        ts = await posted(client, "x" * 40_001)
        assert len(slack.messages("C1")[0].text) == 40_000
        await client.chat_update(channel="C1", ts=ts, text="x" * 4_000)
        too_long = client.chat_update(channel="C1", ts=ts, text="x" * 4_001)
        assert await code(too_long) == "msg_too_long"
        clock.now += 61
        assert await code(client.chat_update(channel="C1", ts=ts, text="x")) == "edit_window_closed"


async def test_a_text_alone_takes_the_blocks_away(slack: FakeSlack, client: AsyncWebClient) -> None:
    ts = await posted(client, blocks=[DIVIDER])
    await client.chat_update(channel="C1", ts=ts, text="Only text", parse="none")

    message = slack.messages("C1")[0]
    assert (message.text, message.blocks, message.edits) == ("Only text", [], 1)


async def test_only_own_messages_are_changed_and_only_roots_replied_to(
    slack: FakeSlack, client: AsyncWebClient
) -> None:
    theirs = slack.says("U1", "C1", "Mine").ts
    reply = await posted(client, thread_ts=theirs)

    changed = client.chat_update(channel="C1", ts=theirs, text="x")
    assert await code(changed) == "cant_update_message"
    nested = client.chat_postMessage(channel="C1", text="x", thread_ts=reply)
    assert await code(nested) == "cannot_reply_to_message"


async def test_a_thread_is_read_in_pages_with_metadata_only_when_asked_for(
    client: AsyncWebClient,
) -> None:
    metadata = {"event_type": "council_round", "event_payload": {"round_id": "r1"}}
    root = await posted(client, "0", metadata=metadata)
    for number in range(1, 4):
        await posted(client, f"{number}", thread_ts=root)

    first = await client.conversations_replies(channel="C1", ts=root, limit=3)
    cursor = first["response_metadata"]["next_cursor"]
    rest = await client.conversations_replies(channel="C1", ts=root, limit=3, cursor=cursor)
    whole = await client.conversations_replies(channel="C1", ts=root, include_all_metadata=True)

    assert [message["text"] for message in first["messages"]] == ["0", "1", "2"]
    assert [message["text"] for message in rest["messages"]] == ["3"]
    assert "metadata" not in first["messages"][0]
    assert whole["messages"][0]["metadata"] == metadata


async def test_a_file_must_be_as_long_as_announced(
    slack: FakeSlack, client: AsyncWebClient
) -> None:
    place = await client.files_getUploadURLExternal(filename="a.md", length=8)
    async with (
        ClientSession() as session,
        session.post(place["upload_url"], data=b"short") as upload,
    ):
        assert upload.status == 400

    unfinished = client.files_completeUploadExternal(files=[{"id": place["file_id"]}])
    assert await code(unfinished) == "file_not_found"


async def test_a_trigger_opens_one_view_within_three_seconds(
    slack: FakeSlack, client: AsyncWebClient, clock: Clock
) -> None:
    used, late = slack.state.trigger("U1"), slack.state.trigger("U1")
    view = (await client.views_open(trigger_id=used, view=FORM))["view"]
    clock.now += 3.1

    assert await code(client.views_open(trigger_id=used, view=FORM)) == "exchanged_trigger_id"
    assert await code(client.views_open(trigger_id=late, view=FORM)) == "expired_trigger_id"
    changed = {"view_id": view["id"], "hash": view["hash"], "view": FORM}
    await client.views_update(**changed)
    assert await code(client.views_update(**changed)) == "hash_conflict"


async def test_calls_are_limited_by_channel_and_by_tier(clock: Clock) -> None:
    async with FakeSlack(rules=Rules(now=clock, rates=Rates(post_burst=2))) as slack:
        client = client_of(slack, slack.state.app.bot_token)
        for _ in range(2):
            await posted(client)
        with pytest.raises(SlackApiError) as refusal:
            await posted(client)
        await client.chat_postMessage(channel="C4", text="Another channel")
        for _ in range(50):
            await client.conversations_info(channel="C1")
        assert await code(client.conversations_info(channel="C1")) == "ratelimited"
        clock.now += 1.2
        await posted(client)
        await client.conversations_info(channel="C1")

    response = refusal.value.response
    assert (response.status_code, response["error"]) == (429, "ratelimited")
    assert response.headers["Retry-After"] == "1"


async def test_nobody_does_what_slacks_client_prevents(
    slack: FakeSlack, client: AsyncWebClient
) -> None:
    await posted(client, blocks=[DIVIDER])
    with pytest.raises(AssertionError, match="nobody can click"):
        await slack.click(slack.messages("C1")[0], "inspect", "U1")
    with pytest.raises(AssertionError, match="is not in"):
        await slack.command("UGUEST", "G1", "/council")
    await client.views_open(trigger_id=slack.state.trigger("U1"), view=FORM)
    with pytest.raises(AssertionError, match="takes 0 to 20 characters"):
        await slack.submit(slack.views("U1")[0], {"reason": "x" * 21}, "U1")


class App:
    """An app at a request URL that gives one answer to everything."""

    def __init__(self) -> None:
        self.status = 200
        self.answer: Payload = {}
        self.attempts: list[str] = []

    async def serve(self, request: web.Request) -> web.Response:
        await request.read()
        self.attempts.append(request.headers.get("X-Slack-Retry-Num", "0"))
        return web.json_response(self.answer, status=self.status)


@pytest.fixture
async def app(slack: FakeSlack) -> AsyncIterator[App]:
    app = App()
    site = web.Application()
    site.router.add_post("/", app.serve)
    runner = web.AppRunner(site)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    slack.request_url.address = f"http://127.0.0.1:{runner.addresses[0][1]}/"
    yield app
    await runner.cleanup()


async def test_an_event_that_is_not_accepted_comes_three_times_more(
    slack: FakeSlack, app: App
) -> None:
    app.status = 500

    event = await slack.mention("U1", "C1", f"<@{BOT}> why?")
    await slack.until(lambda: len(event.acknowledgements) == 4)

    assert not event.accepted
    assert app.attempts == ["0", "1", "2", "3"]


async def test_a_mention_where_the_bot_is_not_is_never_delivered(
    slack: FakeSlack, app: App
) -> None:
    event = await slack.mention("U1", "C2", f"<@{BOT}> hello")

    assert (event.acknowledgements, app.attempts) == ([], [])


async def test_failures_of_the_app_are_shown_to_the_user(slack: FakeSlack, app: App) -> None:
    app.status = 500
    failed = await slack.command("U1", "C1", "/council")
    app.status, app.answer = 200, {"text": "x", "blocks": [{"type": "poll"}]}
    deed = await slack.command("U1", "C1", "/council")
    client = client_of(slack, slack.state.app.bot_token)
    await client.views_open(trigger_id=deed.sent["trigger_id"], view=FORM)
    app.answer = {"response_action": "errors", "errors": {"nowhere": "?"}}
    await slack.submit(slack.views("U1")[0], {"text": "so"}, "U1")

    assert not failed.accepted
    assert [fault.what for fault in slack.faults] == [
        "dispatch_failed",
        "invalid_command_response",
        "invalid_view_response",
    ]


async def test_a_response_url_is_good_five_times_and_for_half_an_hour(
    slack: FakeSlack, clock: Clock, app: App
) -> None:
    deeds = [await slack.command("U1", "C2", "/council") for _ in range(2)]
    used, late = (deed.sent["response_url"] for deed in deeds)
    async with ClientSession() as session:
        for number in range(6):
            await session.post(used, json={"text": f"{number}"})
        await session.post(late, json={"delete_original": True})
        clock.now += 30 * 60 + 1
        await session.post(late, json={"text": "late"})

    outcomes = [call.outcome for call in slack.called(RESPONSE_URL)]
    assert outcomes == ["ok"] * 5 + ["used_url", "cant_delete_message", "expired_url"]
    assert [message.text for message in slack.ephemerals("U1")] == ["0", "1", "2", "3", "4"]


async def test_a_socket_needs_a_ticket_and_room() -> None:
    async with FakeSlack(rules=Rules(links=1)) as slack, ClientSession() as session:
        client = client_of(slack, None)
        token = slack.state.app.app_token
        unserved = await slack.command("U1", "C1", "/council")
        urls = [(await client.apps_connections_open(app_token=token))["url"] for _ in range(2)]
        first = await session.ws_connect(urls[0])
        second = await session.ws_connect(urls[1])
        told = [(await link.receive_json())["type"] for link in (first, second)]
        async with session.get(urls[0].replace("ws:", "http:")) as used:
            assert used.status == 404
        await first.close()

    assert told == ["hello", "disconnect"]
    assert not unserved.accepted

"""The fake Slack's Web API as slack_sdk's AsyncWebClient meets it."""

from collections.abc import AsyncIterator, Awaitable
from typing import Any

import pytest
from aiohttp import ClientError
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncConnectionErrorRetryHandler
from slack_sdk.http_retry.builtin_interval_calculators import FixedValueRetryIntervalCalculator
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from tests.wire.slack import (
    BOT,
    TEAM,
    DropAfter,
    DropBefore,
    Fail,
    FakeSlack,
    Installation,
    Rates,
    Refuse,
    Rules,
    Slow,
)

Payload = dict[str, Any]

DIVIDER = {"type": "divider"}
AT_ONCE = FixedValueRetryIntervalCalculator(fixed_internal=0.0)
MODAL = {"type": "modal", "title": {"type": "plain_text", "text": "Hi"}, "blocks": [DIVIDER]}


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def slack(clock: Clock) -> AsyncIterator[FakeSlack]:
    async with FakeSlack(rules=Rules(now=clock, ack_seconds=0.2)) as slack:
        yield slack


@pytest.fixture
def client(slack: FakeSlack) -> AsyncWebClient:
    return client_of(slack)


def client_of(slack: FakeSlack, token: str | None = "") -> AsyncWebClient:
    token = slack.state.app.bot_token if token == "" else token
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


async def test_a_token_is_told_who_it_is_and_what_it_may(client: AsyncWebClient) -> None:
    answer = await client.auth_test()

    assert (answer["user_id"], answer["team_id"]) == (BOT, TEAM)
    assert "chat:write" in answer.headers["x-oauth-scopes"].split(",")


async def test_a_wrong_token_is_refused(slack: FakeSlack) -> None:
    app = slack.state.app
    assert await code(client_of(slack, None).auth_test()) == "not_authed"
    assert await code(client_of(slack, "xoxb-other").auth_test()) == "invalid_auth"
    wrong_kind = client_of(slack, app.app_token).chat_postMessage(channel="C1", text="x")
    assert await code(wrong_kind) == "not_allowed_token_type"
    no_link = client_of(slack).apps_connections_open(app_token=app.bot_token)
    assert await code(no_link) == "not_allowed_token_type"


async def test_a_revoked_token_is_dead(client: AsyncWebClient) -> None:
    await client.auth_revoke()

    assert await code(client.auth_test()) == "token_revoked"


async def test_an_uninstalled_app_is_inactive(slack: FakeSlack, client: AsyncWebClient) -> None:
    await slack.uninstalls()

    assert await code(client.auth_test()) == "account_inactive"


async def test_a_missing_scope_is_named() -> None:
    async with FakeSlack(app=Installation(scopes=("commands", "channels:read"))) as slack:
        client = client_of(slack)
        answer = await refused(client.chat_postMessage(channel="C1", text="x"))
        private = await refused(client.conversations_info(channel="G1"))

    assert answer["error"] == "missing_scope"
    assert (answer["needed"], answer["provided"]) == ("chat:write", "commands,channels:read")
    assert private["needed"] == "groups:read"


@pytest.mark.parametrize(
    ("channel", "error"),
    [
        ("C9", "channel_not_found"),
        ("C2", "not_in_channel"),
        ("C3", "is_archived"),
        ("G2", "channel_not_found"),
    ],
)
async def test_a_post_needs_a_channel_it_may_go_to(
    client: AsyncWebClient, channel: str, error: str
) -> None:
    assert await code(client.chat_postMessage(channel=channel, text="x")) == error


async def test_a_post_to_a_person_is_a_direct_message(
    slack: FakeSlack, client: AsyncWebClient
) -> None:
    answer = await client.chat_postMessage(channel="U1", text="psst")

    assert answer["channel"] == "D1"
    assert [message.text for message in slack.direct("U1")] == ["psst"]


async def test_every_ts_is_later_than_the_one_before(client: AsyncWebClient) -> None:
    stamps = [await posted(client) for _ in range(4)]

    assert stamps == sorted(set(stamps))
    assert all(isinstance(stamp, str) for stamp in stamps)


async def test_faulty_blocks_are_refused_in_slacks_shape(client: AsyncWebClient) -> None:
    answer = await refused(
        client.chat_postMessage(channel="C1", text="x", blocks=[{"type": "poll"}])
    )

    said = "unsupported type: poll [json-pointer:/blocks/0/type]"
    assert answer["error"] == "invalid_blocks"
    assert answer["errors"] == [said]
    assert answer["response_metadata"]["messages"] == [f"[ERROR] {said}"]


async def test_a_workspace_may_not_know_a_block_yet(
    slack: FakeSlack, client: AsyncWebClient
) -> None:
    plan = {"type": "plan", "title": "Plan", "tasks": []}
    await posted(client, blocks=[plan])
    slack.refuse_blocks("plan")

    assert await code(client.chat_postMessage(channel="C1", text="x", blocks=[plan])) == (
        "invalid_blocks"
    )


async def test_a_long_post_is_cut_and_a_long_update_refused(
    slack: FakeSlack, client: AsyncWebClient
) -> None:
    ts = await posted(client, "x" * 40_001)

    assert len(slack.messages("C1")[0].text) == 40_000
    await client.chat_update(channel="C1", ts=ts, text="x" * 4_000)
    too_long = client.chat_update(channel="C1", ts=ts, text="x" * 4_001)
    assert await code(too_long) == "msg_too_long"


async def test_a_text_alone_takes_the_blocks_away(slack: FakeSlack, client: AsyncWebClient) -> None:
    ts = await posted(client, blocks=[DIVIDER])
    assert slack.messages("C1")[0].blocks[0]["type"] == "divider"

    await client.chat_update(channel="C1", ts=ts, text="Only text", parse="none")

    message = slack.messages("C1")[0]
    assert (message.text, message.blocks, message.edits) == ("Only text", [], 1)


async def test_only_the_bots_own_messages_can_be_changed(
    slack: FakeSlack, client: AsyncWebClient
) -> None:
    theirs = slack.says("U1", "C1", "Mine").ts

    assert await code(client.chat_update(channel="C1", ts=theirs, text="x")) == (
        "cant_update_message"
    )
    assert await code(client.chat_delete(channel="C1", ts=theirs)) == "cant_delete_message"
    assert await code(client.chat_update(channel="C1", ts="1.1", text="x")) == "message_not_found"


async def test_a_message_can_grow_too_old_to_edit(clock: Clock) -> None:
    async with FakeSlack(rules=Rules(now=clock, edit_window_seconds=60)) as slack:
        client = client_of(slack)
        ts = await posted(client)
        clock.now += 61
        assert await code(client.chat_update(channel="C1", ts=ts, text="x")) == "edit_window_closed"


async def test_a_reply_to_a_reply_is_refused(slack: FakeSlack, client: AsyncWebClient) -> None:
    root = await posted(client)
    reply = await posted(client, thread_ts=root)

    assert [message.ts for message in slack.thread("C1", root)] == [reply]
    under_reply = client.chat_postMessage(channel="C1", text="x", thread_ts=reply)
    assert await code(under_reply) == "cannot_reply_to_message"
    nowhere = client.chat_postMessage(channel="C1", text="x", thread_ts="1.1")
    assert await code(nowhere) == "thread_not_found"


async def test_a_deleted_root_leaves_a_tombstone_and_a_lone_message_nothing(
    slack: FakeSlack, client: AsyncWebClient
) -> None:
    root, alone = await posted(client), await posted(client)
    await posted(client, thread_ts=root)

    await client.chat_delete(channel="C1", ts=root)
    await client.chat_delete(channel="C1", ts=alone)

    assert [message.is_tombstone for message in slack.messages("C1")] == [True]
    assert len(slack.thread("C1", root)) == 1


async def test_metadata_is_returned_only_when_asked_for(client: AsyncWebClient) -> None:
    metadata = {"event_type": "council_round", "event_payload": {"round_id": "r1"}}
    ts = await posted(client, metadata=metadata)

    asked = await client.conversations_replies(channel="C1", ts=ts, include_all_metadata=True)
    plain = await client.conversations_replies(channel="C1", ts=ts)

    assert asked["messages"][0]["metadata"] == metadata
    assert "metadata" not in plain["messages"][0]
    wrong = client.chat_postMessage(channel="C1", text="x", metadata={"event_type": "r"})
    assert await code(wrong) == "invalid_metadata_format"


async def test_a_thread_is_read_in_pages(client: AsyncWebClient) -> None:
    root = await posted(client, "0")
    for number in range(1, 4):
        await posted(client, f"{number}", thread_ts=root)

    first = await client.conversations_replies(channel="C1", ts=root, limit=3)
    cursor = first["response_metadata"]["next_cursor"]
    rest = await client.conversations_replies(channel="C1", ts=root, limit=3, cursor=cursor)

    assert [message["text"] for message in first["messages"]] == ["0", "1", "2"]
    assert [message["text"] for message in rest["messages"]] == ["3"]
    assert first["messages"][0]["reply_count"] == 3
    assert await code(client.conversations_replies(channel="C1", ts="1.1")) == "thread_not_found"


async def test_what_one_person_sees_needs_that_person_in_the_channel(
    slack: FakeSlack, client: AsyncWebClient
) -> None:
    await client.chat_postEphemeral(channel="C1", user="U1", text="For you")
    answer = await code(client.chat_postEphemeral(channel="G1", user="UGUEST", text="x"))

    assert [message.text for message in slack.ephemerals("U1")] == ["For you"]
    assert answer == "user_not_in_channel"
    assert slack.messages("C1") == []


async def test_kinds_of_people_can_be_told_apart(client: AsyncWebClient) -> None:
    async def info(user: str) -> Payload:
        return dict((await client.users_info(user=user))["user"])

    assert (await info("UGUEST"))["is_restricted"]
    assert (await info("UGUEST1"))["is_ultra_restricted"]
    assert (await info("UOTHERBOT"))["is_bot"]
    assert (await info("UGONE"))["deleted"]
    assert (await info("USTRANGER"))["team_id"] != TEAM
    assert (await client.conversations_info(channel="C4"))["channel"]["is_ext_shared"]
    assert await code(client.users_info(user="U9")) == "user_not_found"


async def test_places_and_groups_can_be_listed(client: AsyncWebClient) -> None:
    seen = await client.conversations_list(types="public_channel,private_channel")
    own = await client.users_conversations(types="public_channel", exclude_archived=True)
    group = await client.usergroups_users_list(usergroup="S1")
    members = await client.conversations_members(channel="G1")

    assert [one["id"] for one in seen["channels"]] == ["C1", "C2", "C3", "C4", "G1"]
    assert [one["id"] for one in own["channels"]] == ["C1", "C4"]
    assert group["users"] == ["U1", "UADMIN"]
    assert members["members"] == [BOT, "U1", "U2"]


async def test_a_direct_conversation_can_be_opened(client: AsyncWebClient) -> None:
    assert (await client.conversations_open(users="U1"))["channel"]["id"] == "D1"
    assert await code(client.conversations_open(users="UGONE")) == "user_disabled"


async def test_a_reaction_is_added_once(slack: FakeSlack, client: AsyncWebClient) -> None:
    ts = slack.says("U1", "C1", "Why?").ts
    await client.reactions_add(channel="C1", name="eyes", timestamp=ts)

    again = client.reactions_add(channel="C1", name="eyes", timestamp=ts)
    assert await code(again) == "already_reacted"
    assert slack.messages("C1")[0].reactions == [("eyes", BOT)]


async def test_a_message_has_a_permalink(client: AsyncWebClient) -> None:
    ts = await posted(client)
    link = (await client.chat_getPermalink(channel="C1", message_ts=ts))["permalink"]

    assert link.endswith(f"/C1/p{ts.replace('.', '')}")


async def test_a_file_is_uploaded_and_shared_in_a_thread(
    slack: FakeSlack, client: AsyncWebClient
) -> None:
    root = await posted(client)
    answer = await client.files_upload_v2(
        channel="C1", thread_ts=root, filename="round.md", content="# Round", initial_comment="All"
    )

    file = slack.files[0]
    assert (file.name, file.content) == ("round.md", b"# Round")
    assert slack.thread("C1", root)[0].payload["files"][0]["id"] == file.id
    assert (await client.files_info(file=answer["file"]["id"]))["file"]["size"] == 7


async def test_a_file_must_be_as_long_as_announced(
    slack: FakeSlack, client: AsyncWebClient
) -> None:
    place = await client.files_getUploadURLExternal(filename="a.md", length=8)
    upload = await client._upload_file(
        url=place["upload_url"],
        data=b"short",
        logger=client.logger,
        timeout=5,
        proxy=None,
        ssl=None,
    )

    assert upload.status == 400
    unfinished = client.files_completeUploadExternal(files=[{"id": place["file_id"]}])
    assert await code(unfinished) == "file_not_found"


async def test_a_trigger_opens_one_view_within_three_seconds(
    slack: FakeSlack, client: AsyncWebClient, clock: Clock
) -> None:
    used, late = slack.state.trigger("U1"), slack.state.trigger("U1")
    await client.views_open(trigger_id=used, view=MODAL)
    clock.now += 3.1

    assert len(slack.views("U1")) == 1
    assert await code(client.views_open(trigger_id=used, view=MODAL)) == "exchanged_trigger_id"
    assert await code(client.views_open(trigger_id=late, view=MODAL)) == "expired_trigger_id"


async def test_a_stale_hash_is_a_conflict(slack: FakeSlack, client: AsyncWebClient) -> None:
    view = (await client.views_open(trigger_id=slack.state.trigger("U1"), view=MODAL))["view"]
    await client.views_update(view_id=view["id"], hash=view["hash"], view=MODAL)

    stale = client.views_update(view_id=view["id"], hash=view["hash"], view=MODAL)
    assert await code(stale) == "hash_conflict"
    assert await code(client.views_update(view_id="V0", view=MODAL)) == "not_found"


async def test_three_views_stand_on_each_other_and_no_fourth(
    slack: FakeSlack, client: AsyncWebClient
) -> None:
    await client.views_open(trigger_id=slack.state.trigger("U1"), view=MODAL)
    for _ in range(2):
        await client.views_push(trigger_id=slack.state.trigger("U1"), view=MODAL)

    fourth = client.views_push(trigger_id=slack.state.trigger("U1"), view=MODAL)
    assert await code(fourth) == "push_limit_reached"
    bottom, *_, top = slack.views("U1")
    assert top.payload["root_view_id"] == bottom.id


async def test_a_faulty_view_is_an_invalid_argument(
    slack: FakeSlack, client: AsyncWebClient
) -> None:
    view = {**MODAL, "title": {"type": "plain_text", "text": "x" * 25}}
    answer = await refused(client.views_open(trigger_id=slack.state.trigger("U1"), view=view))

    assert answer["error"] == "invalid_arguments"
    assert "[json-pointer:/view/title/text]" in answer["response_metadata"]["messages"][0]


async def test_an_unknown_method_is_said_to_be_one(client: AsyncWebClient) -> None:
    assert await code(client.api_call("chat.shout")) == "unknown_method"


async def test_blocks_are_validated_without_a_token(slack: FakeSlack) -> None:
    nobody = client_of(slack, None)
    await nobody.blocks_validate(blocks=[DIVIDER])
    answer = await refused(nobody.blocks_validate(blocks=[{"type": "poll"}]))

    assert answer["errors"][0]["pointer"] == "/blocks/0/type"


async def test_a_manifest_is_held_to_its_rules(slack: FakeSlack) -> None:
    client = client_of(slack, slack.state.app.config_token)
    manifest: Payload = {
        "display_information": {"name": "Council"},
        "features": {"slash_commands": [{"command": "/council", "description": "Ask"}]},
        "oauth_config": {"scopes": {"bot": ["commands"]}},
        "settings": {"socket_mode_enabled": True},
    }
    await client.apps_manifest_validate(manifest=manifest)

    manifest["settings"] = {"socket_mode_enabled": False}
    manifest["oauth_config"] = {"scopes": {"bot": ["app_mentions:read"]}}
    answer = await refused(client.apps_manifest_validate(manifest=manifest))
    assert [one["pointer"] for one in answer["errors"]] == [
        "/features/slash_commands/0",
        "/oauth_config/scopes/bot",
    ]


async def test_posts_to_one_channel_are_limited_to_one_a_second(clock: Clock) -> None:
    rules = Rules(now=clock, rates=Rates(post_burst=2))
    async with FakeSlack(rules=rules) as slack:
        client = client_of(slack)
        await posted(client)
        await posted(client)
        with pytest.raises(SlackApiError) as refusal:
            await posted(client)
        await client.chat_postMessage(channel="C4", text="Another channel")
        clock.now += 1
        await posted(client)

    assert refusal.value.response.status_code == 429
    assert refusal.value.response.headers["Retry-After"] == "1"
    assert refusal.value.response["error"] == "ratelimited"


async def test_a_method_is_limited_by_its_tier(client: AsyncWebClient, clock: Clock) -> None:
    for _ in range(50):
        await client.conversations_info(channel="C1")
    assert await code(client.conversations_info(channel="C1")) == "ratelimited"

    clock.now += 1.2
    await client.conversations_info(channel="C1")


async def test_a_storm_ends(slack: FakeSlack, client: AsyncWebClient, clock: Clock) -> None:
    slack.storm("chat.postMessage", seconds=5, retry_after=3)
    with pytest.raises(SlackApiError) as refusal:
        await posted(client)
    clock.now += 5
    await posted(client)

    assert refusal.value.response.headers["Retry-After"] == "3"


async def test_an_answer_can_be_lost_before_or_after_the_deed(
    slack: FakeSlack, client: AsyncWebClient
) -> None:
    slack.trouble("chat.postMessage", DropBefore())
    slack.trouble("chat.postMessage", DropAfter())
    for text in ("before", "after"):
        with pytest.raises(ClientError):
            await posted(client, text)

    assert [message.text for message in slack.messages("C1")] == ["after"]
    assert [call.outcome for call in slack.called("chat.postMessage")] == [
        "dropped before",
        "dropped after ok",
    ]


async def test_a_blind_retry_posts_twice(slack: FakeSlack, client: AsyncWebClient) -> None:
    client.retry_handlers.append(AsyncConnectionErrorRetryHandler(interval_calculator=AT_ONCE))
    slack.trouble("chat.postMessage", DropAfter())

    await posted(client)

    assert len(slack.messages("C1")) == 2


async def test_errors_of_the_server_pass(slack: FakeSlack, client: AsyncWebClient) -> None:
    slack.trouble("chat.postMessage", Fail(503), times=2)
    for _ in range(2):
        with pytest.raises(SlackApiError) as refusal:
            await posted(client)
        assert refusal.value.response.status_code == 503

    await posted(client)
    slack.trouble("*", Refuse("fatal_error"))
    assert await code(client.auth_test()) == "fatal_error"


async def test_a_slow_answer_comes_after_the_deed(slack: FakeSlack, client: AsyncWebClient) -> None:
    slack.trouble("chat.postMessage", Slow(0.4))
    # The SDK names it an int; aiohttp takes any.
    client.timeout = 0.1  # type: ignore[assignment]

    with pytest.raises(TimeoutError):
        await posted(client)

    assert len(slack.messages("C1")) == 1


async def test_every_style_of_arguments_is_read(slack: FakeSlack, client: AsyncWebClient) -> None:
    ts = await posted(client)
    await client.chat_delete(channel="C1", ts=ts)
    await client.conversations_info(channel="C1")
    await client.api_call(
        "chat.postMessage", data={"channel": "C1", "blocks": '[{"type":"divider"}]'}
    )

    assert [call.style for call in slack.calls] == ["json", "query", "get", "form"]
    assert slack.messages("C1")[0].blocks[0]["type"] == "divider"


async def test_a_method_that_reads_no_json_refuses_it(client: AsyncWebClient) -> None:
    asked = client.api_call("conversations.info", json={"channel": "C1"})

    assert await code(asked) == "invalid_arguments"


async def test_pings_of_all_that_was_posted_are_gathered(
    slack: FakeSlack, client: AsyncWebClient
) -> None:
    ts = await posted(client, "Quiet", unfurl_links=False, unfurl_media=False)
    assert slack.pings() == []

    await client.chat_update(channel="C1", ts=ts, text="@here <!channel>")
    assert slack.pings() == ["<!channel>", "@here"]


async def test_nobody_does_what_slacks_client_prevents(
    slack: FakeSlack, client: AsyncWebClient
) -> None:
    await posted(client, blocks=[DIVIDER])
    with pytest.raises(AssertionError, match="nobody can click"):
        await slack.click(slack.messages("C1")[0], "inspect", "U1")
    with pytest.raises(AssertionError, match="is not in"):
        await slack.command("UGUEST", "G1", "/council")

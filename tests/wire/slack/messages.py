"""Store messages: post, change and return them; permissions are checked elsewhere."""

from collections.abc import Iterator
from typing import Any

from tests.wire.slack.calls import RefusalError, refusal_for
from tests.wire.slack.checks import find_message_faults
from tests.wire.slack.shapes import Fault
from tests.wire.slack.state import State
from tests.wire.slack.workspace import APP, Channel, Message

Payload = dict[str, Any]

POST_TEXT = 40_000


def next_ts(channel: Channel, now: float) -> str:
    """Return a ts later than any before it in this channel, even within one microsecond."""
    micros = max(int(now * 1_000_000), int(channel.last_ts) + 1)
    channel.last_ts = micros
    return f"{micros // 1_000_000}.{micros % 1_000_000:06d}"


def check(state: State, content: Payload) -> None:
    """Refuse invalid blocks, or blocks that this workspace does not have."""
    faults = [*_unknown(state, content.get("blocks"), "/blocks"), *find_message_faults(content)]
    if faults:
        raise refusal_for(faults)


def _unknown(state: State, value: object, at: str) -> Iterator[Fault]:
    if isinstance(value, list):
        for place, one in enumerate(value):
            yield from _unknown(state, one, f"{at}/{place}")
    elif isinstance(value, dict):
        if value.get("type") in state.refused_blocks:
            yield Fault("invalid_blocks", f"unsupported type: {value['type']}", f"{at}/type")
        for name, part in value.items():
            yield from _unknown(state, part, f"{at}/{name}")


def check_metadata(metadata: object) -> None:
    """Refuse metadata other than an event_type with an event_payload."""
    if metadata is None or metadata == {}:
        return
    if not isinstance(metadata, dict) or set(metadata) != {"event_type", "event_payload"}:
        raise RefusalError("invalid_metadata_format")
    if not isinstance(metadata["event_type"], str) or not isinstance(
        metadata["event_payload"], dict
    ):
        raise RefusalError("invalid_metadata_format")


def new_message(state: State, channel: Channel, user: str, content: Payload) -> Message:
    """Return a new message by this user, not posted yet; its blocks get ids."""
    ts = next_ts(channel, state.now())
    payload: Payload = {
        "type": "message",
        "user": user,
        "ts": ts,
        "text": "",
        "team": state.team,
    }
    if user == state.bot:
        profile = {
            "id": state.bot_id,
            "app_id": APP,
            "name": "council",
            "team_id": state.team,
        }
        payload |= {"bot_id": state.bot_id, "app_id": APP, "bot_profile": profile}
    else:
        payload["team"] = state.workspace.users[user].team
    message = Message(channel.id, ts, payload)
    write(state, message, content)
    return message


def write(state: State, message: Message, content: Payload) -> None:
    """Replace the content of a message; a text without blocks removes the blocks."""
    payload = message.payload
    payload.pop("blocks", None)
    payload["text"] = str(content.get("text") or "")[:POST_TEXT]
    if content.get("blocks"):
        payload["blocks"] = with_ids(state, content["blocks"])
    message.arguments = content


def with_ids(state: State, blocks: list[Payload]) -> list[Payload]:
    return [_with_ids(state, block, "block_id") for block in blocks]


def _with_ids(state: State, value: Payload, name: str) -> Payload:
    made = {name: f"made{state.number()}"} if name not in value else {}
    more: Payload = {}
    if value["type"] in {"actions", "context_actions"}:
        more["elements"] = [_with_ids(state, one, "action_id") for one in value["elements"]]
    elif value["type"] == "input":
        more["element"] = _with_ids(state, value["element"], "action_id")
    return {**value, **made, **more}


def put(channel: Channel, message: Message, thread_ts: str | None = None) -> Message:
    if thread_ts:
        message.thread_ts = thread_ts
        message.payload["thread_ts"] = thread_ts
    channel.said.append(message)
    return message


def thread_root(channel: Channel, thread_ts: str | None) -> str | None:
    """Return the root of a reply, or refuse: no such message, or a reply itself."""
    if thread_ts is None:
        return None
    root = channel.find(thread_ts)
    if root is None:
        raise RefusalError("thread_not_found")
    if root.thread_ts not in {None, root.ts}:
        raise RefusalError("cannot_reply_to_message")
    return thread_ts


def shown(channel: Channel, message: Message, *, metadata: bool = False) -> Payload:
    """Return a message as the API does; a root includes data about its replies."""
    replies = [one for one in channel.said if one.thread_ts == message.ts]
    payload = dict(message.payload)
    if replies:
        people = list(dict.fromkeys(one.user for one in replies))
        payload |= {
            "thread_ts": message.ts,
            "reply_count": len(replies),
            "reply_users": people,
            "reply_users_count": len(people),
            "latest_reply": replies[-1].ts,
        }
    if metadata and message.metadata:
        payload["metadata"] = message.metadata
    return payload

"""Messages looked up by the key they were sent with."""

from dataclasses import replace
from typing import Any

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.chat import Sent
from bot.slack.calls import RefusedError, called
from bot.slack.workspace import Workspace
from council.places import Place

PAGE = 200
_PEOPLE = {"U", "W"}  # what the ids of people begin with
MOST_PAGES = 25  # as far back as a message is looked for


async def find_message(workspace: Workspace, place: Place, key: str) -> Sent | None:
    """Give the message with this key in its metadata, or the file that was to be sent under it.

    Without leave to read the conversation nothing is found.
    """
    cursor = ""
    for _ in range(MOST_PAGES):
        try:
            place = await _conversation(workspace, place)
            messages, cursor = await _page(workspace.client, place, cursor)
        except RefusedError as error:
            structlog.get_logger().warning("slack_history_unread", why=error.code)
            return None
        for message in messages:
            if _is_meant(message, key):
                return Sent(place, str(message["ts"]))
        if not cursor:
            return None
    return None


async def _conversation(workspace: Workspace, place: Place) -> Place:
    """Give the place with the channel of a person's direct messages, where it names a person."""
    if place.channel[:1] not in _PEOPLE:
        return place
    return replace(place, channel=await workspace.own_channel(place.channel))


async def _page(
    client: AsyncWebClient, place: Place, cursor: str
) -> tuple[list[dict[str, Any]], str]:
    wanted: dict[str, Any] = {
        "channel": place.channel,
        "limit": PAGE,
        "include_all_metadata": True,
        **({"cursor": cursor} if cursor else {}),
    }
    if place.thread:
        reply = await called(lambda: client.conversations_replies(ts=place.thread or "", **wanted))
    else:
        reply = await called(lambda: client.conversations_history(**wanted))
    following = (reply.get("response_metadata") or {}).get("next_cursor") or ""
    return reply.get("messages") or [], str(following)


def _is_meant(message: dict[str, Any], key: str) -> bool:
    payload = (message.get("metadata") or {}).get("event_payload") or {}
    names = {file.get("name") for file in message.get("files") or ()}
    # A file has no metadata; its key ends with its name.
    return payload.get("key") == key or key.rpartition("/")[2] in names

"""Files in a thread: asked for, sent, completed."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.chat import Attachment, DeliveryUnknownError, File, SentMessage, retry_until_sent
from bot.render.text_safety import shortened
from bot.slack.client import RefusedError, called
from bot.slack.rich_text import ALT_TEXT, one_line
from bot.slack.workspace import Workspace
from council.errors import CouncilError
from council.places import Place

# --- Files in a thread: asked for, sent, completed.


async def upload(client: AsyncWebClient, place: Place, file: File) -> str:
    """Post a file in a thread and give its id; DeliveryUnknownError where it may have arrived."""
    # Until it is completed nobody sees it, so it may be sent twice.
    file_id = await retry_until_sent(partial(_uploaded, client, file))
    named: list[dict[str, str | None]] = [{"id": file_id, "title": file.name}]
    await called(
        lambda: client.files_completeUploadExternal(
            files=named, channel_id=place.channel, thread_ts=place.thread
        )
    )
    return file_id


async def _uploaded(client: AsyncWebClient, file: File) -> str:
    """Give the id of a file that nobody sees yet; a picture is told in words as well."""
    told = shortened(one_line(file.text), ALT_TEXT) if file.is_picture else None
    asked = await called(
        lambda: client.files_getUploadURLExternal(
            filename=file.name, length=len(file.content), alt_txt=told
        )
    )
    await _put(str(asked["upload_url"]), file.content)
    return str(asked["file_id"])


async def _put(url: str, content: bytes) -> None:
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30)) as session,
            session.post(url, data=content) as reply,
        ):
            reply.raise_for_status()
    except (aiohttp.ClientError, TimeoutError) as error:
        raise DeliveryUnknownError(
            f"A file did not reach Slack ({type(error).__name__})."
        ) from None


# --- Files that people send: fetched when a command wants them, with our token, from Slack alone.

TIMEOUT_SECONDS = 30.0
NO_SCOPE = (
    "Slack does not let me read files: have an admin add the scope files:read and install the app "
    "again, or write the questions under the command, one a line."
)
NOT_READ = "Slack did not give me {name}: send it once more, or write the questions in a message."
_REFUSED = {301, 302, 303, 307, 401, 403}


def attached(workspace: Workspace, files: Iterable[Mapping[str, Any]]) -> tuple[Attachment, ...]:
    """Give the files of an event, to be read later."""
    return tuple(_attached(workspace, file) for file in files)


def _attached(workspace: Workspace, file: Mapping[str, Any]) -> Attachment:
    name = str(file.get("name") or "file")
    url = str(file.get("url_private_download") or file.get("url_private") or "")

    async def read() -> bytes:
        if not workspace.may("files:read"):
            raise CouncilError(NO_SCOPE)
        if not _is_slacks(workspace.client, url):
            raise CouncilError(NOT_READ.format(name=name))
        return await _fetched(workspace.client, url, name)

    return Attachment(name, int(file.get("size") or 0), read)


def _is_slacks(client: AsyncWebClient, url: str) -> bool:
    """Say whether an address is Slack's own: no other is shown our token."""
    there, api = urlsplit(url), urlsplit(client.base_url)
    if (there.scheme, there.netloc) == (api.scheme, api.netloc):
        return True
    host = there.hostname or ""
    return there.scheme == "https" and (host == "slack.com" or host.endswith(".slack.com"))


async def _fetched(client: AsyncWebClient, url: str, name: str) -> bytes:
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_SECONDS)
    headers = {"Authorization": f"Bearer {client.token}"}
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(url, headers=headers, allow_redirects=False) as reply,
        ):
            # Without the scope Slack leads to a page to log in at, or shows it.
            if reply.status in _REFUSED or reply.content_type == "text/html":
                raise CouncilError(NO_SCOPE)
            reply.raise_for_status()
            return await reply.read()
    except (aiohttp.ClientError, TimeoutError):
        raise CouncilError(NOT_READ.format(name=name)) from None


# --- Messages looked up by the key they were sent with.

PAGE = 200
_PEOPLE = {"U", "W"}  # what the ids of people begin with
MOST_PAGES = 25  # as far back as a message is looked for


async def find_message(workspace: Workspace, place: Place, key: str) -> SentMessage | None:
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
                return SentMessage(place, str(message["ts"]))
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

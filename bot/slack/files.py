"""Slack files and message lookup: upload, download, and finding a sent message by its key."""

from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.chat import Attachment, DeliveryUnknownError, File, retry_until_sent
from bot.render.text_safety import shorten
from bot.slack.client import call_api
from bot.slack.rich_text import MAX_ALT_TEXT, one_line
from bot.slack.workspace import Workspace
from council.errors import CouncilError
from council.files import MAX_TOTAL_BYTES
from council.places import Place

_TIMEOUT = aiohttp.ClientTimeout(total=30)
_NO_SCOPE = (
    "Slack does not let me read files. Ask an admin to add the scope files:read and install the "
    "app again, or write what is in it."
)
NO_UPLOAD = (
    "Slack does not let me send you a file. Ask an admin to add the scopes files:write and "
    "im:write and install the app again."
)
_TOO_LARGE = "{name} is larger than {most:,} bytes. Send a smaller one."
_NOT_READ = "Slack did not give me {name}. Send it once more, or write it in a message."


async def upload_file(client: AsyncWebClient, place: Place, file: File, comment: str = "") -> str:
    """Post a file with a comment and return its id; DeliveryUnknownError if it may be posted."""
    # Nobody sees the file until the upload is completed, so it may be sent twice.
    file_id = await retry_until_sent(partial(_upload_content, client, file))
    await call_api(
        partial(
            client.files_completeUploadExternal,
            files=[{"id": file_id, "title": file.name}],
            channel_id=place.channel,
            thread_ts=place.thread,
            initial_comment=comment or None,
        )
    )
    return file_id


async def _upload_content(client: AsyncWebClient, file: File) -> str:
    """Upload a file, not yet visible to anybody, and return its id; a picture gets an alt text."""
    alt_text = shorten(one_line(file.text), MAX_ALT_TEXT) if file.is_picture else None
    reply = await call_api(
        lambda: client.files_getUploadURLExternal(
            filename=file.name, length=len(file.content), alt_txt=alt_text
        )
    )
    try:
        async with (
            aiohttp.ClientSession(timeout=_TIMEOUT) as session,
            session.post(str(reply["upload_url"]), data=file.content) as response,
        ):
            response.raise_for_status()
    except (aiohttp.ClientError, TimeoutError) as error:
        raise DeliveryUnknownError(
            f"A file did not reach Slack ({type(error).__name__})."
        ) from None
    return str(reply["file_id"])


def parse_attachment(workspace: Workspace, file: Mapping[str, Any]) -> Attachment:
    """Return a file of an event as an attachment, which is downloaded only when read."""
    name = str(file.get("name") or "file")
    url = str(file.get("url_private_download") or file.get("url_private") or "")

    async def read() -> bytes:
        if not workspace.has_scope("files:read"):
            raise CouncilError(_NO_SCOPE)
        if not _is_slack_url(workspace.client, url):
            raise CouncilError(_NOT_READ.format(name=name))
        return await _download(workspace.client, url, name)

    return Attachment(name, int(file.get("size") or 0), read)


def _is_slack_url(client: AsyncWebClient, url: str) -> bool:
    """Return whether a URL is Slack's own; no other server may see our token."""
    target, api = urlsplit(url), urlsplit(client.base_url)
    if (target.scheme, target.netloc) == (api.scheme, api.netloc):
        return True
    host = target.hostname or ""
    return target.scheme == "https" and (host == "slack.com" or host.endswith(".slack.com"))


async def _download(client: AsyncWebClient, url: str, name: str) -> bytes:
    headers = {"Authorization": f"Bearer {client.token}"}
    try:
        async with (
            aiohttp.ClientSession(timeout=_TIMEOUT) as session,
            session.get(url, headers=headers, allow_redirects=False) as response,
        ):
            # Without the scope Slack redirects to its login page, or serves it.
            denied = response.status in {301, 302, 303, 307, 401, 403}
            if denied or response.content_type == "text/html":
                raise CouncilError(_NO_SCOPE)
            response.raise_for_status()
            content = bytearray()
            async for chunk in response.content.iter_any():
                content += chunk
                if len(content) > MAX_TOTAL_BYTES:
                    raise CouncilError(_TOO_LARGE.format(name=name, most=MAX_TOTAL_BYTES))
            return bytes(content)
    except (aiohttp.ClientError, TimeoutError):
        raise CouncilError(_NOT_READ.format(name=name)) from None

"""Files that people send: fetched when a command wants them, with our token, from Slack alone."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.chat import Attached
from bot.slack.workspace import Workspace
from council.errors import CouncilError

TIMEOUT_SECONDS = 30.0
NO_SCOPE = (
    "Slack does not let me read files: have an admin add the scope files:read and install the app "
    "again, or write the questions under the command, one a line."
)
NOT_READ = "Slack did not give me {name}: send it once more, or write the questions in a message."
_REFUSED = {301, 302, 303, 307, 401, 403}


def attached(workspace: Workspace, files: Iterable[Mapping[str, Any]]) -> tuple[Attached, ...]:
    """Give the files of an event, to be read later."""
    return tuple(_attached(workspace, file) for file in files)


def _attached(workspace: Workspace, file: Mapping[str, Any]) -> Attached:
    name = str(file.get("name") or "file")
    url = str(file.get("url_private_download") or file.get("url_private") or "")

    async def read() -> bytes:
        if not workspace.may("files:read"):
            raise CouncilError(NO_SCOPE)
        if not _is_slacks(workspace.client, url):
            raise CouncilError(NOT_READ.format(name=name))
        return await _fetched(workspace.client, url, name)

    return Attached(name, int(file.get("size") or 0), read)


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

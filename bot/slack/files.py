"""Files in a thread: asked for, sent, completed."""

from functools import partial

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.chat import File, UnsureError, insisted
from bot.render.text_safety import shortened
from bot.slack.calls import called
from bot.slack.limits import ALT_TEXT
from bot.slack.plain import one_line
from council.places import Place


async def upload(client: AsyncWebClient, place: Place, file: File) -> str:
    """Post a file in a thread and give its id; UnsureError where it may have arrived."""
    # Until it is completed nobody sees it, so it may be sent twice.
    file_id = await insisted(partial(_uploaded, client, file))
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
        raise UnsureError(f"A file did not reach Slack ({type(error).__name__}).") from None

"""Slack as a chat: posts become messages, and every one that is refused has a plainer form."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import structlog
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.chat import Chat, File, GoneError, Post, Said, Sent, UnwelcomeError
from bot.render.paging import pages
from bot.slack.calls import RefusedError, called, insisted
from bot.slack.dress import Level, Message, dressed
from bot.slack.files import upload
from bot.slack.finding import find_message
from bot.slack.fits import fits_slack
from bot.slack.workspace import Workspace
from council.errors import CouncilError
from council.places import Place

EDIT_SECONDS = 3.0  # Slack asks for no more edits of one message than that
PROGRESS_PATIENCE_SECONDS = 0.0
_GONE = {"message_not_found", "cant_update_message", "edit_window_closed", "thread_not_found"}
_UNWELCOME = {
    "channel_not_found": "the channel is not there any more, or I am not in it",
    "not_in_channel": "I am not in the channel",
    "is_archived": "the channel is archived",
    "restricted_action": "who may post in the channel is restricted",
    "restricted_action_thread_only_channel": "only replies may be posted in the channel",
}
# Nothing untrusted is parsed: no name becomes a mention, no address a preview.
UNPARSED: dict[str, Any] = {"parse": "none", "link_names": False}
_UNFURLED: dict[str, Any] = {"unfurl_links": False, "unfurl_media": False}
MOVED = "The answer is in a message of its own, below."

Whisper = Callable[[Said, Message], Awaitable[None]]
Write = Callable[[dict[str, Any]], Awaitable[AsyncSlackResponse]]


class SlackChat(Chat):
    """The way to people in one workspace; `whisper` is how the one who spoke is reached."""

    is_room = True
    tick_seconds: ClassVar[float] = 15.0

    def __init__(self, workspace: Workspace, whisper: Whisper) -> None:
        self._workspace = workspace
        self._client = workspace.client
        self._whisper = whisper
        self._written_at = time.monotonic()
        self.keeps_files = workspace.may("files:write")

    def pages(self, post: Post) -> tuple[Post, ...]:
        """Give the post as so many that each fits in a message; nothing is dropped."""
        return pages(post, fits_slack)

    async def named(self, asker_id: str) -> str:
        """Give the name somebody goes by."""
        return await self._workspace.people.named(asker_id)

    async def send(self, place: Place, post: Post, key: str) -> Sent:
        """Post a message; its key goes with it as metadata that people do not see."""
        async with self._workspace.posts_in(place.channel):
            file = next((part for part in post.parts if isinstance(part, File)), None)
            if file:
                return await self._uploaded(place, file)
            return await self._posted(place, post, key)

    async def _uploaded(self, place: Place, file: File) -> Sent:
        """Post a file; one that Slack does not take is no reason to stop, or to try for ever."""
        try:
            return Sent(place, await upload(self._client, place, file))
        except RefusedError as error:
            structlog.get_logger().warning("slack_file_refused", why=error.code)
            return Sent(place, f"refused: {error.code}")

    async def _posted(self, place: Place, post: Post, key: str) -> Sent:
        metadata = {"event_type": "council_round", "event_payload": {"key": key}}

        async def write(payload: dict[str, Any]) -> AsyncSlackResponse:
            return await self._client.chat_postMessage(
                channel=place.channel,
                thread_ts=place.thread,
                metadata=metadata,
                **payload,
                **UNPARSED,
                **_UNFURLED,
            )

        reply = await _plainer_until_taken(post, write, called)
        # A message to a person is posted in a channel of its own.
        channel = str(reply.get("channel") or place.channel)
        return Sent(replace(place, channel=channel), str(reply["ts"]))

    async def find(self, place: Place, key: str) -> Sent | None:
        """Give the message that was posted with this key."""
        return await find_message(self._client, place, key)

    async def edit(self, sent: Sent, post: Post) -> None:
        """Replace a message, however long Slack wants to be left alone before."""
        update = self._update(sent)
        try:
            await _plainer_until_taken(post, update, insisted)
        except RefusedError as error:
            if error.code != "msg_too_long":
                raise
            # An edit takes a tenth of the plain text that a new message takes.
            await insisted(lambda: update({"text": MOVED}))
            raise GoneError(MOVED) from None

    async def turn(self) -> None:
        """Wait until message and workspace bear another sight of progress."""
        await asyncio.sleep(self._written_at + EDIT_SECONDS - time.monotonic())
        await self._workspace.edits.acquire()

    async def show_progress(self, sent: Sent, post: Post) -> None:
        """Replace a message for the time being; the next sight makes up for one that fails."""
        self._written_at = time.monotonic()
        try:
            await _plainer_until_taken(post, self._update(sent), _once)
        except CouncilError as error:
            structlog.get_logger().debug("slack_progress_not_shown", why=str(error))

    def _update(self, sent: Sent) -> Write:
        async def write(payload: dict[str, Any]) -> AsyncSlackResponse:
            return await self._client.chat_update(
                channel=sent.place.channel, ts=sent.message, **payload, **UNPARSED
            )

        return write

    async def whisper(self, said: Said, post: Post) -> None:
        """Tell only the one who spoke."""
        for page in self.pages(post):
            await self._whisper(said, dressed(page, Level.MONOSPACE))


async def _once(call: Callable[[], Awaitable[AsyncSlackResponse]]) -> AsyncSlackResponse:
    return await called(call, PROGRESS_PATIENCE_SECONDS)


async def _plainer_until_taken(
    post: Post,
    write: Write,
    how: Callable[[Callable[[], Awaitable[AsyncSlackResponse]]], Awaitable[AsyncSlackResponse]],
) -> AsyncSlackResponse:
    """Write a post as well as Slack takes it: a refused block never costs an answer."""
    for level in Level:
        payload = dressed(post, level).payload
        try:
            return await how(partial(write, payload))
        except RefusedError as error:
            if level is Level.NO_BLOCKS or not _about_blocks(error.code):
                raise _meaning(error) from None
            structlog.get_logger().warning("slack_blocks_refused", why=error.code, level=level.name)
    raise AssertionError("the last level is returned or raised")


def _about_blocks(code: str) -> bool:
    return code.startswith(("invalid_blocks", "invalid_attachments", "msg_", "invalid_arguments"))


def _meaning(error: RefusedError) -> CouncilError:
    if error.code in _GONE:
        return GoneError("The message is not there any more.")
    if error.code in _UNWELCOME:
        return UnwelcomeError(f"I cannot post there: {_UNWELCOME[error.code]}.")
    return error

"""Modals that show: they open at once, then fill, and have pages."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.chat import Caution, Heading, Note, Post
from bot.slack.calls import RefusedError, called
from bot.slack.modal_blocks import modal_blocks
from council.errors import CouncilError

PATIENCE_SECONDS = 1.0  # a trigger lasts three
TOO_LATE = "That took a moment too long for Slack: please do it once more."
PAGE_ACTION = "council:page"

View = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shown:
    """What a modal shows: a kind of post of a round, at a page, opened from a channel."""

    what: str
    round_id: str
    channel: str
    page: int = 0

    @property
    def metadata(self) -> str:
        """Give it as text that comes back with every click."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, metadata: str) -> "Shown":
        """Read it again."""
        return cls(**json.loads(metadata))


TITLES = {"answers": "Answers", "ballots": "Ballots"}


async def open_modal(client: AsyncWebClient, trigger: str, shown: Shown) -> View:
    """Open a modal that waits to be filled, and give Slack's view of it."""
    waiting = _view(shown, modal_blocks([Post((Note("One moment …"),))])[0])
    return await open_view(client, trigger, waiting)


async def open_view(client: AsyncWebClient, trigger: str, view: View) -> View:
    """Open any view."""
    try:
        reply = await called(
            lambda: client.views_open(trigger_id=trigger, view=view), PATIENCE_SECONDS
        )
    except RefusedError as error:
        if error.code in {"expired_trigger_id", "exchanged_trigger_id", "invalid_trigger_id"}:
            raise CouncilError(TOO_LATE) from None
        raise
    opened: View = reply["view"]
    return opened


async def fill(client: AsyncWebClient, opened: View, shown: Shown, posts: Sequence[Post]) -> None:
    """Put a page of posts in an open modal."""
    view = page_view(shown, posts)
    try:
        await called(
            lambda: client.views_update(view_id=opened["id"], hash=opened.get("hash"), view=view)
        )
    except RefusedError as error:
        # Turned or closed meanwhile: what is on the screen is newer than this.
        if error.code not in {"hash_conflict", "not_found"}:
            raise


def page_view(shown: Shown, posts: Sequence[Post]) -> View:
    """Give the modal with a page of posts; the last one for a page beyond it."""
    pages = modal_blocks(_untitled(posts, shown))
    page = min(shown.page, len(pages) - 1)
    return _view(shown, [*pages[page], *_turning(page, len(pages))])


async def fill_with_error(client: AsyncWebClient, opened: View, shown: Shown, told: str) -> None:
    """Say in an open modal what went wrong."""
    await fill(client, opened, shown, [Post((Caution(told),))])


def _untitled(posts: Sequence[Post], shown: Shown) -> list[Post]:
    """Give the posts without a heading that says what the modal's title says."""
    title = Heading(_title(shown))
    return [replace(post, parts=tuple(p for p in post.parts if p != title)) for post in posts]


def _title(shown: Shown) -> str:
    return TITLES.get(shown.what, "Council")


def _view(shown: Shown, blocks: list[dict[str, Any]]) -> View:
    return {
        "type": "modal",
        "callback_id": "council:shown",
        "title": {"type": "plain_text", "text": _title(shown)},
        "close": {"type": "plain_text", "text": "Close"},
        "private_metadata": shown.metadata,
        "blocks": blocks,
    }


def _turning(page: int, pages: int) -> list[dict[str, Any]]:
    if pages == 1:
        return []
    buttons = [("Previous", page - 1)] * (page > 0) + [("Next", page + 1)] * (page < pages - 1)
    elements = [
        {
            "type": "button",
            "action_id": f"{PAGE_ACTION}:{to}",
            "text": {"type": "plain_text", "text": f"{label} ({to + 1} of {pages})"},
            "value": str(to),
        }
        for label, to in buttons
    ]
    return [{"type": "actions", "block_id": "turning", "elements": elements}]

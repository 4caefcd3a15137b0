"""Channels that people name: looked up, and whether bot and speaker are both in them."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

from bot.chat import Said, UnsureError, UnwelcomeError
from bot.slack.calls import RefusedError, called
from bot.slack.people import BUSY
from bot.slack.workspace import CHAT, Workspace
from council.errors import CouncilError
from council.places import Place

PAGE = 200
MOST_PAGES = 25
PATIENCE_SECONDS = 10.0
NOT_BOTH = (
    "There is no channel #{name} that you and I are both in: check its name, and type /invite and "
    "my name there."
)

Call = Callable[..., Any]


async def elsewhere(workspace: Workspace, said: Said, name: str) -> Said:
    """Give what was said as if it were said in another channel of the workspace, named or by id."""
    client = workspace.client
    kinds = "public_channel,private_channel" if workspace.may("groups:read") else "public_channel"
    own = _listed(client.users_conversations, "channels", types=kinds, exclude_archived=True)
    async for channel in own:
        if name.casefold() in {str(channel.get("name", "")).casefold(), channel["id"].casefold()}:
            return await _there(workspace, said, str(channel["id"]), name)
    raise UnwelcomeError(NOT_BOTH.format(name=name))


async def check_postable(workspace: Workspace, place: Place) -> None:
    """Raise UnwelcomeError for a channel that is gone, archived, or without the bot."""
    workspace.people.forget(place.channel)  # it may have changed since
    where = await workspace.people.conversation(place.channel)
    if where.refusal:
        raise UnwelcomeError(where.refusal)


async def _there(workspace: Workspace, said: Said, channel: str, name: str) -> Said:
    where = await workspace.people.conversation(channel)
    if where.refusal:
        raise UnwelcomeError(where.refusal)
    # Members of the workspace may see every public channel; others only what they are in.
    if where.is_private or said.asker.is_guest:
        members = _listed(workspace.client.conversations_members, "members", channel=channel)
        if said.asker.id not in [member async for member in members]:
            raise UnwelcomeError(NOT_BOTH.format(name=name))
    place = Place(CHAT, workspace.team, channel, private=where.is_private)
    return replace(said, place=place, is_shared=where.is_shared, is_direct=False)


async def _listed(call: Call, kind: str, **wanted: object) -> AsyncIterator[Any]:
    """Give what Slack lists, page after page."""
    cursor = ""
    for _ in range(MOST_PAGES):
        more = {"cursor": cursor} if cursor else {}
        try:
            reply = await called(lambda: call(limit=PAGE, **wanted, **more), PATIENCE_SECONDS)  # noqa: B023
        except UnsureError as error:
            raise CouncilError(BUSY) from error
        except RefusedError as error:
            raise UnwelcomeError(f"I cannot look up channels here. {error}") from None
        for found in reply.get(kind) or ():
            yield found
        cursor = str((reply.get("response_metadata") or {}).get("next_cursor") or "")
        if not cursor:
            return

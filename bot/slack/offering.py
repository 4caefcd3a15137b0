"""A question asked in a thread: the asker sees what would go along, and sends it with a press."""

from contextlib import suppress
from dataclasses import replace

from aiohttp import ClientError
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.access import admitted
from bot.chat import Chat, Said, key_of
from bot.commands.ask import asked
from bot.commands.context import Desk
from bot.slack import threads
from bot.slack.offers import WITH, Offer
from bot.slack.reading import plain_text, without_mention
from bot.slack.threads import Context
from bot.slack.workspace import CHAT, Workspace
from council.errors import CouncilError

NOT_YOURS = "Only the one who asked can press this."
GONE = "Your question is not there any more: ask it again."


async def offer_thread(
    desk: Desk, workspace: Workspace, chat: Chat, said: Said, moment: str
) -> None:
    """Show the asker the thread that would be sent along; without one to send, ask at once."""
    admitted(desk.access, said)
    context, _ = await threads.thread_before(workspace, desk, said.place, moment)
    await desk.look_up(said.place)
    if context.text:
        await chat.whisper(said, _offer(desk, said, context, moment).post)
    else:
        await asked(desk, chat, said)


def _offer(desk: Desk, said: Said, context: Context, moment: str) -> Offer:
    value = "|".join((moment, said.place.thread or "", context.digest))
    return Offer(context, desk.panel(None, said.place), value)


async def ask_about_thread(
    desk: Desk, workspace: Workspace, chat: Chat, said: Said, pressed: tuple[str, str]
) -> None:
    """Ask what was offered, with the thread or without; one that has changed is shown again."""
    action, value = pressed
    moment, thread, digest = value.split("|")
    place = replace(said.place, thread=thread)
    context, message = await threads.thread_before(workspace, desk, place, moment)
    if not message:
        raise CouncilError(GONE)
    if message.get("user") != said.asker.id:
        raise CouncilError(NOT_YOURS)
    key = key_of(CHAT, workspace.team, f"{place.channel} {moment}")
    text = without_mention(str(message.get("text") or ""), workspace.bot)
    words = await plain_text(text, workspace.people.named)
    asking = replace(said, text=words, place=place, key=key)
    if action != WITH:
        await asked(desk, chat, asking)
    elif context.digest == digest:
        await asked(desk, chat, replace(asking, context=context.text))
    else:
        await desk.look_up(place)
        again = replace(_offer(desk, asking, context, moment), changed=True)
        await chat.whisper(asking, again.post)


async def take_away(response_url: str) -> None:
    """Take away an offer that was taken up; where Slack does not, it stands and does nothing."""
    if not response_url:
        return
    webhook = AsyncWebhookClient(response_url, timeout=2, retry_handlers=[])
    with suppress(ClientError, TimeoutError, OSError):
        await webhook.send_dict({"delete_original": True})

"""A workspace that does not want the bot any more takes its rounds along."""

import structlog

from bot.commands.desk import PICK, Desk
from bot.commands.drafts import DRAFT
from council.ports import Wanted


async def left(desk: Desk, chat: str, workspace: str) -> int:
    """Let a workspace's rounds go, with all that hangs on them; give how many there were.

    Those under way are stopped, and its bake-offs; what was picked or is being added there goes
    too. Raises StoreError where something of them is left in the files.
    """
    await desk.holds.let_go(chat, workspace)
    for line in await desk.store.recent(wanted=Wanted(chats=(chat,), workspace=workspace)):
        await desk.runner.stop(line.id)
    for kind in (PICK, DRAFT):
        await desk.memos.drop(kind, f"{chat}/{workspace}/")
    rounds = await desk.store.drop(chat, workspace)
    structlog.get_logger().warning("workspace_dropped", chat=chat, rounds_deleted=rounds)
    await desk.store.wipe()
    return rounds

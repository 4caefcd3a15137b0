"""What the buttons of bake-offs do, in every chat: each press is authorised again."""

from bot.access import admitted
from bot.chat import Chat, Note, Post, Said
from bot.commands.bakeoff_words import Words
from bot.commands.bakeoffs import cancel, resume, start
from bot.commands.desk import Desk
from bot.commands.proposals import Proposal, bakeoff_of
from bot.commands.suites import check_own_people

LEFT = "Nothing was begun, and nothing is spent."


async def begin(desk: Desk, chat: Chat, said: Said, value: str) -> None:
    """Begin what was proposed, for the one who presses, where they may."""
    admitted(desk.access, said)
    check_own_people(said)
    await start(desk, chat, said, await bakeoff_of(desk, said, Proposal.read(value)))


async def leave(desk: Desk, chat: Chat, said: Said, value: str) -> None:
    """Leave a proposal."""
    await chat.whisper(said, Post((Note(LEFT),), LEFT))


async def cancel_by_button(desk: Desk, chat: Chat, said: Said, bakeoff_id: str) -> None:
    """Cancel the bake-off that a button is under."""
    await cancel(desk, chat, said, Words("cancel", bakeoff_id))


async def go_on_by_button(desk: Desk, chat: Chat, said: Said, bakeoff_id: str) -> None:
    """Go on with the bake-off that a button is under."""
    admitted(desk.access, said)
    await resume(desk, chat, said, Words("resume", bakeoff_id))

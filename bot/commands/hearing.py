"""From what somebody says to what is done, with every error told kindly."""

from collections.abc import Awaitable, Callable

from bot.access import admitted
from bot.chat import Caution, Chat, Post, Said
from bot.commands.commands import COMMANDS, HELP
from bot.commands.desk import Desk
from bot.commands.registry import Order
from bot.observability import logs
from council.errors import CouncilError

Act = Callable[[Chat, Said], Awaitable[None]]  # something done for the one who spoke


async def hear(desk: Desk, chat: Chat, said: Said) -> None:
    """Do what was said; whatever goes wrong is told to the one who spoke, in a sentence."""
    await kindly(chat, said, obey(desk, chat, said, COMMANDS.read(said.text)))


async def obey(desk: Desk, chat: Chat, said: Said, order: Order) -> None:
    """Do what is wanted, where it may be; raises CouncilError otherwise."""
    if order.command is not HELP:
        admitted(desk.access, said)
    await desk.look_up(said.place)
    await order.command.run(desk, chat, said, order.argument)


async def kindly(chat: Chat, said: Said, act: Awaitable[None]) -> None:
    """See an act through; whatever goes wrong is told to the one it was for, in a sentence."""
    try:
        await act
    except CouncilError as error:
        await chat.whisper(said, Post((Caution(str(error)),), str(error)))
    # The outermost handler: what nobody foresaw is logged once and told without its insides.
    except Exception as error:  # noqa: BLE001
        wrong = logs.unforeseen("command_failed", error, key=said.key)
        line = f"{wrong} Nothing that was saved is lost."
        await chat.whisper(said, Post((Caution(line),), line))

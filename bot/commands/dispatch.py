"""Command dispatcher: the gate through which every chat runs its commands."""

from collections.abc import Awaitable, Callable

from bot.access import check_admin, check_admitted
from bot.chat import Caution, Chat, IncomingMessage, Post
from bot.commands.ask import keep_unasked
from bot.commands.help import command_help_post, help_post, typo_post
from bot.commands.parameters import Arguments, check_arguments
from bot.commands.registry import HELP, Invocation, Typo, commands_of
from bot.context import AppContext
from bot.observability import logs
from council.errors import CouncilError

Handler = Callable[[Chat, IncomingMessage], Awaitable[None]]


async def handle_message(app: AppContext, chat: Chat, message: IncomingMessage) -> None:
    """Run the command in a message; reply privately with a sentence if that fails."""
    await report_errors(
        chat, message, run_command(app, chat, message, commands_of(app).parse(message.text))
    )


async def run_command(
    app: AppContext, chat: Chat, message: IncomingMessage, parsed: Invocation | Typo
) -> None:
    """Run a command, or explain a typo, which costs nothing.

    Every chat runs its commands through here. Raise CouncilError if the command fails, its values
    do not fit, or its author may not use it.
    """
    if isinstance(parsed, Typo):
        check_admitted(app.access, message)
        # What waits for a button has no files, so a question with files is sent again.
        may_wait = chat.is_room and not message.files
        ask_it = await keep_unasked(app, message, parsed.text) if may_wait else None
        await chat.send_ephemeral(message, typo_post(parsed, ask_it))
        return
    command = parsed.command
    if command.name != HELP:
        check_admitted(app.access, message)
    if command.for_admins:
        check_admin(app.access, message, f"use `/council {command.full_name}`")
    check_arguments(command.parameters, parsed.arguments, command.usage)
    await app.reload_picked_panel(message.place)
    await command.run(app, chat, message, parsed.arguments)


async def report_errors(chat: Chat, message: IncomingMessage, action: Awaitable[None]) -> None:
    """Await an action; if it fails, reply privately to the message with a sentence."""
    try:
        await action
    except CouncilError as error:
        await chat.send_ephemeral(message, Post((Caution(str(error)),), str(error)))
    # The outermost handler: log a bug once, and reply without its details.
    except Exception as error:  # noqa: BLE001
        wrong = logs.log_unexpected_error("command_failed", error, key=message.key)
        line = f"{wrong} Nothing you saved is lost."
        await chat.send_ephemeral(message, Post((Caution(line),), line))


async def show_help(
    app: AppContext, chat: Chat, message: IncomingMessage, arguments: Arguments
) -> None:
    """Show all commands, or how to use one command or group."""
    topic = arguments.get("command", "").lower()
    shown = [one for one in commands_of(app).commands if not one.hidden]
    chosen = [one for one in shown if topic and topic in {one.group, one.name, one.full_name}]
    post = command_help_post(chosen) if chosen else help_post(shown)
    await chat.send_ephemeral(message, post)

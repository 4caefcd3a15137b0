"""Command dispatcher: the gate through which every chat runs its commands."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

from bot.access import (
    RoundLimitError,
    check_admin,
    check_admitted,
    may_administer,
    why_not_admitted,
)
from bot.chat import Caution, Chat, IncomingMessage, Post
from bot.commands.ask import PRIVATE, keep_unasked
from bot.commands.button_registry import OTHER_VERSION
from bot.commands.help import (
    command_help_post,
    empty_question_post,
    help_post,
    typo_post,
    welcome_post,
)
from bot.commands.parameters import Arguments, check_arguments
from bot.commands.registry import (
    ASK,
    HELP,
    SETTINGS,
    Invocation,
    Typo,
    commands_of,
    is_question,
)
from bot.context import AppContext
from bot.observability import logs
from bot.render.formatting import local_time
from bot.render.people import name_people
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
    """Run a command, or explain a line that is probably no question, which costs nothing.

    Every chat runs its commands through here. Raise CouncilError if the command fails, its values
    do not fit, or its author may not use it.
    """
    await app.reload_settings(message.place, message.key)
    parsed = hold_short(app, chat, message, parsed)
    if isinstance(parsed, Typo):
        check_admitted(app.access, message)
        await _explain_typo(app, chat, message, parsed)
        return
    command = parsed.command
    if command.name not in {HELP, SETTINGS}:  # which check it themselves
        check_admitted(app.access, message)
    if command.for_admins:
        what = f"use `/council {command.full_name}`"
        if command.hidden:
            what = f"{command.summary[0].lower()}{command.summary[1:]}"
        check_admin(app.access, message, what)
    if command.name == ASK and not parsed.arguments and chat.is_room and not message.files:
        await chat.send_ephemeral(message, empty_question_post())
        return
    check_arguments(command.parameters, parsed.arguments, command.usage)
    await command.run(app, chat, message, parsed.arguments)


def hold_short(
    app: AppContext, chat: Chat, message: IncomingMessage, parsed: Invocation | Typo
) -> Invocation | Typo:
    """Return what a chat's line is: a question of one or two words alone is asked only by button.

    A file makes it a question, as a question mark does.
    """
    return commands_of(app).hold_short(parsed) if chat.is_room and not message.files else parsed


async def _explain_typo(app: AppContext, chat: Chat, message: IncomingMessage, typo: Typo) -> None:
    # What waits for a button has no files and no other place, so such a question is typed again.
    may_wait = chat.is_room and not message.files and PRIVATE not in typo.options
    ask_it = await keep_unasked(app, message, typo.text, typo.options) if may_wait else None
    is_admin = may_administer(app.access, message)
    usable = [one for one in typo.meant if is_admin or not one.for_admins]
    forms = [one.form for one in usable if one.form]
    post = typo_post(typo, ask_it, forms)
    people = message.reading.people if message.reading else ()
    await chat.send_ephemeral(message, name_people(post, people))


async def report_errors(chat: Chat, message: IncomingMessage, action: Awaitable[None]) -> None:
    """Await an action; if it fails, reply privately to the message with a sentence."""
    try:
        await action
    except CouncilError as error:
        await chat.send_ephemeral(message, Post((Caution(_sentence(error)),), str(error)))
    # The outermost handler: log a bug once, and reply without its details.
    except Exception as error:  # noqa: BLE001
        wrong = logs.log_unexpected_error("command_failed", error, key=message.key)
        line = f"{wrong} Nothing you saved is lost."
        await chat.send_ephemeral(message, Post((Caution(line),), line))


def _sentence(error: CouncilError) -> str:
    """Return the sentence of an error, with its time in the reader's own time zone."""
    if not isinstance(error, RoundLimitError) or not error.retry_at or not error.reason:
        return str(error)
    whole_minute = (error.retry_at + timedelta(seconds=59)).replace(second=0, microsecond=0)
    return f"{error.reason} You can ask again from {local_time(whole_minute)}."


# --- Help


async def show_help(
    app: AppContext, chat: Chat, message: IncomingMessage, arguments: Arguments
) -> None:
    """Show the welcome, which elsewhere than in a room is all commands, or how to use one."""
    topic = arguments.get("command", "").lower()
    shown = [one for one in commands_of(app).commands if not one.hidden]
    chosen = [one for one in shown if topic and topic in {one.group, one.name, one.full_name}]
    if chosen:
        await chat.send_ephemeral(message, command_help_post(chosen))
    elif chat.is_room:
        refusal = why_not_admitted(app.access, message)
        post = welcome_post(is_direct=message.is_direct, refusal=refusal)
        await chat.send_ephemeral(message, post)
    else:
        await show_commands(app, chat, message, arguments)


async def show_commands(
    app: AppContext, chat: Chat, message: IncomingMessage, _: Arguments
) -> None:
    """Show all commands that the author of a message may use."""
    is_admin = may_administer(app.access, message)
    known = [one for one in commands_of(app).commands if is_admin or not one.for_admins]
    await chat.send_ephemeral(message, help_post(known))


async def run_command_button(
    app: AppContext, chat: Chat, message: IncomingMessage, line: str
) -> None:
    """Run the command of a button, as if its presser had typed it; it never asks a question."""
    parsed = commands_of(app).parse(line)
    if isinstance(parsed, Typo) or is_question(parsed):
        raise CouncilError(OTHER_VERSION)
    await run_command(app, chat, message, parsed)

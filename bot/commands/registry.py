"""Command registry: which command a line of text is, a typo of one, or a question.

Knows what commands declare, not what they do.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import TypeGuard

from bot.chat import Button, Caution, Chat, IncomingMessage, Post, clean_text
from bot.commands.parameters import (
    Arguments,
    Parameter,
    has_named_value,
    is_one_edit_away,
    parse_arguments,
)
from bot.context import AppContext
from bot.plugins import HasParts, Plugins
from bot.render.people import PSEUDONYM

Run = Callable[[AppContext, Chat, IncomingMessage, Arguments], Awaitable[None]]

ASK, HELP, SETTINGS, VOTE = "ask", "help", "settings", "vote"
_BEST = re.compile(r"([a-z]) is the best", re.IGNORECASE)  # as the buttons of a vote say
_MAX_TYPO_WORDS = 3
_MAX_SHORT_WORDS = 2  # of a line that is asked only if its author insists
_MAX_SHORT_CHARACTERS = 1_000
_QUESTION_MARKS = re.compile("[?？؟;՞፧]")
# Scripts without spaces between words: so many characters count as one.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]{1,4}")
_QUESTION_WORDS = {"how"}  # one letter away from `show`, and how many questions begin
_OPTION = re.compile(r"\s[a-z]+:\S")  # as in `panel:house`
_MENTIONED = re.compile(f"@?{PSEUDONYM.pattern}")
_ADDRESS = re.compile(r"\A\s*/council\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Command:
    """A command, or the subcommand of a group.

    `summary` has at most 100 characters. `for_admins`: it changes things for everyone, or spends
    repeatedly. `group_summary` describes its group. The name of a group stands for its default
    commands, the first whose parameters fit. A hidden command can be typed, but is not listed.
    `aliases` are other names, in lower case and of any number of words, which are not listed.
    `form` is the button of the form that opens if the command is given nothing.
    """

    name: str
    summary: str
    run: Run
    parameters: tuple[Parameter, ...] = ()
    group: str = ""
    group_summary: str = ""
    for_admins: bool = False
    is_default: bool = False
    hidden: bool = False
    aliases: tuple[str, ...] = ()
    form: Button | None = None

    @property
    def full_name(self) -> str:
        """Return the name with its group: "schedule add"."""
        return f"{self.group} {self.name}".strip()

    @property
    def usage(self) -> str:
        """Return how to type it: "/council show ROUND"."""
        name = [] if self.name == ASK else [self.full_name]
        typed = [one.usage for one in self.parameters if not one.form_only]
        return " ".join(["/council", *name, *typed])


admin_command = partial(Command, for_admins=True)


def group_commands(name: str, summary: str, *commands: Command) -> tuple[Command, ...]:
    """Return commands as the subcommands of a group."""
    return tuple(replace(command, group=name, group_summary=summary) for command in commands)


def with_value(
    name: str, handler: Callable[[AppContext, Chat, IncomingMessage, str], Awaitable[None]]
) -> Run:
    """Return the handler of one value as a handler of arguments; a missing value is ""."""

    async def run(
        app: AppContext, chat: Chat, message: IncomingMessage, arguments: Arguments
    ) -> None:
        await handler(app, chat, message, arguments.get(name, ""))

    return run


@dataclass(frozen=True, slots=True)
class Invocation:
    """A command and the values of its parameters, by name."""

    command: Command
    arguments: Arguments


@dataclass(frozen=True, slots=True)
class Typo:
    """A line that is probably no question, and the commands that may be meant, if any.

    `options` are those of the question that it would be.
    """

    text: str
    meant: tuple[Command, ...] = ()
    options: Arguments = field(default_factory=dict)


def is_question(parsed: Invocation | Typo) -> TypeGuard[Invocation]:
    """Return whether a line is a question for the council."""
    return isinstance(parsed, Invocation) and parsed.command.name == ASK


class CommandRegistry:
    """The registered commands; `ask` is the fallback.

    `plugins_off` has the names of commands and groups that are off, each with its plug-in.
    """

    def __init__(
        self, commands: Sequence[Command], plugins_off: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self.commands = tuple(commands)
        self._plugins_off = plugins_off
        self._by_name = {command.full_name: command for command in commands}
        self._groups = {command.group for command in commands if command.group}
        aliases = [(alias, command) for command in commands for alias in command.aliases]
        # The longest come first: "run again" before "run".
        self._aliases = sorted(aliases, key=lambda pair: -len(pair[0].split()))

    def __getitem__(self, full_name: str) -> Command:
        """Return a command by its full name; raise KeyError for an unknown one."""
        return self._by_name[full_name]

    def parse(self, text: str) -> Invocation | Typo:
        """Parse a text, with or without `/council` in front; `/council` alone is `help`."""
        words = _ADDRESS.sub("", text).strip()
        if not words:
            return Invocation(self[HELP], {})
        for command, rest in self._candidates(words):
            arguments = parse_arguments(command.parameters, rest)
            if arguments is not None:
                return Invocation(command, arguments)
        if command_off := self._find_off(words):
            return Invocation(command_off, {})
        if meant := self._meant(words):
            return Typo(words, meant)
        if words.lower() == ASK:
            return Invocation(self[ASK], {})
        # Options such as `panel:NAME` may precede the question.
        options = parse_arguments(self[ASK].parameters, words)
        return Invocation(self[ASK], options or {"question": words})

    def form_of(self, text: str) -> Button | None:
        """Return the button of the form that a command's bare name opens; None for other lines."""
        name = " ".join(_ADDRESS.sub("", text).lower().split())
        command = self._by_name.get(name)
        return command.form if command else None

    def hold_short(self, parsed: Invocation | Typo) -> Invocation | Typo:
        """Return a question that may be asked by accident as a `Typo`, else what it was.

        Every chat holds back questions of one or two words without a question mark, and commands
        that were asked or have one.
        """
        if not is_question(parsed):
            return parsed
        options = dict(parsed.arguments)
        question = options.pop("question", "")
        statement = question.rstrip(" ?\uff1f")
        is_certain = is_short(question) or self._is_command(statement)
        if not clean_text(question) or not is_certain:
            return parsed
        inner = self.parse(statement)
        meant = inner.meant if isinstance(inner, Typo) else (inner.command,)
        return Typo(question, () if is_question(inner) else meant, options)

    def _is_command(self, text: str) -> bool:
        inner = self.parse(text)
        return bool(text) and isinstance(inner, Invocation) and inner.command.name != ASK

    def _candidates(self, words: str) -> Iterator[tuple[Command, str]]:
        """Yield the commands that the first words name, with what follows."""
        if best := _BEST.fullmatch(words):
            yield self[VOTE], f"last {best[1].upper()}"
        if aliased := self._aliased(words):
            yield aliased
        first, rest = _split_first(words)
        if first.lower() not in self._groups:
            if command := self._by_name.get(first.lower()):
                yield command, rest
            return
        second, after = _split_first(rest)
        if command := self._by_name.get(f"{first.lower()} {second.lower()}"):
            yield command, after
        for command in self.commands:
            if command.group == first.lower() and command.is_default:
                yield command, rest

    def _aliased(self, words: str) -> tuple[Command, str] | None:
        """Return the command whose alias a line begins with, and what follows."""
        typed = words.split()
        plain = [word.strip("“”\"'.,!").lower() for word in typed]
        for alias, command in self._aliases:
            names = alias.split()
            if plain[: len(names)] == names:
                return command, "".join(words.split(None, len(names))[len(names) :])
        return None

    def _find_off(self, words: str) -> Command | None:
        """Return a command that explains why another is off; None for a question."""
        name, *others = words.lower().split()
        plugin = self._plugins_off.get(name)
        is_short = len(others) < _MAX_TYPO_WORDS and "?" not in words
        if plugin is None or not (is_short or _OPTION.search(words)):
            return None
        return Command(name, "", partial(_explain_off, plugin=plugin, name=name), hidden=True)

    def _meant(self, words: str) -> tuple[Command, ...]:
        """Return the commands that a line may be a typo of; none for a question.

        It is a typo if it has at most three words and no question mark, and begins with a name or
        one edit from it; or if it begins with a name and also has one of its `name:value` options.
        An alias of which nothing follows is one too, as is a short line that begins with one.
        """
        if (aliased := self._aliased(words)) and (not aliased[1] or is_short(words)):
            return (aliased[0],)
        first, *others = _MENTIONED.sub("@person", words).lower().split()
        shown = [one for one in self.commands if not one.hidden and one.name != ASK]
        named = [one for one in shown if (one.group or one.name) == first]
        if len(others) < _MAX_TYPO_WORDS and not _QUESTION_MARKS.search(words):
            if not named and first not in _QUESTION_WORDS:
                named = [one for one in shown if is_one_edit_away(first, one.group or one.name)]
        else:
            named = [one for one in named if has_named_value(one.parameters, words)]
        exact = [one for one in named if others and one.name == others[0]]
        return tuple(exact or named)


def collect_commands(own: Iterable[Command], plugins: Plugins) -> CommandRegistry:
    """Return our own commands and those of active plug-ins.

    Of two with one name the first counts; the plug-in of the other gets a warning.
    """
    commands = {command.full_name: command for command in own}
    for plugin, added in plugins.load_named(lambda plugin: plugin.commands):
        for command in added:
            groups = {one.group for one in commands.values()}
            if command.full_name in {*commands, *groups} or command.group in commands:
                plugins.warn(
                    plugin,
                    f"Its command {command.full_name} is left out, because there is one with this "
                    "name already. Ask its author to rename it.",
                )
            else:
                commands[command.full_name] = command
    off = {
        name: plugin.name
        for plugin in plugins.present
        if plugin.commands and not plugins.is_active(plugin.name)
        for name in plugin.cli  # they have these names in chats, too
    }
    return CommandRegistry([*commands.values()], off)


async def _explain_off(
    app: AppContext,
    chat: Chat,
    message: IncomingMessage,
    arguments: Arguments,
    *,
    plugin: str,
    name: str,
) -> None:
    why = f"{name} is part of the plug-in {plugin}, which is not on."
    await chat.send_ephemeral(message, Post((Caution(why),), why))


def commands_of(app: HasParts) -> CommandRegistry:
    """Return the commands of an application."""
    return app.parts.get(CommandRegistry)


def is_short(text: str) -> bool:
    """Return whether a text has one or two words and no question mark, so is hardly a question.

    Pseudonyms of people, which stand for mentions and names, do not count.
    """
    if len(text) > _MAX_SHORT_CHARACTERS or _QUESTION_MARKS.search(text):
        return False
    spaced = _UNSPACED.sub(" w ", _MENTIONED.sub(" ", text))
    words = [word for word in spaced.split() if any(map(str.isalnum, word))]
    return len(words) <= _MAX_SHORT_WORDS


def _split_first(words: str) -> tuple[str, str]:
    """Return the first word, and the rest as it was written."""
    first, rest = (*words.split(None, 1), "", "")[:2]
    return first, rest

"""Mentions of slash commands: a hint such as `/council show ROUND` becomes clickable.

Arguments read as Discord's options do: `round:…`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from re import Match

from bot.commands.parameters import Kind, Parameter
from bot.commands.registry import ASK, Command
from bot.hints import HINT

_OPTIONAL = re.compile(r"\[[^\]]*\]|…")
_PLACEHOLDER = re.compile(r"[A-Z]+(_[A-Z]+)*")
_ANY = "…"  # for a value that the reader chooses
_QUESTION = "QUESTION"  # a hint of it alone is a question


class CommandMentions:
    """Turns hints in rendered texts into Discord's mentions of commands.

    `ids` are those of `/council` and `/council-admin` by name; without its id a command is text.
    """

    def __init__(
        self, commands: Iterable[Command], ids: Mapping[str, str], tops: tuple[str, str]
    ) -> None:
        self._ids = ids
        self._tops = tops
        shown = [one for one in commands if not one.hidden]
        self._named = {one.full_name: one for one in shown}
        # The name of a group stands for its default commands, without and with arguments.
        self._defaults = {(one.group, bool(one.parameters)): one for one in shown if one.is_default}

    def render(self, text: str) -> str:
        """Return the text with mentions instead of hints; the arguments follow a mention."""
        return HINT.sub(self._mention, text)

    def _mention(self, match: Match[str]) -> str:
        words = _OPTIONAL.sub("", match[1]).split()
        command, count = self._command(words)
        if command is None:
            return match[0]
        top = self._tops[command.for_admins]
        options = " ".join(_options(command.parameters, words[count:]))
        if top not in self._ids:
            return f"`/{top} {command.full_name} {options}".rstrip() + "`"
        mention = f"</{top} {command.full_name}:{self._ids[top]}>"
        return f"{mention} `{options}`" if options else mention

    def _command(self, words: Sequence[str]) -> tuple[Command | None, int]:
        """Return the command that the words of a hint name, and how many of them do."""
        if not words:
            return None, 0
        if words[0] == _QUESTION:
            return self._named.get(ASK), 0
        if command := self._named.get(" ".join(words[:2])):
            return command, 2
        command = self._named.get(words[0])
        return command or self._defaults.get((words[0], len(words) > 1)), 1


def _options(parameters: Iterable[Parameter], words: Sequence[str]) -> Iterator[str]:
    """Yield each value as an option, `name:value`; a placeholder stands for any value."""
    positional = [one for one in parameters if not (one.named or one.form_only or one.text_only)]
    for at, word in enumerate(words):
        name, is_named, value = word.partition(":")
        if is_named and name.isidentifier():
            yield f"{name}:{_ANY if _PLACEHOLDER.fullmatch(value) else value}"
        elif not positional:
            yield word
        else:
            takes_rest = positional[0].kind in {Kind.TEXT, Kind.LABEL} or len(positional) == 1
            value = " ".join(words[at:]) if takes_rest else word
            yield f"{positional.pop(0).name}:{_ANY if _PLACEHOLDER.fullmatch(value) else value}"
            if takes_rest:
                return

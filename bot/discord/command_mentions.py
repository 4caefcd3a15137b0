"""Mentions of slash commands: a hint such as `/council show ROUND` becomes clickable."""

from collections.abc import Iterable, Mapping
from re import Match

from bot.commands.registry import Command
from bot.hints import HINT


class CommandMentions:
    """Turns hints in rendered texts into Discord's mentions of commands.

    `ids` are those of `/council` and `/council-admin` by name; without its id a command stays text.
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
        words = match[1].split()
        command, count = self._named.get(" ".join(words[:2])), 2
        if command is None:
            command, count = self._named.get(words[0]), 1
        command = command or self._defaults.get((words[0], len(words) > 1))
        top = self._tops[command.for_admins] if command else ""
        if command is None or top not in self._ids:
            return match[0]
        mention, rest = f"</{top} {command.full_name}:{self._ids[top]}>", " ".join(words[count:])
        return f"{mention} `{rest}`" if rest else mention

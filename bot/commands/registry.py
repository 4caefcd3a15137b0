"""Command registry, and the parser that finds the command in a message.

A command's name counts only alone or followed by its own grammar; everything else is a question.
`ask` always is one.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.chat import Chat, IncomingMessage
from bot.context import AppContext

Run = Callable[[AppContext, Chat, IncomingMessage, str], Awaitable[None]]

Takes = Literal["question", "panel", "round", "number", "topic", "words", "file"]

ALONE = ""
_ADDRESS = re.compile(r"\A\s*/council\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Command:
    """A command; `grammar` is the regular expression of what may follow its name.

    `takes` is the kind of input field that a chat shows for it: for a question, a panel, a round, a
    number, a topic, words as they would be typed, or such words with a file.
    """

    name: str
    usage: str
    summary: str
    run: Run
    grammar: str = ALONE
    takes: Takes | None = None


@dataclass(frozen=True, slots=True)
class Invocation:
    """A command and its argument."""

    command: Command
    argument: str


class Registry:
    """The registered commands; `ask` is the fallback."""

    def __init__(self, ask: Command, others: Sequence[Command]) -> None:
        self.commands = (ask, *others)
        self._ask = ask
        self._by_name = {command.name: command for command in self.commands}

    def read(self, text: str) -> Invocation:
        """Parse a text, with or without `/council` in front; `/council` alone is `help`."""
        words = _ADDRESS.sub("", text).strip()
        name, rest = (*words.split(None, 1), "")[:2] if words else ("help", "")
        command = self._by_name.get(name.lower())
        if command and re.fullmatch(command.grammar, rest.strip(), re.IGNORECASE | re.DOTALL):
            return Invocation(command, rest.strip())
        return Invocation(self._ask, words)

"""What the asker is shown before a thread goes along with a question."""

from dataclasses import dataclass

from bot.chat import Button, Buttons, Caution, Heading, Note, Part, Post, Quote
from bot.render.formatting import counted
from bot.render.round_status import receivers
from bot.slack.threads import Context
from council.panel import Panel

SHOWN_CHARACTERS = 1_200
WITH, WITHOUT = "with_thread", "without_thread"
ASKED = "Send this thread along with your question?"
CHANGED = "The thread has changed since. This is what would go along now."


@dataclass(frozen=True, slots=True)
class Offer:
    """A thread, the panel it would go to, what the buttons carry, and whether it was changed."""

    context: Context
    panel: Panel
    value: str
    changed: bool = False

    @property
    def post(self) -> Post:
        """Give what the asker alone is shown."""
        return Post(tuple(self._parts()), ASKED)

    def _parts(self) -> list[Part]:
        text = self.context.text
        shown = text[-SHOWN_CHARACTERS:]
        with_, without = (
            Button(WITH, "Ask with it", self.value),
            Button(WITHOUT, "Ask without", self.value),
        )
        return [
            *([Caution(CHANGED)] if self.changed else []),
            Heading(ASKED),
            Quote(shown if shown == text else f"…{shown}"),
            Note(f"{self._size()}. All of it would go to {receivers(self.panel)}."),
            Buttons((with_, without)),
        ]

    def _size(self) -> str:
        kept, older = self.context.messages, self.context.left_out
        size = f"{counted(kept, 'message')}, {len(self.context.text):,} characters"
        return size + (f"; {counted(older, 'older message')} left out" if older else "")

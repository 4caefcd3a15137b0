"""What a chat is to the rest of the bot: places, posts and the few acts on them."""

from bot.chat.chat import Chat, Sent, Whisper
from bot.chat.errors import GoneError, NoThreadError, UnreachableError, UnsureError, UnwelcomeError
from bot.chat.insisting import insisted, insisted_on_one, pauses
from bot.chat.keeping_up import Shown
from bot.chat.posts import (
    Button,
    Buttons,
    Caution,
    File,
    Heading,
    Line,
    Mentions,
    Note,
    Part,
    Post,
    Prose,
    Quote,
    Step,
    Steps,
    StepState,
    Table,
    Thread,
)
from bot.chat.said import KEY_LENGTH, Asker, Attached, Said, key_of

__all__ = [
    "KEY_LENGTH",
    "Asker",
    "Attached",
    "Button",
    "Buttons",
    "Caution",
    "Chat",
    "File",
    "GoneError",
    "Heading",
    "Line",
    "Mentions",
    "NoThreadError",
    "Note",
    "Part",
    "Post",
    "Prose",
    "Quote",
    "Said",
    "Sent",
    "Shown",
    "Step",
    "StepState",
    "Steps",
    "Table",
    "Thread",
    "UnreachableError",
    "UnsureError",
    "UnwelcomeError",
    "Whisper",
    "insisted",
    "insisted_on_one",
    "key_of",
    "pauses",
]

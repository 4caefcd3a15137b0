"""Files that come with what is said: the text of one, or files to be read later."""

from collections.abc import Iterable

import discord

from bot.chat import Attached
from bot.chat.incoming import MOST_CHARACTERS
from bot.discord.faults import told
from council.errors import QuestionError

MOST_BYTES = 4 * MOST_CHARACTERS  # a character takes four bytes at most


async def text_of(attachment: discord.Attachment) -> str:
    """Give a file's text; raise QuestionError for one that is too long, or no text."""
    if attachment.size > MOST_BYTES:
        raise QuestionError(
            f"{attachment.filename} has {attachment.size:,} bytes, and with the question at most "
            f"{MOST_CHARACTERS:,} characters can be asked: attach a part of it."
        )
    with told():
        content = await attachment.read()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise QuestionError(
            f"{attachment.filename} is no text file: attach plain text, Markdown, CSV or code."
        ) from None


def attached(attachments: Iterable[discord.Attachment]) -> tuple[Attached, ...]:
    """Give files that can be read."""
    return tuple(_attached(attachment) for attachment in attachments)


def _attached(attachment: discord.Attachment) -> Attached:
    async def read() -> bytes:
        with told():
            return await attachment.read()

    return Attached(attachment.filename, attachment.size, read)

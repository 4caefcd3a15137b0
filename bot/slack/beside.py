"""Whispers beside a thread: Slack shows nobody what is whispered in one without replies."""

from dataclasses import replace

from bot.chat import Post, Said, Whisper


def beside(whisper: Whisper) -> Whisper:
    """Give a whisper that is heard in the channel, whatever thread is spoken of."""

    async def told(said: Said, post: Post) -> None:
        await whisper(replace(said, place=replace(said.place, thread=None)), post)

    return told

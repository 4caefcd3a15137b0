"""What counts a whole workspace's rounds: for whom, and posted with its thread or told."""

from dataclasses import replace
from itertools import chain

from bot.access import NotAdmittedError
from bot.bakeoffs.sought import Sought
from bot.chat import Chat, File, Note, NoThreadError, Post, Said, Thread, UnwelcomeError
from bot.commands.desk import Desk
from council.places import HOUSE


def check_is_at_home(said: Said, what: str) -> None:
    """Raise NotAdmittedError for a guest, or where strangers read along."""
    if said.asker.is_guest or said.is_shared:
        raise NotAdmittedError(
            f"{what} counts the rounds of the whole workspace: ask for it in a channel of your "
            "own, not in one that is shared with others or as a guest."
        )


def within_reach(sought: Sought, said: Said) -> Sought:
    """Give what is sought among the rounds of the speaker's own workspace; of all in the house."""
    return sought if said.place.chat in HOUSE else replace(sought, scope=said.place.scope)


async def show_report(desk: Desk, chat: Chat, said: Said, thread: Thread, root: str) -> None:
    """Post a report with its thread where people talk, else tell it; `root` keys its messages."""
    if chat.is_room and thread.replies:
        await _posted(desk, chat, said, thread, root)
    else:
        await _told(chat, said, thread)


async def _told(chat: Chat, said: Said, thread: Thread) -> None:
    """Tell all but the files to the one who asked."""
    for post in (thread.root, *thread.replies):
        if not _is_file(post):
            await chat.whisper(said, post)


async def _posted(desk: Desk, chat: Chat, said: Said, thread: Thread, key: str) -> None:
    """Post the report, once for each event; where nothing may be posted, tell it."""
    replies = [post for post in thread.replies if chat.keeps_files or not _is_file(post)]
    paged = [[post] if _is_file(post) else chat.pages(post) for post in replies]
    (first, *rest) = chat.pages(thread.root)
    try:
        root = await desk.outbox.send(chat, said.key, key, first, said.place)
        place = replace(root.place, thread=root.place.thread or root.message)
        for number, post in enumerate(chain(rest, *paged), start=1):
            part = f"{key} {post.summary}" if _is_file(post) else f"{key} {number}"
            await desk.outbox.send(chat, said.key, part, post, place)
    except NoThreadError as error:
        await chat.whisper(said, Post((Note(str(error)),), str(error)))
    except UnwelcomeError:
        await _told(chat, said, thread)


def _is_file(post: Post) -> bool:
    return any(isinstance(part, File) for part in post.parts)

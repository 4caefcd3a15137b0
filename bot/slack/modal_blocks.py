"""Posts as pages of a modal, which takes fewer kinds of block and more of them than a message."""

from collections.abc import Iterable, Iterator

from bot.chat import Post
from bot.render.pagination import pages
from bot.slack.buttons import distinct
from bot.slack.dress import Dress, Level
from bot.slack.fits import fits_modal, json_size
from bot.slack.limits import MODAL_BLOCKS, MODAL_JSON
from bot.slack.rich import Block

_DIVIDER: Block = {"type": "divider"}


def modal_blocks(posts: Iterable[Post]) -> list[list[Block]]:
    """Give the posts one after another as pages for a modal, a line between two posts."""
    return [distinct(page) for page in _packed(_dressed(posts))]


def _dressed(posts: Iterable[Post]) -> Iterator[list[Block]]:
    for post in posts:
        for page in pages(post, fits_modal):
            if blocks := Dress(page).blocks(Level.MONOSPACE):
                yield blocks


def _packed(dressed: Iterable[list[Block]]) -> Iterator[list[Block]]:
    page: list[Block] = []
    for blocks in dressed:
        both = [*page, dict(_DIVIDER), *blocks] if page else blocks
        if page and (len(both) > MODAL_BLOCKS or json_size(both) > MODAL_JSON):
            yield page
            page = blocks
        else:
            page = both
    if page:
        yield page

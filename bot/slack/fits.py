"""Whether a post is within all of Slack's limits, whichever dress it has to be sent in."""

import json
from collections.abc import Sequence

from bot.chat import Post
from bot.render.pagination import may_fit
from bot.slack.dress import Dress, Level
from bot.slack.limits import BLOCKS, BOLD_HEADING, MESSAGE_JSON, MODAL_BLOCKS, MODAL_JSON, TEXT
from bot.slack.rich import Block
from bot.slack.words import whole_text


def fits_slack(post: Post) -> bool:
    """Say whether Slack takes the post as one message, at every level."""
    if not may_fit(post, MESSAGE_JSON, BOLD_HEADING):
        return False
    dress = Dress(post)
    levels = (Level.DATA_TABLE, Level.TABLE, Level.MONOSPACE)[0 if dress.varies else -1 :]
    return all(_within(dress.blocks(level), BLOCKS, MESSAGE_JSON) for level in levels) and (
        len(whole_text(post)) < TEXT
    )


def fits_modal(post: Post) -> bool:
    """Say whether the post is shown on one page of a modal."""
    if not may_fit(post, MODAL_JSON, BOLD_HEADING):
        return False
    return _within(Dress(post).blocks(Level.MONOSPACE), MODAL_BLOCKS, MODAL_JSON)


def json_size(blocks: Sequence[Block]) -> int:
    """Give the length of the blocks as the JSON that is sent, escapes and structure counted."""
    return len(json.dumps(blocks, ensure_ascii=False))


def _within(blocks: Sequence[Block], most: int, longest: int) -> bool:
    return len(blocks) <= most and json_size(blocks) <= longest

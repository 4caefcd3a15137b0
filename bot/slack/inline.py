"""Leaves of a text as Slack has them: styled runs, and links that show where they lead."""

from markdown_it.common.normalize_url import normalizeLink

from bot.render.markdown_parser import Leaf
from bot.render.markdown_parser import Leaves as Read
from bot.render.text_safety import shown_text
from bot.slack.limits import URL
from bot.slack.plain import inert, inert_url
from bot.slack.rich import Block, Leaves, link, text


def leaves_in_slack(leaves: Read) -> Leaves:
    """Give the leaves as rich text, none of which calls anybody."""
    return [_leaf(leaf) for leaf in leaves]


def _leaf(leaf: Leaf) -> Block:
    """Give a web address to press; any other is text."""
    if leaf.leads_out and len(leaf.text) <= URL:
        return link(inert_url(shown_text(normalizeLink(leaf.text))))
    return text(inert(leaf.text), *leaf.styles)

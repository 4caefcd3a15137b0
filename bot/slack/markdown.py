"""Markdown by models and people as Slack's rich text: shown, never obeyed.

Knows no posts. What Slack has no form for is shown as text, and nothing is left out.
"""

from bot.render.markdown_parser import Parsed, walk
from bot.slack.flow import Flow
from bot.slack.rich import Block


def markdown_blocks(prose: Parsed, *, as_table: bool) -> list[Block]:
    """Give the blocks of a text: rich text, and a table block where there is one to be had."""
    flow = Flow(as_table=as_table)
    walk(prose, flow)
    return flow.blocks()

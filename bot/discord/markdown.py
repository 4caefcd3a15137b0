"""Markdown by models and people as Discord's own Markdown: shown, never obeyed.

Knows no posts. What Discord has no form for is shown as text, and nothing is left out.
"""

from bot.discord.flow import Flow
from bot.render.markdown_parser import parsed, walk


def markdown_text(source: str) -> str:
    """Give the text that shows in Discord what the Markdown says; "" where that is nothing."""
    flow = Flow()
    walk(parsed(source), flow)
    return flow.text()

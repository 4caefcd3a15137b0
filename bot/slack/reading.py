"""What people write in Slack, as plain text."""

import html
import re
from collections.abc import Awaitable, Callable

# What else stands in angle brackets, such as `List<String>`, is somebody's own words.
_TOKEN = re.compile(r"<([@#!][^<>\n]+|[a-z][a-z0-9+.-]*:[^<>\n]+)>")

Named = Callable[[str], Awaitable[str]]


async def plain_text(text: str, named: Named) -> str:
    """Give a message's text without Slack's markup: names for ids, links with their addresses."""
    users = dict.fromkeys(re.findall(r"<@([UW][A-Z0-9]+)>", text))
    names = {user: await named(user) for user in users}

    def read(token: re.Match[str]) -> str:
        return _read(token[1], names)

    return html.unescape(_TOKEN.sub(read, text)).strip()


def without_mention(text: str, bot: str) -> str:
    """Give a message's text without the mention that called us."""
    return re.sub(rf"\s*<@{re.escape(bot)}(\|[^>]*)?>[:,]?\s*", " ", text, count=1).strip()


def _read(token: str, names: dict[str, str]) -> str:
    target, _, label = token.partition("|")
    if target.startswith("@"):
        return f"@{label or names.get(target[1:], target[1:])}"
    if target.startswith("#"):
        return f"#{label or target[1:]}"
    if target.startswith("!"):
        return label or f"@{target[1:].partition('^')[0]}"
    target = target.removeprefix("mailto:")
    return target if label in {"", target} else f"{label} ({target})"

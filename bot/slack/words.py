"""A post as nothing but text: its summary, and the whole of it where Slack refuses its blocks."""

from bot.chat import Buttons, File, Mentions, Part, Post, Prose, Quote, Steps, Table
from bot.render.formatting import monospaced, step_line
from bot.render.text_safety import shortened
from bot.slack.limits import SUMMARY, TEXT
from bot.slack.plain import callable_ids, escaped, one_line

_NAMELESS = "A message of the council"


def summary_text(post: Post) -> str:
    """Give the short text that stands for a message in a notification; never empty."""
    words = one_line(post.summary) or one_line(_words_of(post)[: 2 * SUMMARY]) or _NAMELESS
    return _fitting(words, SUMMARY)


def whole_text(post: Post) -> str:
    """Give all words of a post, escaped; never empty, and never more than Slack takes."""
    calls = [part for part in post.parts if isinstance(part, Mentions)]
    called = "".join(f"\n<@{id_}>" for part in calls for id_ in callable_ids(part.ids))
    words = _words_of(post).strip() or post.summary.strip() or _NAMELESS
    return _fitting(words, TEXT - len(called)) + called


def _fitting(words: str, limit: int) -> str:
    """Escape what fits into so many characters: an escaped sign counts as several."""
    text = escaped(words)
    keep = min(limit, len(words))
    while len(text) > limit:
        keep = keep * limit // len(text) - 1
        text = escaped(shortened(words, keep))
    return text


def _words_of(post: Post) -> str:
    return "\n\n".join(words for part in post.parts if (words := _words(part)))


def _words(part: Part) -> str:
    match part:
        case Table():
            return monospaced(part)
        case Steps(title, steps):
            return "\n".join([title, *(one_line(step_line(step)) for step in steps)])
        case Quote(text):
            return "\n".join(f"» {line}" for line in text.split("\n"))
        case Buttons() | File() | Mentions():
            return ""
        case Prose(text):
            return text
    return one_line(part.text)

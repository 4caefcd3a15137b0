"""Markdown of a thread of any posts, for the terminal, files and MCP."""

from collections.abc import Iterable

from bot.chat import Buttons, File, Heading, Mentions, Part, Prose, Quote, Steps, Table, Thread


def thread_markdown(thread: Thread) -> str:
    """Return the post and its replies as one Markdown text."""
    texts = [_part_markdown(part, "#") for part in thread.root.parts]
    texts += [_part_markdown(part, "##") for reply in thread.replies for part in reply.parts]
    return "\n\n".join(filter(None, texts)) + "\n"


def _part_markdown(part: Part, level: str) -> str:
    match part:
        case Heading(text):
            return f"{level} {_line(text)}"
        case Prose(text):
            return text
        case Quote(text):
            return "\n".join(f"> {line}" for line in text.splitlines())
        case Table():
            rule = ["--:" if i in part.numeric else "---" for i in range(len(part.columns))]
            return "\n".join(map(_row_markdown, (part.columns, rule, *part.rows)))
        case Buttons() | Steps() | File() | Mentions():
            return ""
    return _line(part.text)


def _row_markdown(cells: Iterable[str]) -> str:
    return "| " + " | ".join(_line(cell).replace("|", "\\|") for cell in cells) + " |"


def _line(text: str) -> str:
    return " ".join(text.split())

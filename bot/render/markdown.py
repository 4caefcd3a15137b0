"""A thread as a Markdown file, for keeping and passing on."""

from collections.abc import Iterator

from bot.chat import (
    Buttons,
    File,
    Heading,
    Mentions,
    Part,
    Post,
    Prose,
    Quote,
    Steps,
    Table,
    Thread,
)


def as_markdown(thread: Thread) -> str:
    """Give the post and its replies as one Markdown text."""
    posts = [_post(thread.root, "#"), *(_post(reply, "##") for reply in thread.replies)]
    return "\n\n".join(posts) + "\n"


def _post(post: Post, level: str) -> str:
    return "\n\n".join(text for part in post.parts if (text := _part(part, level)))


def _part(part: Part, level: str) -> str:
    match part:
        case Heading(text):
            return f"{level} {_line(text)}"
        case Prose(text):
            return text
        case Quote(text):
            return "\n".join(f"> {line}" for line in text.splitlines())
        case Table():
            return "\n".join(_rows(part))
        case Buttons() | Steps() | File() | Mentions():
            return ""
    return _line(part.text)


def _rows(table: Table) -> Iterator[str]:
    yield _row(table.columns)
    yield _row(["--:" if i in table.numeric else "---" for i in range(len(table.columns))])
    yield from map(_row, table.rows)


def _row(cells: tuple[str, ...] | list[str]) -> str:
    return "| " + " | ".join(_line(cell).replace("|", "\\|") for cell in cells) + " |"


def _line(text: str) -> str:
    return " ".join(text.split())

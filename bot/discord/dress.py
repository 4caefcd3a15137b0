"""Posts in Discord's dress: Components V2, as plain JSON.

Model text is shown as it stands and never obeyed: it calls nobody, forges nothing, loads nothing.
Knows no client: `views` makes of a message what discord.py sends.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from bot.chat import (
    Buttons,
    Caution,
    File,
    Heading,
    Line,
    Mentions,
    Note,
    Part,
    Post,
    Prose,
    Quote,
    Steps,
    Table,
)
from bot.discord.buttons import Component, button_rows
from bot.discord.inline import marked_words
from bot.discord.limits import CALLED, DESCRIPTION, FILE_NAME, HEADING
from bot.discord.markdown import markdown_text
from bot.discord.plain import inert
from bot.discord.tables import standings_text
from bot.render.formatting import step_line
from bot.render.text_safety import shortened, shown_text

COMPONENTS_V2 = 1 << 15
_TEXT, _GALLERY, _FILE, _CONTAINER = 10, 12, 13, 17
_AMBER = 0xC27C0E  # the only colour: something is missing
_NAMELESS = "A message of the council"
_SMALL = Quote | Note
_PERSON = re.compile(r"[0-9]{15,20}")


@dataclass(frozen=True, slots=True)
class Message:
    """A message as Discord's JSON has it, the files that its components name, and who is called."""

    components: tuple[Component, ...]
    files: tuple[File, ...] = ()
    called: tuple[str, ...] = ()

    @property
    def payload(self) -> dict[str, Any]:
        """Give what is sent: nobody is called by any name in it, only by a mention of ours."""
        people = {"users": list(self.called)} if self.called else {}
        return {
            "components": list(self.components),
            "flags": COMPONENTS_V2,
            "allowed_mentions": {"parse": [], **people},
        }


def dressed(post: Post) -> Message:
    """Give a post as a message; one that `fits_discord` is within every limit."""
    files = tuple(replace(p, name=_file_name(p.name)) for p in post.parts if isinstance(p, File))
    components = [made for kind, parts in groupby(post.parts, _kind) for made in _made(kind, parts)]
    return Message(
        tuple(components) or (_text(marked_words(post.summary) or _NAMELESS),),
        files,
        tuple(id_ for part in post.parts if isinstance(part, Mentions) for id_ in _people(part)),
    )


def _kind(part: Part) -> type:
    """Give what neighbours of a kind become together: one text, one box of cautions."""
    return type(part) if isinstance(part, Caution | Buttons | File | Mentions) else Post


def _made(kind: type, parts: Iterator[Part]) -> Iterator[Component]:
    if kind is Buttons:
        for row in parts:
            yield from button_rows(row.buttons if isinstance(row, Buttons) else ())
    elif kind is File:
        yield from (_file(part) for part in parts if isinstance(part, File))
    elif kind is Mentions:
        people = [id_ for part in parts if isinstance(part, Mentions) for id_ in _people(part)]
        if people:
            yield {"type": _TEXT, "content": " ".join(f"<@{id_}>" for id_ in people)}
    elif words := _one_under_another(parts):
        text = _text(words)
        boxed = {"type": _CONTAINER, "accent_color": _AMBER, "components": [text]}
        yield boxed if kind is Caution else text


def _file(file: File) -> Component:
    """Give a picture to look at, any other file to keep."""
    media = {"url": f"attachment://{_file_name(file.name)}"}
    if not file.is_picture:
        return {"type": _FILE, "file": media}
    told = shortened(inert(" ".join(shown_text(file.text).split())), DESCRIPTION)
    return {"type": _GALLERY, "items": [{"media": media, "description": told}]}


def _people(mentions: Mentions) -> list[str]:
    """Give the ids that are people's, as many as one message calls."""
    return [id_ for id_ in dict.fromkeys(mentions.ids) if _PERSON.fullmatch(id_)][:CALLED]


def _text(words: str) -> Component:
    return {"type": _TEXT, "content": inert(words)}


def _one_under_another(parts: Iterator[Part]) -> str:
    """Give parts as one text: small print and quotes stand close to what they are about."""
    made = ""
    last: Part | None = None
    for part in parts:
        words = _words(part)
        if not words.strip():
            continue
        made += (_gap(last, part) if last else "") + words
        last = part
    return made


def _gap(last: Part, part: Part) -> str:
    stands_apart = isinstance(last, Prose | Table | Steps)  # what follows would be read as of it
    if isinstance(last, Heading) or (isinstance(part, _SMALL) and not stands_apart):
        return "\n"
    return "\n\n"


def _words(part: Part) -> str:
    match part:
        case Prose(text):
            return markdown_text(text)
        case Table():
            return standings_text(part)
        case Steps():
            return _progress(part)
        case Heading() | Quote() | Note() | Line() | Caution():
            return _LOOKS[type(part)](part.text)
    return ""


def _heading(text: str) -> str:
    title = text.strip()
    if len(title) > HEADING or "\n" in title:
        return marked_words(title, strong=True)
    return _under("## ", marked_words(_one_line(title)))


def _quote(text: str) -> str:
    return _under("> ", marked_words(text.strip("\n")))


def _note(text: str) -> str:
    return _under("-# ", marked_words(_one_line(text)))


_LOOKS: dict[type[Part], Callable[[str], str]] = {
    Heading: _heading,
    Quote: _quote,
    Note: _note,
    Line: marked_words,
    Caution: marked_words,
}


def _progress(steps: Steps) -> str:
    lines = [f"- {marked_words(_one_line(step_line(step)))}" for step in steps.steps]
    return "\n".join([marked_words(_one_line(steps.title), strong=True), *lines])


def _under(mark: str, words: str) -> str:
    return "\n".join(mark + line for line in words.split("\n")) if words.strip() else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _file_name(name: str) -> str:
    """Give a name that a component can refer to."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name)[-FILE_NAME:].strip(".-") or "file.txt"

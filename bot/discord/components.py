"""Rows of buttons; each carries what is done and to what, so that it works after a restart too."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import groupby
from typing import Any

import discord
from discord import ui

from bot.chat import (
    Button,
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
from bot.discord.config import (
    BOLD_HEADING,
    BUTTON_LABEL,
    CALLED,
    COMPONENTS,
    CUSTOM_ID,
    DESCRIPTION,
    FILE_NAME,
    HEADING,
    ROW,
    TEXT,
    WEIGHT,
    WEIGHT_OF_TEXT,
)
from bot.discord.markdown import inert, markdown_text, marked_words, standings_text
from bot.render.formatting import step_line
from bot.render.pagination import may_fit
from bot.render.text_safety import shortened, shown_text

# --- Rows of buttons; each carries what is done and to what, so that it works after a restart too

Component = dict[str, Any]  # a component as Discord's JSON has it

PREFIX = "council"
_ROW, _BUTTON = 1, 2
_SECONDARY, _DANGER = 2, 4
_DANGEROUS = {"cancel", "yes_cancel", "bakeoff_cancel"}
_OPINIONS = {"helpful", "unhelpful"}


@dataclass(frozen=True, slots=True)
class Press:
    """What a press asks for."""

    action: str
    value: str


def custom_id(button: Button) -> str:
    """Give what a press of the button is known by; one too long for Discord is an error of ours."""
    made = f"{PREFIX}:{button.action}:{button.value}"
    if len(made) > CUSTOM_ID or ":" in button.action:
        raise ValueError(f"a button cannot be known by {made!r}")
    return made


def press_of(custom_id: str) -> Press | None:
    """Give what a press is known by; None if the button is none of ours."""
    prefix, _, rest = custom_id.partition(":")
    action, parted, value = rest.partition(":")
    return Press(action, value) if prefix == PREFIX and parted and action else None


def button_rows(buttons: Sequence[Button]) -> Iterator[Component]:
    """Give the buttons in rows, opinions in one of their own; the same twice is shown once."""
    once = list({custom_id(button): button for button in buttons}.values())
    acts = [button for button in once if button.action not in _OPINIONS]
    opinions = [button for button in once if button.action in _OPINIONS]
    for group in (acts, opinions):
        for at in range(0, len(group), ROW):
            yield {"type": _ROW, "components": list(map(_button, group[at : at + ROW]))}


def _button(button: Button) -> Component:
    return {
        "type": _BUTTON,
        "style": _DANGER if button.action in _DANGEROUS else _SECONDARY,
        "label": shortened(inert(" ".join(shown_text(button.label).split())), BUTTON_LABEL)
        or button.action,
        "custom_id": custom_id(button),
    }


# --- Posts in Discord's dress: Components V2, as plain JSON.

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


# --- A message as the view that discord.py sends.

_TEXT_TYPE, _ROW_TYPE, _BUTTON_TYPE, _GALLERY_TYPE, _FILE_TYPE, _CONTAINER_TYPE = (
    10,
    1,
    2,
    12,
    13,
    17,
)


def view_of(message: Message, mark: int | None = None) -> ui.LayoutView:
    """Give the view; it is stopped, so that the client neither keeps it nor answers its buttons.

    Needs a running loop. The mark is kept as the first component's number. Presses are heard by
    their ids, whoever made the message and when.
    """
    view = ui.LayoutView(timeout=None)
    for component in message.components:
        view.add_item(_item(component))
    view.children[0].id = mark
    view.stop()
    return view


def files_of(message: Message) -> list[discord.File]:
    """Give the files that go beside the view; each can be sent once."""
    return [discord.File(BytesIO(file.content), file.name) for file in message.files]


def called_by(message: Message) -> discord.AllowedMentions:
    """Give who is called by the message: whom it mentions for us, and nobody else."""
    if not message.called:
        return discord.AllowedMentions.none()
    people = [discord.Object(int(id_)) for id_ in message.called]
    return discord.AllowedMentions(everyone=False, roles=False, replied_user=False, users=people)


def _item(component: Component) -> ui.Item[ui.LayoutView]:
    return _ITEMS[component["type"]](component)


def _button_view(component: Component) -> ui.Button[ui.LayoutView]:
    return ui.Button(
        style=discord.ButtonStyle(component["style"]),
        label=component["label"],
        custom_id=component["custom_id"],
    )


def _gallery(component: Component) -> ui.MediaGallery[ui.LayoutView]:
    shown = component["items"]
    return ui.MediaGallery(
        *(
            discord.MediaGalleryItem(item["media"]["url"], description=item["description"] or None)
            for item in shown
        )
    )


def _container(component: Component) -> ui.Container[ui.LayoutView]:
    inside = map(_item, component["components"])
    return ui.Container(*inside, accent_color=component["accent_color"])


_ITEMS: dict[int, Callable[[Component], ui.Item[ui.LayoutView]]] = {
    _TEXT_TYPE: lambda component: ui.TextDisplay(component["content"]),
    _ROW_TYPE: lambda component: ui.ActionRow(*map(_button_view, component["components"])),
    _BUTTON_TYPE: _button_view,
    _GALLERY_TYPE: _gallery,
    _FILE_TYPE: lambda component: ui.File(component["file"]["url"]),
    _CONTAINER_TYPE: _container,
}


# --- Whether a post is within all of Discord's limits as one message.


def fits_discord(post: Post) -> bool:
    """Say whether Discord takes the post as one message."""
    return may_fit(post, WEIGHT, BOLD_HEADING) and within_limits(dressed(post).components)


def within_limits(components: Sequence[Component]) -> bool:
    """Say whether a message may hold these components: their number, their letters, their bytes."""
    every = list(_nested(components))
    texts = [str(component["content"]) for component in every if "content" in component]
    weight = sum(len(text.encode()) + WEIGHT_OF_TEXT for text in texts)
    return len(every) <= COMPONENTS and sum(map(_length, texts)) <= TEXT and weight <= WEIGHT


def _nested(components: Sequence[Component]) -> Iterator[Component]:
    for component in components:
        yield component
        yield from _nested(component.get("components", ()))


def _length(text: str) -> int:
    """Give the length as Discord's own program counts it: some signs are two."""
    return len(text.encode("utf-16-le")) // 2

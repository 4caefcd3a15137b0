"""Renderer of posts as components (V2): buttons with custom ids, files, and Discord's limits."""

import re
from collections.abc import Iterator, Sequence
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
from bot.discord.markdown import neutralize, render_markdown, render_plain_text, render_standings
from bot.render.formatting import step_line
from bot.render.pagination import may_fit
from bot.render.text_safety import shorten, visible_text

# --- Limits of one message

MAX_COMPONENTS = 40  # in one message, nested ones included
MAX_TEXT_LENGTH = 4_000  # characters of all texts in one message
# Discord fails beyond 10,170 of these, so it refuses a message of emoji before 4,000 characters.
MAX_WEIGHT = 10_000
WEIGHT_OF_TEXT = 12  # what a text counts in addition to its bytes

MAX_ROW_BUTTONS = 5
MAX_CUSTOM_ID_LENGTH = 100

# Limits of our own, for readability.
MAX_HEADING_LENGTH = 150  # a longer title becomes bold text
MAX_BOLD_HEADING_LENGTH = 600  # longer text is no heading

Component = dict[str, Any]  # a component in Discord's JSON

_ROW, _BUTTON, _TEXT, _GALLERY, _FILE, _CONTAINER = 1, 2, 10, 12, 13, 17
_SECONDARY, _DANGER = 2, 4
_DANGER_ACTIONS = {"cancel", "yes_cancel", "bakeoff_cancel"}
_FEEDBACK_ACTIONS = {"helpful", "unhelpful"}
_USER_ID = re.compile(r"[0-9]{15,20}")


@dataclass(frozen=True, slots=True)
class Message:
    """A rendered message: components, the files they refer to, and the ids of mentioned users."""

    components: tuple[Component, ...]
    files: tuple[File, ...] = ()
    mentioned: tuple[str, ...] = ()


def render_components(post: Post) -> Message:
    """Render a post as a message; it is within Discord's limits if `fits_discord` accepts it."""
    files = tuple(replace(p, name=_file_name(p.name)) for p in post.parts if isinstance(p, File))
    components = [
        component
        for kind, parts in groupby(post.parts, _group)
        for component in _render_group(kind, parts)
    ]
    return Message(
        tuple(components)
        or (_text(render_plain_text(post.summary) or "A message of the council"),),
        files,
        tuple(id_ for part in post.parts if isinstance(part, Mentions) for id_ in _user_ids(part)),
    )


def _group(part: Part) -> type:
    """Return a key for neighbours that are rendered together; Post stands for text."""
    return type(part) if isinstance(part, Caution | Buttons | File | Mentions) else Post


def _render_group(kind: type, parts: Iterator[Part]) -> Iterator[Component]:
    if kind is Buttons:
        for row in parts:
            yield from render_button_rows(row.buttons if isinstance(row, Buttons) else ())
    elif kind is File:
        yield from (_render_file(part) for part in parts if isinstance(part, File))
    elif kind is Mentions:
        users = [id_ for part in parts if isinstance(part, Mentions) for id_ in _user_ids(part)]
        if users:
            yield {"type": _TEXT, "content": " ".join(f"<@{id_}>" for id_ in users)}
    elif text := _join_parts(parts):
        component = _text(text)
        container = {"type": _CONTAINER, "accent_color": 0xC27C0E, "components": [component]}
        yield container if kind is Caution else component


def _render_file(file: File) -> Component:
    media = {"url": f"attachment://{_file_name(file.name)}"}
    if not file.is_picture:
        return {"type": _FILE, "file": media}
    description = _label(file.text, 256)
    return {"type": _GALLERY, "items": [{"media": media, "description": description}]}


def _file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name)[-100:].strip(".-") or "file.txt"


def _user_ids(mentions: Mentions) -> list[str]:
    return [id_ for id_ in dict.fromkeys(mentions.ids) if _USER_ID.fullmatch(id_)][:50]


def render_button_rows(buttons: Sequence[Button]) -> Iterator[Component]:
    """Render buttons as action rows, without duplicates; feedback buttons have their own row."""
    unique = list({custom_id(button): button for button in buttons}.values())
    actions = [button for button in unique if button.action not in _FEEDBACK_ACTIONS]
    feedback = [button for button in unique if button.action in _FEEDBACK_ACTIONS]
    for group in (actions, feedback):
        for at in range(0, len(group), MAX_ROW_BUTTONS):
            row = group[at : at + MAX_ROW_BUTTONS]
            yield {"type": _ROW, "components": list(map(_render_button, row))}


def _render_button(button: Button) -> Component:
    return {
        "type": _BUTTON,
        "style": _DANGER if button.action in _DANGER_ACTIONS else _SECONDARY,
        "label": _label(button.label, 80) or button.action,
        "custom_id": custom_id(button),
    }


def custom_id(button: Button) -> str:
    """Return the custom id of a button; raise ValueError if Discord would refuse it."""
    id_ = f"council:{button.action}:{button.value}"
    if len(id_) > MAX_CUSTOM_ID_LENGTH or ":" in button.action:
        raise ValueError(f"invalid custom id {id_!r}")
    return id_


def _join_parts(parts: Iterator[Part]) -> str:
    """Render parts as one text, with notes and quotes close to what they refer to."""
    joined = ""
    last: Part | None = None
    for part in parts:
        text = _render_part(part)
        if not text.strip():
            continue
        joined += (_gap(last, part) if last else "") + text
        last = part
    return joined


def _gap(last: Part, part: Part) -> str:
    # Directly under these, a line would look like a part of them.
    needs_blank_line = isinstance(last, Prose | Table | Steps)
    if isinstance(last, Heading) or (isinstance(part, Quote | Note) and not needs_blank_line):
        return "\n"
    return "\n\n"


def _render_part(part: Part) -> str:
    rendered = ""
    match part:
        case Prose(text):
            rendered = render_markdown(text)
        case Table():
            rendered = render_standings(part)
        case Steps():
            rendered = _render_steps(part)
        case Heading(text):
            rendered = _render_heading(text)
        case Quote(text):
            rendered = _prefix_lines("> ", render_plain_text(text.strip("\n")))
        case Note(text):
            rendered = _prefix_lines("-# ", render_plain_text(_one_line(text)))
        case Line(text) | Caution(text):
            rendered = render_plain_text(text)
    return rendered


def _render_heading(text: str) -> str:
    title = text.strip()
    if len(title) > MAX_HEADING_LENGTH or "\n" in title:
        return render_plain_text(title, strong=True)
    return _prefix_lines("## ", render_plain_text(_one_line(title)))


def _render_steps(steps: Steps) -> str:
    lines = [f"- {render_plain_text(_one_line(step_line(step)))}" for step in steps.steps]
    return "\n".join([render_plain_text(_one_line(steps.title), strong=True), *lines])


def _prefix_lines(prefix: str, text: str) -> str:
    return "\n".join(prefix + line for line in text.split("\n")) if text.strip() else ""


def _text(text: str) -> Component:
    return {"type": _TEXT, "content": neutralize(text)}


def _label(text: str, limit: int) -> str:
    return shorten(neutralize(_one_line(visible_text(text))), limit)


def _one_line(text: str) -> str:
    return " ".join(text.split())


class _View(ui.LayoutView):
    """A view that consists of components in Discord's JSON."""

    def __init__(self, components: list[Component]) -> None:
        super().__init__(timeout=None)
        self._json = components

    def to_components(self) -> list[Component]:
        return self._json

    def has_components_v2(self) -> bool:
        return True


def build_view(message: Message, mark: int | None = None) -> ui.LayoutView:
    """Return the message as a view for discord.py; `mark` becomes its first component's id.

    The view is stopped, so that the client neither stores it nor handles its buttons: those are
    recognised by their custom ids. Needs a running event loop.
    """
    first, *others = message.components
    view = _View([first if mark is None else {**first, "id": mark}, *others])
    view.stop()
    return view


def silent_message(post: Post) -> dict[str, Any]:
    """Return a post as arguments of discord.py, for a message that notifies nobody."""
    view = build_view(render_components(post))
    return {"view": view, "allowed_mentions": discord.AllowedMentions.none()}


def build_files(message: Message) -> list[discord.File]:
    """Return the files to send with the view; each can be sent only once."""
    return [discord.File(BytesIO(file.content), file.name) for file in message.files]


def allowed_mentions(message: Message) -> discord.AllowedMentions:
    """Return whom Discord notifies: the users that the message mentions, and nobody else."""
    users = [discord.Object(int(id_)) for id_ in message.mentioned] or False
    return discord.AllowedMentions(everyone=False, roles=False, replied_user=False, users=users)


def fits_discord(post: Post) -> bool:
    """Return whether Discord accepts the post as one message: its components, text and bytes."""
    if not may_fit(post, MAX_WEIGHT, MAX_BOLD_HEADING_LENGTH):
        return False
    components = list(_walk(render_components(post).components))
    texts = [str(component["content"]) for component in components if "content" in component]
    weight = sum(len(text.encode()) + WEIGHT_OF_TEXT for text in texts)
    return (
        len(components) <= MAX_COMPONENTS
        # Its client counts UTF-16 code units.
        and sum(len(text.encode("utf-16-le")) // 2 for text in texts) <= MAX_TEXT_LENGTH
        and weight <= MAX_WEIGHT
    )


def _walk(components: Sequence[Component]) -> Iterator[Component]:
    for component in components:
        yield component
        yield from _walk(component.get("components", ()))

"""Renderer of posts as discord.py's layout items: buttons, files, and Discord's limits."""

import re
from collections.abc import Callable, Iterable, Iterator
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
from bot.discord.markdown import (
    neutralize,
    render_markdown,
    render_plain_text,
    render_standings,
    render_styled_text,
    render_times,
)
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
MAX_OPTIONS, MAX_OPTION_LENGTH = 25, 100  # of a select, and characters of one

# Limits of our own, for readability.
MAX_HEADING_LENGTH = 150  # a longer title becomes bold text
MAX_BOLD_HEADING_LENGTH = 600  # longer text is no heading

CAUTION_COLOUR = 0xC27C0E
MENU = "council-menu:"  # how the custom ids of menus begin; no button's does
MORE = "more"  # the action of the button that shows less common ones
_DANGER_ACTIONS = {"cancel", "yes_cancel", "yes_forget", "bakeoff_cancel"}
_NOT_SHOWN = {"helpful", "unhelpful"}  # Slack has buttons of its own for these
_USER_ID = re.compile(r"[0-9]{15,20}")

Item = ui.Item[Any]
MentionCommands = Callable[[str], str]  # makes the commands in rendered text clickable


@dataclass(frozen=True, slots=True)
class ButtonMenu(Buttons):
    """Buttons of one action as the options of a select: to choose one is to press it."""


@dataclass(frozen=True, slots=True)
class Message:
    """A rendered message: items, the files they refer to, and the ids of mentioned users."""

    items: tuple[Item, ...]
    files: tuple[File, ...] = ()
    mentioned: tuple[str, ...] = ()


def render_components(post: Post, mention_commands: MentionCommands = str) -> Message:
    """Render a post as a message; it is within Discord's limits if `fits_discord` accepts it."""
    files = tuple(replace(p, name=_file_name(p.name)) for p in post.parts if isinstance(p, File))
    items = [
        item
        for kind, parts in groupby(post.parts, _group)
        for item in _render_group(kind, parts, mention_commands)
    ]
    summary = neutralize(render_plain_text(post.summary)) or "A message of the council"
    return Message(
        tuple(items) or (ui.TextDisplay(summary),),
        files,
        tuple(id_ for part in post.parts if isinstance(part, Mentions) for id_ in _user_ids(part)),
    )


def _group(part: Part) -> type:
    """Return a key for neighbours that are rendered together; Post stands for text."""
    return type(part) if isinstance(part, Caution | Buttons | File | Mentions) else Post


def _render_group(
    kind: type, parts: Iterator[Part], mention_commands: MentionCommands
) -> Iterator[Item]:
    if kind is ButtonMenu:
        yield from (_render_menu(part) for part in parts if isinstance(part, ButtonMenu))
    elif kind is Buttons:
        for row in parts:
            yield from _render_rows(row) if isinstance(row, Buttons) else ()
    elif kind is File:
        yield from (_render_file(part) for part in parts if isinstance(part, File))
    elif kind is Mentions:
        users = [id_ for part in parts if isinstance(part, Mentions) for id_ in _user_ids(part)]
        if users:
            yield ui.TextDisplay(" ".join(f"<@{id_}>" for id_ in users))
    elif text := _join_parts(parts, mention_commands):
        item = ui.TextDisplay[Any](text)
        yield ui.Container(item, accent_colour=CAUTION_COLOUR) if kind is Caution else item


def _render_file(file: File) -> Item:
    media = f"attachment://{_file_name(file.name)}"
    if not file.is_picture:
        return ui.File(media)
    return ui.MediaGallery(discord.MediaGalleryItem(media, description=_label(file.text, 1_024)))


def _file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name)[-100:].strip(".-") or "file.txt"


def _user_ids(mentions: Mentions) -> list[str]:
    return [id_ for id_ in dict.fromkeys(mentions.ids) if _USER_ID.fullmatch(id_)][:50]


def _render_rows(row: Buttons) -> Iterator[Item]:
    """Yield action rows of the buttons without duplicates, the last with the menu's button."""
    wanted = (button for button in row.buttons if button.action not in _NOT_SHOWN)
    shown = list({custom_id(button): button for button in wanted}.values())
    if row.more:
        shown.append(Button(MORE, "More", row.more[0].value))
    for at in range(0, len(shown), MAX_ROW_BUTTONS):
        yield ui.ActionRow(*map(_render_button, shown[at : at + MAX_ROW_BUTTONS]))


def _render_menu(menu: ButtonMenu) -> Item:
    select = ui.Select[Any](custom_id=f"{MENU}{menu.buttons[0].action}", placeholder="Go to …")
    for button in menu.buttons[:MAX_OPTIONS]:
        select.add_option(label=option_label(button.label), value=button.value)
    return ui.ActionRow(select)


def _render_button(button: Button) -> ui.Button[Any]:
    is_danger = button.action in _DANGER_ACTIONS
    return ui.Button(
        style=discord.ButtonStyle.danger if is_danger else discord.ButtonStyle.secondary,
        label=_label(button.label, 80) or button.action,
        custom_id=custom_id(button),
    )


def option_label(text: str) -> str:
    """Return the label of a select's option, which is shown as plain text."""
    return _label(text, MAX_OPTION_LENGTH) or "?"


def custom_id(button: Button) -> str:
    """Return the custom id of a button; raise ValueError if Discord would refuse it."""
    id_ = f"council:{button.action}:{button.value}"
    if len(id_) > MAX_CUSTOM_ID_LENGTH or ":" in button.action:
        raise ValueError(f"invalid custom id {id_!r}")
    return id_


def _join_parts(parts: Iterable[Part], mention_commands: MentionCommands) -> str:
    """Render parts as one text, with notes and quotes close to what they refer to."""
    joined = ""
    last: Part | None = None
    for part in parts:
        text = neutralize(_render_part(part))
        if isinstance(part, Line | Note | Caution):  # other texts are of people and models
            text = render_times(mention_commands(text))
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
            rendered = _prefix_lines("-# ", render_styled_text(_one_line(text)))
        case Line(text) | Caution(text):
            rendered = render_styled_text(text)
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


def _label(text: str, limit: int) -> str:
    return shorten(neutralize(_one_line(visible_text(text))), limit)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def build_view(message: Message, mark: int | None = None) -> ui.LayoutView:
    """Return the message as a view; `mark` becomes its first component's id.

    The view is stopped, so that the client neither stores it nor handles its buttons: those are
    recognised by their custom ids. Needs a running event loop.
    """
    view = ui.LayoutView(timeout=None)
    for item in message.items:
        view.add_item(item)
    if mark is not None:
        message.items[0].id = mark
    view.stop()
    return view


def silent_message(post: Post, mention_commands: MentionCommands = str) -> dict[str, Any]:
    """Return a post as arguments for a new message that notifies nobody."""
    message = render_components(post, mention_commands)
    nobody = discord.AllowedMentions.none()
    return {"view": build_view(message), "files": build_files(message), "allowed_mentions": nobody}


def silent_edit(post: Post, mention_commands: MentionCommands = str) -> dict[str, Any]:
    """Return a post as arguments for an edit, which replaces the files of the message too."""
    arguments = silent_message(post, mention_commands)
    arguments["attachments"] = arguments.pop("files")
    return arguments


def build_files(message: Message) -> list[discord.File]:
    """Return the files to send with the view; each can be sent only once."""
    return [discord.File(BytesIO(file.content), file.name) for file in message.files]


def allowed_mentions(message: Message) -> discord.AllowedMentions:
    """Return whom Discord notifies: the users that the message mentions, and nobody else."""
    users = [discord.Object(int(id_)) for id_ in message.mentioned] or False
    return discord.AllowedMentions(everyone=False, roles=False, replied_user=False, users=users)


def fits_discord(post: Post, mention_commands: MentionCommands = str) -> bool:
    """Return whether Discord accepts the post as one message: its components, text and bytes."""
    if not may_fit(post, MAX_WEIGHT, MAX_BOLD_HEADING_LENGTH):
        return False
    items = list(_walk(render_components(post, mention_commands).items))
    texts = [item.content for item in items if isinstance(item, ui.TextDisplay)]
    weight = sum(len(text.encode()) + WEIGHT_OF_TEXT for text in texts)
    return (
        len(items) <= MAX_COMPONENTS
        # Its client counts UTF-16 code units.
        and sum(len(text.encode("utf-16-le")) // 2 for text in texts) <= MAX_TEXT_LENGTH
        and weight <= MAX_WEIGHT
    )


def _walk(items: Iterable[Item]) -> Iterator[Item]:
    for item in items:
        yield item
        if isinstance(item, ui.Container | ui.ActionRow):
            yield from item.walk_children()

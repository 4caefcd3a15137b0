"""Slack modals: views of a round, and forms to ask, to explain feedback, and of plug-ins."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.access import check_admitted
from bot.chat import Attachment, Chat, Heading, IncomingMessage, Note, Post, PostingForbiddenError
from bot.commands.ask import AskOptions, open_round
from bot.commands.ask_form import (
    AUDIENCE,
    CHANNEL,
    CONTEXT,
    EXPLANATION,
    FILES,
    ONLY_ME,
    PANEL,
    QUESTION,
    AskPlace,
    ask_form,
    chosen_reveal,
)
from bot.commands.button_registry import buttons_of
from bot.commands.buttons import THANKS
from bot.commands.forms import (
    MAX_PEOPLE,
    ChannelField,
    FileField,
    Form,
    Option,
    PeopleField,
    RadioField,
    RolesField,
    SelectField,
    TextField,
    fitting_options,
    select_hint,
)
from bot.commands.pseudonyms import mentioned_ids
from bot.commands.rounds import (
    Opinion,
    context_of,
    find_round_of_message,
    load_readable_round,
    quoted_ids,
    save_feedback,
)
from bot.context import AppContext
from bot.render.pagination import paginate
from bot.render.text_safety import shorten
from bot.slack.block_kit import PostRenderer, fits_modal, is_within, unique_action_ids
from bot.slack.client import RefusedError, call_api
from bot.slack.events import (
    Body,
    check_can_answer,
    mark_people,
    new_message,
    resolve_message,
    to_plain_text,
)
from bot.slack.files import parse_attachment
from bot.slack.messages import SlackChat
from bot.slack.rich_text import Block, neutralize, plain_text
from bot.slack.threads import without_names
from bot.slack.workspace import Workspace
from council.errors import CouncilError, FileError, PanelError
from council.places import Place
from council.rounds import Round

# Callback ids, and the block id of the reason. Fields' names are block ids and action ids.
ASK_CALLBACK, WHY_CALLBACK = "council:ask", "council:why"
WHY = "why"

_MAX_QUOTES, _MAX_PEOPLE = 100, 50  # ids; private metadata has 3,000 characters
_MAX_OPTIONS, _MAX_OPTION, _MAX_VALUE = 100, 75, 150  # options, and characters of one
_MAX_TEXT = 3000
_SlackField = TextField | SelectField | RadioField | ChannelField | PeopleField | FileField
_CHANNEL_SELECT = {
    "type": "conversations_select",
    "default_to_current_conversation": True,
    "filter": {"include": ["public", "private"], "exclude_bot_users": True},
}

View = dict[str, Any]


async def open_view(client: AsyncWebClient, trigger_id: str, view: View) -> View:
    """Open a modal and return Slack's view of it; CouncilError if the trigger id has expired."""
    open_once = partial(client.views_open, trigger_id=trigger_id, view=view)
    try:
        reply = await call_api(open_once, 1.0)  # a trigger id expires after three seconds
    except RefusedError as error:
        if error.code in {"expired_trigger_id", "exchanged_trigger_id", "invalid_trigger_id"}:
            raise CouncilError(
                "That took a moment too long for Slack. Please do it once more."
            ) from None
        raise
    opened: View = reply["view"]
    return opened


# --- The modal that shows a round's answers or ballots: opened at once, then filled, in pages.


@dataclass(frozen=True, slots=True)
class ModalState:
    """The private metadata of the modal: which view of which round it shows, and which page."""

    what: str
    round_id: str
    channel: str
    page: int = 0

    @classmethod
    def parse(cls, metadata: str) -> "ModalState":
        """Parse the private metadata of a modal."""
        return cls(**json.loads(metadata))


async def fill_modal(
    client: AsyncWebClient, opened: View, state: ModalState, posts: Sequence[Post], title: str
) -> None:
    """Show a page of posts in an open modal."""
    view = page_view(state, posts, title)
    try:
        await call_api(
            lambda: client.views_update(view_id=opened["id"], hash=opened.get("hash"), view=view)
        )
    except RefusedError as error:
        # The user has turned the page or closed the modal in the meantime.
        if error.code not in {"hash_conflict", "not_found"}:
            raise


def view_title(app: AppContext, what: str) -> str:
    """Return the title of a view."""
    view = buttons_of(app).views.get(what)
    return view.title if view else "Council"


def page_view(state: ModalState, posts: Sequence[Post], title: str) -> View:
    """Return the modal with a page of posts; the last page if there are fewer.

    The posts do not repeat its title.
    """
    posts = [
        replace(post, parts=tuple(p for p in post.parts if p != Heading(title))) for post in posts
    ]
    all_pages = modal_pages(posts)
    page = min(state.page, len(all_pages) - 1)
    blocks = [*all_pages[page], *_page_buttons(page, len(all_pages))]
    labels = {"title": title, "close": "Close"}
    return _view("council:shown", labels, json.dumps(asdict(state)), blocks)


def modal_pages(posts: Iterable[Post]) -> list[list[Block]]:
    """Return the posts as the blocks of each page, with a divider between two posts."""
    pages: list[list[Block]] = []
    for post in chain.from_iterable(paginate(post, fits_modal) for post in posts):
        blocks = PostRenderer(post).blocks(simple=True)
        both = [*pages[-1], {"type": "divider"}, *blocks] if pages else blocks
        if blocks and pages and is_within(both):
            pages[-1] = both
        elif blocks:
            pages.append(blocks)
    return [unique_action_ids(page) for page in pages]


def _page_buttons(page: int, count: int) -> list[Block]:
    targets = [("Previous", page - 1)] * (page > 0) + [("Next", page + 1)] * (page < count - 1)
    elements = [
        {
            "type": "button",
            "action_id": f"council:page:{target}",
            "text": plain_text(f"{label} ({target + 1} of {count})"),
            "value": str(target),
        }
        for label, target in targets
    ]
    return [{"type": "actions", "block_id": "turning", "elements": elements}] if targets else []


# --- The modal to ask in: question, context, panel, who may read the answer, and files.


async def open_ask_modal(
    app: AppContext, body: Body, chat: SlackChat, message: IncomingMessage
) -> None:
    """Open the modal of a command, button or shortcut; a message it is about becomes context."""
    if message.place.channel:  # from the home, one is chosen in the modal
        check_admitted(app.access, message)
    about = body.get("message") or {}
    message = await _with_context(app, chat.workspace, message, about) if about else message
    place = message.place
    at = AskPlace(
        _everybody(place),
        has_private_answers=chat.workspace.has_scope("im:write"),
        has_voters=not place.channel.startswith("D"),
        asks_channel=not place.channel,
        accepts_files=chat.workspace.has_scope("files:read"),
    )
    people = _people(chat.workspace, about)
    view = ask_view(await ask_form(app, message, at), message, people)
    await open_view(chat.workspace.client, str(body["trigger_id"]), view)


async def _with_context(
    app: AppContext, workspace: Workspace, message: IncomingMessage, about: Body
) -> IncomingMessage:
    if about.get("user") == workspace.bot_user:
        round_ = await find_round_of_message(app, message.place, str(about["ts"]))
        rounds = [round_] if round_ else []
        return replace(message, context=context_of(rounds), quotes=quoted_ids(rounds))
    text = str(about.get("text") or "")
    return replace(message, context=await to_plain_text(text, workspace.display_name))


def _people(workspace: Workspace, about: Body) -> list[str]:
    """Return the ids of the author of a message and of those whom it mentions."""
    author = str(about.get("user") or "")
    mentioned = mentioned_ids(mark_people(str(about.get("text") or "")))
    people = dict.fromkeys((author, *mentioned))
    return [one for one in people if one not in {"", workspace.bot_user}][:_MAX_PEOPLE]


def ask_view(form: Form, message: IncomingMessage, people: Sequence[str] = ()) -> View:
    """Return the modal to ask in where a message was sent; its context may name `people`, by id."""
    place, quotes = message.place, message.quotes[:_MAX_QUOTES]
    known = [quotes, people] if people else [quotes] if quotes else []
    metadata = json.dumps([place.channel, place.thread, *known])
    explanation = {"type": "context", "elements": [plain_text(EXPLANATION)]}
    return _view(ASK_CALLBACK, _labels(form), metadata, [*_form_blocks(form), explanation])


def _everybody(place: Place) -> str:
    if place.thread:
        return "Everybody in this thread"
    if place.channel.startswith("D"):
        return "Everybody in this conversation"
    return f"Everybody in {'this' if place.channel else 'the'} channel"


def field_for(error: CouncilError, view: View) -> str:
    """Return the block id of the field that shows an error."""
    has_channel = any(block["block_id"] == CHANNEL for block in view["blocks"])
    match error:
        case PanelError():
            return PANEL
        case FileError():
            return FILES
        case PostingForbiddenError():
            return CHANNEL if has_channel else AUDIENCE
    return QUESTION


def parse_asker(workspace: Workspace, body: Body) -> IncomingMessage:
    """Return a message without text of who submitted the modal, where it was opened."""
    channel, thread, *_ = json.loads(body["view"].get("private_metadata") or '["", null]')
    user, event = str(body["user"]["id"]), f"view {body['view']['id']}"
    return new_message(workspace, user, str(channel), event, thread)


async def submit_ask_form(
    app: AppContext, workspace: Workspace, body: Body
) -> tuple[IncomingMessage, Round | None]:
    """Return the question of a submitted modal and its new round; None if it is a duplicate."""
    values = _submitted_values(body["view"])
    message = parse_asker(workspace, body)
    metadata = json.loads(body["view"].get("private_metadata") or '["", null]')
    quotes, people = ([*metadata[2:], [], []])[:2]
    user, place = message.asker.id, message.place
    if _value(values, AUDIENCE) == ONLY_ME:
        place = replace(place, channel=await workspace.dm_channel(user), thread=None)
    elif not place.channel:
        place = replace(place, channel=_value(values, CHANNEL))
    if not place.channel:
        raise PostingForbiddenError("Choose a channel, or get the answer privately.")
    await check_can_answer(workspace, user, place.channel)
    context = _value(values, CONTEXT)
    message = replace(
        message,
        text=_value(values, QUESTION),
        context=context,
        place=place,
        files=_submitted_files(workspace, values),
        quotes=tuple(quotes) if context else (),
    )
    resolved = await resolve_message(app, workspace, message)
    message = await without_names(app, workspace, resolved, message.text, people)
    was_here = bool(parse_asker(workspace, body).place.channel)
    votes_first = chosen_reveal(_value(values, AUDIENCE), knew_place=was_here)
    options = AskOptions(_value(values, PANEL) or None, votes_first=votes_first)
    return message, await open_round(app, message, options)


# --- Forms as modals


def form_view(form: Form, action: str, value: str, message: IncomingMessage) -> View:
    """Return the modal of a plug-in's form."""
    metadata = _round_metadata(form.value or value, message)
    note = PostRenderer(Post((Note(form.note),))).blocks(simple=True) if form.note else []
    return _view(f"council:{action}", _labels(form), metadata, [*_form_blocks(form), *note])


def _labels(form: Form) -> dict[str, str]:
    return {"title": form.title, "submit": form.submit, "close": "Cancel"}


def _form_blocks(form: Form) -> list[Block]:
    """Return the inputs of a form; a select without options is left out, as are roles."""
    shown = (one for one in form.fields if not isinstance(one, RolesField))
    return [_field_block(one) for one in shown if not isinstance(one, SelectField) or one.options]


def _field_block(field: _SlackField) -> Block:
    is_required = isinstance(field, RadioField) or getattr(field, "required", False)
    element, hint = _element(field)
    block = _input(field.name, field.label, element, optional=not is_required)
    return block | ({"hint": plain_text(hint)} if hint else {})


def _element(field: _SlackField) -> tuple[Block, str]:
    """Return the element of a field, and the hint under it."""
    element: Block
    match field:
        case TextField():
            return _text_input(field), ""  # the hint is in it
        case SelectField():
            options = _options(fitting_options(field, _MAX_OPTIONS, _MAX_VALUE))
            chosen = [one for one in options if one["value"] == field.initial]
            element = {"type": "static_select", "options": options}
            element |= {"initial_option": chosen[0]} if chosen else {}
            return element, select_hint(field, len(options))
        case RadioField():
            options = _options(field.options)
            initial = options[field.options.index(field.chosen)]
            return {"type": "radio_buttons", "options": options, "initial_option": initial}, ""
        case ChannelField():
            return {**_CHANNEL_SELECT}, field.hint
        case PeopleField():
            element = {"type": "multi_users_select", "max_selected_items": MAX_PEOPLE}
            chosen_people = field.initial.split()
            element |= {"initial_users": chosen_people} if chosen_people else {}
            return element, field.hint
        case FileField():
            return {"type": "file_input", "max_files": field.max_files}, field.hint


def _text_input(field: TextField) -> Block:
    most = min(field.max_length, _MAX_TEXT)
    element = _text_area(field.initial, most) if field.is_long else _text_line(field.initial, most)
    return element | ({"placeholder": plain_text(field.hint)} if field.hint else {})


def parse_form(workspace: Workspace, body: Body) -> tuple[IncomingMessage, str, Mapping[str, str]]:
    """Return the submission of a form with its files, the value of its button, and its fields."""
    message, value = _parse_submission(workspace, body)
    values = _submitted_values(body["view"])
    message = replace(message, files=_submitted_files(workspace, values))
    return message, value, {name: _value(values, name) for name in values}


def first_field(view: View) -> str:
    """Return the block id of the first field of a modal; "" for a modal without fields."""
    return next((b["block_id"] for b in view["blocks"] if b["type"] == "input"), "")


# --- The modal that asks why a round was not helpful


def reason_view(round_id: str, message: IncomingMessage, reason: str = "") -> View:
    """Return the modal, with an earlier reason filled in."""
    field = _input(WHY, "What was wrong or missing?", _text_area(reason, 1000), optional=True)
    labels = {"title": "Not helpful", "submit": "Send", "close": "Skip"}
    return _view(WHY_CALLBACK, labels, _round_metadata(round_id, message), [field])


def parse_reason(workspace: Workspace, body: Body) -> tuple[IncomingMessage, tuple[str, str]]:
    """Return the submission, and the round's id with the reason."""
    message, round_id = _parse_submission(workspace, body)
    return message, (round_id, _value(_submitted_values(body["view"]), WHY))


async def store_reason(
    app: AppContext, chat: Chat, message: IncomingMessage, submitted: tuple[str, str]
) -> None:
    """Store a reason, and thank for one that is not empty; the button said thanks already."""
    round_id, reason = submitted
    round_ = await load_readable_round(app, message, round_id)
    await save_feedback(app, round_, message.asker.id, Opinion(helpful=False, reason=reason))
    if reason.strip():
        await chat.send_ephemeral(message, Post((Note(THANKS),), THANKS))


# --- Elements and values that the forms share


def _view(callback_id: str, labels: Mapping[str, str], metadata: str, blocks: list[Block]) -> View:
    """Return a modal; `labels` are its title, its close button, and its submit button if any."""
    return {
        "type": "modal",
        "callback_id": callback_id,
        **{name: plain_text(label) for name, label in labels.items()},
        "private_metadata": metadata,
        "blocks": blocks,
    }


def _input(block_id: str, label: str, element: Block, *, optional: bool = False) -> Block:
    return {
        "type": "input",
        "block_id": block_id,
        "label": plain_text(label),
        "element": {"action_id": block_id, **element},
        "optional": optional,
    }


def _text_area(initial: str, max_length: int = _MAX_TEXT) -> Block:
    element = {"type": "plain_text_input", "multiline": True, "max_length": max_length}
    return element | ({"initial_value": initial[:max_length]} if initial else {})


def _text_line(initial: str, max_length: int) -> Block:
    element = {"type": "plain_text_input", "max_length": max_length}
    return element | ({"initial_value": initial[:max_length]} if initial else {})


def _options(options: Iterable[Option]) -> list[Block]:
    return [
        {"text": plain_text(neutralize(shorten(one.label, _MAX_OPTION))), "value": one.value}
        for one in options
    ]


def _round_metadata(round_id: str, message: IncomingMessage) -> str:
    return json.dumps([round_id, message.place.channel, message.place.thread])


def _parse_submission(workspace: Workspace, body: Body) -> tuple[IncomingMessage, str]:
    view = body["view"]
    round_id, channel, thread = json.loads(view["private_metadata"])
    user = str(body["user"]["id"])
    return new_message(workspace, user, channel, f"view {view['id']}", thread), round_id


def _submitted_values(view: View) -> dict[str, Any]:
    return {block: next(iter(x.values()), {}) for block, x in view["state"]["values"].items()}


def _submitted_files(workspace: Workspace, values: Mapping[str, Any]) -> tuple[Attachment, ...]:
    files = [file for state in values.values() for file in state.get("files") or ()]
    return tuple(parse_attachment(workspace, file) for file in files)


def _value(values: Mapping[str, Any], block_id: str) -> str:
    state = values.get(block_id) or {}
    option = (state.get("selected_option") or {}).get("value")
    people = " ".join(state.get("selected_users") or ())
    return str(state.get("value") or option or state.get("selected_conversation") or people)

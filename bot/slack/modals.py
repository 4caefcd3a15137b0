"""Slack modals: views of a round, and forms to ask, to add to a suite and to explain feedback."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.access import allows_panel
from bot.chat import Caution, Chat, Heading, IncomingMessage, Note, Post, PostingForbiddenError
from bot.commands.ask import AskOptions, open_round
from bot.commands.buttons import check_may_add, load_readable_round, rate_round
from bot.commands.rounds import Opinion, context_of, find_round_of_message, save_feedback
from bot.commands.suites import SuiteAddition
from bot.context import AppContext
from bot.render.pagination import paginate
from bot.render.round_status import receivers
from bot.render.text_safety import shorten
from bot.slack.block_kit import PostRenderer, fits_modal, json_size, unique_action_ids
from bot.slack.client import RefusedError, call_api
from bot.slack.events import Body, SlackEvent, check_can_answer, resolve_event, to_plain_text
from bot.slack.rich_text import MAX_MODAL_BLOCKS, MAX_MODAL_JSON, Block, neutralize
from bot.slack.workspace import Workspace
from council.errors import CouncilError, PanelError, SuiteError
from council.panel import Panel
from council.places import Place
from council.rounds import Round

# Callback ids, and block ids, which are the action ids of their elements too.
ASK_CALLBACK, SUITE_CALLBACK, WHY_CALLBACK = "council:ask", "council:suite", "council:why"
QUESTION, CONTEXT, PANEL, AUDIENCE, CHANNEL = "question", "context", "panel", "audience", "channel"
SUITE, NAME, ANSWER = "suite", "name", "answer"
WHY = "why"
TITLES = {"answers": "Answers", "ballots": "Ballots"}  # by what a modal shows of a round

_PAGE_ACTION = "council:page"
_HERE, _ONLY_ME = "here", "me"  # values of the audience
_MAX_INPUT, _MAX_OPTION = 3000, 75  # characters
_MAX_OPTIONS = 100
_OPEN_WAIT_SECONDS = 1.0  # a trigger id expires after three
_TOO_LATE = "That took a moment too long for Slack: please do it once more."
_NO_PLACE = "Choose a channel, or have the answer for yourself alone."
_EXPLANATION = "Several models answer, rank each other without names, and one sums up."
_NO_NAME = "Choose a suite, or give a new one a name."

View = dict[str, Any]


async def open_view(client: AsyncWebClient, trigger_id: str, view: View) -> View:
    """Open a modal and return Slack's view of it; CouncilError if the trigger id has expired."""
    try:
        reply = await call_api(
            lambda: client.views_open(trigger_id=trigger_id, view=view), _OPEN_WAIT_SECONDS
        )
    except RefusedError as error:
        if error.code in {"expired_trigger_id", "exchanged_trigger_id", "invalid_trigger_id"}:
            raise CouncilError(_TOO_LATE) from None
        raise
    view_opened: View = reply["view"]
    return view_opened


# --- The modal that shows a round's answers or ballots: opened at once, then filled, in pages.


@dataclass(frozen=True, slots=True)
class ModalState:
    """The private metadata of the modal: which posts of which round it shows, and which page."""

    what: str
    round_id: str
    channel: str
    page: int = 0

    @property
    def metadata(self) -> str:
        """Return the state as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def parse(cls, metadata: str) -> "ModalState":
        """Parse the JSON of `metadata`."""
        return cls(**json.loads(metadata))

    @property
    def title(self) -> str:
        """Return the title of the modal."""
        return TITLES.get(self.what, "Council")


async def open_round_modal(client: AsyncWebClient, trigger_id: str, state: ModalState) -> View:
    """Open the modal with a placeholder, and return Slack's view of it."""
    placeholder = modal_pages([Post((Note("One moment …"),))])[0]
    return await open_view(client, trigger_id, _round_view(state, placeholder))


async def fill_modal(
    client: AsyncWebClient, opened: View, state: ModalState, posts: Sequence[Post]
) -> None:
    """Show a page of posts in an open modal."""
    view = page_view(state, posts)
    try:
        await call_api(
            lambda: client.views_update(view_id=opened["id"], hash=opened.get("hash"), view=view)
        )
    except RefusedError as error:
        # The user has turned the page or closed the modal in the meantime.
        if error.code not in {"hash_conflict", "not_found"}:
            raise


async def fill_with_error(
    client: AsyncWebClient, opened: View, state: ModalState, error: str
) -> None:
    """Show an error in an open modal."""
    await fill_modal(client, opened, state, [Post((Caution(error),))])


def page_view(state: ModalState, posts: Sequence[Post]) -> View:
    """Return the modal with a page of posts; the last page if there are fewer."""
    title = Heading(state.title)  # not repeated in the posts
    posts = [replace(post, parts=tuple(p for p in post.parts if p != title)) for post in posts]
    all_pages = modal_pages(posts)
    page = min(state.page, len(all_pages) - 1)
    return _round_view(state, [*all_pages[page], *_page_buttons(page, len(all_pages))])


def modal_pages(posts: Iterable[Post]) -> list[list[Block]]:
    """Return the posts as the blocks of each page, with a divider between two posts."""
    return [unique_action_ids(page) for page in _pack_pages(_render_posts(posts))]


def _render_posts(posts: Iterable[Post]) -> Iterator[list[Block]]:
    for post in posts:
        for page in paginate(post, fits_modal):
            if blocks := PostRenderer(page).blocks(simple=True):
                yield blocks


def _pack_pages(rendered: Iterable[list[Block]]) -> Iterator[list[Block]]:
    page: list[Block] = []
    for blocks in rendered:
        both = [*page, {"type": "divider"}, *blocks] if page else blocks
        if page and (len(both) > MAX_MODAL_BLOCKS or json_size(both) > MAX_MODAL_JSON):
            yield page
            page = blocks
        else:
            page = both
    if page:
        yield page


def _round_view(state: ModalState, blocks: list[Block]) -> View:
    labels = {"title": state.title, "close": "Close"}
    return _view("council:shown", labels, state.metadata, blocks)


def _page_buttons(page: int, count: int) -> list[Block]:
    if count == 1:
        return []
    buttons = [("Previous", page - 1)] * (page > 0) + [("Next", page + 1)] * (page < count - 1)
    elements = [
        {
            "type": "button",
            "action_id": f"{_PAGE_ACTION}:{target}",
            "text": _plain_text(f"{label} ({target + 1} of {count})"),
            "value": str(target),
        }
        for label, target in buttons
    ]
    return [{"type": "actions", "block_id": "turning", "elements": elements}]


# --- The modal to ask in: question, context, panel, and who may read the answer.


class NoPlaceError(CouncilError):
    """The asker chose no place for the answer."""


async def open_ask_modal(
    app: AppContext, workspace: Workspace, message: IncomingMessage, trigger_id: str, about: Body
) -> None:
    """Open the modal; if it is about a message, that message is filled in as context."""
    context = await _context_from(app, workspace, message.place, about) if about else ""
    await app.reload_picked_panel(message.place)
    panels = [
        panel for panel in app.panels.values() if allows_panel(app.access, message.place, panel)
    ]
    if not panels:
        panels = [app.panel(None, message.place)]  # its error says why there is none
    view = ask_view(
        {panel.name: panel for panel in panels},
        app.panel_name(message.place) or "",
        replace(message, context=context),
        can_answer_privately=workspace.has_scope("im:write"),
    )
    await open_view(workspace.client, trigger_id, view)


async def _context_from(app: AppContext, workspace: Workspace, place: Place, about: Body) -> str:
    """Return a message's text; for the council's own, the question and the whole answer."""
    if about.get("user") == workspace.bot_user:
        round_ = await find_round_of_message(app, place, str(about["ts"]))
        return context_of([round_]) if round_ else ""
    return await to_plain_text(str(about.get("text") or ""), workspace.display_name)


def ask_view(
    panels: Mapping[str, Panel],
    default: str,
    message: IncomingMessage,
    *,
    can_answer_privately: bool,
) -> View:
    """Return the modal; if the message has no channel, it asks for one as well."""
    place = message.place
    panel_options = _options(
        [(name, f"{name}: goes to {receivers(panel)}") for name, panel in panels.items()]
    )[:_MAX_OPTIONS]
    audience = [(_HERE, _everybody(place))]
    if can_answer_privately:
        audience.append((_ONLY_ME, "Only me: the answer comes as a direct message"))
    audience_options = _options(audience)
    blocks = [
        _input(QUESTION, "Question", _text_area(message.text)),
        _input(CONTEXT, "What it refers to", _text_area(message.context), optional=True),
        _input(
            PANEL,
            "Panel",
            {
                "type": "static_select",
                "options": panel_options,
                "initial_option": next(
                    (o for o in panel_options if o["value"] == default), panel_options[0]
                ),
            },
        ),
        *([] if place.channel else [_input(CHANNEL, "Channel", _channel_select(), optional=True)]),
        _input(
            AUDIENCE,
            "Who may read it",
            {
                "type": "radio_buttons",
                "options": audience_options,
                "initial_option": audience_options[0],
            },
        ),
        {"type": "context", "elements": [_plain_text(_EXPLANATION)]},
    ]
    return _view(
        ASK_CALLBACK,
        {"title": "Ask the council", "submit": "Ask", "close": "Cancel"},
        json.dumps([place.channel, place.thread]),
        blocks,
    )


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
        case PostingForbiddenError() | NoPlaceError():
            return CHANNEL if has_channel else AUDIENCE
    return QUESTION


async def submit_ask_form(
    app: AppContext, workspace: Workspace, body: Body
) -> tuple[IncomingMessage, Round | None]:
    """Return the question of a submitted modal and its new round; None if it is a duplicate.

    Raise CouncilError if the form cannot be accepted.
    """
    view, user = body["view"], str(body["user"]["id"])
    values = _submitted_values(view)
    channel, thread = json.loads(view.get("private_metadata") or '["", null]')
    if _value(values, AUDIENCE) == _ONLY_ME:
        channel, thread = await workspace.dm_channel(user), None
    else:
        channel = str(channel or _value(values, CHANNEL))
    if not channel:
        raise NoPlaceError(_NO_PLACE)
    await check_can_answer(workspace, user, channel)
    event = SlackEvent(_value(values, QUESTION), user, channel, f"view {view['id']}", thread)
    message = await resolve_event(workspace, event)
    message = replace(message, context=_value(values, CONTEXT))
    options = AskOptions(_value(values, PANEL) or None)
    return message, await open_round(app, message, message.text, options)


# --- The modal that asks which suite a round's question is added to


async def open_suite_modal(
    app: AppContext, workspace: Workspace, message: IncomingMessage, round_id: str, trigger_id: str
) -> None:
    """Open the modal; CouncilError if the user may not read the round or add to suites."""
    check_may_add(app, message)
    await load_readable_round(app, message, round_id)
    lines = await app.bakeoff_stores.suites.list_summaries(message.place.scope)
    view = suite_view(round_id, message, [line.name for line in lines])
    await open_view(workspace.client, trigger_id, view)


def suite_view(round_id: str, message: IncomingMessage, names: Sequence[str]) -> View:
    """Return the modal, which offers the existing suites of these names."""
    options = _options([(name, name) for name in names[:_MAX_OPTIONS]])
    select = {"type": "static_select", "options": options}
    name = _text_line(40, "such as sql-basics")
    answer = _text_line(1000, "left out, answers are not graded")
    blocks = [
        *([_input(SUITE, "Suite", select, optional=True)] if names else []),
        _input(NAME, "A new suite" if names else "Suite", name, optional=True),
        _input(ANSWER, "The right answer", answer, optional=True),
    ]
    return _view(
        SUITE_CALLBACK,
        {"title": "Add to suite", "submit": "Add", "close": "Cancel"},
        _round_metadata(round_id, message),
        blocks,
    )


def read_suite_form(body: Body) -> tuple[SlackEvent, tuple[str, SuiteAddition]]:
    """Return the submission, and the round's id with its fields; SuiteError if none is named."""
    event, round_id = _parse_submission(body)
    values = _submitted_values(body["view"])
    name = _value(values, NAME) or _value(values, SUITE)
    if not name.strip():
        raise SuiteError(_NO_NAME)
    return event, (round_id, SuiteAddition(name, _value(values, ANSWER)))


# --- The modal that asks why a round was not helpful


def reason_view(round_id: str, message: IncomingMessage, reason: str = "") -> View:
    """Return the modal, with an earlier reason filled in."""
    element = {"type": "plain_text_input", "multiline": True, "max_length": 1000}
    element |= {"initial_value": reason} if reason else {}
    return _view(
        WHY_CALLBACK,
        {"title": "Not helpful", "submit": "Send", "close": "Skip"},
        _round_metadata(round_id, message),
        [_input(WHY, "What was wrong or missing?", element, optional=True)],
    )


def parse_reason(body: Body) -> tuple[SlackEvent, tuple[str, str]]:
    """Return the submission, and the round's id with the reason."""
    event, round_id = _parse_submission(body)
    return event, (round_id, _value(_submitted_values(body["view"]), WHY))


async def store_reason(
    app: AppContext, chat: Chat, message: IncomingMessage, submitted: tuple[str, str]
) -> None:
    """Store a reason, and thank for one that is not empty; the button said thanks already."""
    round_id, reason = submitted
    opinion = Opinion(helpful=False, reason=reason)
    if reason.strip():
        await rate_round(app, chat, message, round_id, opinion)
    else:
        await save_feedback(
            app, await load_readable_round(app, message, round_id), message.asker.id, opinion
        )


# --- Elements and values that the forms share


def _view(callback_id: str, labels: Mapping[str, str], metadata: str, blocks: list[Block]) -> View:
    """Return a modal; `labels` are its title, its close button, and its submit button if any."""
    return {
        "type": "modal",
        "callback_id": callback_id,
        **{name: _plain_text(label) for name, label in labels.items()},
        "private_metadata": metadata,
        "blocks": blocks,
    }


def _input(block_id: str, label: str, element: Block, *, optional: bool = False) -> Block:
    return {
        "type": "input",
        "block_id": block_id,
        "label": _plain_text(label),
        "element": {"action_id": block_id, **element},
        "optional": optional,
    }


def _text_area(initial: str) -> Block:
    element = {"type": "plain_text_input", "multiline": True, "max_length": _MAX_INPUT}
    return element | ({"initial_value": initial[:_MAX_INPUT]} if initial else {})


def _text_line(max_length: int, placeholder: str) -> Block:
    return {
        "type": "plain_text_input",
        "max_length": max_length,
        "placeholder": _plain_text(placeholder),
    }


def _channel_select() -> Block:
    return {
        "type": "conversations_select",
        "default_to_current_conversation": True,
        "filter": {"include": ["public", "private"], "exclude_bot_users": True},
    }


def _options(labels: Iterable[tuple[str, str]]) -> list[Block]:
    """Return options for pairs of value and label."""
    return [
        {"text": _plain_text(shorten(label, _MAX_OPTION)), "value": value}
        for value, label in labels
    ]


def _plain_text(text: str) -> Block:
    return {"type": "plain_text", "text": neutralize(text), "emoji": False}


def _round_metadata(round_id: str, message: IncomingMessage) -> str:
    return json.dumps([round_id, message.place.channel, message.place.thread])


def _parse_submission(body: Body) -> tuple[SlackEvent, str]:
    """Return a submission about a round, and the round's id."""
    view = body["view"]
    round_id, channel, thread = json.loads(view["private_metadata"])
    event = SlackEvent("", str(body["user"]["id"]), channel, f"view {view['id']}", thread)
    return event, round_id


def _submitted_values(view: View) -> dict[str, Any]:
    """Return the state of each input by its block id."""
    return {block: next(iter(x.values()), {}) for block, x in view["state"]["values"].items()}


def _value(values: Mapping[str, Any], block_id: str) -> str:
    state = values.get(block_id) or {}
    option = (state.get("selected_option") or {}).get("value")
    return str(state.get("value") or option or state.get("selected_conversation") or "")

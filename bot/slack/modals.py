"""Posts as pages of a modal, which takes fewer kinds of block and more of them than a message."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.access import allows
from bot.chat import Caution, Chat, Heading, IncomingMessage, Note, Post, PostingForbiddenError
from bot.commands.ask import AskOptions, opened
from bot.commands.buttons import add_to_suite, check_may_add, readable_round
from bot.commands.context import AppContext
from bot.commands.rounds import context_of, round_at
from bot.commands.suites import SuiteAddition
from bot.render.pagination import pages
from bot.render.round_status import receivers
from bot.render.text_safety import shortened
from bot.slack.block_kit import BlockLevel, PostRenderer, distinct, fits_modal, json_size
from bot.slack.client import RefusedError, called
from bot.slack.events import Body, SlackEvent, check_welcome, known, plain_text
from bot.slack.rich_text import MODAL_BLOCKS, MODAL_JSON, Block, inert
from bot.slack.workspace import CHAT, Workspace
from council.errors import CouncilError, PanelError, SuiteError
from council.panel import Panel
from council.places import Place
from council.rounds import Round

# --- Posts as pages of a modal, which takes fewer kinds of block and more of them than a message.

_DIVIDER: Block = {"type": "divider"}


def modal_blocks(posts: Iterable[Post]) -> list[list[Block]]:
    """Give the posts one after another as pages for a modal, a line between two posts."""
    return [distinct(page) for page in _packed(_dressed(posts))]


def _dressed(posts: Iterable[Post]) -> Iterator[list[Block]]:
    for post in posts:
        for page in pages(post, fits_modal):
            if blocks := PostRenderer(page).blocks(BlockLevel.MONOSPACE):
                yield blocks


def _packed(dressed: Iterable[list[Block]]) -> Iterator[list[Block]]:
    page: list[Block] = []
    for blocks in dressed:
        both = [*page, dict(_DIVIDER), *blocks] if page else blocks
        if page and (len(both) > MODAL_BLOCKS or json_size(both) > MODAL_JSON):
            yield page
            page = blocks
        else:
            page = both
    if page:
        yield page


# --- Modals that show: they open at once, then fill, and have pages.

PATIENCE_SECONDS = 1.0  # a trigger lasts three
TOO_LATE = "That took a moment too long for Slack: please do it once more."
PAGE_ACTION = "council:page"

View = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ModalState:
    """What a modal shows: a kind of post of a round, at a page, opened from a channel."""

    what: str
    round_id: str
    channel: str
    page: int = 0

    @property
    def metadata(self) -> str:
        """Give it as text that comes back with every click."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, metadata: str) -> "ModalState":
        """Read it again."""
        return cls(**json.loads(metadata))


TITLES = {"answers": "Answers", "ballots": "Ballots"}


async def open_modal(client: AsyncWebClient, trigger: str, shown: ModalState) -> View:
    """Open a modal that waits to be filled, and give Slack's view of it."""
    waiting = _view(shown, modal_blocks([Post((Note("One moment …"),))])[0])
    return await open_view(client, trigger, waiting)


async def open_view(client: AsyncWebClient, trigger: str, view: View) -> View:
    """Open any view."""
    try:
        reply = await called(
            lambda: client.views_open(trigger_id=trigger, view=view), PATIENCE_SECONDS
        )
    except RefusedError as error:
        if error.code in {"expired_trigger_id", "exchanged_trigger_id", "invalid_trigger_id"}:
            raise CouncilError(TOO_LATE) from None
        raise
    opened: View = reply["view"]
    return opened


async def fill(
    client: AsyncWebClient, opened: View, shown: ModalState, posts: Sequence[Post]
) -> None:
    """Put a page of posts in an open modal."""
    view = page_view(shown, posts)
    try:
        await called(
            lambda: client.views_update(view_id=opened["id"], hash=opened.get("hash"), view=view)
        )
    except RefusedError as error:
        # Turned or closed meanwhile: what is on the screen is newer than this.
        if error.code not in {"hash_conflict", "not_found"}:
            raise


def page_view(shown: ModalState, posts: Sequence[Post]) -> View:
    """Give the modal with a page of posts; the last one for a page beyond it."""
    pages = modal_blocks(_untitled(posts, shown))
    page = min(shown.page, len(pages) - 1)
    return _view(shown, [*pages[page], *_turning(page, len(pages))])


async def fill_with_error(
    client: AsyncWebClient, opened: View, shown: ModalState, told: str
) -> None:
    """Say in an open modal what went wrong."""
    await fill(client, opened, shown, [Post((Caution(told),))])


def _untitled(posts: Sequence[Post], shown: ModalState) -> list[Post]:
    """Give the posts without a heading that says what the modal's title says."""
    title = Heading(_title(shown))
    return [replace(post, parts=tuple(p for p in post.parts if p != title)) for post in posts]


def _title(shown: ModalState) -> str:
    return TITLES.get(shown.what, "Council")


def _view(shown: ModalState, blocks: list[dict[str, Any]]) -> View:
    return {
        "type": "modal",
        "callback_id": "council:shown",
        "title": {"type": "plain_text", "text": _title(shown)},
        "close": {"type": "plain_text", "text": "Close"},
        "private_metadata": shown.metadata,
        "blocks": blocks,
    }


def _turning(page: int, pages: int) -> list[dict[str, Any]]:
    if pages == 1:
        return []
    buttons = [("Previous", page - 1)] * (page > 0) + [("Next", page + 1)] * (page < pages - 1)
    elements = [
        {
            "type": "button",
            "action_id": f"{PAGE_ACTION}:{to}",
            "text": {"type": "plain_text", "text": f"{label} ({to + 1} of {pages})"},
            "value": str(to),
        }
        for label, to in buttons
    ]
    return [{"type": "actions", "block_id": "turning", "elements": elements}]


# --- The modal to ask in: question, context, panel, and who may read the answer.

CALLBACK = "council:ask"
QUESTION, CONTEXT, PANEL, AUDIENCE, CHANNEL = "question", "context", "panel", "audience", "channel"
HERE, ONLY_ME = "here", "me"
INPUT, OPTION = 3000, 75  # characters that Slack takes
MOST_OPTIONS = 100
NO_PLACE = "Choose a channel, or have the answer for yourself alone."
_CHANNELS = {
    "type": "conversations_select",
    "default_to_current_conversation": True,
    "filter": {"include": ["public", "private"], "exclude_bot_users": True},
}


class NoPlaceError(CouncilError):
    """Nobody said where the answer is to be posted."""


@dataclass(frozen=True, slots=True)
class AskForm:
    """What a modal was filled with."""

    question: str
    context: str
    choice: AskOptions
    place: Place


def ask_view(app: AppContext, workspace: Workspace, said: IncomingMessage) -> View:
    """Give the modal for a question in the place where it was opened, or in one to choose."""
    panels = {panel.name: panel for panel in _panels(app, said.place)}
    default = app.panel_name(said.place) or ""
    return form_view(panels, default, said, alone=workspace.may("im:write"))


def form_view(
    panels: Mapping[str, Panel], default: str, said: IncomingMessage, *, alone: bool
) -> View:
    """Give that modal with these panels; `alone` says whether a person can be answered alone."""
    blocks = [
        _input(QUESTION, "Question", _text(said.text)),
        _input(CONTEXT, "What it refers to", _text(said.context), optional=True),
        _input(PANEL, "Panel", _select(_described(panels), default)),
        *([] if said.place.channel else [_input(CHANNEL, "Channel", _CHANNELS, optional=True)]),
    ]
    audience = [(HERE, _everybody(said.place))]
    if alone:
        audience.append((ONLY_ME, "Only me: the answer comes as a direct message"))
    options = _options(audience)
    radio = {"type": "radio_buttons", "options": options, "initial_option": options[0]}
    blocks.append(_input(AUDIENCE, "Who may read it", radio))
    blocks.append(_note("Several models answer, rank each other without names, and one sums up."))
    return {
        "type": "modal",
        "callback_id": CALLBACK,
        "title": _plain("Ask the council"),
        "submit": _plain("Ask"),
        "close": _plain("Cancel"),
        "private_metadata": json.dumps([said.place.channel, said.place.thread]),
        "blocks": blocks,
    }


def _everybody(place: Place) -> str:
    if place.thread:
        return "Everybody in this thread"
    if place.channel.startswith("D"):
        return "Everybody in this conversation"
    return f"Everybody in {'this' if place.channel else 'the'} channel"


def field_of(error: CouncilError, view: View) -> str:
    """Give the field beside which an error is told."""
    has_channel = any(block["block_id"] == CHANNEL for block in view["blocks"])
    match error:
        case PanelError():
            return PANEL
        case PostingForbiddenError() | NoPlaceError():
            return CHANNEL if has_channel else AUDIENCE
    return QUESTION


def read_form(view: View, team: str, own_channel: str) -> AskForm:
    """Read a modal that was sent; `own_channel` is the asker's direct messages with the bot.

    Raises NoPlaceError where none was chosen.
    """
    found = {
        block: next(iter(action.values())) for block, action in view["state"]["values"].items()
    }
    channel, thread = json.loads(view.get("private_metadata") or '["", null]')
    place = Place(CHAT, team, str(channel or _value(found, CHANNEL)), thread, private=True)
    if _value(found, AUDIENCE) == ONLY_ME:
        place = replace(place, channel=own_channel, thread=None)
    if not place.channel:
        raise NoPlaceError(NO_PLACE)
    panel = _value(found, PANEL) or None
    return AskForm(_value(found, QUESTION), _value(found, CONTEXT), AskOptions(panel), place)


def wants_own_channel(view: View) -> bool:
    """Say whether the answer is for the asker alone."""
    values = view["state"]["values"].get(AUDIENCE, {})
    return _value({AUDIENCE: next(iter(values.values()), {})}, AUDIENCE) == ONLY_ME


def _value(found: Mapping[str, Any], block: str) -> str:
    state = found.get(block) or {}
    option = (state.get("selected_option") or {}).get("value")
    return str(state.get("value") or option or state.get("selected_conversation") or "")


def _panels(app: AppContext, place: Place) -> list[Panel]:
    allowed = [panel for panel in app.panels.values() if allows(app.access, place, panel)]
    return allowed or [app.panel(None, place)]  # which says why there is none


def _described(panels: Mapping[str, Panel]) -> list[tuple[str, str]]:
    described = [(name, f"{name}: goes to {receivers(panel)}") for name, panel in panels.items()]
    return described[:MOST_OPTIONS]


def _text(initial: str) -> dict[str, Any]:
    element: dict[str, Any] = {"type": "plain_text_input", "multiline": True, "max_length": INPUT}
    return element | ({"initial_value": initial[:INPUT]} if initial else {})


def _select(named: list[tuple[str, str]], default: str | None) -> dict[str, Any]:
    options = _options(named)
    initial = next((o for o in options if o["value"] == default), options[0])
    return {"type": "static_select", "options": options, "initial_option": initial}


def _options(named: list[tuple[str, str]]) -> list[dict[str, Any]]:
    return [{"text": _plain(shortened(label, OPTION)), "value": value} for value, label in named]


def _input(
    name: str, label: str, element: dict[str, Any], *, optional: bool = False
) -> dict[str, Any]:
    return {
        "type": "input",
        "block_id": name,
        "label": _plain(label),
        "element": {"action_id": name, **element},
        "optional": optional,
    }


def _note(text: str) -> dict[str, Any]:
    return {"type": "context", "elements": [_plain(text)]}


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": inert(text), "emoji": False}


# --- The modal to ask in: opened where somebody is, and what it was filled with, taken in.


async def open_form(
    app: AppContext, workspace: Workspace, said: IncomingMessage, trigger: str, message: Body
) -> None:
    """Open the modal, about a message where there is one."""
    about = await _about(app, workspace, said.place, message) if message else ""
    await app.look_up(said.place)
    view = ask_view(app, workspace, replace(said, context=about))
    await open_view(workspace.client, trigger, view)


async def _about(app: AppContext, workspace: Workspace, place: Place, message: Body) -> str:
    """Give what a message says; of one of the council's, its question and the whole answer."""
    if message.get("user") == workspace.bot:
        round_ = await round_at(app, place, str(message["ts"]))
        return context_of([round_]) if round_ else ""
    return await plain_text(str(message.get("text") or ""), workspace.people.named)


async def taken_in(
    app: AppContext, workspace: Workspace, body: Body
) -> tuple[IncomingMessage, Round | None]:
    """Give what a modal that was sent asks for, and its new round; None if it was sent before.

    Raises CouncilError for what is wrong with it.
    """
    view, user = body["view"], str(body["user"]["id"])
    own = await workspace.own_channel(user) if wants_own_channel(view) else ""
    form = read_form(view, workspace.team, own)
    await check_welcome(workspace, user, form.place.channel)
    said = await _said(workspace, form, user, f"view {view['id']}")
    return said, await opened(app, said, said.text, form.choice)


async def _said(workspace: Workspace, form: AskForm, user: str, event: str) -> IncomingMessage:
    heard = SlackEvent(form.question, user, form.place.channel, event, form.place.thread)
    return replace(await known(workspace, heard), context=form.context)


# --- The modal that asks which suite a round's question joins, and what it was filled with.

SUITE_CALLBACK = "council:suite"
SUITE, NAME, ANSWER = "suite", "name", "answer"
MOST_SUITES = 100  # that Slack shows to choose from
NO_NAME = "Choose a suite, or give a new one a name."


@dataclass(frozen=True, slots=True)
class FormInput:
    """What somebody filled in: for which round, and which suite its question joins."""

    round_id: str
    joining: SuiteAddition


async def ask_which_suite(
    app: AppContext, workspace: Workspace, said: IncomingMessage, round_id: str, trigger: str
) -> None:
    """Open the modal, for somebody who may read the round and add to suites."""
    check_may_add(app, said)
    await readable_round(app, said, round_id)
    lines = await app.bakeoff_stores.suites.lines(said.place.scope)
    view = suite_view(round_id, said, [line.name for line in lines])
    await open_view(workspace.client, trigger, view)


def suite_view(round_id: str, said: IncomingMessage, names: Sequence[str]) -> View:
    """Give the modal; `names` are the suites there are."""
    blocks = [
        *([_optional_input(SUITE, "Suite", _static_select(names[:MOST_SUITES]))] if names else []),
        _optional_input(
            NAME, "A new suite" if names else "Suite", _text_input(40, "such as sql-basics")
        ),
        _optional_input(
            ANSWER, "The right answer", _text_input(1000, "left out, answers are not graded")
        ),
    ]
    return {
        "type": "modal",
        "callback_id": SUITE_CALLBACK,
        "title": _plain_text("Add to suite"),
        "submit": _plain_text("Add"),
        "close": _plain_text("Cancel"),
        "private_metadata": json.dumps([round_id, said.place.channel, said.place.thread]),
        "blocks": blocks,
    }


def read_filled(body: Body) -> tuple[SlackEvent, FormInput]:
    """Read a modal that was sent: by whom, and with what; SuiteError where no suite is named."""
    view = body["view"]
    round_id, channel, thread = json.loads(view["private_metadata"])
    values = {block: next(iter(x.values())) for block, x in view["state"]["values"].items()}
    chosen = (values.get(SUITE, {}).get("selected_option") or {}).get("value")
    name = str(values.get(NAME, {}).get("value") or chosen or "")
    if not name.strip():
        raise SuiteError(NO_NAME)
    heard = SlackEvent("", str(body["user"]["id"]), channel, f"view {view['id']}", thread)
    answer = str(values.get(ANSWER, {}).get("value") or "")
    return heard, FormInput(round_id, SuiteAddition(name, answer))


async def join(app: AppContext, chat: Chat, said: IncomingMessage, filled: FormInput) -> None:
    """Keep the question in the suite that was named."""
    await add_to_suite(app, chat, said, filled.round_id, filled.joining)


def _static_select(names: Sequence[str]) -> dict[str, Any]:
    options = [{"text": _plain_text(name), "value": name} for name in names]
    return {"type": "static_select", "options": options}


def _text_input(most: int, hint: str) -> dict[str, Any]:
    return {"type": "plain_text_input", "max_length": most, "placeholder": _plain_text(hint)}


def _optional_input(name: str, label: str, element: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "input",
        "block_id": name,
        "label": _plain_text(label),
        "element": {"action_id": name, **element},
        "optional": True,
    }


def _plain_text(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": inert(text), "emoji": False}

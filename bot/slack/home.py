"""App Home of Slack: a button to ask, my newest rounds, my budget, and the panels."""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC

import structlog

from bot.access import AccessDeniedError, allows_panel, check_admitted, listable_rounds
from bot.chat import Heading, IncomingMessage, Line, Note, Part, Post
from bot.commands.buttons import ROUND
from bot.commands.help import ASK_FORM
from bot.commands.settings import WHO, may_change, settings_parts
from bot.context import AppContext
from bot.observability import logs
from bot.render.budgets import budget_left_line
from bot.render.formatting import duration, join_words, local_time, seat_names
from bot.render.people import named_question
from bot.render.round_status import sent_text
from bot.render.text_safety import shorten_to_line
from bot.slack.actions import ActionHandler, BlockAction, open_round_modal
from bot.slack.block_kit import PostRenderer, action_id
from bot.slack.client import RefusedError, call_api
from bot.slack.events import Body, new_message, resolve_message
from bot.slack.messages import SlackChat
from bot.slack.modals import View, open_ask_modal
from bot.slack.rich_text import Block, neutralize, plain_text
from bot.slack.welcome import open_ask_form, welcome
from bot.slack.workspace import Workspace
from council.budget_caps import Account, channel_account, payer
from council.errors import CouncilError
from council.panel import Panel
from council.ports import RoundSummary

HOME_ASK, HOME_ROUND = "home_ask", "home_round"  # actions
MAX_ROUNDS, MAX_PANELS = 8, 10  # shown
MAX_QUESTION = 150
NO_ROUNDS = "You have not asked anything yet."
HOW = (
    "Several models answer your question, each on its own.",
    "They rank the answers without knowing who wrote which.",
    "One model then writes the council's answer from the best of them.",
)


@dataclass(frozen=True, slots=True)
class Home:
    """What a person's home shows; `default` is the name of the panel their questions go to."""

    rounds: Sequence[RoundSummary]
    budget: str
    panels: Sequence[Panel]
    default: str
    settings: Sequence[Part] = ()


# --- The view


def home_view(home: Home, channel: str) -> View:
    """Return the view; `channel` is that of the person's direct messages."""
    ask = _button(HOME_ASK, "Ask the council", style="primary")
    blocks = [
        *_render(*map(Line, HOW)),
        {"type": "actions", "block_id": "asking", "elements": [ask]},
        {"type": "divider"},
        *_render(Heading("Your newest rounds")),
        *(_render(Note(NO_ROUNDS)) if not home.rounds else []),
        *(block for at, line in enumerate(home.rounds) for block in _round_blocks(line, at)),
        {"type": "divider"},
        *_render(Heading("Your budget"), Line(home.budget)),
        {"type": "divider"},
        *_render(Heading("Panels")),
        *(block for panel in home.panels for block in _panel_blocks(panel, home.default)),
        *_render(Note("Pick the panel of a channel with `/council panel NAME`.")),
        *([{"type": "divider"}, *_render(*home.settings)] if home.settings else []),
    ]
    return {"type": "home", "private_metadata": channel, "blocks": blocks}


def _render(*parts: Part) -> list[Block]:
    return PostRenderer(Post(parts)).blocks(simple=True)


def _button(action: str, label: str, **more: str) -> Block:
    return {"type": "button", "action_id": action_id(action), "text": plain_text(label), **more}


def _round_blocks(line: RoundSummary, at: int) -> list[Block]:
    """Return the question with a button that opens the round, then when it was asked."""
    question = neutralize(shorten_to_line(named_question(line), MAX_QUESTION))
    section: Block = {"type": "section", "text": plain_text(question)}
    if line.seconds is not None and not line.failed:
        section["accessory"] = _button(f"{HOME_ROUND}#{at + 1}", "Open", value=line.id)
    return [section, *_render(Note(f"{local_time(line.asked_at)} · {_state(line)}"))]


def _state(line: RoundSummary) -> str:
    if line.seconds is None:
        return "cancelled" if line.paused else "running"
    return "failed" if line.failed else f"answered in {duration(line.seconds)}"


def _panel_blocks(panel: Panel, default: str) -> list[Block]:
    names = seat_names(panel)
    models = join_words([names[seat.key] for seat in panel.members])
    title = f"**{panel.name}**{' (your default)' if panel.name == default else ''}"
    note = f"{models}. {sent_text(panel)}."
    return _render(Line(title), Note(note))


# --- What it shows, and when


async def publish_home(
    app: AppContext, workspace: Workspace, message: IncomingMessage, shown: View | None
) -> None:
    """Publish the home of a message's author, unless it was replaced since `shown`."""
    message = await resolve_message(app, workspace, message)
    try:
        check_admitted(app.access, message)
        view = home_view(await load_home(app, message), message.place.channel)
    except AccessDeniedError as error:
        parts: list[Part] = [Line(str(error))]
        if may_change(app, message, WHO):  # who turned this off can turn it on again
            parts += await settings_parts(app, message)
        channel = message.place.channel
        view = {"type": "home", "private_metadata": channel, "blocks": _render(*parts)}
    user, hash_ = message.asker.id, (shown or {}).get("hash")
    try:
        await call_api(
            lambda: workspace.client.views_publish(user_id=user, view=view, hash=hash_), 10.0
        )
    except RefusedError as error:
        if error.code != "hash_conflict":
            raise


async def load_home(app: AppContext, message: IncomingMessage) -> Home:
    """Return what the author of a direct message sees in their home."""
    place, today = message.place, app.now().astimezone(UTC).date()
    account = Account("", today, payer(message.asker.id), channel_account(place))
    own = replace(listable_rounds(message), asked_by=message.asker.id, remembered=True)
    default = app.panel_name(place) or ""
    panels = [panel for panel in app.panels.values() if allows_panel(app.access, place, panel)]
    return Home(
        await app.store.list_summaries(MAX_ROUNDS, own),
        budget_left_line(await app.budget.caps_of(account), await app.budget.ledger.usage(account)),
        sorted(panels, key=lambda panel: panel.name != default)[:MAX_PANELS],
        default,
        await settings_parts(app, message),
    )


async def on_home_opened(app: AppContext, workspace: Workspace, event: Body) -> None:
    """Publish the home of the person who opens it, or welcome them to their messages."""
    user, channel = str(event["user"]), str(event.get("channel") or "")
    message = new_message(workspace, user, channel, str(event["event_ts"]))
    if event.get("tab") == "home":
        await publish_home(app, workspace, message, event.get("view"))
    elif event.get("tab") == "messages":
        await welcome(app, workspace, message)


async def log_errors(action: Awaitable[None]) -> None:
    """Await an action whose failure nobody waits to hear of."""
    try:
        await action
    except CouncilError as error:
        structlog.get_logger().warning("slack_tab_not_shown", why=str(error))
    except Exception as error:  # noqa: BLE001
        logs.log_unexpected_error("slack_tab_failed", error)


# --- Its buttons


async def ask_from_home(app: AppContext, chat: SlackChat, action: BlockAction) -> None:
    """Open the modal to ask in, which asks for a channel, and refresh the home."""
    message = replace(action.message, place=replace(action.message.place, channel=""))
    await open_ask_modal(app, {"trigger_id": action.trigger_id}, chat, message)
    await publish_home(app, chat.workspace, action.message, action.view)


async def open_home_round(app: AppContext, chat: SlackChat, action: BlockAction) -> None:
    """Show a whole round in a modal, and refresh the home."""
    await open_round_modal(app, chat, replace(action, name=ROUND))
    await publish_home(app, chat.workspace, action.message, action.view)


HOME_HANDLERS: dict[str, ActionHandler] = {
    HOME_ASK: ask_from_home,
    HOME_ROUND: open_home_round,
    ASK_FORM: open_ask_form,
}

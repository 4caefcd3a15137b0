"""Button registry: what presses do, what is asked first, which forms open, by a button's action.

Knows what buttons declare, not what they do. Plug-ins add theirs (`Plugin.buttons`).
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, fields

from bot.chat import Button, Buttons, Chat, IncomingMessage, Note, Post
from bot.commands.forms import FormAction
from bot.context import AppContext
from bot.plugins import HasParts, Plugins
from council.errors import CouncilError

Handler = Callable[[AppContext, Chat, IncomingMessage, str], Awaitable[None]]

YES, NO = "yes_", "no_"  # prefixes of the confirmed action
OTHER_VERSION = (
    "This message comes from another version of the council, perhaps because an upgrade is "
    "running. Try again in a few minutes."
)
NEEDS_PLUGIN = (
    "This needs the plug-in {name}, which is off or not installed here. Ask the person who runs "
    "the council to turn it on."
)
# The actions of messages that stay in chats while the plug-in that handles them is away.
_PLUGIN_ACTIONS = {
    "bakeoffs": (
        "suite",
        "new_suite",
        "new_schedule",
        "keep_suite",
        "leave_suite",
        "remove_suite",
        "retain_suite",
        "bakeoff_vote",
        "bakeoff_vote_page",
        "bakeoff_start",
        "bakeoff_try",
        "trial_start",
        "bakeoff_leave",
        "bakeoff_cancel",
        "bakeoff_resume",
        "bakeoff_results",
        "bakeoff_results_page",
        "bakeoff_questions",
        "bakeoff_questions_page",
        "schedule_subscribe",
        "schedule_unsubscribe",
        "schedule_run",
        "schedule_run_now",
        "schedule_pause",
        "schedule_resume",
        "share_board",
    )
}


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The question and its note, the labels of its buttons, and what replaces it after each."""

    ask: Callable[[AppContext, IncomingMessage, str], Awaitable[tuple[str, str]]]
    yes: str
    after_yes: str
    after_no: str
    no: str = "No"


@dataclass(frozen=True, slots=True)
class View:
    """Posts that a press shows privately, in pages, under a title."""

    title: str
    load: Callable[[AppContext, IncomingMessage, str], Awaitable[list[Post]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ButtonSet:
    """Buttons by their actions.

    After one of `proposals` the post with the button disappears; `replacements` are the texts that
    replace a pressed post. `round_buttons` are actions and labels in the menu under a round. After
    a vote on a round of a bake-off, the view `next_votes` names shows what to vote on next.
    """

    handlers: Mapping[str, Handler] = field(default_factory=dict)
    confirmations: Mapping[str, Confirmation] = field(default_factory=dict)
    views: Mapping[str, View] = field(default_factory=dict)
    forms: Mapping[str, FormAction] = field(default_factory=dict)
    replacements: Mapping[str, str] = field(default_factory=dict)
    proposals: frozenset[str] = frozenset()
    round_buttons: tuple[tuple[str, str], ...] = ()
    next_votes: tuple[str, ...] = ()

    def confirmed_action(self, action: str) -> str:
        """Return the action that a "yes" button confirms; "" for any other button."""
        wanted = action.removeprefix(YES)
        return wanted if wanted != action and wanted in self.confirmations else ""

    def handler(self, action: str) -> Handler | None:
        """Return what a press does, or the press that confirms it; None for another version's."""
        return self.handlers.get(self.confirmed_action(action) or action)

    def replacement_post(self, action: str) -> Post | None:
        """Return the post that replaces an answered question or proposal, else None."""
        texts = dict(self.replacements)
        for wanted, confirmation in self.confirmations.items():
            texts[f"{YES}{wanted}"] = confirmation.after_yes
            texts[f"{NO}{wanted}"] = confirmation.after_no
        return Post((Note(texts[action]),), texts[action]) if action in texts else None

    def menu_buttons(self, round_id: str, menu: tuple[Button, ...]) -> tuple[Button, ...]:
        """Return the buttons of a round's menu with those of plug-ins after the first."""
        own = tuple(Button(action, label, round_id) for action, label in self.round_buttons)
        return (*menu[:1], *own, *menu[1:])

    def add_round_buttons(self, post: Post, round_id: str) -> Post:
        """Return the post of a round whose menu has the buttons of plug-ins, too."""
        parts = tuple(
            Buttons(part.buttons, self.menu_buttons(round_id, part.more))
            if isinstance(part, Buttons) and part.more
            else part
            for part in post.parts
        )
        return Post(parts, post.summary)


def collect_buttons(own: ButtonSet, plugins: Plugins) -> ButtonSet:
    """Return our own buttons and those of active plug-ins.

    Of two with one action the first counts; the plug-in of the other gets a warning.
    """
    merged = {one.name: getattr(own, one.name) for one in fields(ButtonSet)}
    for plugin, added in plugins.load_named(lambda plugin: plugin.buttons):
        taken = {*merged["handlers"], *merged["views"], *merged["forms"]}
        for action in sorted(taken & {*added.handlers, *added.views, *added.forms}):
            plugins.warn(
                plugin,
                f"Its button {action} is left out, because there is one with this name already. "
                "Ask its author to rename it.",
            )
        for name, before in merged.items():
            new = getattr(added, name)
            if isinstance(before, Mapping):
                merged[name] = {**{k: v for k, v in new.items() if k not in taken}, **before}
            elif isinstance(before, frozenset):
                merged[name] = before | (new - taken)
            else:
                merged[name] = (*before, *new)
    return ButtonSet(**merged)


def buttons_of(app: HasParts) -> ButtonSet:
    """Return the buttons of an application."""
    return app.parts.get(ButtonSet)


async def load_view(app: AppContext, message: IncomingMessage, what: str, id_: str) -> list[Post]:
    """Return the posts of a view; raise CouncilError if it may not be seen, or is unknown."""
    view = buttons_of(app).views.get(what)
    if view is None:
        raise CouncilError(why_unknown(what))
    return await view.load(app, message, id_)


def why_unknown(action: str) -> str:
    """Return why a button or form of a message cannot be used: its plug-in, or its version."""
    action = action.removeprefix(YES).removeprefix(NO)
    for plugin, actions in _PLUGIN_ACTIONS.items():
        if action in actions:
            return NEEDS_PLUGIN.format(name=plugin)
    return OTHER_VERSION


async def submit_form(
    app: AppContext,
    chat: Chat,
    message: IncomingMessage,
    action: str,
    value: str,
    values: Mapping[str, str],
) -> None:
    """Run a submitted form; raise CouncilError if that fails, or for a form of another version."""
    form = buttons_of(app).forms.get(action)
    if form is None:
        raise CouncilError(why_unknown(action))
    await form.submit(app, chat, message, value, values)

"""Buttons under a round: their handlers, paged ephemeral views, and the modals that they open."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import discord
from discord.ui import Label, Modal, TextInput

from bot.chat import Button as ChatButton
from bot.chat import Buttons, Chat, File, IncomingMessage, Note, Part, Post
from bot.commands import buttons
from bot.commands.rounds import Opinion, load_readable_round
from bot.commands.voting import cast_pressed
from bot.context import AppContext
from bot.discord.components import MORE, fits_discord
from bot.render.charts import render_png
from bot.render.formatting import file_name
from bot.render.pagination import paginate
from bot.render.ranking_chart import ranking_figure
from bot.render.round_report.placements import placement_table
from bot.render.round_report.thread import menu_buttons
from bot.render.text_safety import shorten
from bot.render.voting import BAKEOFF_VOTE, BEST, VOTE
from council.errors import CouncilError
from council.rounds import Round

ASK, WHY, SUITE = "ask", "why", "suite"  # the modals
QUESTION, CONTEXT, REASON = "question", "context", "reason"  # their fields
NAME, ANSWER = "name", "answer"
# And the actions of ◀ and ▶.
PAGED = {one: f"{one}_page" for one in ("answers", "ballots", VOTE, BAKEOFF_VOTE)}
PAGE_TURNS = {turn: action for action, turn in PAGED.items()}
MAX_FIELD_LENGTH, MAX_REASON_LENGTH, MAX_DESCRIPTION_LENGTH = 4000, 1000, 100


class Button(
    discord.ui.DynamicItem[discord.ui.Button[Any]],
    template=r"council:(?P<action>[a-z_]+):(?P<value>[^#]+)(#\d+)?",
):
    """Any button of the bot, recognised by its custom id alone, so that it survives a restart."""

    def __init__(self, action: str, value: str, custom_id: str) -> None:
        self.action = action
        self.value = value
        super().__init__(discord.ui.Button(label=action, custom_id=custom_id))

    @classmethod
    async def from_custom_id(
        cls, _: discord.Interaction[Any], item: discord.ui.Item[Any], match: re.Match[str]
    ) -> Self:
        """Parse the custom id of a pressed button."""
        return cls(match["action"], match["value"], match[0])

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        """Pass the press on to the listeners."""
        await interaction.client.on_button(interaction, self.action, self.value)


async def handle_button(
    app: AppContext, chat: Chat, incoming: IncomingMessage, action: str, value: str
) -> None:
    """Handle a button press; raise CouncilError for an action of another version."""
    if action in PAGED or action in PAGE_TURNS:
        await _show_page(app, chat, incoming, action, value)
    elif action == BEST:
        round_, confirmation = await cast_pressed(app, incoming, value)
        if round_.bakeoff:
            await _show_page(app, chat, incoming, BAKEOFF_VOTE, round_.bakeoff)
        else:
            await chat.send_ephemeral(incoming, confirmation)
    elif action == MORE:
        round_ = await load_readable_round(app, incoming, value)
        await chat.send_ephemeral(incoming, Post((Buttons(menu_buttons(round_.id)),), "More"))
    elif action in {"helpful", "unhelpful"}:
        await buttons.rate_round(app, chat, incoming, value, Opinion(action == "helpful"))
    elif action in buttons.CONFIRMATIONS:
        await chat.send_ephemeral(
            incoming, await buttons.confirmation_post(app, incoming, action, value)
        )
    elif handler := buttons.BUTTON_HANDLERS.get(buttons.confirmed_action(action) or action):
        await handler(app, chat, incoming, value)
    elif buttons.replacement_post(action) is None:
        raise CouncilError(buttons.OTHER_VERSION)


async def _show_page(
    app: AppContext, chat: Chat, incoming: IncomingMessage, action: str, value: str
) -> None:
    """Show a page of a round's answers or rankings; drawing and paging are slow."""
    id_, number = value, "1"
    if action in PAGE_TURNS:
        action, (id_, _, number) = PAGE_TURNS[action], value.rpartition(":")
    posts = await buttons.shown_posts(app, incoming, action, id_)
    page = await asyncio.to_thread(page_post, posts, action, id_, int(number))
    if action == "ballots" and number == "1" and chat.accepts_files:
        round_ = await load_readable_round(app, incoming, id_)
        page = replace(page, parts=(*await asyncio.to_thread(_chart, round_), *page.parts))
    await chat.send_ephemeral(incoming, page)


def page_post(posts: Sequence[Post], action: str, id_: str, number: int = 1) -> Post:
    """Return one page of a round's posts, with buttons to the pages next to it."""
    room = _page_turns(id_, action, 88, 99)  # for the longest row of buttons
    pages = [
        page
        for post in posts
        for page in paginate(post, lambda one: fits_discord(Post((*one.parts, *room))))
    ]
    number = max(1, min(number, len(pages)))
    page = pages[number - 1]
    turns = _page_turns(id_, action, number, len(pages)) if len(pages) > 1 else ()
    return replace(page, parts=(*page.parts, *turns))


def _page_turns(id_: str, action: str, number: int, count: int) -> tuple[Part, ...]:
    targets = (("◀", number - 1), ("▶", number + 1))
    turns = (
        ChatButton(PAGED[action], sign, f"{id_}:{target}")
        for sign, target in targets
        if 1 <= target <= count
    )
    return Note(f"{number} of {count}"), Buttons(tuple(turns))


def _chart(round_: Round) -> tuple[Part, ...]:
    figure = ranking_figure(placement_table(round_, round_.draw)) if round_.draw else None
    name = file_name(round_.id, "png")
    return (File(name, figure.description, render_png(figure)),) if figure else ()


def ask_modal(message: discord.Message) -> Modal:
    """Return the modal for a question about a message, whose text the user can edit in it."""
    modal = Modal(title="Ask the council", custom_id=f"council:{ASK}:{message.id}")
    style = discord.TextStyle.paragraph
    question = TextInput[Modal](custom_id=QUESTION, style=style, max_length=MAX_FIELD_LENGTH)
    context = TextInput[Modal](
        custom_id=CONTEXT,
        style=style,
        max_length=MAX_FIELD_LENGTH,
        default=message.clean_content[:MAX_FIELD_LENGTH],
        required=False,
    )
    description = "It is sent with your question, exactly as shown."
    modal.add_item(Label(text="Question", component=question))
    modal.add_item(Label(text="What it refers to", description=description, component=context))
    return modal


def why_modal(round_id: str) -> Modal:
    """Return the modal that asks why a round did not help."""
    modal = Modal(title="Not helpful", custom_id=f"council:{WHY}:{round_id}")
    reason = TextInput[Modal](
        custom_id=REASON,
        style=discord.TextStyle.paragraph,
        max_length=MAX_REASON_LENGTH,
        required=False,
    )
    modal.add_item(Label(text="What was wrong or missing?", component=reason))
    return modal


def suite_modal(round_id: str, names: Sequence[str]) -> Modal:
    """Return the modal that asks which suite to add a question to; `names` are existing suites."""
    modal = Modal(title="Add to suite", custom_id=f"council:{SUITE}:{round_id}")
    name = TextInput[Modal](custom_id=NAME, max_length=40, default=names[0] if names else None)
    answer = TextInput[Modal](custom_id=ANSWER, max_length=MAX_REASON_LENGTH, required=False)
    existing = f"There are: {', '.join(names)}. " if names else "There is none yet. "
    description = shorten(f"{existing}A new name creates a new suite.", MAX_DESCRIPTION_LENGTH)
    hint = "If left out, answers to it are ranked but not graded."
    modal.add_item(Label(text="Suite", description=description, component=name))
    modal.add_item(Label(text="The right answer", description=hint, component=answer))
    return modal


def modal_fields(components: list[dict[str, Any]]) -> dict[str, str]:
    """Return the submitted values of a modal by custom id."""
    fields: dict[str, str] = {}
    for component in components:
        if "value" in component:
            fields[str(component["custom_id"])] = str(component["value"])
        inner = [component["component"]] if component.get("component") else []
        fields |= modal_fields([*component.get("components", []), *inner])
    return fields

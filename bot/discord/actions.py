"""Buttons under a round: their handlers, and paged ephemeral views."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import discord

from bot.chat import Button as ChatButton
from bot.chat import Buttons, Chat, File, Heading, IncomingMessage, Note, Part, Post
from bot.commands import buttons
from bot.commands.button_registry import buttons_of, load_view, why_unknown
from bot.commands.rounds import Opinion, load_readable_round
from bot.commands.voting import cast_pressed
from bot.context import AppContext
from bot.discord.components import MAX_OPTIONS, MORE, ButtonMenu, fits_discord
from bot.render.charts import render_png
from bot.render.formatting import file_name
from bot.render.pagination import paginate
from bot.render.ranking_chart import ranking_figure
from bot.render.round_report.placements import placement_table
from bot.render.round_report.thread import menu_buttons
from bot.render.voting import BEST
from council.errors import CouncilError
from council.rounds import Round

PAGE_TURN = "_page"  # the end of the actions that show another page; they begin with the view's


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
    known = buttons_of(app)
    if action.removesuffix(PAGE_TURN) in known.views:
        await _show_page(app, chat, incoming, action, value)
    elif action == BEST:
        round_, confirmation = await cast_pressed(app, incoming, value)
        for next_votes in known.next_votes if round_.bakeoff else ():
            await _show_page(app, chat, incoming, next_votes, round_.bakeoff)
            return
        await chat.send_ephemeral(incoming, confirmation)
    elif action == MORE:
        round_ = await load_readable_round(app, incoming, value)
        more = known.menu_buttons(round_.id, menu_buttons(round_.id))
        await chat.send_ephemeral(incoming, Post((Buttons(more),), "More"))
    elif action in {"helpful", "unhelpful"}:
        await buttons.rate_round(app, chat, incoming, value, Opinion(action == "helpful"))
    elif action in known.confirmations:
        await chat.send_ephemeral(
            incoming, await buttons.confirmation_post(app, incoming, action, value)
        )
    elif handler := known.handler(action):
        await handler(app, chat, incoming, value)
    elif known.replacement_post(action) is None:
        raise CouncilError(why_unknown(action))


async def _show_page(
    app: AppContext, chat: Chat, incoming: IncomingMessage, action: str, value: str
) -> None:
    """Show a page of a round's answers or rankings; drawing and paging are slow."""
    id_, number = value, "1"
    if action.endswith(PAGE_TURN):
        action, (id_, _, number) = action.removesuffix(PAGE_TURN), value.rpartition(":")
    posts = await load_view(app, incoming, action, id_)
    page = await asyncio.to_thread(page_post, posts, action, id_, int(number))
    if action == "ballots" and number == "1" and chat.accepts_files:
        round_ = await load_readable_round(app, incoming, id_)
        page = replace(page, parts=(*await asyncio.to_thread(_chart, round_), *page.parts))
    await chat.send_ephemeral(incoming, page)


def page_post(posts: Sequence[Post], action: str, id_: str, number: int = 1) -> Post:
    """Return one page of a round's posts, with a menu of the posts and buttons to the next pages.

    The menu holds the first posts, as many as Discord lists; ▶ leads to the others.
    """
    turn = f"{action}{PAGE_TURN}"
    room = _page_turns(id_, turn, 88, 99)  # for the longest row of buttons, and a menu
    room = (*room, ButtonMenu((ChatButton(turn, "-", f"{id_}:1"),)))
    pages: list[Post] = []
    starts: list[ChatButton] = []
    for post in posts:
        starts.append(ChatButton(turn, _title(post), f"{id_}:{len(pages) + 1}"))
        pages += paginate(post, lambda one: fits_discord(Post((*one.parts, *room))))
    number = max(1, min(number, len(pages)))
    page = pages[number - 1]
    turns = _page_turns(id_, turn, number, len(pages)) if len(pages) > 1 else ()
    if turns and len(starts) > 1:
        turns = (*turns, ButtonMenu(tuple(starts[:MAX_OPTIONS])))
    return replace(page, parts=(*page.parts, *turns))


def _title(post: Post) -> str:
    headings = (part.text for part in post.parts if isinstance(part, Heading))
    return next(headings, post.summary)


def _page_turns(id_: str, turn: str, number: int, count: int) -> tuple[Part, ...]:
    targets = (("◀", number - 1), ("▶", number + 1))
    turns = (
        ChatButton(turn, sign, f"{id_}:{target}")
        for sign, target in targets
        if 1 <= target <= count
    )
    return Note(f"{number} of {count}"), Buttons(tuple(turns))


def _chart(round_: Round) -> tuple[Part, ...]:
    figure = ranking_figure(placement_table(round_, round_.draw)) if round_.draw else None
    name = file_name(round_.id, "png")
    return (File(name, figure.description, render_png(figure)),) if figure else ()

"""The command that shows how biased the judges are: posted with its thread, or told."""

import asyncio

from bot.bias.showing import bias_sought, shown_bias
from bot.chat import Chat, Said
from bot.commands.desk import Desk
from bot.commands.narrowing import grammar_of, narrowed_by
from bot.commands.reports import check_is_at_home, show_report, within_reach
from bot.render.bias_message import bias_thread, pictures_of
from bot.render.formatting import known_names

ROOT = "bias"  # no part that holds a round's answer

GRAMMAR = grammar_of(r"[\w.+-]+", "since", "until", "panel", "category", "suite")


async def show_bias(desk: Desk, chat: Chat, said: Said, words: str) -> None:
    """Show the bias of judges over the rounds that the words mean, the workspace's own in a chat.

    Words are `[PANEL] [suite:S] [since:30d] [until:…] [category:C]`.
    """
    check_is_at_home(said, "A bias report")
    sought = within_reach(bias_sought(narrowed_by(words, "panel"), desk.now()), said)
    names = known_names(desk.panels.values())
    bias = await shown_bias(desk, sought, names, desk.measure_bias)
    pictures: tuple[bytes, ...] = ()
    if chat.keeps_files and bias.report.judges:
        pictures = await asyncio.to_thread(pictures_of, bias)
    await show_report(desk, chat, said, bias_thread(bias, pictures), ROOT)

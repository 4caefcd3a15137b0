"""`council budget`: what is spent, what is reserved, and what is left."""

from datetime import UTC

from rich.console import Console

from bot.cli.outcome import say_json
from bot.cli.rounds import YOU
from bot.render.budgets import budget_document, budget_post
from bot.settings import load_settings
from bot.terminal import HERE, dressed
from bot.wiring import Wishes, opened_desk
from council.budget_caps import Account, channel_of


async def show_budgets(*, as_json: bool) -> None:
    """Print the budgets of the terminal and of everybody, or their JSON."""
    async with opened_desk(load_settings(), Wishes()) as desk:
        today = desk.now().astimezone(UTC).date()
        used = await desk.budget.ledger.used(Account("", today, YOU.id, channel_of(HERE)))
        caps = desk.budget.caps
    if as_json:
        say_json(budget_document(today, caps, used))
    else:
        Console(highlight=False).print(dressed(budget_post(caps, used)))

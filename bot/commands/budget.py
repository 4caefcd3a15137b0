"""The command that shows what is spent and what is left."""

from datetime import UTC

from bot.chat import Chat, Said
from bot.commands.desk import Desk
from bot.render.budgets import budget_post
from council.budget_caps import Account, channel_of


async def show_budget(desk: Desk, chat: Chat, said: Said, _: str) -> None:
    """Show the budgets of whoever asks, of the place, and of everybody."""
    today = desk.now().astimezone(UTC).date()
    account = Account("", today, said.asker.id, channel_of(said.place))
    used = await desk.budget.ledger.used(account)
    await chat.whisper(said, budget_post(desk.budget.caps.under(account), used))

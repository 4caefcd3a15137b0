"""What the asker is told at once, with what is known of the panel."""

from bot.chat import Post
from bot.commands.desk import Desk
from bot.commands.usual import usual_seconds
from bot.render.round_status import accepted_post
from council.budget import estimated
from council.rounds import Round


async def accepted(desk: Desk, round_: Round) -> Post:
    """Give the private word that a question was taken in."""
    estimate = await estimated(round_, desk.gateway)
    usual = await usual_seconds(desk.store, round_.panel.name)
    return accepted_post(round_, estimate, usual)

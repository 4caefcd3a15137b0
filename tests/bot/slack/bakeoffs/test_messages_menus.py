"""An option of a menu opens a form of bake-offs at once."""

from dataclasses import replace

from tests.bot.slack.in_process import make_fake_slack, run_slack
from tests.bot.slack.test_messages_menus import MORE, a_round_with_menu


async def test_a_round_is_added_to_a_suite_from_a_menu() -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        round_id, message = await a_round_with_menu(bot)
        bot.app.access = replace(bot.app.access, admins=("U1",))

        await slack.click(message, MORE, "U1", f"suite:{round_id}")
        await slack.until(lambda: slack.views("U1"))

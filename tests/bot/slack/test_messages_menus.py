"""Options of a menu do what the buttons of their actions do; what costs or deletes asks first."""

from bot.chat import Button, Buttons, Post
from bot.slack.client import open_client
from bot.slack.messages import SlackChat
from bot.slack.workspace import Workspace
from council.places import Place
from tests.bot.slack.in_process import RunningSlack, make_fake_slack, run_slack, text_of
from tests.wire.slack import BOT, FakeSlack, Message

MORE = "council:more"


async def a_round_with_menu(bot: RunningSlack) -> tuple[str, Message]:
    """Hold a round and post a menu of its actions; return the round's id and the message."""
    await bot.ask()
    bot.release_models()
    await bot.wait_until_delivered()
    (line,) = await bot.app.store.list_summaries()
    actions = ("again", "export", "suite", "helpful", "someday")
    menu = Buttons((), tuple(Button(name, name.title(), line.id) for name in actions))
    await post(bot.slack, Post((menu,), "More"))
    return line.id, bot.bot_messages()[-1]


async def post(slack: FakeSlack, what: Post) -> None:
    async with open_client(slack.api_url, slack.state.app.bot_token) as client:
        chat = SlackChat(Workspace(client, "T0HOME", BOT))
        await chat.send(Place("slack", "T0HOME", "C1"), what, "menu")


async def told(slack: FakeSlack, words: str, user: str = "U1") -> Message:
    def found() -> list[Message]:
        return [m for m in slack.ephemerals(user) if words in text_of(m)]

    await slack.until(found)
    return found()[-1]


async def test_run_again_of_a_menu_asks_privately_first() -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        round_id, message = await a_round_with_menu(bot)

        await slack.click(message, MORE, "U1", f"again:{round_id}")
        question = await told(slack, "Run again?")
        assert len(await bot.app.store.list_summaries()) == 1
        await slack.click(question, "council:yes_again", "U1")
        await slack.until(lambda: question not in slack.ephemerals("U1"))
        await slack.until(lambda: len(bot.bot_messages()) > 2)
        assert len(await bot.app.store.list_summaries()) == 2


async def test_no_to_a_question_of_a_menu_deletes_it_and_does_nothing() -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        round_id, message = await a_round_with_menu(bot)
        await slack.click(message, MORE, "U1", f"again:{round_id}")
        question = await told(slack, "Run again?")

        await slack.click(question, "council:no_again", "U1")

        await slack.until(lambda: question not in slack.ephemerals("U1"))
        assert len(await bot.app.store.list_summaries()) == 1


async def test_other_options_of_a_menu_act_at_once() -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        round_id, message = await a_round_with_menu(bot)

        await slack.click(message, MORE, "U1", f"helpful:{round_id}")
        await told(slack, "Noted")
        assert [one.helpful for one in await bot.app.store.ratings(round_id)] == [True]
        await slack.click(message, MORE, "U1", f"someday:{round_id}")
        await told(slack, "another version")

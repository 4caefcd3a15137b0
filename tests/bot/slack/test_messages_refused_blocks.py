"""Messages whose blocks Slack refuses are sent as plain text, and no answer is lost."""

from dataclasses import replace

import pytest

from bot.chat import Note, Post
from bot.slack.client import SlackServerError, open_client
from bot.slack.ephemeral import EphemeralReplies
from bot.slack.messages import SlackChat
from bot.slack.workspace import CHAT, Workspace
from council.places import Place
from tests.bot.slack.in_process import FAST_LIMITS, make_fake_slack, run_slack, text_of
from tests.builders import CLAUDE
from tests.fakes.gateway import BlockedGateway
from tests.wire.slack import BOT, TEAM, Refuse

LONG = " ".join(f"Reason {number} of many." for number in range(400))  # more than an edit takes


async def test_a_message_with_a_refused_block_is_sent_whole_as_text() -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        slack.refuse_blocks("table")
        root = await bot.ask()
        bot.release_models()
        await bot.assert_one_whole_round()

        (reply,) = slack.thread("C1", root.ts)
        assert reply.blocks == []
        assert "Claude" in reply.text


async def test_a_refused_plan_is_not_retried_with_every_edit() -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        slack.refuse_blocks("plan")
        await bot.ask()
        bot.release_models()
        await bot.assert_one_whole_round()

        tried = [call for call in slack.calls if "'plan'" in str(call.value("blocks"))]
        assert 1 <= len(tried) <= 2  # with the root


@pytest.mark.parametrize("answer", ["Use a queue.", LONG], ids=["short", "long"])
async def test_an_answer_without_any_blocks_is_sent_as_text(answer: str) -> None:
    gateway = BlockedGateway(chairmen={CLAUDE: answer})
    async with make_fake_slack() as slack, run_slack(slack, gateway) as bot:
        slack.refuse_blocks("rich_text", "header", "context", "actions", "plan", "table")
        await bot.ask()
        bot.release_models()

        await bot.wait_until_delivered()
        root = bot.bot_messages()[-1]
        assert answer[-20:] in root.text
        assert sum(answer[-20:] in text_of(message) for message in bot.bot_messages()) == 1
        bot.assert_thread_is_whole(root)


async def test_blocks_with_which_slack_fails_again_and_again_are_sent_as_text() -> None:
    place, post = Place(CHAT, TEAM, "C1"), Post((Note("4 of 4 answered"),))
    async with (
        make_fake_slack() as slack,
        open_client(slack.api_url, slack.state.app.bot_token) as client,
    ):
        workspace = Workspace(client, TEAM, BOT, limits=FAST_LIMITS)
        chat = SlackChat(workspace, EphemeralReplies(workspace))
        slack.trouble("chat.postMessage", Refuse("fatal_error"), times=6)
        for _ in range(6):
            with pytest.raises(SlackServerError):
                await chat.send(place, post, "key")

        await chat.send(place, post, "key")

        (message,) = slack.messages("C1")
        assert (message.text, message.blocks) == ("4 of 4 answered", [])


async def test_a_message_that_cannot_be_edited_is_posted_again_once() -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        root = await bot.ask()
        slack.state.rules = replace(slack.state.rules, edit_window_seconds=0.0)
        bot.release_models()

        await bot.wait_until_delivered()
        assert len(bot.bot_messages()) == 2
        assert "council:answers" not in text_of(root)
        bot.assert_thread_is_whole(bot.bot_messages()[-1])

"""Messages that Slack refuses are sent in a plainer form, and no answer is lost."""

import pytest

from tests.bot.slack.inside import BlockedGateway, RunningSlack, make_fake_slack, run_slack, text_of
from tests.builders import CLAUDE
from tests.wire.slack import Message

LONG = " ".join(f"Reason {number} of many." for number in range(400))  # more than an edit takes


def kinds(messages: list[Message]) -> set[str]:
    """Give the types of all blocks."""
    return {block["type"] for message in messages for block in message.blocks}


async def a_told_round(bot: RunningSlack) -> list[Message]:
    """Have a round held, and give all its messages."""
    root = await bot.asks()
    bot.go_on()
    await bot.is_one_whole_round()
    return [root, *bot.slack.thread("C1", root.ts)]


@pytest.mark.parametrize(
    ("refused", "instead"),
    [
        pytest.param(("data_table",), "table", id="data_table"),
        pytest.param(("data_table", "table"), "rich_text", id="table"),
        pytest.param(("context_actions",), "actions", id="context_actions"),
        pytest.param(("plan",), "rich_text", id="plan"),
    ],
)
async def test_a_refused_block_is_replaced(refused: tuple[str, ...], instead: str) -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        slack.refuse_blocks(*refused)

        messages = await a_told_round(bot)

        assert not kinds(messages) & set(refused)
        assert instead in kinds(messages)


async def test_a_refused_plan_is_not_retried_with_every_edit() -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        slack.refuse_blocks("plan")
        await bot.asks()
        refused = [call for call in slack.calls if call.outcome == "invalid_blocks"]
        bot.go_on()
        await bot.is_one_whole_round()

        tried = [call for call in slack.calls if "'plan'" in str(call.value("blocks"))]
        assert len(refused) == 1  # with the root
        assert len(tried) <= 2


@pytest.mark.parametrize("answer", ["Use a queue.", LONG], ids=["short", "long"])
async def test_an_answer_without_any_blocks_is_sent_as_text(answer: str) -> None:
    gateway = BlockedGateway(chairmen={CLAUDE: answer})
    async with make_fake_slack() as slack, run_slack(slack, gateway) as bot:
        slack.refuse_blocks("rich_text", "header", "context", "actions", "plan", "table")
        await bot.asks()
        bot.go_on()

        await bot.delivered()
        root = bot.ours()[-1]
        assert answer[-20:] in root.text
        assert sum(answer[-20:] in text_of(message) for message in bot.ours()) == 1
        bot.thread_is_whole(root)


async def test_a_message_that_cannot_be_edited_is_posted_again_once() -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        root = await bot.asks()
        slack.state.rules = type(slack.state.rules)(
            rates=slack.state.rules.rates, edit_window_seconds=0.0
        )
        bot.go_on()

        await bot.delivered()
        assert len(bot.ours()) == 2
        assert "council:answers" not in text_of(root)
        bot.thread_is_whole(bot.ours()[-1])

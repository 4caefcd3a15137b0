"""Slack's limit of 2025, one look a minute and 15 messages: read what fits, and say so at once."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio

from bot.chat import DeliveryUnknownError, Line, Post
from bot.slack.client import RateLimitedError, open_client
from bot.slack.history import HistoryLimit, read_pages
from bot.slack.messages import SlackChat
from bot.slack.workspace import Workspace
from council.places import Place
from tests.bot.slack.in_process import make_fake_slack, run_slack
from tests.bot.slack.story import Stage, run_stage, text_of
from tests.fakes.memory_key_value import MemoryKeyValueStore
from tests.wire.slack import BOT, DropAfter, FakeSlack, Message

pytestmark = pytest.mark.asyncio(loop_scope="module")

ME = f"<@{BOT}>"
TEAM = "T0HOME"
REFUSED = "Slack allows this app one look at a thread a minute: asked without it."


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with run_stage(tmp_path_factory.mktemp("limited")) as stage:
        stage.slack.limit_history()
        yield stage


@pytest.fixture
def limited(running: Stage) -> Stage:
    running.slack.skip(61)
    return running


def looks(slack: FakeSlack) -> int:
    return len(slack.called("conversations.replies"))


def context_of(stage: Stage, channel: str) -> str:
    rows = stage.home.sql(
        "SELECT context FROM round WHERE channel = ? ORDER BY asked_at DESC", channel
    )
    return str(rows[0][0])


def long_thread(stage: Stage, channel: str, count: int = 40) -> Message:
    root = stage.slack.says("U2", channel, "Message 1.")
    for number in range(2, count + 1):
        stage.slack.says("U2", channel, f"Message {number}.", root.ts)
    return root


async def allowed(stage: Stage) -> str:
    """Return a channel where an admin has allowed threads."""
    admin = stage.add_user(is_admin=True)
    channel = stage.add_channel(admin)
    root = stage.slack.says("U2", channel, "Two nodes.")
    await stage.slack.mention(admin, channel, f"{ME} which one is it?", root.ts)
    offer = await stage.wait_for_ephemeral(admin, channel, "Send this thread")
    await stage.slack.click(offer, "council:allow_threads", admin)
    await stage.wait_for_answer(channel)
    stage.slack.skip(61)
    return channel


async def test_a_follow_up_in_our_thread_sees_the_newest_replies(limited: Stage) -> None:
    channel = limited.add_channel()
    root = await limited.ask(channel)
    await limited.wait_for_thread(root)
    limited.slack.says("U2", channel, "We have one node.", root.ts)
    await limited.slack.mention("U1", channel, f"{ME} so which one is it?", root.ts)
    await limited.wait_for_answer(channel, 2)
    for number in range(20):
        limited.slack.says("U2", channel, f"Old {number}.", root.ts)
    limited.slack.skip(61)
    await limited.slack.mention("U1", channel, f"{ME} and now, which one?", root.ts)
    await limited.wait_for_answer(channel, 3)
    limited.slack.says("U2", channel, "Now we have two.", root.ts)
    limited.slack.skip(61)
    before = looks(limited.slack)

    await limited.slack.mention("U1", channel, f"{ME} does that change it?", root.ts)

    answer = await limited.wait_for_answer(channel, 4)
    context = context_of(limited, channel)
    assert looks(limited.slack) == before + 1
    assert context.endswith("Person 1: Now we have two.")
    assert "Which queue?" in context
    assert "so which one is it?" in context
    assert "With 1 message since the last answer; Slack shows me no more now." in text_of(answer)


async def test_a_refused_look_is_said_at_once_and_our_rounds_are_read(limited: Stage) -> None:
    channel = limited.add_channel()
    root = await limited.ask(channel)
    limited.slack.says("U2", channel, "We have one node.", root.ts)
    await limited.slack.mention("U1", channel, f"{ME} so which one is it?", root.ts)
    await limited.wait_for_answer(channel, 2)
    before = len(limited.slack.called("chat.postMessage"))

    await limited.slack.mention("U1", channel, f"{ME} and now, which one?", root.ts)

    answer = await limited.wait_for_answer(channel, 3)
    first = limited.slack.called("chat.postMessage")[before]
    assert REFUSED in str(first.arguments)  # in the first message: nobody waits for a minute
    assert REFUSED in text_of(answer)
    context = context_of(limited, channel)
    assert "Which queue?" in context
    assert "so which one is it?" in context


async def test_an_offered_thread_is_sent_without_another_look(limited: Stage) -> None:
    channel = limited.add_channel()
    root = long_thread(limited, channel)
    before = looks(limited.slack)

    await limited.slack.mention("U1", channel, f"{ME} which one is it?", root.ts)
    offer = await limited.wait_for_ephemeral("U1", channel, "Send this thread")
    await limited.slack.click(offer, "council:with_thread", "U1")

    answer = await limited.wait_for_answer(channel)
    assert looks(limited.slack) == before + 1
    assert "The first 15 messages of this thread" in text_of(offer)
    assert "With the first 15 messages of this thread; Slack shows me no more" in text_of(answer)
    assert context_of(limited, channel).endswith("Person 1: Message 15.")


async def test_after_a_consent_the_first_messages_are_read_or_none(limited: Stage) -> None:
    channel = await allowed(limited)
    root = long_thread(limited, channel)

    await limited.slack.mention("U1", channel, f"{ME} which one is it?", root.ts)
    answer = await limited.wait_for_answer(channel, 2)
    other = long_thread(limited, channel)
    await limited.slack.mention("U1", channel, f"{ME} is it really?", other.ts)
    refused = await limited.wait_for_answer(channel, 3)

    assert "With the first 15 messages of this thread; Slack shows me no more" in text_of(answer)
    assert REFUSED in text_of(refused)
    assert context_of(limited, channel) == ""


async def test_a_lost_message_is_found_with_one_look() -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        slack.limit_history()
        slack.trouble("chat.postMessage", DropAfter())
        await bot.ask()
        slack.trouble("chat.postMessage", DropAfter())
        bot.release_models()

        await bot.assert_one_whole_round()
        assert len(slack.called("conversations.history")) == 1
        assert looks(slack) == 1


async def a_chat(slack: FakeSlack, client: object) -> SlackChat:
    limit = HistoryLimit(TEAM, MemoryKeyValueStore())
    await limit.remember()
    return SlackChat(Workspace(client, TEAM, BOT, history_limit=limit))  # type: ignore[arg-type]


async def test_a_message_is_found_at_the_end_of_a_long_thread() -> None:
    slack = make_fake_slack()
    async with slack, open_client(slack.api_url, slack.state.app.bot_token) as client:
        slack.skip(-3_600)
        root = slack.says("U2", "C1", "Message 1.")
        for number in range(30):
            slack.says("U2", "C1", f"Message {number}.", root.ts)
        slack.skip(3_600)
        slack.limit_history()
        chat, place = await a_chat(slack, client), Place("slack", TEAM, "C1", root.ts)
        sent = await chat.send(place, Post((Line("Hello"),), "Hello"), "key/0")

        assert await chat.find(place, "key/0", age_seconds=5.0) == sent
        with pytest.raises(DeliveryUnknownError):  # the outbox asks again
            await chat.find(place, "key/0", age_seconds=5.0)


async def test_the_limit_is_remembered_for_a_day_until_a_page_is_longer() -> None:
    slack = make_fake_slack()
    times = [datetime(2026, 11, 21, tzinfo=UTC)]
    async with slack, open_client(slack.api_url, slack.state.app.bot_token) as client:
        for number in range(30):
            slack.says("U2", "C1", f"Message {number}.")
        limit = HistoryLimit(TEAM, MemoryKeyValueStore(), lambda: times[0])

        async def read() -> int:
            pages = read_pages(limit, client.conversations_history, channel="C1")
            return sum([len(page) async for page in pages])

        slack.limit_history()
        with pytest.raises(RateLimitedError):
            await read()
        assert len(slack.called("conversations.history")) == 1
        assert await limit.is_known()
        times[0] += timedelta(hours=25)
        assert not await limit.is_known()
        with pytest.raises(RateLimitedError):
            await read()
        assert await limit.is_known()
        slack.limit_history(on=False)  # the app was approved
        assert await read() == 30
        assert not await limit.is_known()

"""Places closed to the bot: a question costs nothing there, and an answer is not lost."""

from collections.abc import Callable

import pytest

from tests.bot.slack.in_process import RunningSlack, make_fake_slack, run_slack, text_of
from tests.bot.slack.story import in_menu
from tests.wire.slack import BOT, FakeSlack, Refuse, Slow
from tests.wire.slack.state import SCOPES


def ephemeral_text(slack: FakeSlack, user: str = "U1") -> str:
    return " ".join(map(text_of, slack.ephemerals(user)))


@pytest.mark.parametrize(
    ("channel", "words"),
    [
        pytest.param("C2", "/invite", id="not in it"),
        pytest.param("G2", "/invite", id="private and unknown"),
    ],
)
async def test_nothing_is_asked_in_a_channel_without_the_bot(channel: str, words: str) -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        await slack.command("U1", channel, "/council", "Which queue?")

        assert words in ephemeral_text(slack)
        assert not await bot.app.store.list_summaries()
        assert not bot.gateway.asked


async def test_a_forbidden_place_costs_nothing_even_without_the_scope_to_look_it_up() -> None:
    scopes = [scope for scope in SCOPES if not scope.endswith(":read")]
    async with make_fake_slack(scopes) as slack, run_slack(slack) as bot:
        await slack.command("U1", "C2", "/council", "Which queue?")
        await slack.until(lambda: "/invite" in ephemeral_text(slack))

        await bot.wait_until_delivered()
        assert not bot.gateway.asked
        assert not bot.app.runner.latest((await bot.app.store.list_summaries())[0].id)


async def test_nothing_is_asked_in_an_archived_channel() -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        root = await bot.ask()
        bot.release_models()
        await bot.wait_until_delivered()
        slack.workspace.channels["C1"].is_archived = True
        asked = len(bot.gateway.asked)

        await slack.click(root, "council:more", "U1", in_menu(root, "again"))
        await slack.until(lambda: "Run again?" in ephemeral_text(slack))
        await slack.click(slack.ephemerals("U1")[-1], "council:yes_again", "U1")
        await slack.until(
            lambda: "archived" in " ".join(bot.direct_texts()) + ephemeral_text(slack)
        )

        assert len(bot.gateway.asked) == asked


def archived(bot: RunningSlack) -> None:
    bot.slack.workspace.channels["C1"].is_archived = True


def removed(bot: RunningSlack) -> None:
    bot.slack.workspace.channels["C1"].members.discard(BOT)


def gone(bot: RunningSlack) -> None:
    del bot.slack.workspace.channels["C1"]


@pytest.mark.parametrize("close", [archived, removed, gone])
async def test_an_answer_whose_place_is_gone_goes_to_the_asker_only(
    close: Callable[[RunningSlack], None],
) -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        await bot.ask()
        close(bot)
        bot.release_models()
        await bot.wait_until_delivered()

        (told,) = bot.direct_texts()
        (line,) = await bot.app.store.list_summaries()
        assert line.id in told
        assert "The council says yes." in told
        calls = len(slack.calls)
        await slack.until(lambda: True)
        assert len(slack.calls) == calls


async def test_no_more_replies_are_posted_in_a_place_closed_halfway() -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        root = await bot.ask()
        slack.trouble("chat.postMessage", Refuse("is_archived"))
        bot.release_models()
        await bot.wait_until_delivered()

        assert slack.thread("C1", root.ts) == []
        assert len(bot.direct_texts()) == 1


async def test_a_deleted_root_is_posted_again_once() -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        root = await bot.ask()
        slack.workspace.channels["C1"].said.remove(root)
        bot.release_models()

        await bot.assert_one_whole_round()


async def test_a_root_deleted_halfway_is_posted_again_with_the_rest() -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        root = await bot.ask()
        slack.trouble("chat.postMessage", Slow(0.5, before=True))
        bot.release_models()
        await slack.until(lambda: len(slack.called("chat.postMessage")) == 2)
        slack.workspace.channels["C1"].said.remove(root)

        await bot.wait_until_delivered()
        (again,) = bot.bot_messages()
        assert "council:answers" in text_of(again)
        parts = [*slack.thread("C1", root.ts), *slack.thread("C1", again.ts)]
        keys = [str(message.metadata) for message in parts if message.metadata]
        assert len(keys) == len(set(keys)) == 1


async def test_a_deleted_thread_is_not_started_again() -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        event = await slack.mention("U1", "C1", f"<@{BOT}> Which queue?")
        question = event.message
        assert question
        await slack.until(lambda: slack.thread("C1", question.ts))
        slack.workspace.channels["C1"].said.clear()
        bot.release_models()

        await bot.wait_until_delivered()
        assert not slack.messages("C1")
        assert "The council says yes." in bot.direct_texts()[0]

"""The welcome: three questions to press, once per person and once per channel."""

import pytest

from bot.commands.help import ASK_FORM, EXAMPLES
from bot.slack.block_kit import action_id
from tests.bot.slack.story import Stage, text_of
from tests.wire.slack import BOT, Message

pytestmark = pytest.mark.asyncio(loop_scope="package")


def _welcomes(stage: Stage, channel: str) -> list[Message]:
    return [m for m in stage.bot_messages(channel) if EXAMPLES[0] in text_of(m)]


async def _invited(stage: Stage, *, shared: bool = False) -> str:
    channel = stage.add_channel(shared=shared)
    stage.slack.workspace.channels[channel].members.discard(BOT)
    await stage.slack.invites_bot("U1", channel)
    return channel


async def _channel_with_welcome(stage: Stage) -> tuple[str, Message]:
    channel = await _invited(stage)
    await stage.slack.until(lambda: _welcomes(stage, channel))
    return channel, _welcomes(stage, channel)[0]


async def test_a_person_is_welcomed_once_in_their_messages(stage: Stage) -> None:
    dora = stage.add_user()

    await stage.slack.opens_app(dora, "messages")
    channel = stage.slack.workspace.im_with(dora).id
    await stage.slack.until(lambda: _welcomes(stage, channel))
    await stage.slack.opens_app(dora, "messages")
    await stage.slack.direct_message(dora, "budget")

    await stage.slack.until(lambda: len(stage.bot_messages(channel)) > 1)
    assert len(_welcomes(stage, channel)) == 1


async def test_a_channel_is_welcomed_when_the_bot_is_invited_and_not_again(stage: Stage) -> None:
    channel, _ = await _channel_with_welcome(stage)

    await stage.slack.invites_bot("U1", channel)
    await stage.ask(channel)

    assert len(_welcomes(stage, channel)) == 1


async def test_where_the_council_is_not_open_nobody_is_welcomed(stage: Stage) -> None:
    guest, shared = stage.add_user("gil", is_guest=True), await _invited(stage, shared=True)

    await stage.slack.opens_app(guest, "messages")
    await stage.slack.direct_message(guest, "help")

    direct = stage.slack.workspace.im_with(guest).id
    await stage.slack.until(lambda: stage.bot_messages(direct))
    assert not _welcomes(stage, direct)
    assert not _welcomes(stage, shared)


async def test_a_press_opens_the_form_with_that_question_and_asks_nothing(stage: Stage) -> None:
    channel, welcome = await _channel_with_welcome(stage)

    await stage.slack.click(welcome, f"{action_id(ASK_FORM)}#2", "U2")
    view = await stage.wait_for_modal("U2", "Ask the council")

    assert EXAMPLES[1] in text_of(view)
    assert not stage.round_ids(channel)
    await stage.slack.submit(view, {"question": EXAMPLES[1]}, "U2")
    answer = await stage.wait_for_answer(channel)
    assert EXAMPLES[1] in text_of(answer)
    assert answer.thread_ts is None
    rows = stage.home.sql("SELECT question, asked_by FROM round WHERE channel = ?", channel)
    assert rows == [(EXAMPLES[1], "U2")]


async def test_a_guest_cannot_press(stage: Stage) -> None:
    channel, welcome = await _channel_with_welcome(stage)
    guest = stage.add_user("gil", is_guest=True)
    stage.slack.workspace.channels[channel].members.add(guest)

    await stage.slack.click(welcome, action_id(ASK_FORM), guest)

    await stage.wait_for_ephemeral(guest, channel, "Ask a member to ask for you")
    assert not stage.round_ids(channel)

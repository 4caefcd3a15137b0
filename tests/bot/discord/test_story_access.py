"""Process: a private round of Discord is read nowhere but in its place."""

from collections.abc import Awaitable, Callable

import aiohttp
import pytest

from tests.bot.discord.story import StoryBot, custom_id_of
from tests.wire.discord import Channel, Message

pytestmark = pytest.mark.asyncio(loop_scope="package")

SECRET = "Whom do we dismiss?"

Ask = Callable[[StoryBot], Awaitable[Message]]


async def _in_a_closed_channel(product: StoryBot) -> Message:
    return await product.ask(product.channel(hidden=True), SECRET)


async def _in_a_private_thread(product: StoryBot) -> Message:
    thread = product.thread("U1", product.channel(), private=True)
    return await product.ask(thread, SECRET)


async def _in_direct_messages(product: StoryBot) -> Message:
    said = product.discord.direct_message("U1", SECRET)
    return await product.answered(said.channel, 1 + len(product.answers(said.channel)))


async def _for_oneself(product: StoryBot) -> Message:
    own = product.discord.direct_message("U1", "help").channel
    before = len(product.answers(own))
    await product.run("U1", product.channel(), "ask", question=SECRET, private=True)
    return await product.answered(own, before + 1)


@pytest.mark.parametrize(
    "ask", [_in_a_closed_channel, _in_a_private_thread, _in_direct_messages, _for_oneself]
)
async def test_a_private_round_is_read_nowhere_else(product: StoryBot, ask: Ask) -> None:
    root = await ask(product)
    id_, menu = custom_id_of(root, "answers").rpartition(":")[2], await product.menu("U1", root)
    parent = root.channel.parent
    elsewhere = [parent] if parent else [product.channel(), product.channel(hidden=True)]
    elsewhere += [product.thread("U2", place, private=True) for place in elsewhere[:1]]

    for place in elsewhere:
        await _cannot_be_read(product, place, id_)
        stolen = [(root, ("answers", "ballots")), (menu, ("again", "export", "forget"))]
        for message, wanted in stolen:
            for action in wanted:
                reply = await product.press("U1", product.forge(message, place), action)
                assert "There is no round" in reply, action


async def _cannot_be_read(product: StoryBot, place: Channel, id_: str) -> None:
    for command in ("show", "cancel", "forget"):
        for wanted in (id_, id_[:5]):
            reply = await product.run("U1", place, command, round=wanted)
            assert f"There is no round '{wanted}' here" in reply
    assert SECRET not in await product.run("U1", place, "show", round="last")
    assert id_ not in await product.run("U1", place, "rounds", limit=100)
    for typed in ("dismiss", id_[:5]):
        found = await product.discord.autocomplete(
            "U1", place, "council show", "round", round=typed
        )
        assert not [name for name in found.choices if id_ in name or SECRET in name]


async def test_a_private_channel_and_its_threads_read_their_own_rounds(product: StoryBot) -> None:
    channel = product.channel(hidden=True)
    root = await product.ask(channel, SECRET)
    await product.wait_for_thread(root)

    for place in (channel, product.discord.thread_of(root)):
        assert SECRET in await product.run("U2", place, "show", round="last")
        found = await product.discord.autocomplete(
            "U2", place, "council show", "round", round="dismiss"
        )
        assert [name for name in found.choices if SECRET in name]


async def test_in_a_private_thread_one_asks_reads_and_follows(product: StoryBot) -> None:
    thread = product.thread("U1", product.channel(), private=True)

    root = await product.ask(thread, SECRET)
    assert SECRET in await product.run("U1", thread, "show", round="last")
    assert "1 of 3" in await product.press("U1", root, "answers")
    menu = await product.menu("U1", root)
    result = await product.discord.click(menu, custom_id_of(menu, "export"), "U1")
    await product.discord.until(lambda: result.sent[-1].files)
    assert result.sent[-1].ephemeral_to


async def test_a_round_of_discord_is_not_on_the_page(product: StoryBot) -> None:
    root = await product.ask(product.channel(), SECRET)
    id_ = custom_id_of(root, "answers").rpartition(":")[2]

    port = product.served.home.settings["COUNCIL_PORT"]
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as visitor:
        for path in (f"/rounds/{id_}", f"/rounds/{id_}/export"):
            async with visitor.get(path) as answer:
                assert answer.status == 404
        async with visitor.get("/") as answer:
            assert SECRET not in await answer.text()

"""Who may ask where, and who may read what: every way in, tried by those who may not."""

from collections.abc import AsyncIterator, Awaitable, Callable

import aiohttp
import pytest
import pytest_asyncio

from tests.bot.discord.story import StoryBot, custom_id_of, run_story_bot
from tests.wire.discord import Channel, Message
from tests.wire.discord.permissions import Permission
from tests.wire.discord.sample_world import add_channel, add_role, sample_world

pytestmark = pytest.mark.asyncio(loop_scope="session")

SECRET = "Whom do we dismiss?"
RULES = """
[access]
channels = ["{general}", "{openai}"]
roles = ["{readers}"]
admins = ["{moderators}"]
rounds_per_hour = 2

[access.in."{openai}"]
vendors = ["openai"]
"""


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def ruled(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[StoryBot]:
    """Return a product with rules of its own."""
    world = sample_world()
    home = world.guild("G1")
    told = RULES.format(
        general=world.channel("C1").id,
        openai=add_channel(world, home, "COPENAI", "openai").id,
        readers=add_role(home, "readers", Permission(0), "U1", "UGUEST").id,
        moderators=add_role(home, "moderators", Permission(0), "UGUEST").id,
    )
    async with run_story_bot(tmp_path_factory.mktemp("ruled"), told, world) as running:
        yield running


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
    id_ = custom_id_of(root, "answers").rpartition(":")[2]
    parent = root.channel.parent
    elsewhere = [parent] if parent else [product.channel(), product.channel(hidden=True)]
    elsewhere += [product.thread("U2", place, private=True) for place in elsewhere[:1]]

    for place in elsewhere:
        await _cannot_be_read(product, place, id_)
        for action in ("answers", "ballots", "again", "export", "helpful"):
            told = await product.press("U1", product.forge(root, place), action)
            assert "There is no round" in told, action


async def _cannot_be_read(product: StoryBot, place: Channel, id_: str) -> None:
    for command in ("show", "cancel", "forget"):
        for wanted in (id_, id_[:5]):
            told = await product.run("U1", place, command, round=wanted)
            assert f"There is no round '{wanted}' here" in told
    assert SECRET not in await product.run("U1", place, "show", round="last")
    assert id_ not in await product.run("U1", place, "rounds", number=100)
    for typed in ("dismiss", id_[:5]):
        found = await product.discord.autocomplete(
            "U1", place, "council show", "round", round=typed
        )
        assert not [name for name in found.choices if id_ in name or SECRET in name]


async def test_a_private_channel_and_its_threads_read_their_own_rounds(product: StoryBot) -> None:
    channel = product.channel(hidden=True)
    root = await product.ask(channel, SECRET)
    await product.told(root)

    for place in (channel, product.discord.thread_of(root)):
        assert SECRET in await product.run("U2", place, "show", round="last")
        found = await product.discord.autocomplete(
            "U2", place, "council show", "round", round="dismiss"
        )
        assert [name for name in found.choices if SECRET in name]


async def test_in_a_private_thread_one_asks_reads_and_follows(product: StoryBot) -> None:
    thread = product.thread("U1", product.channel(), private=True)

    root = await product.ask(thread, SECRET)
    await product.discord.until(lambda: thread.said[-1].files, 20)

    assert SECRET in await product.run("U1", thread, "show", round="last")
    assert "Response " in await product.press("U1", root, "answers")
    assert "as JSON" in await product.press("U1", root, "export")


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


async def test_a_place_is_public_if_everybody_sees_it(ruled: StoryBot) -> None:
    other = ruled.channel()
    general = ruled.discord.channel("C1")

    assert "not open in this channel" in await ruled.run("U1", other, "ask", question="Why?")
    assert "not open in this channel" in await ruled.run("U1", other, "show", round="last")
    told = await ruled.run("U1", other, "ask", question="Why?", private=True)
    assert "not open in this channel" in told
    assert "see the panels" in await ruled.run("U1", other, "help")
    for place in (ruled.thread("U1", general), ruled.thread("U1", general, private=True)):
        assert "No round has been held yet." in await ruled.run("U1", place, "rounds")
    found = await ruled.discord.autocomplete("U1", other, "council show", "round", round="")
    assert not found.choices


async def test_only_the_configured_roles_may_ask(ruled: StoryBot) -> None:
    said = ruled.discord.message("U2", "C1", f"{ruled.discord.bot.mention} Which queue?")

    told = await ruled.run("U2", "C1", "ask", question="Which queue?")

    assert "open to certain roles, and you have none of them" in told
    replies = ruled.discord.said_by_bot
    await ruled.discord.until(lambda: [m for m in replies("C1") if m.reference is said])
    ruled.discord.direct_message("U1", "Which queue?")
    direct = ruled.discord.direct
    await ruled.discord.until(lambda: "nobody has any" in direct("U1")[-1].text)
    assert not ruled.served.home.sql("SELECT 1 FROM round WHERE asked_by = ?", _id(ruled, "U2"))


async def test_a_channel_limited_to_one_vendor_refuses_other_panels(ruled: StoryBot) -> None:
    places = ("COPENAI", ruled.thread("U1", ruled.discord.channel("COPENAI"), private=True))
    for place in places:
        for private in (False, True):
            told = await ruled.run("U1", place, "ask", question="Which?", private=private)
            assert "Only models of openai may be used in this channel" in told
        found = await ruled.discord.autocomplete("U1", place, "council ask", "panel", panel="")
        assert found.choices == ["served"]


async def test_questions_per_hour_are_limited_except_for_admin_roles(
    ruled: StoryBot,
) -> None:
    root = await ruled.ask("C1")
    await ruled.run("U1", "C1", "ask", question="And in private?", private=True)

    told = await ruled.run("U1", "C1", "ask", question="And once more?")

    assert "You have asked 2 rounds in the last hour" in told
    assert "You have asked 2 rounds" in await ruled.confirm("U1", root, "again")
    id_ = custom_id_of(root, "answers").rpartition(":")[2]
    assert "open to certain roles" in await ruled.run("U2", "C1", "forget", round=id_)
    assert "is forgotten" in await ruled.run("UGUEST", "C1", "forget", round=id_)


def _id(product: StoryBot, user: str) -> str:
    return product.discord.user(user).id

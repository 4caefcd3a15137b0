"""Process: a question by slash command, its progress, its answer and its thread."""

from itertools import pairwise

import pytest

from tests.bot.discord.story import StoryBot, custom_id_of
from tests.wire.models import Behaviour, Say, by_role

pytestmark = pytest.mark.asyncio(loop_scope="package")

SILENT = 1 << 12


def _after(seconds: float) -> Behaviour:
    return lambda _: Say("Use the one you have.", seconds=seconds)


async def test_every_command_is_registered(product: StoryBot) -> None:
    assert {"Ask the council", "council"} <= set(product.discord.commands())


async def test_the_thread_has_the_results_and_the_rankings(product: StoryBot) -> None:
    root = await product.ask(product.channel())

    (reply,) = await product.wait_for_thread(root)

    assert product.discord.thread_of(root).name.startswith("Which queue?")
    assert reply.text.index("Results") < reply.text.index("Rankings")
    assert reply.text.count(" > ") == 3
    assert not reply.files


async def test_a_private_question_is_answered_by_direct_message(product: StoryBot) -> None:
    channel = product.channel()
    await product.run("UGUEST", channel, "panel", name="served")

    reply = await product.run("UGUEST", channel, "ask", question="Just between us?", private=True)
    private = product.discord.direct
    await product.discord.until(lambda: any(custom_id_of(m, "more") for m in private("UGUEST")), 60)
    own = product.discord.direct("UGUEST")[0].channel

    assert "in our direct messages" in reply
    assert not product.discord.messages(channel)
    (root,) = [m for m in own.said if custom_id_of(m, "answers")]
    after = [m.text for m in own.said if int(m.id) > int(root.id)]
    assert "Just between us?" in root.text
    assert after == []
    assert " points" in root.text


async def test_a_running_round_shows_how_far_it_is_and_is_touched_every_two_seconds_at_most(
    product: StoryBot,
) -> None:
    channel = product.channel()
    for seconds, name in enumerate(("up", "down", "left"), start=1):
        product.models.script[name] = by_role(answer=_after(1.5 * seconds))
    await product.discord.slash(
        "U1", channel, "council ask", question="Which queue?", panel="served"
    )
    await product.discord.until(lambda: product.discord.messages(channel))
    first = product.discord.messages(channel)[0].text

    root = await product.answered(channel)
    product.models.script.clear()

    assert "Which queue?" in first
    assert "Up answers" in first
    assert "Cancel" in first
    pattern = f"PATCH /channels/{channel.id}/messages/{root.id}"
    *progress, last = [call.at for call in product.discord.called(pattern)]
    assert len(progress) >= 2
    assert min(b - a for a, b in pairwise(progress)) > 1
    assert last > progress[-1]


async def test_nothing_notifies_anybody_or_fails(product: StoryBot) -> None:
    channel = product.channel()
    root = await product.ask(
        channel, f"Is @everyone or @here or <@{product.discord.user('U2').id}>?"
    )
    await product.wait_for_thread(root)

    assert product.discord.pings() == []
    assert product.discord.faults == []
    posts = product.discord.called("POST /channels/*/messages")
    assert posts
    assert all(call.payload["flags"] & SILENT for call in posts)

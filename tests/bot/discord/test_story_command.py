"""Process: a question by slash command, its progress, its answer and its thread."""

from itertools import pairwise

import pytest

from bot.commands.dispatch import COMMANDS
from tests.bot.discord.story import StoryBot, custom_id_of
from tests.wire.discord import Upload
from tests.wire.models import Behaviour, Say, by_role

pytestmark = pytest.mark.asyncio(loop_scope="package")

SILENT, BUTTONS = 1 << 12, ("answers", "ballots", "again", "export", "helpful", "unhelpful")


def _after(seconds: float) -> Behaviour:
    return lambda _: Say("Use the one you have.", seconds=seconds)


async def test_every_command_is_registered(product: StoryBot) -> None:
    assert sorted(product.discord.commands()) == ["Ask the council", "council"]
    (group,) = [c for c in product.discord.state.commands[None].values() if c["name"] == "council"]
    assert sorted(one["name"] for one in group["options"]) == sorted(
        command.name for command in COMMANDS.commands
    )


async def test_the_thread_reveals_in_order_who_wrote_what_the_ballots_each_answer_and_a_file(
    product: StoryBot,
) -> None:
    channel = product.channel()
    root = await product.ask(channel)

    thread = await product.wait_for_thread(root)

    titles = [message.text for message in thread]
    assert product.discord.thread_of(root).name.startswith("Which queue?")
    assert "Who wrote what, and how they were ranked" in titles[0]
    assert "Ballots" in titles[1]
    assert titles[1].count(" and ranked ") == 3
    assert all("Response " in title and ", by " in title for title in titles[2:5])
    assert len(titles) == 6
    (file,) = thread[-1].files
    assert file.name.endswith(".md")
    assert b"Which queue?" in file.content


async def test_a_file_becomes_the_context_of_the_question(product: StoryBot) -> None:
    channel = product.channel()
    notes = Upload("notes.txt", "Wir haben nur PostgreSQL – sonst nichts.".encode())

    await product.discord.slash(
        "U1", channel, "council ask", question="Which queue?", attachment=notes
    )

    root = await product.answered(channel)
    assert "with 40 characters of context" in root.text
    ((context,),) = product.served.home.sql(
        "SELECT context FROM round WHERE id = ?", product.rounds(channel)[0]
    )
    assert context == "Wir haben nur PostgreSQL – sonst nichts."


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        pytest.param("big.txt", b"x" * 80_001, "big.txt has 80,001 bytes", id="too-big"),
        pytest.param("long.txt", b"x" * 20_001, "at most 20,000 can be asked", id="too-long"),
        pytest.param("cat.png", b"\x89PNG\xff\xfe\x00", "cat.png is no text file", id="binary"),
    ],
)
async def test_a_file_that_is_not_text_is_refused(
    product: StoryBot, name: str, content: bytes, said: str
) -> None:
    channel = product.channel()
    file = Upload(name, content)

    reply = await product.run("U1", channel, "ask", question="What is it?", attachment=file)

    assert said in reply
    assert not product.rounds(channel)


async def test_a_private_question_is_answered_by_direct_message(product: StoryBot) -> None:
    channel = product.channel()
    await product.run("UGUEST", channel, "panel", name="served")

    reply = await product.run("UGUEST", channel, "ask", question="Just between us?", private=True)
    await product.discord.until(lambda: any(m.files for m in product.discord.direct("UGUEST")), 60)
    own = product.discord.direct("UGUEST")[0].channel

    assert "Asking Up, Down and Left" in reply  # by what goes in the channel
    assert not product.discord.messages(channel)
    (root,) = [m for m in own.said if custom_id_of(m, "answers")]
    after = [m.text for m in own.said if int(m.id) > int(root.id)]
    assert "Just between us?" in root.text
    assert "Who wrote what" in after[0]
    assert "Ballots" in after[1]


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

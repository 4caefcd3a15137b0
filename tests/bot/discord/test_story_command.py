"""`/council …` as people live it: what the asker is told, what the channel sees, what is said."""

from itertools import pairwise

import pytest

from tests.bot.discord.story import StoryBot, custom_id_of
from tests.wire.discord import Permission, Upload
from tests.wire.models import Behaviour, Say, by_role

pytestmark = pytest.mark.asyncio(loop_scope="session")

COMMANDS = (
    "ask",
    "help",
    "panel",
    "rounds",
    "show",
    "vote",
    "suite",
    "bakeoff",
    "bias",
    "budget",
    "cancel",
    "leaderboard",
    "forget",
    "schedule",
)
SILENT, BUTTONS = 1 << 12, ("answers", "ballots", "again", "export", "helpful", "unhelpful")


def _after(seconds: float) -> Behaviour:
    return lambda _: Say("Use the one you have.", seconds=seconds)


async def test_every_command_is_registered(product: StoryBot) -> None:
    assert sorted(product.discord.commands()) == ["Ask the council", "council"]
    (group,) = [c for c in product.discord.state.commands[None].values() if c["name"] == "council"]
    assert sorted(one["name"] for one in group["options"]) == sorted(COMMANDS)


async def test_the_asker_is_told_panel_cost_and_duration_at_once(
    product: StoryBot,
) -> None:
    channel = product.channel()

    deed = await product.discord.slash(
        "U1", channel, "council ask", question="Which queue?", panel="served"
    )

    told = await product.wait_for_reply(deed)
    assert deed.seconds < 1
    assert "Asking Up, Down and Left" in told
    assert "Your text goes to this machine" in told
    assert "Cost unknown for Up, Down and Left" in told
    assert "It takes 5 min at most" in told or "It usually takes about" in told
    await product.answered(channel)


async def test_the_answer_replaces_the_progress_message(
    product: StoryBot,
) -> None:
    channel = product.channel()

    answer = await product.ask(channel)

    assert product.discord.messages(channel) == [answer]
    read = answer.text
    assert read.index("Which queue?") < read.index("3 of 3 answered") < read.index("Asked by Ada")
    assert "written by AI, check what matters" in read
    assert all(custom_id_of(answer, name) for name in BUTTONS)


async def test_the_thread_reveals_in_order_who_wrote_what_the_ballots_each_answer_and_a_file(
    product: StoryBot,
) -> None:
    channel = product.channel()
    root = await product.ask(channel)

    thread = await product.told(root)

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


@pytest.mark.parametrize(
    ("command", "options", "said"),
    [
        ("help", {}, "see the panels, or pick one"),
        ("panel", {}, "house (in use)"),
        ("panel", {"name": "served"}, "Questions here go to panel served now"),
        ("panel", {"name": "nope"}, "There is no panel 'nope'"),
        ("rounds", {"number": 3}, "ound"),
        ("show", {"round": "12ab"}, "There is no round '12ab' here"),
        ("budget", {}, "Everybody, this month"),
        ("cancel", {"round": "last"}, "No round of yours is under way here."),
        ("cancel", {"round": "12ab"}, "There is no round '12ab' here"),
        ("forget", {"round": "12ab"}, "There is no round '12ab' here"),
        ("ask", {"question": "Why?", "panel": "nope"}, "There is no panel 'nope'"),
        ("ask", {"question": "panel:nope Why?"}, "There is no panel 'nope'"),
        ("ask", {"question": "\u200b "}, "The question is empty"),
    ],
)
async def test_every_command_is_deferred_and_its_reply_ephemeral(
    product: StoryBot, command: str, options: dict[str, object], said: str
) -> None:
    channel = product.channel()

    deed = await product.discord.slash("U2", channel, f"council {command}", **options)

    assert said in await product.wait_for_reply(deed)
    assert deed.seconds < 1
    assert not product.discord.said_by_bot(channel)


async def test_a_round_is_listed_shown_by_its_id_and_forgotten_by_its_asker_alone(
    product: StoryBot,
) -> None:
    channel = product.channel()
    root = await product.ask(channel, "Which queue is best?")
    await product.told(root)
    (id_,) = product.rounds(channel)

    assert id_ in await product.run("U2", channel, "rounds")
    assert "Which queue is best?" in await product.run("U2", channel, "show", round=id_[:6])
    assert "Which queue is best?" in await product.run("U2", channel, "show", round="last")
    assert "closed already" in await product.run("U1", channel, "cancel", round=id_)
    assert "Only the one who asked" in await product.run("U2", channel, "forget", round=id_)
    assert "is forgotten" in await product.run("U1", channel, "forget", round=id_)
    assert "Which queue is best?" not in await product.run("U2", channel, "show", round=id_)


async def test_panels_and_rounds_are_suggested_while_typing(product: StoryBot) -> None:
    channel = product.channel()
    await product.ask(channel, "Which *colour*\nfor the shed?")
    ask, discord = "council ask", product.discord

    panels = await discord.autocomplete("U1", channel, ask, "panel", panel="SER")
    rounds = await discord.autocomplete(
        "U2", channel, "council show", "round", round="for the shed"
    )
    by_id = await discord.autocomplete(
        "U2", channel, "council show", "round", round=product.rounds(channel)[0][:5]
    )

    assert panels.choices == ["served"]
    (round_,) = rounds.choices
    assert round_.startswith("Which *colour* for the shed? · ")
    assert by_id.choices == [round_]


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

    told = await product.run("U1", channel, "ask", question="What is it?", attachment=file)

    assert said in told
    assert not product.rounds(channel)


async def test_a_private_question_is_answered_by_direct_message(product: StoryBot) -> None:
    channel = product.channel()
    await product.run("UGUEST", channel, "panel", name="served")

    told = await product.run("UGUEST", channel, "ask", question="Just between us?", private=True)
    await product.discord.until(lambda: any(m.files for m in product.discord.direct("UGUEST")), 20)
    own = product.discord.direct("UGUEST")[0].channel

    assert "Asking Up, Down and Left" in told  # by what goes in the channel
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
    assert min(b - a for a, b in pairwise(progress)) > 1.9
    assert last > progress[-1]


async def test_without_permissions_nothing_is_asked_and_they_are_named(
    product: StoryBot,
) -> None:
    channel = product.channel(deny=Permission.SEND_MESSAGES)

    told = await product.run("U1", channel, "ask", question="Which queue?")

    assert "I need Send Messages" in told
    assert not product.rounds(channel)


async def test_nothing_notifies_anybody_or_fails(product: StoryBot) -> None:
    channel = product.channel()
    root = await product.ask(
        channel, f"Is @everyone or @here or <@{product.discord.user('U2').id}>?"
    )
    await product.told(root)

    assert product.discord.pings() == []
    assert product.discord.faults == []
    posts = product.discord.called("POST /channels/*/messages")
    assert posts
    assert all(call.payload["flags"] & SILENT for call in posts)

"""`/council …` as people live it: what the asker is told, what the channel sees, what is said."""

from itertools import pairwise

import pytest

from tests.bot.discord.story import Stage, part
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


async def test_every_command_there_is_can_be_chosen(stage: Stage) -> None:
    assert sorted(stage.discord.commands()) == ["Ask the council", "council"]
    (group,) = [c for c in stage.discord.state.commands[None].values() if c["name"] == "council"]
    assert sorted(one["name"] for one in group["options"]) == sorted(COMMANDS)


async def test_the_asker_is_told_at_once_who_is_asked_what_it_costs_and_how_long_it_takes(
    stage: Stage,
) -> None:
    channel = stage.channel()

    deed = await stage.discord.slash(
        "U1", channel, "council ask", question="Which queue?", panel="served"
    )

    told = await stage.answer_to(deed)
    assert deed.seconds < 1
    assert "Asking Up, Down and Left" in told
    assert "Your text goes to this machine" in told
    assert "Cost unknown for Up, Down and Left" in told
    assert "It takes 5 min at most" in told or "It usually takes about" in told
    await stage.answered(channel)


async def test_the_channel_sees_the_question_and_then_the_answer_in_the_same_message(
    stage: Stage,
) -> None:
    channel = stage.channel()

    answer = await stage.asked(channel)

    assert stage.discord.messages(channel) == [answer]
    read = answer.text
    assert read.index("Which queue?") < read.index("3 of 3 answered") < read.index("Asked by Ada")
    assert "written by AI, check what matters" in read
    assert all(part(answer, name) for name in BUTTONS)


async def test_the_thread_reveals_in_order_who_wrote_what_the_ballots_each_answer_and_a_file(
    stage: Stage,
) -> None:
    channel = stage.channel()
    root = await stage.asked(channel)

    thread = await stage.told(root)

    titles = [message.text for message in thread]
    assert stage.discord.thread_of(root).name.startswith("Which queue?")
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
async def test_every_command_is_answered_at_once_and_to_the_one_who_gave_it(
    stage: Stage, command: str, options: dict[str, object], said: str
) -> None:
    channel = stage.channel()

    deed = await stage.discord.slash("U2", channel, f"council {command}", **options)

    assert said in await stage.answer_to(deed)
    assert deed.seconds < 1
    assert not stage.discord.said_by_bot(channel)


async def test_a_round_is_listed_shown_by_its_id_and_forgotten_by_its_asker_alone(
    stage: Stage,
) -> None:
    channel = stage.channel()
    root = await stage.asked(channel, "Which queue is best?")
    await stage.told(root)
    (id_,) = stage.rounds(channel)

    assert id_ in await stage.says("U2", channel, "rounds")
    assert "Which queue is best?" in await stage.says("U2", channel, "show", round=id_[:6])
    assert "Which queue is best?" in await stage.says("U2", channel, "show", round="last")
    assert "closed already" in await stage.says("U1", channel, "cancel", round=id_)
    assert "Only the one who asked" in await stage.says("U2", channel, "forget", round=id_)
    assert "is forgotten" in await stage.says("U1", channel, "forget", round=id_)
    assert "Which queue is best?" not in await stage.says("U2", channel, "show", round=id_)


async def test_panels_and_rounds_are_suggested_as_one_types(stage: Stage) -> None:
    channel = stage.channel()
    await stage.asked(channel, "Which *colour*\nfor the shed?")
    ask, discord = "council ask", stage.discord

    panels = await discord.autocomplete("U1", channel, ask, "panel", panel="SER")
    rounds = await discord.autocomplete(
        "U2", channel, "council show", "round", round="for the shed"
    )
    by_id = await discord.autocomplete(
        "U2", channel, "council show", "round", round=stage.rounds(channel)[0][:5]
    )

    assert panels.choices == ["served"]
    (round_,) = rounds.choices
    assert round_.startswith("Which *colour* for the shed? · ")
    assert by_id.choices == [round_]


async def test_a_file_goes_along_as_what_the_question_refers_to(stage: Stage) -> None:
    channel = stage.channel()
    notes = Upload("notes.txt", "Wir haben nur PostgreSQL – sonst nichts.".encode())

    await stage.discord.slash(
        "U1", channel, "council ask", question="Which queue?", attachment=notes
    )

    root = await stage.answered(channel)
    assert "with 40 characters of context" in root.text
    ((context,),) = stage.served.home.sql(
        "SELECT context FROM round WHERE id = ?", stage.rounds(channel)[0]
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
async def test_a_file_that_cannot_be_asked_about_is_said_to_be_so(
    stage: Stage, name: str, content: bytes, said: str
) -> None:
    channel = stage.channel()
    file = Upload(name, content)

    told = await stage.says("U1", channel, "ask", question="What is it?", attachment=file)

    assert said in told
    assert not stage.rounds(channel)


async def test_a_private_question_is_answered_to_its_asker_alone(stage: Stage) -> None:
    channel = stage.channel()
    await stage.says("UGUEST", channel, "panel", name="served")

    told = await stage.says("UGUEST", channel, "ask", question="Just between us?", private=True)
    await stage.discord.until(lambda: any(m.files for m in stage.discord.direct("UGUEST")), 20)
    own = stage.discord.direct("UGUEST")[0].channel

    assert "Asking Up, Down and Left" in told  # by what goes in the channel
    assert not stage.discord.messages(channel)
    (root,) = [m for m in own.said if part(m, "answers")]
    after = [m.text for m in own.said if int(m.id) > int(root.id)]
    assert "Just between us?" in root.text
    assert "Who wrote what" in after[0]
    assert "Ballots" in after[1]


async def test_a_running_round_shows_how_far_it_is_and_is_touched_every_two_seconds_at_most(
    stage: Stage,
) -> None:
    channel = stage.channel()
    for seconds, name in enumerate(("up", "down", "left"), start=1):
        stage.models.script[name] = by_role(answer=_after(1.5 * seconds))
    await stage.discord.slash("U1", channel, "council ask", question="Which queue?", panel="served")
    await stage.discord.until(lambda: stage.discord.messages(channel))
    first = stage.discord.messages(channel)[0].text

    root = await stage.answered(channel)
    stage.models.script.clear()

    assert "Which queue?" in first
    assert "Up answers" in first
    assert "Cancel" in first
    pattern = f"PATCH /channels/{channel.id}/messages/{root.id}"
    *progress, last = [call.at for call in stage.discord.called(pattern)]
    assert len(progress) >= 2
    assert min(b - a for a, b in pairwise(progress)) > 1.9
    assert last > progress[-1]


async def test_where_it_may_not_speak_the_asker_is_told_what_is_missing_and_nothing_is_asked(
    stage: Stage,
) -> None:
    channel = stage.channel(deny=Permission.SEND_MESSAGES)

    told = await stage.says("U1", channel, "ask", question="Which queue?")

    assert "I need Send Messages" in told
    assert not stage.rounds(channel)


async def test_nothing_ever_pings_rings_or_fails(stage: Stage) -> None:
    channel = stage.channel()
    root = await stage.asked(channel, f"Is @everyone or @here or <@{stage.discord.user('U2').id}>?")
    await stage.told(root)

    assert stage.discord.pings() == []
    assert stage.discord.faults == []
    posts = stage.discord.called("POST /channels/*/messages")
    assert posts
    assert all(call.payload["flags"] & SILENT for call in posts)

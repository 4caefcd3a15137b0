"""Handlers of commands, buttons and modals: replies, autocomplete, permissions, restart."""

from collections.abc import Iterator

import pytest

from bot.access import Access, ChannelRules
from bot.commands import round_delivery
from bot.commands.help import ASK_FORM, HELLO
from bot.commands.round_delivery import READY
from bot.commands.rounds import NOTHING_RUNNING
from bot.coordination.tasks import BackgroundTasks
from bot.discord.listeners import DiscordClient
from bot.discord.servers import ServerTracker
from tests.bot.app_fakes import an_app
from tests.bot.discord.in_process import InProcessBot
from tests.bot.discord.story import custom_id_of, with_older_button
from tests.wire.discord import Permission, Upload

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(autouse=True)
def _open_to_all(bot: InProcessBot) -> Iterator[None]:
    yield
    bot.app.access = Access()


@pytest.mark.parametrize(
    ("command", "options", "said"),
    [
        ("help", {}, HELLO),
        ("panel", {}, "house (in use)"),
        ("panel", {"name": "nope"}, "There is no panel 'nope'"),
        ("rounds", {"limit": 3}, "No questions yet. Ask one with </council ask:"),
        (
            "vote",
            {"round": "last", "answer": "K"},
            "No questions yet. Ask one with </council ask:",
        ),
        ("show", {"round": "12ab"}, "There is no round '12ab' here"),
        ("budget", {}, "This workspace, today"),
        ("cancel", {"round": "last"}, NOTHING_RUNNING),
        ("forget", {"round": "12ab"}, "There is no round '12ab' here"),
        ("ask", {"question": "Why?", "panel": "nope"}, "There is no panel 'nope'"),
        ("ask", {"question": "\u200b "}, "The question is empty"),
    ],
)
async def test_every_command_reply_is_ephemeral(
    bot: InProcessBot, command: str, options: dict[str, object], said: str
) -> None:
    await bot.run(command, **options)

    await bot.discord.until(lambda: said in bot.private_texts())
    assert bot.bot_messages() == []


async def test_rounds_and_panels_are_suggested_while_typing(bot: InProcessBot) -> None:
    root = await bot.answered("Which queue is best?")
    id_ = custom_id_of(root, "answers").rpartition(":")[2]

    async def suggested(command: str, option: str, typed: str) -> list[str]:
        found = await bot.discord.autocomplete(
            bot.person, bot.place, f"council {command}", option, **{option: typed}
        )
        return found.choices

    assert await suggested("show", "round", "best") == ["Which queue is best?"]
    assert await suggested("show", "round", id_[:5]) == ["Which queue is best?"]
    assert await suggested("ask", "panel", "HOU") == ["house"]
    bot.app.access = Access(rules={bot.place.id: ChannelRules(vendors=("openai",))})
    assert await suggested("ask", "panel", "") == []
    bot.app.access = Access(channels=("elsewhere",))
    assert await suggested("show", "round", "") == []


async def test_every_button_reply_is_ephemeral(bot: InProcessBot) -> None:
    root = await bot.answered()

    await bot.press(root, "answers", "Answer ")
    await bot.press(root, "ballots", " > ")


async def test_an_older_answer_still_asks_why_it_did_not_help(bot: InProcessBot) -> None:
    root = with_older_button(await bot.answered(), "unhelpful")
    result = await bot.discord.click(root, custom_id_of(root, "unhelpful"), bot.person)
    assert result.modal

    await bot.discord.submit(result.modal, {"reason": "It names no number."}, bot.person)

    await bot.discord.until(lambda: bot.private_texts().count("Noted, thank you.") == 2)
    (kept,) = await bot.app.store.ratings((await bot.load_line()).id)
    assert (kept.helpful, kept.reason) == (False, "It names no number.")


async def test_the_context_menu_opens_a_modal_about_the_message(bot: InProcessBot) -> None:
    said = bot.discord.message(bot.person, bot.place, "We could use Kafka for it.")
    result = await bot.discord.context_menu(bot.person, said, "Ask the council")
    assert result.modal

    filled = {"question": "Is that wise?", "context": "We could use Kafka for it."}
    await bot.discord.submit(result.modal, filled, bot.person)

    bot.release_models()
    await bot.discord.until(lambda: bot.bot_messages())
    assert "Is that wise?" in bot.bot_messages()[-1].text


async def test_a_no_asks_no_model(bot: InProcessBot) -> None:
    root = await bot.answered()
    question, asked = await bot.to_confirm(root), len(bot.gateway.asked)

    await bot.discord.click(question, custom_id_of(question, "no_again"), bot.person)

    assert question.text == "-# Nothing was asked."
    assert len(bot.gateway.asked) == asked
    assert bot.bot_messages() == [root]


@pytest.mark.parametrize("permission", ["VIEW_CHANNEL", "SEND_MESSAGES"])
async def test_missing_permissions_are_named_to_the_asker(
    bot: InProcessBot, permission: str
) -> None:
    bot.permit(deny=Permission[permission])

    await bot.run("ask", question="Which queue?")

    needed = f"I need {permission.replace('_', ' ').title()}"
    await bot.discord.until(lambda: needed in bot.private_texts())
    assert not bot.gateway.asked


async def test_only_the_configured_roles_may_ask(bot: InProcessBot) -> None:
    server = bot.discord.world.guild("G1")
    role = next(id_ for id_ in server.roles if id_ != server.id)  # which everyone has
    bot.app.access = Access(roles=(role,))

    await bot.run("ask", question="Which queue?")
    refusal = "Only certain roles can use the council, and you have none of them. Contact"
    await bot.discord.until(lambda: refusal in bot.private_texts())
    server.members[bot.person.id].roles.append(role)
    await bot.run("ask", question="Which queue?")

    await bot.discord.until(bot.bot_messages)


async def test_a_channel_that_is_not_open_takes_no_question_and_shows_no_round(
    bot: InProcessBot,
) -> None:
    bot.app.access = Access(channels=("elsewhere",))

    for options in ({"question": "Why?"}, {"question": "Why?", "private": True}):
        await bot.run("ask", **options)
    await bot.run("show", round="last")

    told = "The council is off in this channel"
    await bot.discord.until(lambda: bot.private_texts().count(told) == 3)
    await bot.run("help")  # which offers nothing that may not be pressed
    await bot.discord.until(lambda: bot.private_texts().count(told) == 4)
    assert not custom_id_of(bot.discord.ephemerals(bot.person)[-1], ASK_FORM)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("notes.txt", "Nur PostgreSQL – sonst nichts.".encode(), ""),
        ("big.txt", b"x" * 10_000_001, "together they can have 10 MB"),
        ("long.txt", b"x" * 200_001, "long.txt has more than 200,000 characters"),
        ("tool.exe", b"MZ\xff\xfe\x00", "tool.exe can't be read"),
        ("cat.png", b"\x89PNG\r\n\x1a\n\0", "No model of panel house can see images"),
    ],
)
async def test_a_file_comes_with_the_question_or_is_refused_by_name(
    bot: InProcessBot, name: str, content: bytes, said: str
) -> None:
    await bot.run("ask", question="What is it?", attachment=Upload(name, content))

    await bot.discord.until(lambda: said in bot.private_texts() if said else bot.bot_messages())
    if name == "notes.txt":
        round_ = await bot.app.store.load((await bot.load_line()).id)
        [file] = round_.question.files
        assert (file.name, file.text) == (name, content.decode())


async def test_a_private_question_is_answered_by_direct_message(bot: InProcessBot) -> None:
    bot.release_models()

    await bot.run("ask", question="Just between us?", private=True)

    await bot.discord.until(lambda: "The council says yes." in bot.private_texts())
    await bot.wait_until_delivered()
    assert bot.bot_messages() == []


async def test_an_event_after_closing_is_not_dispatched() -> None:
    # The library says that it is ready some time after the last guild, whatever happened meanwhile.
    app = an_app()
    async with DiscordClient(app, BackgroundTasks(), ServerTracker(app, print)) as client:
        pass

    client.dispatch("ready")

    assert client.is_closed()


async def test_a_round_has_one_reply_in_a_channel_and_none_in_direct_messages(
    bot: InProcessBot,
) -> None:
    root = await bot.answered()
    bot.discord.direct_message(bot.person, "And at night?")
    own = bot.discord.direct(bot.person)[0].channel
    await bot.discord.until(lambda: "points" in "".join(m.text for m in bot.bot_messages(own)))

    assert len(bot.bot_messages()) == 1
    (reply,) = bot.discord.thread_of(root).said
    assert reply.text.index("Results") < reply.text.index("Rankings")
    answers = [m for m in bot.bot_messages(own) if custom_id_of(m, "answers")]
    assert [message.text.count(" points") for message in answers] == [4]  # a line, three models


async def test_a_round_that_took_long_mentions_its_asker_once_in_the_results(
    bot: InProcessBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(round_delivery, "MENTION_SECONDS", 0.0)

    root = await bot.answered()

    (reply,) = bot.discord.thread_of(root).said
    assert READY not in root.text
    assert reply.text.count(READY) == 1
    assert len(bot.discord.pings()) == 1
    assert bot.person.id in bot.discord.pings()[0]

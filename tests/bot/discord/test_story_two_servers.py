"""Two servers and one person who installed it for himself; nothing of one is reached elsewhere."""

import pytest

from tests.bot.app_fakes import COMMANDS
from tests.bot.discord.story import StoryBot, custom_id_of
from tests.wire.discord import Channel, Message
from tests.wire.discord.sample_world import add_group

WORD = "xylograph"
QUESTION = f"Where should a small town keep its {WORD}?"
BUTTONS = ("answers", "ballots", "more")
pytestmark = pytest.mark.asyncio(loop_scope="package")


def reads(round_id: str) -> list[tuple[str, dict[str, object]]]:
    """Return every command that could show or change a round, with its options."""
    known = {command.full_name for command in COMMANDS.commands}
    by_id: dict[str, object] = {"round": round_id}
    named = [(name, dict(by_id)) for name in ("show", "forget", "cancel")]
    return [
        *named,
        ("show", {"round": "last"}),
        ("vote", {**by_id, "answer": "A"}),
        *((name, {}) for name in ("rounds", "budget", "leaderboard", "bias") if name in known),
    ]


def round_of(root: Message) -> str:
    return custom_id_of(root, "answers").rpartition(":")[2]


async def ask_in_group(product: StoryBot, group: Channel, user: str) -> Message:
    result = await product.discord.slash(user, group, "council ask", question=QUESTION)
    assert result.accepted
    root = result.original
    assert root
    await product.discord.until(lambda: custom_id_of(root, "answers"), 60)
    return root


async def test_two_servers_and_a_user_install_do_not_reach_each_others_rounds(
    product: StoryBot,
) -> None:
    discord, world = product.discord, product.discord.world
    at_home = await product.ask(product.channel(), QUESTION)
    away = await product.ask("A1", "Which queue should a team of three use?", "USTRANGER")
    world.user("UGUEST").has_app = True
    group = add_group(world, "GSTORY", "Friends", "UGUEST", "USTRANGER")
    outside = await ask_in_group(product, group, "UGUEST")

    round_ids = [round_of(root) for root in (at_home, outside)]
    assert len({round_of(away), *round_ids}) == 3
    await product.wait_for_thread(at_home)
    await product.wait_for_thread(away)
    assert outside.thread is None
    strangers = "\n".join(
        [
            await product.run("USTRANGER", "A1", command, **options)
            for round_id in round_ids
            for command, options in reads(round_id)
        ]
    )
    for root in (at_home, outside):
        stolen = product.forge(root, "A1")
        for action in BUTTONS:
            strangers += await product.press("USTRANGER", stolen, action)
    assert WORD not in strangers
    assert "There is no round" in strangers
    listed = await discord.autocomplete("USTRANGER", "A1", "council show", "round", round="")
    assert WORD not in str(listed.choices)
    assert WORD in await product.run("UGUEST", group, "show", round="last")
    assert discord.faults == []

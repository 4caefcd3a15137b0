"""The commands of admins: apart from everyone's, and shown to those who manage the server."""

import pytest

from bot.coordination.tasks import BackgroundTasks
from bot.discord.listeners import DiscordClient
from bot.discord.servers import ServerTracker
from bot.discord.slash_commands import ADMIN, COUNCIL
from tests.bot.app_fakes import COMMANDS, an_app
from tests.bot.discord.in_process import InProcessBot
from tests.wire.discord import Permission
from tests.wire.discord.sample_world import add_channel, add_guild


def test_commands_for_admins_are_apart_and_for_those_who_manage_the_server() -> None:
    app = an_app()
    tree = DiscordClient(app, BackgroundTasks(), ServerTracker(app, print)).tree
    registered = {one.name: one.to_dict(tree) for one in tree.get_commands()}

    admin = registered[ADMIN]
    assert {"Ask the council", COUNCIL, ADMIN} == registered.keys()
    assert {
        f"{group['name']} {one['name']}" for group in admin["options"] for one in group["options"]
    } == {one.full_name for one in COMMANDS.commands if one.for_admins and not one.hidden}
    assert admin["default_member_permissions"] == Permission.MANAGE_GUILD
    assert (admin["contexts"], admin["integration_types"]) == ([0], [0])


@pytest.mark.asyncio(loop_scope="module")
async def test_a_member_who_manages_another_server_administers_nothing_here(
    bot: InProcessBot,
) -> None:
    bot.person.has_app = True
    world = bot.discord.world
    guild = add_guild(world, f"G{bot.person.id}", "Foreign", bot.person.handle, "U2")
    bot.discord.remove_bot(guild)
    where = add_channel(world, guild, f"F{bot.person.id}", "foreign")

    with pytest.raises(AssertionError, match="does not show"):
        await bot.discord.slash(bot.person, where, "council-admin suite remove", name="sql")

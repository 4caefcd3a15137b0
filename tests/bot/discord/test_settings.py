"""Settings in Discord: forms as modals of at most five components, for admins and managers."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from bot.access import Access
from bot.admin_settings import SETTINGS
from bot.commands.settings import HERE, LIMITS, NEEDS_COUNT, WHO
from tests.bot.discord.in_process import InProcessBot
from tests.bot.discord.story import custom_id_of
from tests.wire.discord import Permission, faults_of_modal
from tests.wire.discord.checks.components import (
    LABEL,
    RADIO_GROUP,
    ROLE_SELECT,
    STRING_SELECT,
    TEXT,
    TEXT_INPUT,
    USER_SELECT,
)
from tests.wire.discord.sample_world import add_role
from tests.wire.discord.state import Modal

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(autouse=True, loop_scope="module")
async def _without_settings(bot: InProcessBot) -> AsyncIterator[None]:
    yield
    await bot.app.key_values.delete(SETTINGS, "discord/")
    bot.app.access = Access()


async def shown_buttons(bot: InProcessBot) -> list[str]:
    await bot.run("settings")
    await bot.discord.until(lambda: "Who may ask:" in bot.private_texts())
    message = bot.discord.ephemerals(bot.person)[-1]
    return [action for action in (HERE, WHO, LIMITS) if custom_id_of(message, action)]


async def opened(bot: InProcessBot, action: str) -> Modal:
    before = len(bot.discord.ephemerals(bot.person))
    await bot.run("settings")
    await bot.discord.until(lambda: len(bot.discord.ephemerals(bot.person)) > before)
    message = bot.discord.ephemerals(bot.person)[-1]
    await bot.discord.until(lambda: custom_id_of(message, action))
    result = await bot.discord.click(message, custom_id_of(message, action), bot.person)
    assert result.modal
    assert faults_of_modal(result.modal.data) == []
    return result.modal


def kinds(modal: Modal) -> dict[str, int]:
    labels = [one for one in modal.data["components"] if one["type"] == LABEL]
    parts: list[Any] = [one["component"] for one in labels]
    return {part["custom_id"]: part["type"] for part in parts}


async def says(bot: InProcessBot, said: str) -> None:
    await bot.discord.until(lambda: said in bot.private_texts())


async def test_each_form_has_at_most_five_typed_fields(bot: InProcessBot) -> None:
    bot.make_admin()

    here, who, limits = [await opened(bot, action) for action in (HERE, WHO, LIMITS)]

    assert kinds(here) == {
        "open": RADIO_GROUP,
        "panel": STRING_SELECT,
        "vendors": TEXT_INPUT,
        "reading": RADIO_GROUP,
        "votes_first": RADIO_GROUP,
    }
    assert kinds(who) == {
        "channels": RADIO_GROUP,
        "roles": ROLE_SELECT,
        "admins": USER_SELECT,
        "admin_roles": ROLE_SELECT,
    }
    assert [*kinds(limits).values()] == [TEXT_INPUT] * 5


async def test_roles_hold_at_the_next_question_and_are_chosen_when_the_form_opens_again(
    bot: InProcessBot,
) -> None:
    bot.make_admin()
    guild = bot.discord.world.guild("G1")
    role = add_role(guild, "askers", Permission(0), "U2")
    other = bot.for_test()

    await bot.discord.submit(
        await opened(bot, WHO), {"roles": [role], "admins": [other.person]}, bot.person
    )
    await says(bot, "Members with 1 role")
    await other.run("ask", question="Which queue?")
    await says(other, "Only certain roles can use the council")
    again = await opened(bot, WHO)

    chosen = {
        one["component"]["custom_id"]: [
            (str(given["id"]), given["type"])
            for given in one["component"].get("default_values", [])
        ]
        for one in again.data["components"]
    }
    assert chosen["roles"] == [(role.id, "role")]
    assert chosen["admins"] == [(other.person.id, "user")]
    assert await shown_buttons(other) == [HERE, WHO, LIMITS]


async def test_who_manages_the_channel_changes_what_holds_in_it_alone(bot: InProcessBot) -> None:
    bot.discord.grant("G1", bot.person.handle, Permission.MANAGE_CHANNELS)
    assert await shown_buttons(bot) == [HERE]

    modal = await opened(bot, HERE)
    await bot.discord.submit(modal, {"open": "off", "votes_first": "on"}, bot.person)
    await says(bot, "The council is off.")

    other = bot.for_test()
    other = replace(other, place=bot.place)
    await other.run("ask", question="Which queue?")
    await says(other, "The council is off in this channel")


async def test_others_see_what_holds_and_who_can_change_it(bot: InProcessBot) -> None:
    assert await shown_buttons(bot) == []
    assert "Admins can change this. Who manages a channel" in bot.private_texts()


async def test_a_value_that_makes_no_sense_is_refused_and_what_the_file_sets_is_named(
    bot: InProcessBot,
) -> None:
    bot.make_admin()
    bot.app.access = Access(rounds_per_day=3, fixed=frozenset({"rounds_per_day"}))

    modal = await opened(bot, LIMITS)
    await bot.discord.submit(modal, {"rounds_per_hour": "a few"}, bot.person)

    await says(bot, NEEDS_COUNT)
    assert "rounds_per_day" not in kinds(modal)
    (note,) = [one for one in modal.data["components"] if one["type"] == TEXT]
    assert note["content"] == "`rounds_per_day` is set in council.toml."

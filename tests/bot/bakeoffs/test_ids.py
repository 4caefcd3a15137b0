"""Ids of bake-offs and their rounds, wherever an id is parsed, quoted or used in a name."""

from dataclasses import replace

import pytest

from bot.bakeoffs.commands.bakeoffs import proposal_value
from bot.bakeoffs.render.bakeoffs import CANCEL, LEAVE, RESUME, START
from bot.chat import Button
from bot.commands.button_registry import NO, YES
from bot.commands.registry import Invocation
from bot.discord.actions import Button as DiscordButton
from bot.discord.components import MAX_CUSTOM_ID_LENGTH, custom_id
from bot.render.formatting import file_name
from bot.render.round_report.thread import ACTIONS
from bot.web.auth import FormError, PageSigner
from council.bakeoffs.models import split_round_id
from council.budget_caps import schedule_of_round
from tests.bot.app_fakes import COMMANDS
from tests.bot.bakeoffs.fakes import a_bakeoff, a_suite
from tests.builders import a_panel

SLOT = "sched:0123456789@2026-11-23T09:00"
NAMED = "sched:weekly-sql@2026-11-23T09:00"
IDS = pytest.mark.parametrize("id_", ["bo:0123456789ab", SLOT, NAMED])


@IDS
def test_a_rounds_id_tells_its_bake_off_and_commands_read_it(id_: str) -> None:
    assert split_round_id(a_bakeoff(id_=id_).round_id(12)) == (id_, 12)
    for name in ("show", "cancel", "forget"):
        parsed = COMMANDS.parse(f"/council {name} {id_}.12")
        assert parsed == Invocation(COMMANDS[name], {"round": f"{id_}.12"})


def test_a_scheduled_rounds_money_counts_under_its_schedule() -> None:
    assert schedule_of_round(f"{SLOT}.12") == "0123456789"
    assert schedule_of_round(f"{NAMED}.12") == "weekly-sql"
    assert schedule_of_round("bo:0123456789ab.12") == ""


@IDS
def test_every_button_carries_them_in_discord(id_: str) -> None:
    rounds = [Button(action, label, f"{id_}.1000") for action, label in ACTIONS]
    acts = (CANCEL, RESUME, f"{YES}{CANCEL}", f"{NO}{CANCEL}")
    own = [Button(action, action, id_) for action in acts]

    for button in (*rounds, *own):
        made = custom_id(button)
        read = DiscordButton.__discord_ui_compiled_template__.fullmatch(made)

        assert len(made) <= MAX_CUSTOM_ID_LENGTH
        assert read
        assert (read["action"], read["value"]) == (button.action, button.value)


def test_a_proposal_fits_in_a_button_however_long_the_names_are() -> None:

    suite = a_suite(name="s" * 40)
    panel = replace(a_panel(), name="p" * 200)
    bakeoff = replace(a_bakeoff(suite, panel, cap=999_999_999_999), id="bo:0123456789ab")
    value = proposal_value(bakeoff)

    for action in (START, LEAVE):
        assert len(custom_id(Button(action, action, value))) <= MAX_CUSTOM_ID_LENGTH


@IDS
def test_a_file_is_named_so_that_every_system_takes_it(id_: str) -> None:
    name = file_name(f"{id_}.1", "md")

    assert not set(name) & set(':@/\\<>"|?*')
    assert name.startswith("council-")
    assert name.endswith(".1.md")
    assert file_name("0123456789ab", "md") == "council-0123456789ab.md"


@IDS
def test_a_signed_link_opens_its_round_alone(id_: str) -> None:
    seals = PageSigner(b"key")

    seals.verify_link(f"{id_}.1", seals.link_key(f"{id_}.1", 60))

    with pytest.raises(FormError):
        seals.verify_link(f"{id_}.11", seals.link_key(f"{id_}.1", 60))

"""Ids of bake-offs and their rounds fit in the buttons of Discord."""

from dataclasses import replace

from bot.bakeoffs.commands.bakeoffs import proposal_value
from bot.bakeoffs.render.bakeoffs import CANCEL, LEAVE, RESUME, START
from bot.chat import Button
from bot.commands.button_registry import NO, YES
from bot.discord.actions import Button as DiscordButton
from bot.discord.components import MAX_CUSTOM_ID_LENGTH, custom_id
from bot.render.round_report.thread import RATINGS, VIEWS
from tests.bot.bakeoffs.commands.test_bakeoffs_ids import IDS
from tests.bot.bakeoffs.fakes import a_bakeoff, a_suite
from tests.builders import a_panel


@IDS
def test_every_button_carries_them_in_discord(id_: str) -> None:
    rounds = [Button(action, label, f"{id_}.1000") for action, label in (*VIEWS, *RATINGS)]
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

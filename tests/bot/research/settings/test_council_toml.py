"""Settings of a panel that only the laboratory needs."""

from pathlib import Path

from bot.render.round_status import receivers
from tests.bot.homes import panel_toml
from tests.bot.settings.test_council_toml import house_panel


def test_a_filter_is_a_seat_of_its_panel_and_known_to_the_gateway(tmp_path: Path) -> None:
    text = panel_toml(["openai/a", "openai/b"], filter="watch", text_checks=True) + (
        '[models."watch"]\nmodel = "mistral/c"\n'
    )

    found = house_panel(tmp_path, text)

    panel = found.panels["house"]
    assert panel.filter is not None
    assert (panel.filter.key, panel.filter.model_id) == ("watch", "mistral/c")
    assert panel.seats[-1] == panel.filter == found.seats["watch"].member
    assert panel.terms.text_checks
    assert receivers(panel) == "OpenAI and Mistral AI"


def test_settings_for_researchers_stand_in_the_lab_of_a_panel_or_in_the_panel(
    tmp_path: Path,
) -> None:
    plain = '[panels.house]\nmembers = ["openai/a", "openai/b"]\n'
    lines = "equal_length = true\ncanary_share = 0.1\ntext_checks = true\n"

    old = house_panel(tmp_path, plain + lines)
    new = house_panel(tmp_path, f"{plain}[panels.house.lab]\n{lines}")

    assert old.panels["house"] == new.panels["house"]
    assert new.panels["house"].terms.equal_length

"""A filter of a panel that names no model is a fault of one line."""

from pathlib import Path

from tests.bot.settings.test_council_toml_faults import SOUND, faults


def test_an_unknown_filter_is_named(tmp_path: Path) -> None:
    [fault] = faults(tmp_path, f'{SOUND}filter = "watch"\n')

    assert "panels.house: 'watch' is neither a seat of [models] nor a model id" in fault
    assert not fault.endswith("..")
    assert ".: " not in fault

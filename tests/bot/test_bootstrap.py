"""A database in memory belongs to one process: it needs no locks of a server."""

import os
from pathlib import Path

import pytest

from bot.bootstrap import StartOptions, open_app, open_stores
from bot.settings import load_settings


async def test_what_a_process_does_alone_is_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNCIL_DATABASE_URL", "sqlite:///:memory:")
    monkeypatch.setenv("COUNCIL_DATA_DIR", str(tmp_path))
    settings = load_settings(tmp_path / ".env")

    async with (
        open_app(settings, StartOptions(serves=True)) as app,
        app.bakeoff_registry.acquire("schedules") as is_ours,
    ):
        assert is_ours


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
async def test_nobody_else_can_read_the_data_folder_and_its_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    (folder / "council.db").touch(mode=0o644)  # as older versions left it
    monkeypatch.setenv("COUNCIL_DATA_DIR", str(folder))

    async with open_stores(load_settings(tmp_path / ".env")):
        modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}

    assert folder.stat().st_mode & 0o777 == 0o700
    assert set(modes.values()) == {0o600}, modes

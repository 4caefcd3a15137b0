"""A database in memory belongs to one process: it needs no locks of a server."""

from pathlib import Path

import pytest

from bot.bootstrap import StartOptions, open_app
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

"""The program from end to end, on the models that install with it."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from platformdirs import user_cache_dir

from tests.bot.homes import Home, Result

MODELS = os.environ.get("COUNCIL_MODEL_DIR") or str(Path(user_cache_dir("council")) / "models")
# With what their download needs where a proxy or an index has certificates of its own.
LOCAL_SETTINGS = {"COUNCIL_MODEL_DIR": MODELS} | {
    name: value
    for name, value in os.environ.items()
    if name.startswith(("PIP_", "SSL_CERT_", "REQUESTS_CA_"))
}
LONGEST_SECONDS = 280


async def held_on_real_models(home: Home) -> tuple[Result, set[psutil.Process]]:
    """Ask the demonstration models; return the result and every process that it started."""
    process = await home.started("ask", "--local", "Why is the sky blue?", "--json", fresh=True)
    helpers = set[psutil.Process]()
    reading = asyncio.create_task(process.communicate())
    async with asyncio.timeout(LONGEST_SECONDS):
        while not reading.done():
            with suppress(psutil.NoSuchProcess):
                helpers |= set(psutil.Process(process.pid).children(recursive=True))
            await asyncio.sleep(0.2)
    out, err = await reading
    return Result(process.returncode or 0, out.decode(), err.decode()), helpers


@pytest.mark.nightly
@pytest.mark.local_models
async def test_a_round_on_the_real_models_is_whole_and_leaves_nothing_behind(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path, LOCAL_SETTINGS).with_config("")

    ran, helpers = await held_on_real_models(home)

    said = ran.json
    assert ran.code == 0, ran.err
    assert len(said["answers"]) == 3
    assert len(said["ballots"]) + len({spoiled["judge"] for spoiled in said["spoiled"]}) >= 3
    assert said["verdict"]["strength"]
    assert said["synthesis"]["text"]
    shown = " ".join(home.council("show", said["id"]).out.split())
    assert "demo models, one used twice" in shown
    assert home.council("verify", said["id"]).code == 0
    assert helpers
    assert [helper for helper in helpers if helper.is_running()] == []

"""The Python in the documents runs as it is printed, without a network and a key."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bot.homes import Home, scripted_config
from tests.bot.web.browser.product import serve_product

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = [
    pytest.param(code, id=f"{path.name}-{number}")
    for path in sorted(ROOT.glob("docs/**/*.md"))
    for number, code in enumerate(FENCE.findall(path.read_text(encoding="utf-8")), start=1)
]


PAGE, KEY = "http://127.0.0.1:8765", "council_laptop.…"


@pytest.mark.parametrize("code", BLOCKS)
async def test_the_code_runs_and_prints(code: str, tmp_path: Path) -> None:
    if PAGE not in code:
        await asyncio.to_thread(run_code, code, tmp_path)
        return
    home = Home(tmp_path).with_config(scripted_config())
    async with serve_product(home) as product:
        reachable = code.replace(PAGE, product.address).replace(KEY, "unused")
        await asyncio.to_thread(run_code, reachable, tmp_path)


def run_code(code: str, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout

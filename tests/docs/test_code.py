"""The Python in the documents runs as it is printed, without a network and a key."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = [
    pytest.param(code, id=f"{path.name}-{number}")
    for path in sorted(ROOT.glob("docs/*.md"))
    for number, code in enumerate(FENCE.findall(path.read_text(encoding="utf-8")), start=1)
]


@pytest.mark.parametrize("code", BLOCKS)
def test_the_code_runs_and_prints(code: str, tmp_path: Path) -> None:
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

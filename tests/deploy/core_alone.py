"""Copies of this checkout without some of its packages, to show that the others do without them.

`python -m tests.deploy.core_alone bakeoffs research` runs the tests of the rest in such a copy.
"""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import cache_from_source
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.deploy.environments import fresh_environment

ROOT = Path(__file__).parents[2]
# What is about all parts at once: documents, the layout, the installed program, measurements.
WHOLE = ("tests/bench", "tests/compatibility", "tests/deploy", "tests/docs", "tests/hostile")


def copy_without(packages: Sequence[str], folder: Path) -> None:
    """Copy what git tracks, and its bytecode, without these packages and their tests."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    for name in listed.stdout.split("\0"):
        path = Path(name)
        if not name or {*path.parts[:-1]} & {*packages}:
            continue
        for file in (path, Path(cache_from_source(name))):
            if (ROOT / file).is_file():
                (folder / file.parent).mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / file, folder / file)  # bytecode is valid for the source's time


def run_tests(packages: Sequence[str], arguments: Sequence[str]) -> int:
    """Run the tests of a copy without these packages; return pytest's exit code."""
    with TemporaryDirectory(prefix="council-alone-") as name:
        folder = Path(name)
        copy_without(packages, folder / "tree")
        python = fresh_environment(folder / "environment", folder / "tree")
        program = python.with_name("council")
        program.write_text(
            f"#!{python}\nfrom council_entry_point import main\nmain()\n", encoding="utf-8"
        )
        program.chmod(0o755)
        ignored = [f"--ignore={part}" for part in WHOLE]
        words = [str(python), "-m", "pytest", "--no-cov", *ignored, *(arguments or ["tests"])]
        return subprocess.run(words, cwd=folder / "tree", check=False).returncode


if __name__ == "__main__":
    cut = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    sys.exit(run_tests(sys.argv[1:cut], sys.argv[cut + 1 :]))

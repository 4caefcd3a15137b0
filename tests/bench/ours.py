"""One round of this product on a model server, as a person would start it."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.workers import Program

QUESTION = "Which queue should we use for 2,000 jobs a second, if all we run is Postgres?"

# No audit ballots, so that a round is nine calls, as the rivals' are.
_PANEL = """
default_panel = "bench"

[panels.bench]
members = ["openai/a", "openai/b", "openai/c", "openai/d"]
chairman = ["openai/chair"]
audit_share = 0.0
"""
_MODEL = """
[models."openai/{name}"]
api_base = "{api_base}"
"""


def environment(api_base: str, home: Path) -> dict[str, str]:
    """Return the variables of a product whose models are at this address."""
    config = home / "council.toml"
    seats = ("a", "b", "c", "d", "chair")
    models = (_MODEL.format(name=name, api_base=api_base) for name in seats)
    config.write_text(_PANEL + "".join(models))
    return {
        "COUNCIL_CONFIG": str(config),
        "COUNCIL_DATA_DIR": str(home / "data"),
        "OPENAI_API_KEY": "sk-none",
    }


def our_round(api_base: str) -> None:
    """Run one round in a fresh process, with settings and a database of its own."""
    words = [str(Path(sys.executable).parent / "council"), "ask", QUESTION, "--json"]
    with TemporaryDirectory(prefix="council-bench-") as folder:
        home = Path(folder)
        program = Program.isolated(words, environment(api_base, home), home)
        ran = subprocess.run(program.words, cwd=home, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RuntimeError(f"the round failed:\n{ran.stderr[-2000:]}")


def our_warm_program(api_base: str, home: Path) -> Program:
    """Return a worker (`tests.bench.workers`) that runs many rounds in one process."""
    home.mkdir(parents=True, exist_ok=True)
    env = environment(api_base, home) | {"PYTHONPATH": str(Path(__file__).parents[2])}
    return Program.isolated([sys.executable, "-m", "tests.bench.warm_rounds"], env, home)

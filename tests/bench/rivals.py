"""Two published councils, each in a virtual environment of its own, asked through their own API.

Holds none of their code: only how to install, start and answer them.
"""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.bench.workers import Program
from tests.wire.models import Behaviour, Request, Say

MEMBERS = ("p/a", "p/b", "p/c", "p/d")
CHAIRMAN = "p/chair"

# stdout is kept for the word "done"; whatever the council prints goes to stderr.
_LOOP = """
import asyncio, os, sys

done = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)
{set_up}

async def main():
    while question := await asyncio.to_thread(sys.stdin.readline):
        await round_(question.strip())
        done.write("done\\n")

asyncio.run(main())
"""

_CORE = """
from llm_council import run_full_council as round_
"""

_SKILL = """
import llm_council.providers.openrouter
from llm_council import run_council

llm_council.providers.openrouter.OPENROUTER_BASE_URL = {api_base!r}

def seat(model):
    return {{"name": model, "provider": "openrouter", "model_id": model}}

panel = {{"council_models": [seat(m) for m in {members!r}], "chairman": seat({chairman!r})}}

async def round_(question):
    await run_council(question, panel)
"""

_CORE_CONFIG = """
council:
  gateways:
    default: openrouter
    providers:
      openrouter: {{enabled: true, base_url: "{api_base}/chat/completions"}}
"""


@dataclass(frozen=True, slots=True)
class Rival:
    """A published council: what to install, what to leave out, and how to run a round of it."""

    name: str
    version: str
    set_up: str
    # Packages taken out again, since they load something from the network when imported.
    without: tuple[str, ...] = ()

    def install(self, cache: Path) -> Path:
        """Create its virtual environment if it is missing, and return its Python."""
        folder = cache / f"{self.name}-{self.version}"
        python, installed = folder / "bin" / "python", folder / "installed"
        if not installed.exists():
            print(f"installing {self.name} {self.version} …", file=sys.stderr)
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
            pip = [str(python), "-I", "-m", "pip", "-qq", "--disable-pip-version-check"]
            subprocess.run([*pip, "install", f"{self.name}=={self.version}"], check=True)
            for package in self.without:
                subprocess.run([*pip, "uninstall", "--yes", package], check=True)
            installed.touch()
        return python

    def program(self, python: Path, api_base: str, home: Path) -> Program:
        """Return a worker whose four members and chairman are at `api_base`."""
        home.mkdir(parents=True, exist_ok=True)
        (home / "llm_council.yaml").write_text(_CORE_CONFIG.format(api_base=api_base))
        set_up = self.set_up.format(api_base=api_base, members=MEMBERS, chairman=CHAIRMAN)
        env = {
            "OPENROUTER_API_KEY": "sk-none",
            "LLM_COUNCIL_MODELS": ",".join(MEMBERS),
            "LLM_COUNCIL_CHAIRMAN": CHAIRMAN,
            "LLM_COUNCIL_OFFLINE": "true",
        }
        return Program.isolated([str(python), "-c", _LOOP.format(set_up=set_up)], env, home)


RIVALS = (
    Rival("llm-council-core", "0.53.0", _CORE),
    Rival("llm-council-skill", "0.2.0", _SKILL, without=("tiktoken",)),
)

_SHOWN = re.compile(r'^(?:<candidate_response id="([A-Z])">|Response ([A-Z]):)$', re.MULTILINE)


def _play(request: Request) -> Say:
    """Rank in display order when asked for a ranking in the rivals' form; otherwise advise."""
    if '"ranking": ["Response X"' not in request.user:
        return Say("Measure it first, and decide again after 33 days.")
    labels = [f"Response {one or other}" for one, other in _SHOWN.findall(request.user)]
    scores = {label: 9 - place for place, label in enumerate(labels)}
    verdict = json.dumps({"ranking": labels, "scores": scores})
    return Say(f"Each has its merits.\n\n```json\n{verdict}\n```")


SCRIPT: dict[str, Behaviour] = dict.fromkeys((*MEMBERS, CHAIRMAN), _play)

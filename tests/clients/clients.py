"""The clients: what installs each one, its snippet, and a folder of its own to run it in."""

import asyncio
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from shutil import copy, which

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("COUNCIL_CLIENTS") or Path.home() / ".cache/council/clients")
WORD = "quokka"  # every snippet's system message demands it
COLUMNS = ("chat", "stream", "structured", "responses")
_SECONDS = 300
_INSTALL_SECONDS = 1_200
# A machine that is offline is found so within seconds, not minutes.
_NPM_OPTIONS = (
    "--no-audit",
    "--no-fund",
    "--fetch-retry-mintimeout=1000",
    "--fetch-retry-maxtimeout=3000",
)
# Nothing but the council is asked: no telemetry, traces, updates and lists of prices.
_QUIET = {
    "AIDER_ANALYTICS": "false",
    "DO_NOT_TRACK": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_OFFLINE": "1",
    "HTTPS_PROXY": "http://127.0.0.1:9",  # whatever else they look for fails at once
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
}


@dataclass(frozen=True, slots=True)
class Client:
    """A client, its packages by exact version, and its snippet.

    Each function of a snippet is one mode, named after its column.
    """

    name: str
    snippet: str
    packages: tuple[str, ...]
    is_npm: bool = False

    @property
    def folder(self) -> Path:
        return CACHE / self.name

    @property
    def is_installed(self) -> bool:
        listed = self.folder / "installed.json"
        return listed.exists() and json.loads(listed.read_text("utf-8")) == [*self.packages]

    @property
    def source(self) -> Path:
        return HERE / "snippets" / self.snippet


CLIENTS = (
    Client("openai-python", "openai_python.py", ("openai==3.57.0",)),
    Client("openai-npm", "openai_npm.mjs", ("openai@6.49.0", "zod@4.6.7"), is_npm=True),
    Client("litellm", "litellm_client.py", ("litellm==1.110.2",)),
    Client("llm", "llm_client.py", ("llm==0.36",)),
    Client("promptfoo", "promptfoo_client.py", ("promptfoo@0.121.20",), is_npm=True),
    Client("inspect-ai", "inspect_ai_client.py", ("inspect-ai==0.3.285", "openai==3.57.0")),
    Client("langchain", "langchain_client.py", ("langchain-openai==1.7.4",)),
    Client("pydantic-ai", "pydantic_ai_client.py", ("pydantic-ai-slim[openai]==2.68.0",)),
    Client("instructor", "instructor_client.py", ("instructor==1.17.0",)),
    Client("dspy", "dspy_client.py", ("dspy==3.4.1",)),
    Client("openai-agents", "openai_agents_client.py", ("openai-agents==0.24.0",)),
    Client(
        "ai-sdk",
        "ai_sdk.mjs",
        ("ai@6.0.326", "@ai-sdk/openai@3.0.141", "@ai-sdk/openai-compatible@2.0.92", "zod@4.6.7"),
        is_npm=True,
    ),
    Client("aider", "aider_client.py", ("aider-chat==0.86.2",)),
    Client("lm-eval", "lm_eval_client.py", ("lm_eval[api]==0.4.13",)),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one mode of a client got: what it said, or why it failed."""

    mode: str
    said: object = None
    error: str = ""

    @property
    def fault(self) -> str:
        """Why this is not what was asked for; "" if it is."""
        if self.error:
            return self.error
        if isinstance(self.said, dict):
            name, years = self.said.get("name"), self.said.get("years")
            fits = isinstance(name, str) and WORD in name and isinstance(years, int)
        else:
            fits = WORD in str(self.said) and not self.mode.startswith("structured")
        return "" if fits else f"It got {self.said!r}."


async def install(client: Client, seconds: float = _INSTALL_SECONDS) -> str:
    """Install a client unless it is; return why that failed, "" if it did not."""
    if client.is_installed:
        return ""
    client.folder.mkdir(parents=True, exist_ok=True)
    if client.is_npm:
        (client.folder / "package.json").write_text('{"private": true}', encoding="utf-8")
        steps = [["npm", "install", *_NPM_OPTIONS, *client.packages]]
    else:
        python = f"{client.folder}/bin/python"
        uv = which("uv", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        pip = [uv, "pip", "install", "--python", python] if uv else [python, "-m", "pip", "install"]
        steps = [[sys.executable, "-m", "venv", str(client.folder)], [*pip, *client.packages]]
    for step in steps:
        if why := await _run(step, client.folder, dict(os.environ), seconds):
            return f"It can't be installed here: {why}"
    (client.folder / "installed.json").write_text(json.dumps(client.packages), encoding="utf-8")
    return ""


async def ask(client: Client, address: str, key: str, home: Path) -> list[Outcome]:
    """Run a client's snippet against an address; return what each mode got."""
    bins = client.folder / ("node_modules/.bin" if client.is_npm else "bin")
    environment = {
        **_QUIET,
        "PATH": f"{bins}:{os.environ['PATH']}",
        "HOME": str(home),
        "OPENAI_BASE_URL": f"{address}/v1",
        "OPENAI_API_KEY": key,
    }
    results = home / "results.jsonl"
    if client.source.suffix == ".mjs":  # imports are looked up from where the file is
        files = [client.folder / file.name for file in (HERE / "run_snippet.mjs", client.source)]
        for file, source in zip(files, (HERE / "run_snippet.mjs", client.source), strict=True):
            copy(source, file)
        command = ["node", *map(str, files), str(results)]
    else:
        python = sys.executable if client.is_npm else str(client.folder / "bin/python")
        command = [python, "-P", str(HERE / "run_snippet.py"), str(client.source), str(results)]
    why = await _run(command, home, environment, _SECONDS)
    lines = results.read_text("utf-8").splitlines() if results.exists() else []
    found = [Outcome(**json.loads(line)) for line in lines]
    return [*found, Outcome("chat", error=why)] if why else found


async def _run(
    command: list[str], folder: Path, environment: dict[str, str], seconds: float
) -> str:
    """Run a command; return the end of what it wrote if it failed, else ""."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=folder,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
    except OSError as error:
        return f"{command[0]} does not start: {error.strerror}."
    try:
        async with asyncio.timeout(seconds):
            written, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return f"It took more than {seconds:.0f} seconds."
    return written.decode(errors="replace")[-1_000:].strip() if process.returncode else ""

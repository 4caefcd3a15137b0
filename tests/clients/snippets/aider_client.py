import os
import subprocess
from pathlib import Path

SETTINGS = """\
- name: openai/council
  system_prompt_prefix: 'Mention "quokka".'
"""
os.environ["OPENAI_API_BASE"] = os.environ["OPENAI_BASE_URL"]
Path("settings.yml").write_text(SETTINGS, encoding="utf-8")
HISTORY = Path("history.md")


def _aider(*options: str) -> str:
    command = ["aider", "--model", "openai/council", "--chat-mode", "ask", "--no-git", "--yes",
               "--no-show-model-warnings", "--no-check-update", "--analytics-disable",
               "--no-pretty", "--model-settings-file", "settings.yml",
               "--chat-history-file", str(HISTORY), *options,
               "--message", "Which queue should we use?"]  # fmt: skip
    HISTORY.unlink(missing_ok=True)
    subprocess.run(command, capture_output=True, text=True, check=True)
    _, _, answer = HISTORY.read_text(encoding="utf-8").partition("\n#### ")
    lines = answer.splitlines()[1:]  # after the question; aider's own lines begin with ">"
    return "\n".join(line for line in lines if not line.startswith(">")).strip()


def chat() -> str:
    return _aider("--no-stream")


def stream() -> str:
    return _aider("--stream")

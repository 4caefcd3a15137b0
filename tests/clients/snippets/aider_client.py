import os
import subprocess
from pathlib import Path

SETTINGS = """\
- name: openai/council
  system_prompt_prefix: 'Mention "quokka".'
"""
os.environ["OPENAI_API_BASE"] = os.environ["OPENAI_BASE_URL"]
Path("settings.yml").write_text(SETTINGS, encoding="utf-8")


def _aider(*options: str) -> str:
    command = ["aider", "--model", "openai/council", "--chat-mode", "ask", "--no-git", "--yes",
               "--no-show-model-warnings", "--no-check-update", "--analytics-disable",
               "--no-pretty", "--model-settings-file", "settings.yml", *options,
               "--message", "Which queue should we use?"]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def chat() -> str:
    return _aider("--no-stream")


def stream() -> str:
    return _aider("--stream")

import json
import os
import subprocess
from pathlib import Path

SYSTEM = 'Mention "quokka".'
QUESTION = "Which queue should we use?"
MODELS = """\
- model_id: council
  model_name: council
  supports_schema: true
  api_base: {OPENAI_BASE_URL}
  api_key_name: council
"""
os.environ["LLM_USER_PATH"] = str(Path.cwd())
Path("extra-openai-models.yaml").write_text(MODELS.format(**os.environ), encoding="utf-8")


def _llm(*options: str) -> str:
    key = os.environ["OPENAI_API_KEY"]
    command = ["llm", "-m", "council", "--key", key, "-s", SYSTEM, *options, QUESTION]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def chat() -> str:
    return _llm("--no-stream")


def stream() -> str:
    return _llm()


def structured_schema() -> dict:
    return json.loads(_llm("--schema", "name, years int"))

import json
import subprocess
from pathlib import Path

SYSTEM = 'Mention "quokka".'
QUESTION = "Which queue should we use?"
MESSAGES = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "years": {"type": "integer"}},
    "required": ["name", "years"],
    "additionalProperties": False,
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "queue", "schema": SCHEMA}}


def _promptfoo(provider: str, **config: object) -> object:
    settings = {
        "prompts": [json.dumps(MESSAGES)],
        "providers": [{"id": provider, "config": config}],
        "tests": [{"assert": [{"type": "javascript", "value": "output !== null"}]}],
    }
    Path("promptfooconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = ["promptfoo", "eval", "--no-cache", "-c", "promptfooconfig.json", "-o", "out.json"]
    subprocess.run(command, capture_output=True, text=True, check=True)
    [result] = json.loads(Path("out.json").read_text(encoding="utf-8"))["results"]["results"]
    return result["response"]["output"]


def chat() -> object:
    return _promptfoo("openai:chat:council")


def structured_json_schema() -> object:
    return _promptfoo("openai:chat:council", response_format=FORMAT)


def responses() -> object:
    return _promptfoo("openai:responses:council")

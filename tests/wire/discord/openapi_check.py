"""Check requests and responses against Discord's OpenAPI document, if it is available.

Knows no rule of this fake: only routes, bodies and schemas.
"""

import json
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Self

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from tests.wire.discord.calls import Call

Payload = dict[str, Any]

NAME = Path("shared") / "reference" / "discord-openapi.json"
ROOT = Path(__file__).resolve().parents[3]
_SAME = {"/webhooks/{webhook_id}/{webhook_token}/messages/@original"}


@dataclass(frozen=True)
class OpenApi:
    """Discord's document, and what it says of a request."""

    document: Payload

    @classmethod
    @cache
    def find(cls) -> Self | None:
        """Return the document if it is in a folder above the project."""
        for folder in ROOT.parents:
            if (folder / NAME).is_file():
                return cls(json.loads((folder / NAME).read_text()))
        return None

    @cached_property
    def _validators(self) -> dict[str, Any]:
        return {}

    def faults_of(self, call: Call) -> list[str]:
        """Return what the document says against this request, or against our answer to it."""
        operation = self._operation(call)
        if operation is None:
            return [f"{call}: no such route"]
        faults = [f"{call}: sent {fault}" for fault in self._of_request(call, operation)]
        if 200 <= call.status < 300:
            faults += [f"{call}: answered {fault}" for fault in self._of_answer(call, operation)]
        return faults

    def _operation(self, call: Call) -> Payload | None:
        original = call.route.replace("{message_id}", "@original")
        is_original = call.names.get("message_id") == "@original" and original in _SAME
        path = self.document["paths"].get(original if is_original else call.route)
        found: Payload | None = (path or {}).get(call.method.lower())
        return found

    def _of_request(self, call: Call, operation: Payload) -> list[str]:
        content = operation.get("requestBody", {}).get("content", {})
        if call.body is None or "application/json" not in content:
            return []
        return self._check(content["application/json"]["schema"], _with_text_ids(call.body))

    def _of_answer(self, call: Call, operation: Payload) -> list[str]:
        answer = operation["responses"].get(str(call.status))
        if answer is None:
            return [f"{call.status}, not among {list(operation['responses'])}"]
        content = answer.get("content", {}).get("application/json")
        if content is None:
            return [] if call.response is None else ["a body where there is none"]
        return self._check(content["schema"], call.response)

    def _check(self, schema: Payload, value: object) -> list[str]:
        key = json.dumps(schema)
        if key not in self._validators:
            whole = {**schema, "components": self.document["components"]}
            self._validators[key] = Draft202012Validator(whole)
        fault = best_match(self._validators[key].iter_errors(value))
        return [] if fault is None else [f"{fault.json_path}: {fault.message[:300]}"]


def _with_text_ids(value: object) -> object:
    """Take ids that are numbers for strings: Discord does, its document does not."""
    if not isinstance(value, dict):
        return value
    changed = {name: _with_text_ids(part) for name, part in value.items()}
    if isinstance(value.get("attachments"), list):
        listed = [{**one, "id": str(one["id"])} for one in value["attachments"] if "id" in one]
        changed["attachments"] = listed
    if isinstance(value.get("users"), list):
        changed["users"] = list(map(str, value["users"]))
    return changed

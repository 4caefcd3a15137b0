"""A gateway to scripted or random models: whole rounds without a network, keys or weights.

`scripted/random`, or `scripted/random-1` and so on for several seats, answers and votes at random,
seeded by the prompt and the seat, so that the same round gets the same replies.
`scripted/<file>` reads {"answers": […], "ballots": […], "syntheses": […]} from JSON or TOML; each
seat takes the entries in order, and takes grades from the ballots too.
"""

import asyncio
import json
import re
import time
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from council.answers import Call, Reply, Role
from council.errors import GatewayError
from council.money import FREE, Price
from council.panel import Member
from council.randomness import digest, shuffle

RANDOM = "random"
_RESPONSE = re.compile(
    r'<response label="([A-Z])" nonce="([^"]*)">\s*(.*?)\s*</response nonce="\2">', re.DOTALL
)
_NONCE = re.compile(r"^Nonce:[ \t]*(\S+)", re.MULTILINE)
_GRADED = re.compile(r"^Grade Response [A-Z] from (\d) to (\d)", re.MULTILINE)
_AUTHOR = re.compile(r"^([^,\n]+)(?:,.*)? answered:$", re.MULTILINE)
_LISTS = re.compile("grades|suspects")
_READ_COMMENTS = "\nThe comments:\n"  # in the prompt of a revision
_DRAWN = "Drawn at random."
_VERDICTS = (
    "Yes, with care",
    "No, not yet",
    "It depends on the load",
    "Try the simplest form first",
)
_REASONS = (
    "what you already run can carry it",
    "the cost shows only after a year",
    "a mistake here is cheap to undo",
    "few people will have to understand it",
)
_CAVEATS = (
    "Measure before you decide.",
    "Write down what would change your mind.",
    "Ask the people who are woken at night by it.",
    "Look again once it is twice as large.",
)
_COMMENTS = (
    "The advice is sound, but nothing supports it. Name one case where it failed.",
    "It says what to do and not when. Keep the caveat, and add a number.",
    "The opposite case is missing: who should not do this?",
    "Clear and short. Begin with the reason, since the verdict follows from it.",
)


class ScriptedGateway:
    """Reply from scripts; their paths are relative to the working directory."""

    def __init__(self) -> None:
        self._scripts: dict[str, Mapping[str, object]] = {}
        self._taken: Counter[tuple[str, str]] = Counter()

    @property
    def versions(self) -> dict[str, str]:
        """The version of the random replies."""
        return {"scripted": "2"}

    def context_tokens(self, member_key: str) -> int | None:
        """Return None: a script takes prompts of any length."""
        return None

    async def price(self, seat: Member) -> Price:
        """Return that scripts are free."""
        return FREE

    async def sees_images(self, seat: Member) -> bool:
        """Return False: scripts read text."""
        return False

    async def complete(self, call: Call) -> Reply:
        """Return the next reply of the seat's script; raise GatewayError if there is none."""
        started = time.monotonic()
        text = self._reply(call)
        await asyncio.sleep(0)
        if not text.strip():
            raise GatewayError("gave an empty answer")
        if call.on_text:
            call.on_text(text)
        return Reply(text, cost_usd=0.0, seconds=time.monotonic() - started)

    def _reply(self, call: Call) -> str:
        prompt, key = call.prompt.user, call.member.key
        # A prompt for a ballot has a nonce, one for a synthesis only texts.
        nonce = match[1] if (match := _NONCE.search(prompt)) else ""
        texts = {letter: text for letter, _, text in _RESPONSE.findall(prompt)}
        name = call.member.model_id.removeprefix("scripted/")
        if name == RANDOM or name.startswith(f"{RANDOM}-"):
            return _random_reply(call, texts, nonce)
        list_name = "ballots" if nonce else "syntheses" if texts else "answers"
        entry = self._entry(name, list_name, key)
        if nonce and isinstance(entry, list):
            return _ballot(nonce, entry, "Following the script.")
        if not isinstance(entry, str):
            raise GatewayError(f"has a script whose {list_name} are not all text")
        return entry.replace("{nonce}", nonce)

    def _entry(self, name: str, list_name: str, key: str) -> object:
        if name not in self._scripts:
            self._scripts[name] = _load_script(Path(name))
        entries = self._scripts[name].get(list_name, [])
        taken = self._taken[key, list_name]
        if not isinstance(entries, list) or taken >= len(entries):
            raise GatewayError(f"has no {list_name} left in its script")
        self._taken[key, list_name] += 1
        return entries[taken]


def _load_script(path: Path) -> Mapping[str, object]:
    try:
        text = path.read_text(encoding="utf-8")
        script = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except OSError as error:
        raise GatewayError(
            f"has a script, {path.name!r}, that does not exist or can't be opened"
        ) from error
    except ValueError as error:
        raise GatewayError(f"has a script, {path.name!r}, that can't be read") from error
    if not isinstance(script, dict):
        raise GatewayError(f"has a script, {path.name!r}, without named lists")
    return script


def _ballot(nonce: str, ranking: list[object], reason: str) -> str:
    return json.dumps({"nonce": nonce, "reason": reason, "ranking": ranking})


def _random_reply(call: Call, texts: Mapping[str, str], nonce: str) -> str:
    prompt, key = call.prompt.user, call.member.key
    if nonce and (graded := _GRADED.search(prompt)):
        grade, *_ = shuffle(range(int(graded[1]), int(graded[2]) + 1), prompt, key)
        return json.dumps({"nonce": nonce, "reason": _DRAWN, "grade": grade})
    if nonce and call.schema and _LISTS.search(str(call.schema.get("required"))):
        return json.dumps(_random_value(call.schema, f"{prompt} {key}"))
    if nonce:
        order = shuffle(texts, prompt, key)
        return _ballot(nonce, [[letter] for letter in order], _DRAWN)
    if texts and call.role is Role.STEP:
        return _random_step(prompt, key, texts)
    if texts:
        drawn = shuffle(texts, prompt, key)[0]
        trailer = {"drawn_on": [drawn], "departs": False, "why": ""}
        return f"{texts[drawn]}\n{json.dumps(trailer)}"
    verdict, ground, caveat = (
        _pick(words, prompt, key) for words in (_VERDICTS, _REASONS, _CAVEATS)
    )
    return f"{verdict}: {ground}. {caveat}"


def _pick(words: Sequence[str], prompt: str, key: str) -> str:
    return words[int(digest(prompt, key, words[0]), 16) % len(words)]


def _random_step(prompt: str, key: str, texts: Mapping[str, str]) -> str:
    """Return a revision of one's own draft, or comments on what the prompt shows."""
    if _READ_COMMENTS in prompt:
        own = texts["A"]
        return f"{own} {_pick([text for text in _CAVEATS if text not in own], prompt, key)}"
    if authors := _AUTHOR.findall(prompt):
        return "\n".join(f"{name}: {_pick(_COMMENTS, f'{prompt} {name}', key)}" for name in authors)
    return _pick(_COMMENTS, prompt, key)


def _random_value(schema: Mapping[str, Any], seed: str) -> object:
    """Return a value that a JSON schema of grades or suspects allows."""
    if "enum" in schema:
        return shuffle(schema["enum"], seed, "value")[0]
    match schema["type"]:
        case "object":
            parts = schema["properties"].items()
            return {name: _random_value(part, f"{seed} {name}") for name, part in parts}
        case "array":
            count = schema.get("minItems", 1)
            return [_random_value(schema["items"], f"{seed} {number}") for number in range(count)]
        case "number":
            return int(digest(seed, "value", "grade"), 16) % 101
    return _DRAWN

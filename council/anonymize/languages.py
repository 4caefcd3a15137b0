"""Patterns with which a language, in signatures.toml, identifies a writer: name, role or maker."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from council.anonymize.names import ANY, MAKER, MODEL

OPENING = r"(?:^|\n|[.!?:;…(—–。！？：।] ?)[\"'#> ]{0,3}"  # of a sentence

_BETWEEN = r"[ ,،(:\"'-]{1,3}"
_COMMON = {
    "MODEL": MODEL,
    "MAKER": MAKER,
    "ANY": ANY,
    "OPENING": OPENING,
    "BETWEEN": _BETWEEN,
}
_PLACEHOLDER = re.compile(r"\{([A-Za-z_]+)\}")  # unlike `{0,3}`


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """The patterns of one language; `signs` are searched only if a cue is near a name."""

    name: str
    cues: frozenset[str]
    signs: tuple[str, ...]
    fields: str = ""
    closings: str = ""
    owned: str = ""
    credits: str = ""


@cache
def languages() -> tuple[Language, ...]:
    """Return the languages in which self-identification is recognized."""
    text = files("council").joinpath("signatures.toml").read_text(encoding="utf-8")
    return tuple(_language(name, table) for name, table in tomllib.loads(text).items())


def _language(name: str, table: Mapping[str, Any]) -> Language:
    known = dict(_COMMON)
    for key, pattern in (table.get("words", {}) | table.get("grammar", {})).items():
        known[key] = _expand(pattern, known)
    return Language(
        name,
        frozenset(table["cues"].split()),
        (
            *(_grammar_signs(known) if "grammar" in table else ()),
            *(_expand(sign, known) for sign in table.get("signs", ())),
            _expand(_ME_SIGN, {**known, "me": _expand(table["me"], known)}),
        ),
        *(_expand(table.get(key, ""), known) for key in ("fields", "closings", "owned", "credits")),
    )


def _expand(pattern: str, known: Mapping[str, str]) -> str:
    """Return the pattern in one line, with the known patterns in place of their names."""
    if "\n" in pattern:
        pattern = "".join(map(str.strip, pattern.split("\n")))
    return _PLACEHOLDER.sub(lambda match: known[match[1]], pattern)


def _grammar_signs(known: Mapping[str, str]) -> tuple[str, ...]:
    """Return the signs of a grammar, each capturing the name."""
    kind = f"(?:(?:{known['kind']}){_BETWEEN}){{0,10}}"
    after = known.get("not_after")
    computed = {
        "KIND": kind,
        "IS_NOUN": rf"(?=[^.\n\ue000-\ue3ff]{{0,80}}(?:{known['nouns']}))",
        "NOT_AFTER": rf"(?!'s |[ -](?:{after})\b)" if after else "",
        # "As a model from OpenAI, GPT-4 …" is about GPT-4.
        "ALONE": rf"(?!,? ?{MODEL}|'s )",
    }
    return tuple(_expand(sign, {**known, **computed}) for sign in _GRAMMAR_SIGNS)


_ME_SIGN = r"{MODEL} ?[(（\[] ?(?:{me}) ?[)）\]]"
_GRAMMAR_SIGNS = (
    r"\b(?:{named}) ?{KIND}{MODEL}{NOT_AFTER}",
    r"\b(?:{here}) {KIND}{MODEL}(?=[.,!:;،])",
    r"\b(?:{role}) ?{KIND}{MODEL}(?=(?:{then}))",
    r"(?:\b(?:{named})|{OPENING}(?:{role})) ?{IS_NOUN}{KIND}(?:(?:{made}) )?"
    r"(?:(?:{by}) ?)?{MAKER}{ALONE}",
    r"{OPENING}(?:{role}) {MAKER}[ -](?:{nouns})",
    r"\b(?:{was}) {KIND}(?:{made})(?: \w{1,3} \w{1,20})? (?:(?:{by}) ?)?{MAKER}",
    r"{MAKER}(?:{made_me})\b",
    r"\b(?:{me_made}) ?{MAKER}",
    r"\b(?:{my_maker})(?:,? \w{1,6}){0,2}[ ,:('—-]{1,3}{MAKER}",
    r"\b(?:{view}) {KIND}{MODEL}",
    r"\b(?:{yours}),? {MODEL}",
    r"\b(?:{i}), {KIND}{MODEL},",
    r"\b(?:{own_text}) ?{KIND}{ANY}",
)

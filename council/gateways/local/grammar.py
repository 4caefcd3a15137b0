"""A ballot's JSON schema made strict enough for models that cannot be trusted with a list.

Pure: a schema in, a schema out. llama-server turns it into a grammar, so that what is not in it
cannot be written at all.
"""

from collections.abc import Mapping
from itertools import permutations

MOST_LETTERS = 5  # 120 rankings; 720 would slow the grammar down
LONGEST_TEXT = 160


def tightened(schema: Mapping[str, object]) -> dict[str, object]:
    """Bound every free text, and list every possible ranking of up to five letters.

    Ties are given up: a tiny model that may write them writes little else.
    """
    tight = _bounded(schema)
    properties = tight.get("properties")
    if isinstance(properties, dict):
        letters = _letters(properties.get("ranking"))
        if 0 < len(letters) <= MOST_LETTERS:
            properties["ranking"] = {"enum": _rankings(letters)}
    return tight


def _bounded(schema: Mapping[str, object]) -> dict[str, object]:
    tight = {key: _bounded_value(value) for key, value in schema.items()}
    if schema.get("type") == "string" and not {"enum", "const", "maxLength"} & schema.keys():
        tight["maxLength"] = LONGEST_TEXT
    return tight


def _bounded_value(value: object) -> object:
    return _bounded(value) if isinstance(value, Mapping) else value


def _letters(ranking: object) -> list[str]:
    match ranking:
        case {
            "type": "array",
            "items": {"type": "array", "items": {"type": "string", "enum": [*letters]}},
        }:
            return [str(letter) for letter in letters]
        case _:
            return []


def _rankings(letters: list[str]) -> list[list[list[str]]]:
    return [[[letter] for letter in order] for order in permutations(letters)]

"""Model families, as in model_families.toml: how to recognize them, their names and makers."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Family:
    """A pattern for the model ids of a family, the names its models go by, and of its maker."""

    name: str
    ids: str
    names: tuple[str, ...]
    makers: tuple[str, ...]


@cache
def all_families() -> tuple[Family, ...]:
    """Return all families; the first one whose pattern is found in an id is that of the model."""
    text = files("council").joinpath("model_families.toml").read_text(encoding="utf-8")
    return tuple(
        Family(name, table["ids"], tuple(table["names"]), tuple(table["makers"]))
        for name, table in tomllib.loads(text).items()
    )


def family_of(model: str) -> str:
    """Return the family of a model id; "unknown:PROVIDER" if no family matches."""
    *route, name = model.lower().split("/")
    for family in all_families():
        if re.search(family.ids, name):
            return family.name
    return f"unknown:{route[0] if route else name}"

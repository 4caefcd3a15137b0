"""Parser of the Containerfile, as far as the tests need it."""

import json
import re
import shlex
from collections.abc import Iterator

from tests.deploy.running import ROOT

_GIVEN_TO_HEALTHCHECK = re.compile(r"^(?:--\S+\s+)*CMD\s+")


def instructions() -> list[tuple[str, str]]:
    """Return each instruction with its arguments; continued lines are joined."""
    text = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = (line.strip() for line in text.splitlines())
    pairs = (line.partition(" ") for line in lines if line and not line.startswith("#"))
    return [(name, given.strip()) for name, _, given in pairs]


def arguments_of(name: str) -> list[str]:
    """Return the arguments of each instruction of this name, in order."""
    return [given for found, given in instructions() if found == name]


def copied() -> Iterator[str]:
    """Yield every path that is copied from the build context."""
    for given in arguments_of("COPY"):
        if not given.startswith("--from="):
            yield from given.split()[:-1]


def variables() -> dict[str, str]:
    """Return the environment that the image sets."""
    pairs = (pair.partition("=") for given in arguments_of("ENV") for pair in shlex.split(given))
    return {name: value for name, _, value in pairs}


def command() -> list[str]:
    """Return the command of a container."""
    words: list[str] = json.loads(arguments_of("CMD")[-1])
    return words


def health_command() -> list[str]:
    """Return the health check of a container."""
    words: list[str] = json.loads(_GIVEN_TO_HEALTHCHECK.sub("", arguments_of("HEALTHCHECK")[-1]))
    return words

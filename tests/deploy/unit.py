"""Parser of the systemd unit, as far as the tests need it."""

from collections import defaultdict
from collections.abc import Mapping

from tests.deploy.running import ROOT

UNIT = ROOT / "deploy" / "council.service"


def settings() -> dict[str, list[str]]:
    """Return every setting of the unit with its values, in order."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for line in UNIT.read_text(encoding="utf-8").splitlines():
        name, is_setting, value = line.partition("=")
        if is_setting and not line.startswith("#"):
            found[name].append(value)
    return dict(found)


def setting(name: str) -> str:
    """Return the one value of a setting."""
    [value] = settings()[name]
    return value


def variables(specifiers: Mapping[str, str]) -> dict[str, str]:
    """Return the environment that the unit sets, with its specifiers replaced by folders."""
    pairs = (value.partition("=") for value in settings()["Environment"])
    return {name: moved(value, specifiers) for name, _, value in pairs}


def moved(value: str, specifiers: Mapping[str, str]) -> str:
    """Return a value with its specifiers replaced by folders."""
    for specifier, folder in specifiers.items():
        value = value.replace(specifier, folder)
    return value

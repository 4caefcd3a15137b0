"""Faults in settings, told one a line."""

from collections.abc import Sequence

from pydantic import ValidationError

from council.errors import CouncilError


class SettingsError(CouncilError):
    """Settings that the bot cannot start with; its text has a line for each fault."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = tuple(faults)


def faults_of(error: ValidationError, where: str) -> list[str]:
    """Give a line for each thing a document got wrong; values that may be secret are not shown."""
    return [_line(fault["loc"], fault["msg"], where) for fault in error.errors()]


def _line(location: tuple[int | str, ...], message: str, where: str) -> str:
    name = ".".join(str(part) for part in location)
    plain = message.removeprefix("Value error, ").removeprefix("Assertion failed, ")
    place = f"{where}{name}".rstrip(" .:")
    return f"{place}: {plain[0].lower()}{plain[1:]}."

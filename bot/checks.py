"""Report of `council doctor`, to which plug-ins add what their own checks find."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from council.errors import CouncilError


class CheckReport:
    """Prints findings as they come, and remembers whether all is well."""

    def __init__(self, echo: Callable[[str], None]) -> None:
        self._echo = echo
        self.is_healthy = True

    def ok(self, text: str) -> None:
        """Print what works."""
        self._echo(f"ok   {text}")

    def note(self, text: str) -> None:
        """Print a fact that is neither good nor bad."""
        self._echo(f"     {text}")

    def fail(self, text: str) -> None:
        """Print a fault; `council doctor` then exits with code 1."""
        self.is_healthy = False
        self._echo(f"FAIL {text}")

    @contextmanager
    def failures(
        self, chat: str, kind: type[CouncilError] = CouncilError, hint: str = ""
    ) -> Iterator[None]:
        """Report an error of this kind in the block, with a hint."""
        try:
            yield
        except kind as error:
            self.fail(f"{chat}: {error}{hint}")

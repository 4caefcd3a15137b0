"""Files of questions that were refused: kept in memory until their visitor sends them again."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from council.files import QuestionFile

MAX_KEPT = 8  # refused questions; the files of one have limits of their own


@dataclass(slots=True)
class KeptFiles:
    """The files of the last refused questions, by a code that only their visitor can use."""

    _by_code: dict[tuple[str, str], tuple[QuestionFile, ...]] = field(default_factory=dict)

    def keep(self, visitor: str, files: tuple[QuestionFile, ...]) -> str:
        """Return the code of files that are kept from now on; forget the oldest ones."""
        code = secrets.token_urlsafe(12)
        self._by_code[visitor, code] = files
        while len(self._by_code) > MAX_KEPT:
            del self._by_code[next(iter(self._by_code))]
        return code

    def find(self, visitor: str, form: Mapping[str, str]) -> tuple[QuestionFile, ...]:
        """Return the kept files that are still chosen in a form."""
        files = self._by_code.get((visitor, form.get("kept", "")), ())
        return tuple(file for i, file in enumerate(files) if form.get(f"keep {i}"))

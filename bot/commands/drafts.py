"""Suites that were shown to somebody, and wait for a yes or no."""

import secrets
from dataclasses import dataclass

from bot.chat import Said
from council.bakeoffs.suite import Suite
from council.errors import SuiteError

MOST_WAITING = 100
NOT_WAITING = (
    "That suite does not wait for an answer any more: it was kept or left already, or I was "
    "started anew. Add it once more."
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A suite, who would have it kept, and the version it takes the place of ("" for none)."""

    suite: Suite
    by: str
    before: str = ""


class Drafts:
    """Keeps the newest drafts for as long as the bot runs; the oldest gives way."""

    def __init__(self) -> None:
        self._waiting: dict[str, Draft] = {}

    def put(self, draft: Draft) -> str:
        """Give the code that a draft goes by."""
        code = secrets.token_hex(4)
        self._waiting[code] = draft
        if len(self._waiting) > MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]
        return code

    def take(self, code: str, said: Said) -> Draft:
        """Give a draft to the one it was shown to, where it was shown; once. SuiteError."""
        draft = self._waiting.get(code)
        own = draft and (draft.by, draft.suite.scope) == (said.asker.id, said.place.scope)
        if not (draft and own):
            raise SuiteError(NOT_WAITING)
        return self._waiting.pop(code)

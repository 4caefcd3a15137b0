"""Suites that were shown to somebody, and wait for a yes or no, whichever process hears it."""

import secrets
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from bot.chat import Said
from council.bakeoffs.models import Suite
from council.errors import SuiteError
from council.ports import Memos

DRAFT = "draft"  # the kind of memo
MOST_WAITING = 100
NOT_WAITING = (
    "That suite does not wait for an answer any more: it was kept or left already, or many others "
    "were shown since. Add it once more."
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A suite, who would have it kept, and the version it takes the place of ("" for none)."""

    suite: Suite
    by: str
    before: str = ""


_DRAFT = TypeAdapter(Draft)


async def put_draft(memos: Memos, draft: Draft) -> str:
    """Give the code that a draft goes by from now on; of too many the oldest gives way."""
    code = secrets.token_hex(4)
    name = _name(draft.suite.scope, code)
    await memos.note(DRAFT, name, _DRAFT.dump_json(draft).decode())
    await memos.keep_newest(DRAFT, MOST_WAITING)
    return code


async def take_draft(memos: Memos, code: str, said: Said) -> Draft:
    """Give a draft to the one it was shown to, where it was shown; once. SuiteError."""
    name = _name(said.place.scope, code)
    draft = _read(await memos.read(DRAFT, name))
    if draft is None or draft.by != said.asker.id or await memos.take(DRAFT, name) is None:
        raise SuiteError(NOT_WAITING)
    return draft


def _read(text: str | None) -> Draft | None:
    """Give the draft that a text tells of; None for one that another version wrote otherwise."""
    try:
        return _DRAFT.validate_json(text) if text else None
    except ValidationError:
        return None


def _name(scope: str, code: str) -> str:
    return f"{scope}/{code}"

"""The one character that no text of Postgres can hold, kept in texts of Postgres all the same.

NUL becomes two characters, of which the first is none that anybody writes; where that one is
written nevertheless it becomes two as well. So every text comes back as it was.
"""

import json
from typing import Any

MARK = "\uffff"
_NUL, _MARK = f"{MARK}0", f"{MARK}1"


def kept(text: str) -> str:
    """Give the text as Postgres can hold it."""
    if "\0" in text or MARK in text:
        return text.replace(MARK, _MARK).replace("\0", _NUL)
    return text


def given_back(text: str) -> str:
    """Give the text that was kept so."""
    if MARK in text:
        return text.replace(_NUL, "\0").replace(_MARK, MARK)
    return text


def kept_document(document: object) -> str:
    """Give a JSON document as Postgres can hold it."""
    return json.dumps(_each(document, kept), ensure_ascii=False)


def document_given_back(said: bytes | str) -> object:
    """Give the JSON document that was kept so."""
    found = json.loads(said)
    # Most have none, and looking is quicker than taking them apart.
    marked = MARK.encode() if isinstance(said, bytes) else MARK
    return _each(found, given_back) if marked in said else found  # type: ignore[operator]


def _each(value: Any, change: Any) -> Any:  # noqa: ANN401
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): _each(one, change) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_each(one, change) for one in value]
    return value

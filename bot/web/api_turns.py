"""Turns of a conversation as programs send them: the question, its context, what binds, files."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.chat import Attachment, clean_text
from bot.web.api_errors import ApiError

MAX_API_CHARACTERS = 200_000  # of a question with its context and instructions
_MAX_RAW = 2 * MAX_API_CHARACTERS  # as they were sent: cleaning halves the line ends of Windows
_CONTEXT = {"user": "User", "assistant": "Assistant", "tool": "Tool"}
_BINDING = ("system", "developer")  # their turns are instructions, not context
_NO_CONTENT = "The content of a message is text, or a list of parts."
_TEXTS = ("text", "input_text", "output_text")
# Parts of a turn that hold a file, and the field with its data.
_FILES = {
    "image_url": "url",
    "file": "file_data",
    "input_image": "image_url",
    "input_file": "file_data",
}


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side said; `where` names it in errors. one that `calls` tools ends nothing."""

    role: str
    text: str
    files: Sequence[Attachment]
    where: str
    calls: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """What a conversation asks: its last question, what came before, what binds the answer."""

    question: str
    context: str
    instructions: str
    files: tuple[Attachment, ...]


def join_turns(turns: Sequence[Turn]) -> Asked:
    """Return what turns ask; raise ApiError, which names the turn at fault."""
    roles = [turn.role for turn in turns]
    for turn in turns:
        if turn.role not in _CONTEXT and turn.role not in _BINDING:
            what = f"The council takes no {turn.role[:20]!r} messages. Leave them out."
            what = what if turn.role else "A message needs a role, such as user."
            raise ApiError(400, what, "unsupported_value", f"{turn.where}.role")
    whole = turns[0].where.partition(".")[0] if turns else None
    if "user" not in roles:
        raise ApiError(400, "No message is from the user, so there is no question.", None, whole)
    asked = len(roles) - 1 - roles[::-1].index("user")
    if any(turn.role == "assistant" and not turn.calls for turn in turns[asked:]):
        what = "The council continues no answers. End the messages with one from the user."
        raise ApiError(400, what, "unsupported_value", whole)
    _check_length(turns, _MAX_RAW)
    question = clean_text(turns[asked].text)
    if not question:
        what = "The last user message is empty."
        raise ApiError(400, what, None, f"{turns[asked].where}.content")
    context = [
        f"{_CONTEXT[turn.role]}: {turn.text}"
        for i, turn in enumerate(turns)
        if i != asked and turn.role in _CONTEXT and turn.text.strip()
    ]
    binding = [turn.text for turn in turns if turn.role in _BINDING and turn.text.strip()]
    files = tuple(file for turn in turns for file in turn.files)
    joined = Asked(question, clean_text("\n\n".join(context)), "\n\n".join(binding), files)
    if len(joined.question) + len(joined.context) + len(joined.instructions) > MAX_API_CHARACTERS:
        _check_length(turns, MAX_API_CHARACTERS)
    return joined


def _check_length(turns: Sequence[Turn], limit: int) -> None:
    length = sum(len(turn.text) for turn in turns)
    if length <= limit:
        return
    longest = max(turns, key=lambda turn: len(turn.text))
    raise ApiError(
        400,
        f"The messages have {length:,} characters; the limit is {MAX_API_CHARACTERS:,}. The "
        f"longest is {longest.where}, with {len(longest.text):,}. Shorten it, or ask about a part.",
        "context_length_exceeded",
        f"{longest.where}.content",
    )


def call_line(function: object) -> str:
    """Return an earlier call of a tool as a line of the context; "" if it is none."""
    if not isinstance(function, Mapping):
        return ""
    return f"[called {function.get('name')} with {function.get('arguments')}]"


def read_content(content: object, param: str) -> tuple[str, list[Attachment]]:
    """Return the text and the files of a turn's content.

    Raise ApiError for a part of an unknown type, and for a file that is not sent along.
    """
    if content is None or isinstance(content, str):
        return content or "", []
    if not isinstance(content, list | dict):
        raise ApiError(400, _NO_CONTENT, None, f"{param}.content")
    texts: list[str] = []
    files: list[Attachment] = []
    for i, item in enumerate(content if isinstance(content, list) else [content]):
        part = item if isinstance(item, dict) else {}
        where, kind = f"{param}.content.{i}", str(part.get("type") or "")
        if kind in _TEXTS and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif kind == "refusal":
            texts.append(str(part.get("refusal") or ""))
        elif kind in _FILES:
            files.append(_read_file(kind, part, where))
        elif kind in _TEXTS:
            raise ApiError(400, "This part has no text. Write it in text.", None, f"{where}.text")
        else:
            name = kind[:40] or "unknown"
            what = f"The council reads text, images and files, not parts of the type {name!r}."
            raise ApiError(400, what, "unsupported_value", where)
    return "\n".join(texts), files


def _read_file(kind: str, part: Mapping[str, Any], where: str) -> Attachment:
    field = _FILES[kind]
    holder = part.get(kind, part)  # responses have no inner object
    holder = holder if isinstance(holder, dict) else {field: holder}
    name = str(holder.get("filename") or ("image" if "image" in kind else "file"))
    return Attachment.of(name, _decoded(str(holder.get(field) or ""), where))


def _decoded(data: str, where: str) -> bytes:
    head, _, body = data.rpartition(",")
    try:
        if not head or (head.startswith("data:") and head.lower().endswith(";base64")):
            return base64.b64decode("".join(body.split()), validate=True)
    except ValueError:
        pass
    what = "Send the file itself, as data:…;base64,…; the council fetches no addresses."
    raise ApiError(400, what, "unsupported_value", where)

"""The Responses API: its requests, and the documents and events of an answer."""

import json
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from bot.web.api_answers import AnswerReader, Document, count_tokens
from bot.web.api_errors import ApiError, refusal
from bot.web.api_forms import is_asked, read_form
from bot.web.api_requests import (
    MAX_MESSAGES,
    CompletionRequest,
    check_refused,
    read_body,
)
from bot.web.api_turns import Turn, call_line, join_turns, read_content
from council.rounds import Round

PREFIX = "resp_"  # of the ids, before the round's
_SKIPPED = ("reasoning",)  # items that clients send back, and a council has no use for


class _Body(BaseModel):
    """The fields that are read; every other field is ignored, unless it is refused by name."""

    model_config = ConfigDict(strict=True, extra="allow")

    model: str = Field(max_length=200)
    input: str | Annotated[list[Any], Field(min_length=1, max_length=MAX_MESSAGES)]
    instructions: str | None = None
    previous_response_id: str | None = Field(None, max_length=200)
    max_output_tokens: int | None = Field(None, ge=1)
    stream: bool | None = None
    text: dict[str, Any] | None = None
    include: list[Any] | None = None


def parse_response_request(body: bytes) -> CompletionRequest:
    """Return the request of a body; raise ApiError, which names the field at fault."""
    parsed = read_body(body, _Body)
    extra = parsed.model_extra or {}
    check_refused(None, extra)
    for name in ("background", "conversation", "prompt"):
        if is_asked(extra.get(name)):
            raise refusal(name, f"The council has no {name} here. Leave out {name}.")
    if "message.output_text.logprobs" in (parsed.include or ()):
        raise refusal("include", "The council has no token probabilities. Leave them out.")
    text = parsed.text or {}
    form = read_form(
        extra.get("tools"), extra.get("tool_choice"), text.get("format"), "text.format"
    )
    sent = [parsed.input] if isinstance(parsed.input, str) else parsed.input
    first = [Turn("system", parsed.instructions, (), "instructions")] if parsed.instructions else []
    asked = join_turns([*first, *filter(None, map(_turn, sent, count()))])
    return CompletionRequest(
        parsed.model,
        asked.question,
        asked.context,
        asked.instructions,
        asked.files,
        None,
        parsed.max_output_tokens,
        bool(parsed.stream),
        form=form,
        previous=parsed.previous_response_id or "",
    )


def _turn(item: object, number: int) -> Turn | None:
    """Return an item of the input as a turn; None for one that says nothing to a council."""
    if isinstance(item, str):
        return Turn("user", item, (), "input")
    where = f"input.{number}"
    if not isinstance(item, Mapping):
        what = "The input is text, or a list of messages with role and content."
        raise ApiError(400, what, None, where)
    kind = str(item.get("type") or "message")
    if kind == "message":
        text, files = read_content(item.get("content"), where)
        return Turn(str(item.get("role") or ""), text, files, where)
    if kind == "function_call":
        return Turn("assistant", call_line(item), (), where, calls=True)
    if kind == "function_call_output":
        text, files = read_content(item.get("output"), where)
        return Turn("tool", text, files, where)
    if kind in _SKIPPED:
        return None
    what = (
        f"The council reads messages and calls of functions, not items of the type {kind[:40]!r}."
    )
    raise ApiError(400, what, "unsupported_value", where)


class CouncilResponse:
    """Builds the documents of one request's answer, as a response."""

    def __init__(self, reader: AnswerReader) -> None:
        self._reader, self._wanted = reader, reader.wanted
        self._number = count()

    def whole(self, round_: Round) -> Document:
        """Return the response of a closed round; raise ApiError if it has no answer."""
        text = self._reader.text(round_)
        cut = self._reader.is_cut(round_)
        asked, written = count_tokens(round_)
        return self._document(round_, "incomplete" if cut else "completed") | {
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
            "output": [self._item(round_, text, "incomplete" if cut else "completed")],
            "usage": {
                "input_tokens": asked,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": written,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": asked + written,
            },
            "council": self._reader.council(round_),
        }

    def unfinished(self, round_: Round) -> Document:
        """Return the response of a round that still runs."""
        return self._document(round_, "in_progress")

    def begin(self, round_: Round) -> Iterator[Document]:
        """Yield the events before the first word."""
        for kind in ("response.created", "response.in_progress"):
            yield self._event(kind, response=self._document(round_, "in_progress"))
        item = self._item(round_, "", "in_progress")
        if not self._wanted.form.tool:
            item["content"] = []
        yield self._event("response.output_item.added", output_index=0, item=item)
        if not self._wanted.form.tool:
            yield self._in_part(round_, "response.content_part.added", part=_part(""))

    def delta(self, round_: Round, text: str) -> Iterator[Document]:
        """Yield the event of the next part of the text."""
        if self._wanted.form.tool:
            kind = "response.function_call_arguments.delta"
            yield self._event(kind, item_id=f"fc_{round_.id}", output_index=0, delta=text)
        else:
            yield self._in_part(round_, "response.output_text.delta", delta=text, logprobs=[])

    def end(self, round_: Round, text: str) -> Iterator[Document]:
        """Yield the events after the answer; the last one has the whole response."""
        document = self.whole(round_)
        if name := self._wanted.form.tool:
            kind = "response.function_call_arguments.done"
            ids = {"item_id": f"fc_{round_.id}", "output_index": 0}
            yield self._event(kind, **ids, name=name, arguments=text)
        else:
            yield self._in_part(round_, "response.output_text.done", text=text, logprobs=[])
            yield self._in_part(round_, "response.content_part.done", part=_part(text))
        yield self._event("response.output_item.done", output_index=0, item=document["output"][0])
        yield self._event(f"response.{document['status']}", response=document)

    def failure(self, round_: Round, error: Document) -> Iterator[Document]:
        """Yield the event of an error that ends the stream."""
        inner = error["error"]
        why = {"code": inner["code"] or inner["type"], "message": inner["message"]}
        document = self._document(round_, "failed") | {"error": why}
        yield self._event("response.failed", response=document)

    def _document(self, round_: Round, status: str) -> Document:
        form, previous = self._wanted.form, self._wanted.previous
        shown: Document = {"type": "text"}
        if form.schema and not form.tool:
            shown = {"type": "json_schema", "name": "answer", "schema": json.loads(form.schema)}
        return {
            "id": f"{PREFIX}{round_.id}",
            "object": "response",
            "created_at": int(round_.asked_at.timestamp()),
            "status": status,
            "error": None,
            "incomplete_details": None,
            "instructions": self._wanted.instructions or None,
            "max_output_tokens": self._wanted.max_tokens,
            "model": self._wanted.model,
            "output": [],
            "parallel_tool_calls": False,
            "previous_response_id": previous or None,
            "reasoning": {"effort": None, "summary": None},
            "store": True,
            "temperature": None,
            "text": {"format": shown},
            "tool_choice": "auto",
            "tools": [],
            "top_p": None,
            "truncation": "disabled",
            "usage": None,
            "metadata": {},
        }

    def _item(self, round_: Round, text: str, status: str) -> Document:
        if name := self._wanted.form.tool:
            ids = {"id": f"fc_{round_.id}", "call_id": f"call_{round_.id}"}
            call = {"type": "function_call", "name": name, "arguments": text, "status": status}
            return ids | call
        return {
            "id": f"msg_{round_.id}",
            "type": "message",
            "role": "assistant",
            "status": status,
            "content": [_part(text)],
        }

    def _in_part(self, round_: Round, kind: str, **fields: object) -> Document:
        place = {"item_id": f"msg_{round_.id}", "output_index": 0, "content_index": 0}
        return self._event(kind, **place, **fields)

    def _event(self, kind: str, **fields: object) -> Document:
        document = {"type": kind, "sequence_number": next(self._number), **fields}
        return {"event": kind, "data": json.dumps(document, ensure_ascii=False)}


def _part(text: str) -> Document:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}

"""Chat completions: the documents and the chunks of an answer."""

import json
from collections.abc import Iterator

from bot.web.api_answers import AnswerReader, Document, count_tokens
from council.rounds import Round


class ChatCompletion:
    """Builds the documents of one request's answer, as a chat completion."""

    def __init__(self, reader: AnswerReader) -> None:
        self._reader, self._wanted = reader, reader.wanted

    def whole(self, round_: Round) -> Document:
        """Return the completion of a closed round; raise ApiError if it has no answer."""
        text = self._reader.text(round_)
        message = {"role": "assistant", **self._content(round_, text), "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None}
        return {
            **self._head(round_, "chat.completion"),
            "choices": [choice | {"finish_reason": self._finish(round_)}],
            "usage": _usage(round_),
            "council": self._reader.council(round_),
        }

    def begin(self, round_: Round) -> Iterator[Document]:
        """Yield the chunk that says who answers."""
        yield _event(self._chunk(round_, {"role": "assistant", "content": ""}))

    def delta(self, round_: Round, text: str) -> Iterator[Document]:
        """Yield a chunk of text, or the one call."""
        content = self._content(round_, text)
        calls = [{"index": i} | call for i, call in enumerate(content.get("tool_calls", ()))]
        yield _event(self._chunk(round_, {"tool_calls": calls} if calls else content))

    def end(self, round_: Round, text: str) -> Iterator[Document]:
        """Yield the chunks after the answer; the last one has the council's results."""
        chunks = [self._chunk(round_, {}, self._finish(round_))]
        if self._wanted.include_usage:
            chunks.append(chunks[0] | {"choices": [], "usage": _usage(round_)})
        chunks[-1]["council"] = self._reader.council(round_)
        yield from map(_event, chunks)
        yield {"data": "[DONE]"}

    def failure(self, round_: Round, error: Document) -> Iterator[Document]:
        """Yield the error; its headers are sent, so it becomes an event."""
        yield _event(error)

    def _content(self, round_: Round, text: str) -> Document:
        name = self._wanted.form.tool
        if not name:
            return {"content": text}
        function = {"name": name, "arguments": text}
        call = {"id": f"call_{round_.id}", "type": "function", "function": function}
        return {"content": None, "tool_calls": [call]}

    def _chunk(self, round_: Round, delta: Document, finish: str | None = None) -> Document:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        usage = {"usage": None} if self._wanted.include_usage else {}
        return {**self._head(round_, "chat.completion.chunk"), "choices": [choice], **usage}

    def _head(self, round_: Round, kind: str) -> Document:
        created = int(round_.asked_at.timestamp())
        model = self._wanted.model
        return {"id": f"chatcmpl-{round_.id}", "object": kind, "created": created, "model": model}

    def _finish(self, round_: Round) -> str:
        if self._reader.is_cut(round_):
            return "length"
        form = self._wanted.form
        return "tool_calls" if form.tool and not form.is_named else "stop"


def _usage(round_: Round) -> Document:
    asked, written = count_tokens(round_)
    return {
        "prompt_tokens": asked,
        "completion_tokens": written,
        "total_tokens": asked + written,
    }


def _event(document: Document) -> Document:
    return {"data": json.dumps(document, ensure_ascii=False)}

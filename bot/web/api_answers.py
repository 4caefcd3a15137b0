"""The answer of a round as a program gets it: cut to what was asked for, whole or in parts."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from bot.ports import RoundStoppedError
from bot.render.round_json import round_document
from bot.web.api_errors import ApiError
from bot.web.api_requests import CompletionRequest
from council.answers import Role
from council.prompts.shared import truncate
from council.rounds import Fallback, Round

Document = dict[str, Any]
REPLACED = (
    "The model that was writing this answer stopped, and another one wrote it anew. Read the "
    "answer at {url}. A request with an Idempotency-Key can be sent again at no further cost."
)
_COUNCIL_FIELDS = ("verdict", "standings", "analysis", "absences")
_DECIDED_FIELDS = ("decisions", "unfollowed")  # of a round that was decided


class Shape(Protocol):
    """The documents of one request's answer; each event of a stream is what SSE sends."""

    def whole(self, round_: Round) -> Document:
        """Return the answer of a closed round; raise ApiError if it has none."""

    def begin(self, round_: Round) -> Iterator[Document]:
        """Yield the events before the answer."""

    def delta(self, round_: Round, text: str) -> Iterator[Document]:
        """Yield the events of the next part of the text."""

    def end(self, round_: Round, text: str) -> Iterator[Document]:
        """Yield the events after the answer, which is this text."""

    def failure(self, round_: Round, error: Document) -> Iterator[Document]:
        """Yield the events of an error that ends the stream."""


@dataclass(frozen=True, slots=True)
class AnswerReader:
    """Reads the answer of a round for a request; `url` is the round's page."""

    wanted: CompletionRequest
    url: str

    def text(self, round_: Round) -> str:
        """Return the answer of a closed round, cut; raise ApiError if there is none that fits."""
        return self.cut(check_answered(round_))

    def cut(self, text: str) -> str:
        """Return a text up to the first stop, and up to the length that was asked for."""
        text, limit = self._before_stop(text), self.wanted.max_tokens
        return text if limit is None else truncate(text, limit)

    def _before_stop(self, text: str) -> str:
        ends = [at for stop in self.wanted.stops if (at := text.find(stop)) >= 0]
        return text[: min(ends)] if ends else text

    def settled(self, draft: str) -> str:
        """Return the part of an unfinished answer that can be sent: of JSON none."""
        if self.wanted.form.schema:
            return ""
        # The beginning of a stop may be the end of the draft.
        held = max((len(stop) for stop in self.wanted.stops), default=1) - 1
        return self.cut(draft)[: len(draft) - held if held else None]

    def is_cut(self, round_: Round) -> bool:
        """Return whether the answer is longer than was asked for."""
        text = check_answered(round_)
        return self.cut(text) != self._before_stop(text)

    def rest(self, round_: Round, sent: str) -> str:
        """Return what was not sent yet; raise ApiError where another text was sent."""
        text = self.text(round_)
        if not text.startswith(sent):
            raise ApiError(503, REPLACED.format(url=self.url), "answer_replaced")
        return text[len(sent) :]

    def council(self, round_: Round) -> Document:
        """Return what the council adds: the verdict, the standings, who was missing."""
        document = round_document(round_)
        names = (*_COUNCIL_FIELDS, *(_DECIDED_FIELDS if round_.decisions else ()))
        return {"round_id": round_.id, "url": self.url, **{name: document[name] for name in names}}


def check_answered(round_: Round) -> str:
    """Return the answer of a closed round; raise ApiError: 503 for none, 502 for no fitting one."""
    if round_.closing is None:
        raise RoundStoppedError(f"Round {round_.id} was stopped before it finished.")
    if round_.final is None:
        raise ApiError(503, round_.closing.failure or "There is no answer.", "no_quorum")
    if round_.question.answer_schema and round_.final.fallback is Fallback.ANSWER:
        absences = [one for one in round_.absences if one.role is Role.SYNTHESIS]
        why = "; ".join(f"{round_.panel.seat(one.member).display} {one.reason}" for one in absences)
        what = f"There is no answer that fits: {why or 'no chairman wrote one'}."
        raise ApiError(502, what, "answer_does_not_fit")
    return round_.final.text


def count_tokens(round_: Round) -> tuple[int, int]:
    """Return the sums of the round's tokens, read and written; a model that reports none adds 0."""
    asked = sum(reply.tokens_in or 0 for reply in round_.replies)
    return asked, sum(reply.tokens_out or 0 for reply in round_.replies)

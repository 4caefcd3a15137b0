"""Erasure of a round's texts, which keeps everything that leaderboards and reports need.

Erased: question, context, reference, rubric, files, prompts, answers with their sources, ballots'
replies, their log-probabilities and reasons, exchanges, synthesis, late replies.
Kept: panel, draw, rankings, standings, verdict, tokens, costs, times and masked model names.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from council.answers import Answer, Exchange, LateReply, Prompt, Source
from council.ballots import Ballot, BallotExchange
from council.digests import Digests, Erasure, canonical_json, salted_digest
from council.errors import ForgottenError
from council.feedback import Feedback
from council.files import QuestionFile
from council.labels import voter_name
from council.rounds import Round, Synthesis

_TextEdit = Callable[[str, str], str]  # name and text in, replacement out
_Exchange = TypeVar("_Exchange", Answer, BallotExchange, Exchange, LateReply)


def forget(round_: Round, at: datetime, salt: str) -> Round:
    """Return the round without its texts; a round whose texts are erased already is unchanged."""
    if round_.forgotten:
        return round_
    forgotten = Erasure(at, salt, text_digests(round_, salt))
    return replace(_replace_texts(round_, lambda _name, _text: ""), forgotten=forgotten)


def text_digests(round_: Round, salt: str) -> Digests:
    """Return a digest of every text by name, except late ones; of erased texts, the stored."""
    if round_.forgotten:
        return round_.forgotten.digests
    texts = removable_texts(replace(round_, late=()))
    return tuple((name, salted_digest(salt, text)) for name, text in texts)


def removable_texts(round_: Round) -> tuple[tuple[str, str], ...]:
    """Return every non-empty text that `forget` erases, by name."""
    found: list[tuple[str, str]] = []

    def collect(name: str, text: str) -> str:
        if text:
            found.append((name, text))
        return text

    _replace_texts(round_, collect)
    return tuple(found)


def find_text_names(round_: Round, text: str) -> tuple[str, ...]:
    """Return the names of the round's texts, erased or not, that equal this one."""
    if erased := round_.forgotten:
        digest = salted_digest(erased.salt, text)
        return tuple(name for name, own in erased.digests if own == digest)
    return tuple(name for name, own in removable_texts(round_) if own == text)


def check_not_forgotten(round_: Round) -> None:
    """Raise ForgottenError for a round whose texts were erased, as it cannot continue."""
    if round_.forgotten:
        raise forgotten_error(round_.id, round_.forgotten.at)


def check_feedback_allowed(feedback: Feedback, at: datetime | None) -> None:
    """Raise ForgottenError for a reason on a round whose texts were erased at `at`."""
    if at and feedback.reason:
        raise ForgottenError(
            f"Round {feedback.round_id!r} was forgotten on {at:%Y-%m-%d}, so no text about it is "
            "kept. Say whether it helped, without a reason."
        )


def forgotten_error(round_id: str, at: datetime) -> ForgottenError:
    """Return the error for continuing a round whose texts were erased."""
    return ForgottenError(
        f"Round {round_id!r} was forgotten on {at:%Y-%m-%d}, so it can't be continued. Ask the "
        "question again."
    )


def _replace_texts(round_: Round, edit: _TextEdit) -> Round:
    question = round_.question
    return replace(
        round_,
        question=replace(
            question,
            text=edit("question", question.text),
            context=edit("context", question.context),
            reference=edit("reference", question.reference),
            rubric=edit("rubric", question.rubric),
            files=tuple(_file(f, f"files[{i}]", edit) for i, f in enumerate(question.files)),
        ),
        answers=tuple(_exchange(a, f"answers[{a.member}]", edit) for a in round_.answers),
        ballots=tuple(_ballot(ballot, edit) for ballot in round_.ballots),
        spoiled=tuple(
            replace(s, paper=_exchange(s.paper, f"spoiled[{s.voter} #{s.paper.attempt}]", edit))
            for s in round_.spoiled
        ),
        synthesis=round_.synthesis and _synthesis(round_.synthesis, edit),
        exchanges=tuple(_exchange(x, exchange_name(x), edit) for x in round_.exchanges),
        late=tuple(
            _exchange(x, f"late[{voter_name(x.member, x.pass_number)} {x.role}]", edit)
            for x in round_.late
        ),
    )


def exchange_name(exchange: Exchange) -> str:
    """Return its name in reports, such as "critique[judge K #1]"."""
    subject = f" {exchange.subject}" if exchange.subject else ""
    return f"{exchange.kind}[{exchange.seat}{subject} #{exchange.attempt}]"


def _file(file: QuestionFile, name: str, edit: _TextEdit) -> QuestionFile:
    return replace(
        file,
        name=edit(f"{name}.name", file.name),
        text=edit(f"{name}.text", file.text),
        data=edit(f"{name}.data", file.data),
    )


def _ballot(ballot: Ballot, edit: _TextEdit) -> Ballot:
    audit = f" {ballot.audit}" if ballot.audit else ""
    name = f"ballots[{ballot.voter}{audit}]"
    reason = edit(f"{name}.reason", ballot.reason)
    paper = ballot.paper and _exchange(ballot.paper, name, edit)
    return replace(ballot, reason=reason, paper=paper)


def _synthesis(synthesis: Synthesis, edit: _TextEdit) -> Synthesis:
    why = edit("synthesis.why", synthesis.why or "")
    return replace(
        synthesis,
        text=edit("synthesis", synthesis.text),
        why=why or None,
        prompt=synthesis.prompt and _prompt(synthesis.prompt, "synthesis", edit),
        reply=synthesis.reply
        and replace(synthesis.reply, text=edit("synthesis.reply", synthesis.reply.text)),
    )


def _exchange(exchange: _Exchange, name: str, edit: _TextEdit) -> _Exchange:
    prompt = _prompt(exchange.prompt, name, edit)
    sources = tuple(
        Source(edit(f"{name}.sources[{i}].title", s.title), edit(f"{name}.sources[{i}].url", s.url))
        for i, s in enumerate(exchange.reply.sources)
    )
    reply = replace(exchange.reply, text=edit(name, exchange.reply.text), sources=sources)
    # They spell the numbers in the text.
    if reply.logprobs and not edit(f"{name}.logprobs", canonical_json(reply.logprobs)):
        reply = replace(reply, logprobs=())
    return replace(exchange, prompt=prompt, reply=reply)


def _prompt(prompt: Prompt, name: str, edit: _TextEdit) -> Prompt:
    system, user = f"{name}.prompt.system", f"{name}.prompt.user"
    return Prompt(edit(system, prompt.system), edit(user, prompt.user))

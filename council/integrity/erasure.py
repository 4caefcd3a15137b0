"""Erasure of a round's texts, which keeps everything that leaderboards and reports need.

Erased: question, context, reference, rubric, instructions, files, prompts, answers with their
sources, ballots' replies, their log-probabilities and reasons, exchanges, synthesis, decisions
with what was written after them, late replies, people's names.
A round that quotes a forgotten one loses the quoted texts and the names of the people in it, and
its prompts all but the answers.
Kept: panel, draw, rankings, standings, verdict, tokens, costs, times and masked model names.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from council.answers import Answer, Exchange, LateReply, Prompt, Source
from council.ballots import Ballot, BallotExchange, SpoiledBallot
from council.digests import Digests, Erasure, canonical_json, salted_digest
from council.errors import ForgottenError
from council.feedback import Feedback
from council.files import QuestionFile
from council.labels import voter_name
from council.people import ThreadReading
from council.prompts.answer import ANSWERED, BEFORE
from council.prompts.shared import fenced_answers, without_instructions
from council.rounds import Artefact, Choice, Decision, Round, Synthesis

_TextEdit = Callable[[str, str], str]  # name and text in, replacement out
_REST = " without the question"  # of a noted name: the digest of what stays
_MAX_START = 500  # characters; a context may be cut
_Exchange = TypeVar("_Exchange", Answer, BallotExchange, Exchange, LateReply)


def forget(round_: Round, at: datetime, salt: str) -> Round:
    """Return the round without its texts; a round whose texts are erased already is unchanged."""
    if round_.forgotten:
        return round_
    forgotten = Erasure(at, salt, text_digests(round_, salt))
    bare = _replace_texts(round_, lambda _name, _text: "")
    bare = replace(bare, question=replace(bare.question, reading=None))
    return replace(bare, forgotten=forgotten, redacted=None)


def text_digests(round_: Round, salt: str) -> Digests:
    """Return a digest of every text by name, except later ones; of erased texts, the stored."""
    if round_.forgotten:
        return round_.forgotten.digests
    return _digest_all(replace(round_, late=(), decisions=()), salt)


def decision_digests(round_: Round, number: int, salt: str) -> Digests:
    """Return a digest of every text of a round's decision by name; a forgotten text has none."""
    start = decision_name(number)
    found = _digest_all(replace(round_, late=()), salt)
    return tuple((name, digest) for name, digest in found if name.startswith(start))


def decision_name(number: int) -> str:
    """Return the name of a round's decision in reports."""
    return f"decisions[{number}]"


def _digest_all(round_: Round, salt: str) -> Digests:
    erased = dict(round_.redacted.digests) if round_.redacted else {}
    digests: list[tuple[str, str]] = []

    def note(name: str, text: str) -> str:
        if name in erased and _is_rest(round_, name, text):
            digests.append((name, erased[name]))
        elif text:
            digests.append((name, salted_digest(salt, text)))
        return text

    _replace_texts(round_, note)
    return tuple(digests)


def unerased_texts(round_: Round) -> tuple[str, ...]:
    """Return the names of texts that are there, although they are noted as erased."""
    texts = removable_texts(round_)
    if round_.forgotten:
        return tuple(name for name, _ in texts)
    erased = dict(round_.redacted.digests) if round_.redacted else {}
    return tuple(
        name for name, text in texts if name in erased and not _is_rest(round_, name, text)
    )


def _is_rest(round_: Round, name: str, text: str) -> bool:
    """Return whether a text is what stayed when a part of it was erased."""
    if not text or round_.redacted is None:
        return not text
    noted = dict(round_.redacted.digests).get(name + _REST)
    return noted == salted_digest(round_.redacted.salt, text)


# --- Rounds that quote a forgotten one: follow-ups, and the same question run again by others


def quote_round(round_: Round) -> str:
    """Return a round as the context of the questions that follow it up."""
    return _quote(indent_lines(round_.question.text), indent_lines(_answer(round_)))


def indent_lines(text: str) -> str:
    """Return a text with all lines but the first indented, so that none looks like a new entry."""
    return "\n  ".join(text.splitlines())


def _answer(round_: Round) -> str:
    return round_.final.text if round_.final else "(none yet)"


def _quote(question: str, answer: str) -> str:
    return f"{BEFORE}{question}\n\n{ANSWERED}{answer}"


def quote_starts(round_: Round) -> tuple[str, ...]:
    """Return how a context begins that quotes a round, for rounds that do not note what they do."""
    round_ = replace(round_, decisions=())  # rounds that follow a decision note what they quote
    plain = _quote(round_.question.text, _answer(round_))  # as 0.2 quotes
    starts = [quote_round(round_)[:_MAX_START], plain[:_MAX_START]]
    if round_.synthesis and round_.synthesis.text:  # as a message of a thread
        starts.append(f"The council: {round_.synthesis.text}"[:_MAX_START])
    return tuple(starts)


def repeats(later: Round, source: Round) -> bool:
    """Return whether a round asks the question of an earlier one again, by somebody else."""
    is_same = "question" in find_text_names(source, later.question.text)
    return is_same and later.question.asked_by != source.question.asked_by


def quotes(later: Round, source: Round) -> bool:
    """Return whether a round follows up an earlier one, or was run again from it by others."""
    ours, theirs = later.question, source.question
    if ours.quotes is not None:
        return source.id in ours.quotes
    if later.asked_at < source.asked_at or later.bakeoff or later.id == source.id:
        return False
    if any(start in ours.context for start in quote_starts(source)):
        return True
    is_same = (ours.context, ours.files) == (theirs.context, theirs.files)
    return is_same and later.panel.name == source.panel.name and repeats(later, source)


def redact(round_: Round, source: Round, at: datetime, salt: str) -> Round:
    """Return a round that quotes `source` without its texts; unchanged if none are left.

    Its own texts stay: answers, rankings, reasons, and the question unless it repeats `source`.
    Of prompts only the answers stay, of people those who are not in `source`.
    """
    taken = {x.member for x in round_.answers if x.origin and x.origin.round_id == source.id}
    if taken:
        return _redact_answers(round_, taken, Erasure(at, salt))
    round_ = _without_people(round_, source)
    gone = set(_quoted_names(round_, source))
    if not gone:
        return round_
    noted = dict(round_.redacted.digests) if round_.redacted else {}

    def edit(name: str, text: str) -> str:
        rest = "" if name in gone else _without_question(name, text)
        if rest != text and not name.startswith("late["):  # no seal covers late replies
            noted.setdefault(name, salted_digest(salt, text))
            noted.update({name + _REST: salted_digest(salt, rest)} if rest else {})
        return rest

    bare = _replace_texts(round_, edit)
    return replace(bare, redacted=Erasure(at, salt, tuple(noted.items())))


def _redact_answers(round_: Round, members: set[str], erased: Erasure) -> Round:
    """Return the round without answers that it took from another, nor the prompts with them."""
    noted = dict(round_.redacted.digests) if round_.redacted else {}
    theirs = tuple(f"answers[{member}]" for member in members)

    def edit(name: str, text: str) -> str:
        is_prompt = name.endswith(".prompt.user") and not name.startswith("answers[")
        if not (is_prompt or name.startswith(theirs)):
            return text
        if text and not name.startswith("late["):
            noted.setdefault(name, salted_digest(erased.salt, text))
        return ""

    bare = _replace_texts(round_, edit)
    return replace(bare, redacted=replace(erased, digests=tuple(noted.items())))


def _without_people(round_: Round, source: Round) -> Round:
    """Return a round without the people of another, of whom nothing is known once forgotten."""
    reading, theirs = round_.question.reading, source.question.reading
    if reading is None:
        return round_
    gone = {one.id for one in (reading if source.forgotten else theirs or ThreadReading()).people}
    people = tuple(one for one in reading.people if one.id not in gone)
    return replace(
        round_, question=replace(round_.question, reading=replace(reading, people=people))
    )


def redact_artefact(artefact: Artefact) -> Artefact:
    """Return an artefact that arrives after its round was redacted, without the question."""
    if isinstance(artefact, Answer | Exchange | LateReply):
        return replace(artefact, prompt=_prompt(artefact.prompt, "", _without_question))
    if isinstance(artefact, Ballot):
        return _ballot(artefact, _without_question)
    if isinstance(artefact, SpoiledBallot):
        return replace(artefact, paper=_exchange(artefact.paper, "", _without_question))
    if isinstance(artefact, Synthesis):
        return redact_synthesis(artefact)
    return artefact


def redact_synthesis(synthesis: Synthesis) -> Synthesis:
    """Return a synthesis that arrives after its round was redacted, without the question."""
    return _synthesis(synthesis, "synthesis", _without_question)


def _quoted_names(round_: Round, source: Round) -> Iterator[str]:
    if round_.question.context:
        yield "context"
    if repeats(round_, source):
        yield "question"
        yield from ("instructions", "answer_schema")
    for i, file in enumerate(round_.question.files):
        names = find_text_names(source, file.data or file.text)
        if any(name.startswith("files[") for name in names):
            yield from (f"files[{i}].{part}" for part in ("name", "text", "data"))


def _without_question(name: str, text: str) -> str:
    if name.endswith(".prompt.system"):
        return without_instructions(text)
    return fenced_answers(text) if name.endswith(".prompt.user") else text


def removable_texts(round_: Round) -> tuple[tuple[str, str], ...]:
    """Return every non-empty text that `forget` erases, by name."""
    texts: list[tuple[str, str]] = []

    def collect(name: str, text: str) -> str:
        if text:
            texts.append((name, text))
        return text

    _replace_texts(round_, collect)
    return tuple(texts)


def find_text_names(round_: Round, text: str) -> tuple[str, ...]:
    """Return the names of the round's texts, erased or not, that equal this one."""
    names = [name for name, stored in removable_texts(round_) if stored == text]
    if erased := round_.forgotten or round_.redacted:
        digest = salted_digest(erased.salt, text)
        noted = (name for name, stored in erased.digests if stored == digest)
        names += [name for name in noted if name not in names and not name.endswith(_REST)]
    return tuple(names)


def check_not_forgotten(round_: Round) -> None:
    """Raise ForgottenError for a round whose texts were erased, as it cannot continue."""
    if erased := round_.forgotten or (not round_.question.text and round_.redacted):
        raise forgotten_error(round_.id, erased.at)


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
            instructions=edit("instructions", question.instructions),
            answer_schema=edit("answer_schema", question.answer_schema),
            files=tuple(_file(f, f"files[{i}]", edit) for i, f in enumerate(question.files)),
        ),
        answers=tuple(_exchange(a, f"answers[{a.member}]", edit) for a in round_.answers),
        ballots=tuple(_ballot(ballot, edit) for ballot in round_.ballots),
        spoiled=tuple(
            replace(s, paper=_exchange(s.paper, f"spoiled[{s.voter} #{s.paper.attempt}]", edit))
            for s in round_.spoiled
        ),
        synthesis=round_.synthesis and _synthesis(round_.synthesis, "synthesis", edit),
        decisions=tuple(
            _decision(decision, decision_name(number), edit)
            for number, decision in enumerate(round_.decisions, start=1)
        ),
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


def _synthesis(synthesis: Synthesis, name: str, edit: _TextEdit) -> Synthesis:
    why = edit(f"{name}.why", synthesis.why or "")
    return replace(
        synthesis,
        text=edit(name, synthesis.text),
        why=why or None,
        prompt=synthesis.prompt and _prompt(synthesis.prompt, name, edit),
        reply=synthesis.reply
        and replace(synthesis.reply, text=edit(f"{name}.reply", synthesis.reply.text)),
    )


def _decision(decision: Decision, name: str, edit: _TextEdit) -> Decision:
    choices = tuple(
        Choice(edit(f"{name}.point[{i}]", one.point), edit(f"{name}.says[{i}]", one.says))
        for i, one in enumerate(decision.choices)
    )
    synthesis = _synthesis(decision.synthesis, name, edit)
    return replace(decision, choices=choices, synthesis=synthesis)


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

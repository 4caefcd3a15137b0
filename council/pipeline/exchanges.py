"""Exchanges: what a method or a grader asks besides answers and ballots, each stored once."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from council.answers import Absence, Call, Exchange, Prompt, Role, Scores
from council.ballots import read_exchange
from council.errors import ContextOverflowError
from council.files import QuestionFile
from council.panel import Member
from council.pipeline.session import (
    Deadline,
    RoundSession,
    finish_despite_cancel,
    identifying_names,
    run_all,
)
from council.pipeline.stages import MAX_ATTEMPTS, TOO_LONG_WHOLE, blind_answers
from council.prompts.shared import anonymize_answer, nonce_for
from council.rounds import Draw, Round, reply_version
from council.rubric_grader import (
    GRADE,
    SYNTHESIS,
    grade_prompt,
    grade_schema,
    graded_keys,
    parse_grades,
)


@dataclass(frozen=True, slots=True)
class Request:
    """What one seat is asked: see Exchange.

    `prompt` takes what spoiled the last reply, None at first. `read` returns the numbers in a reply
    or raises BallotParseError; by default any text will do.
    """

    kind: str
    seat: Member
    prompt: Callable[[str | None], Prompt]
    subject: str = ""
    read: Callable[[str], Scores] = lambda _text: ()
    nonce: str = ""
    schema: Mapping[str, object] | None = None
    role: Role = Role.STEP
    images: tuple[QuestionFile, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """The key of its exchange."""
        return self.kind, self.seat.key, self.subject


async def exchange_all(
    session: RoundSession, requests: Iterable[Request], seconds: float
) -> dict[tuple[str, str, str], Exchange]:
    """Ask all concurrently, except what the round has; return its usable exchanges by key.

    A seat that was absent in a role before, and delivered nothing in it, is asked for no more of
    it. A reply that cannot be read is asked for once more.
    """
    deadline = session.deadline(seconds)
    absent = {(absence.member, absence.role) for absence in session.round_.absences}
    left = [request for request in requests if not _is_gone(session.round_, request)]
    await run_all(_exchange(session, request, deadline, absent) for request in left)
    return {exchange.key: exchange for exchange in session.round_.exchanges if not exchange.fault}


async def _exchange(
    session: RoundSession, request: Request, deadline: Deadline, absent: set[tuple[str, Role]]
) -> None:
    earlier = [x for x in session.round_.exchanges if x.key == request.key]
    faults = [exchange.fault for exchange in earlier]
    while len(faults) < MAX_ATTEMPTS and all(faults):
        prompt = request.prompt(faults[-1] if faults else None)
        call = Call(
            member=request.seat,
            prompt=prompt,
            role=request.role,
            schema=request.schema,
            images=request.images,
        )
        try:
            reply = await session.ask(call, deadline)
        except ContextOverflowError:
            reply = Absence(request.seat.key, request.role, TOO_LONG_WHOLE)
        if isinstance(reply, Absence):
            if (reply.member, reply.role) not in absent:  # only the first failure is stored
                absent.add((reply.member, reply.role))
                await finish_despite_cancel(session.save(reply))
            return
        exchange = Exchange(
            kind=request.kind,
            seat=request.seat.key,
            prompt=prompt,
            reply=reply,
            subject=request.subject,
            nonce=request.nonce,
            attempt=len(faults) + 1,
        )
        exchange = read_exchange(exchange, request.read)
        await finish_despite_cancel(session.save(exchange))
        faults.append(exchange.fault)


def _is_gone(round_: Round, request: Request) -> bool:
    own = (exchange for exchange in round_.exchanges if exchange.seat == request.seat.key)
    has_delivered = request.role is Role.STEP and any(not exchange.fault for exchange in own)
    return round_.absence(request.seat.key, request.role) is not None and not has_delivered


async def collect_grades(session: RoundSession, draw: Draw) -> None:
    """Ask each outside judge once which answers meet the question's rubric; none may be absent."""
    texts = {str(label): text for label, text in (await blind_answers(session, draw)).items()}
    panel, synthesis = session.round_.panel, session.round_.synthesis
    if synthesis and synthesis.chairman:
        own = identifying_names(panel.seat(synthesis.chairman))
        masked = await session.services.in_thread(anonymize_answer, synthesis.text, own)
        texts[SYNTHESIS] = masked.text
    requests = [_grade_request(session, seat, texts) for seat in panel.outside_judges]
    await exchange_all(session, requests, panel.terms.ballot_seconds)


def _grade_request(session: RoundSession, seat: Member, texts: Mapping[str, str]) -> Request:
    round_ = session.round_
    keys, nonce = graded_keys(round_, seat.key), nonce_for(round_.seed, seat.key, GRADE)
    shown = [texts[key] for key in keys]
    return Request(
        kind=GRADE,
        seat=seat,
        prompt=partial(grade_prompt, round_.question, shown, nonce),
        read=partial(parse_grades, nonce=nonce, keys=keys, version=reply_version(round_)),
        nonce=nonce,
        schema=grade_schema(len(keys), nonce),
        role=Role.GRADE,
    )

"""Exchanges: what a method or a grader asks besides answers and ballots, each stored once."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from council.answers import Absence, Call, Exchange, Prompt, Role, Scores
from council.ballots import read_exchange
from council.errors import ContextOverflowError
from council.files import QuestionFile
from council.panel import Member
from council.pipeline.session import Deadline, RoundSession, finish_despite_cancel, run_all
from council.pipeline.stages import MAX_ATTEMPTS, TOO_LONG


def _no_scores(_text: str) -> Scores:
    return ()


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
    read: Callable[[str], Scores] = _no_scores
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

    A seat that is absent in a role is asked for no more of it. A reply that cannot be read is
    asked for once more.
    """
    deadline = session.deadline(seconds)
    await run_all(_exchange(session, request, deadline) for request in requests)
    return {exchange.key: exchange for exchange in session.round_.exchanges if not exchange.fault}


async def _exchange(session: RoundSession, request: Request, deadline: Deadline) -> None:
    earlier = [x for x in session.round_.exchanges if x.key == request.key]
    faults = [exchange.fault for exchange in earlier]
    while len(faults) < MAX_ATTEMPTS and all(faults):
        if session.round_.absence(request.seat.key, request.role):
            return
        prompt = request.prompt(faults[-1] if faults else None)
        call = Call(
            *(request.seat, prompt),
            role=request.role,
            schema=request.schema,
            images=request.images,
        )
        try:
            reply = await session.ask(call, deadline)
        except ContextOverflowError:
            reply = Absence(request.seat.key, request.role, TOO_LONG)
        if isinstance(reply, Absence):
            await finish_despite_cancel(session.save(reply))
            return
        exchange = Exchange(
            *(request.kind, request.seat.key, prompt, reply, request.subject),
            nonce=request.nonce,
            attempt=len(faults) + 1,
        )
        exchange = read_exchange(exchange, request.read)
        await finish_despite_cancel(session.save(exchange))
        faults.append(exchange.fault)

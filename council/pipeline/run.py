"""Run a round from where it stands to its end.

The stored artefacts are the checkpoints: what the round has already is not done again, so that it
can be stopped anywhere and resumed.
"""

from council.errors import QuorumError
from council.integrity.erasure import check_not_forgotten
from council.pipeline.methods import METHODS
from council.pipeline.stages import (
    RoundServices,
    RoundSession,
    collect_answers,
    write_and_audit,
)
from council.round_rules import compute_draw
from council.rounds import Closing, Draw, Round, sort_by_panel
from council.tally import Tally


async def run_round(round_id: str, services: RoundServices) -> Round:
    """Return the round, closed; a round that misses its quorum is closed with a failure.

    Raise ForgottenError for a round whose texts were erased.
    """
    session = RoundSession(services, await services.store.load(round_id))
    check_not_forgotten(session.round_)
    if not session.round_.closing:
        try:
            await _run_stages(session)
            failure = None
        except QuorumError as error:
            failure = str(error)
        await session.save(Closing(session.seconds, failure))
    return sort_by_panel(session.round_)


async def _run_stages(session: RoundSession) -> None:
    await collect_answers(session)
    _check_quorum(session.round_)
    draw = await _draw(session)
    tally = await _tally(session, draw)
    if not session.round_.synthesis:
        await write_and_audit(session, draw, tally)


def _check_quorum(round_: Round) -> None:
    quorum = round_.panel.terms.quorum
    if len(round_.answers) >= quorum:
        return
    why = "; ".join(
        f"{round_.panel.seat(absence.member).display} {absence.reason}"
        for absence in sort_by_panel(round_).absences
    )
    raise QuorumError(
        f"Only {len(round_.answers)} of {len(round_.panel.members)} members answered and "
        f"{quorum} are needed: {why}."
    )


async def _draw(session: RoundSession) -> Draw:
    if session.round_.draw:
        return session.round_.draw
    draw = compute_draw(session.round_)
    await session.save(draw)
    return draw


async def _tally(session: RoundSession, draw: Draw) -> Tally:
    if session.round_.tally:
        return session.round_.tally
    tally = await METHODS[session.round_.panel.terms.method](session, draw)
    await session.save(tally)
    return tally

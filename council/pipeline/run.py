"""Carry a round from where it stands to its end.

Rows are the checkpoints: whatever the stored round holds already is not done again, so a round
can be stopped anywhere and convened again.
"""

from council.errors import QuorumError
from council.integrity.erasure import check_remembered
from council.pipeline.methods import METHODS
from council.pipeline.session import RoundServices, RoundSession
from council.pipeline.stages import collect_answers, synthesize, write_and_audit
from council.round_rules import drawn
from council.rounds import Closing, Draw, Round, in_panel_order
from council.tally import Tally


async def convene(round_id: str, council: RoundServices) -> Round:
    """Give the round, closed; one that could not be ranked is closed with its failure.

    Raises ForgottenError for a round whose texts are gone.
    """
    sitting = RoundSession(council, await council.store.load(round_id))
    check_remembered(sitting.round_)
    if not sitting.round_.closing:
        try:
            await _sit(sitting)
            failure = None
        except QuorumError as error:
            failure = str(error)
        await sitting.save(Closing(sitting.seconds, failure))
    return in_panel_order(sitting.round_)


async def _sit(sitting: RoundSession) -> None:
    await collect_answers(sitting)
    _check_quorum(sitting.round_)
    draw = await _draw(sitting)
    tally = await _tally(sitting, draw)
    if not sitting.round_.synthesis:
        await write_and_audit(sitting, draw, _write(sitting, draw, tally))


async def _write(sitting: RoundSession, draw: Draw, tally: Tally) -> None:
    await sitting.save(await synthesize(sitting, draw, tally))


async def _draw(sitting: RoundSession) -> Draw:
    draw = sitting.round_.draw or drawn(sitting.round_)
    if not sitting.round_.draw:
        await sitting.save(draw)
    return draw


async def _tally(sitting: RoundSession, draw: Draw) -> Tally:
    if sitting.round_.tally:
        return sitting.round_.tally
    tally = await METHODS[sitting.round_.panel.terms.method](sitting, draw)
    await sitting.save(tally)
    return tally


def _check_quorum(round_: Round) -> None:
    quorum = round_.panel.terms.quorum
    if len(round_.answers) >= quorum:
        return
    why = "; ".join(
        f"{round_.panel.seat(absence.member).display} {absence.reason}"
        for absence in in_panel_order(round_).absences
    )
    raise QuorumError(
        f"Only {len(round_.answers)} of {len(round_.panel.members)} members answered and "
        f"{quorum} are needed: {why}."
    )

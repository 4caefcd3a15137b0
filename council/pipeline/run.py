"""Run a round from where it stands to its end; what it has already is not done again."""

from dataclasses import replace
from functools import cache
from importlib.metadata import version

from council.ballots import VERSION as BALLOTS
from council.errors import QuorumError
from council.filters import check_filters, find_filters
from council.integrity.erasure import check_not_forgotten
from council.methods import BLIND_RANKING, Method, method_of
from council.pipeline.exchanges import collect_grades
from council.pipeline.session import RoundServices, RoundSession, run_all
from council.pipeline.stages import collect_answers, collect_ballots
from council.pipeline.synthesis import write_and_audit
from council.ports import Gateway
from council.prompts import VERSION as PROMPTS
from council.round_rules import AUDIT_POLICY as AUDITS
from council.round_rules import compute_draw, compute_tally
from council.rounds import Closing, Draw, Round, sort_by_panel
from council.tally import Tally
from council.tally.agreement import effective_judges
from council.tally.chance_rule import DEFAULT_RULE, ChanceRule

_installed_version = cache(version)  # its metadata is read once


def versions(
    gateway: Gateway, rule: ChanceRule = DEFAULT_RULE, method: Method = BLIND_RANKING
) -> dict[str, str]:
    """Return the version of everything a round's result depends on."""
    own = {"audits": AUDITS, "ballots": BALLOTS, "prompts": PROMPTS}
    own["council"] = _installed_version("council-bot")
    return {**gateway.versions, **own, **rule.versions, **method.versions}


async def run_round(round_id: str, services: RoundServices, stored: Round | None = None) -> Round:
    """Return the round, closed, with a failure if it missed its quorum.

    It is loaded unless it is given as it is `stored` now. Raise ForgottenError, or PanelError if
    its method or its filters are missing.
    """
    session = RoundSession(services, stored or await services.store.load(round_id))
    check_not_forgotten(session.round_)
    if not session.round_.closing:
        # Without its method or filters it must not start, as every call costs.
        method_of(session.round_)
        check_filters(session.round_.panel, session.round_.registry)
        try:
            await _run_stages(session)
            failure = None
        except QuorumError as error:
            failure = str(error)
        except BaseException:
            services.late.cancel()
            raise
        if session.round_.closing:  # stored with the synthesis; now nothing runs any more
            session.report()
        else:
            await session.save(Closing(session.seconds, failure))
    return sort_by_panel(session.round_)


async def _run_stages(session: RoundSession) -> None:
    await collect_answers(session)
    _check_quorum(session.round_)
    draw, tally = session.round_.draw, session.round_.tally
    if draw is None:
        draw = compute_draw(session.round_)
        await session.save(draw)
    if tally is None:
        tally = await _rank_blind(session, draw)
    steps, panel = [], session.round_.panel
    if not (session.round_.synthesis or panel.has_given_texts or panel.trial):
        is_last = not (panel.filter or session.round_.question.rubric)
        steps.append(write_and_audit(session, draw, tally, is_last=is_last))
    if seat := panel.filter:
        steps.append(find_filters(session.round_.registry).ask(session, draw, seat))
    await run_all(steps)
    if session.round_.question.rubric:
        await collect_grades(session, draw)


def _check_quorum(round_: Round) -> None:
    quorum = round_.panel.terms.quorum
    if len(round_.answers) >= quorum:
        return
    why = "; ".join(
        f"{round_.panel.seat(absence.member).display} {absence.reason}"
        for absence in sort_by_panel(round_).absences
    )
    answered = "No model answered"
    if round_.answers:
        answered = f"Only {len(round_.answers)} of {len(round_.panel.members)} models answered"
    raise QuorumError(f"{answered} ({quorum} are needed): {why}.")


async def _rank_blind(session: RoundSession, draw: Draw) -> Tally:
    """Ask every judge for a blind ranking; store the tally (Borda count in pair form)."""
    collect = method_of(session.round_).collect or collect_ballots
    await collect(session, draw)
    # Sampling p takes tenths of a second, which would block other rounds.
    round_ = sort_by_panel(session.round_)  # as verification reads it
    counted: Tally = await session.services.in_thread(compute_tally, round_, draw)
    store = session.services.store

    async def store_tally() -> Tally:
        past = await store.load_past_ballots(round_.panel.name)
        verdict = replace(counted.verdict, n_eff=effective_judges(past))
        tally = replace(counted, verdict=verdict)
        await store.save(round_.id, tally)
        return tally

    tally = await store.together(store_tally)
    session.add(tally)
    return tally

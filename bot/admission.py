"""Admission of rounds: rate limits, running rounds of a workspace, and the reserved budget."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from bot.access import RoundLimitError, check_rate_limit, is_rate_limited
from bot.context import AppContext, usual_seconds
from bot.hooks import gather_files, gathers_files
from bot.render.formatting import rough_duration
from bot.services import Service
from council.errors import RoundNotFoundError, StoreError
from council.places import Place
from council.ports import RoundQuery, RoundSummary
from council.rounds import Question, Round


async def admit_round(app: AppContext, round_: Round) -> bool:
    """Store a new round and reserve its budget; return False if its id is stored already.

    It is stored with what earlier rounds tell of its judges and authors, and with the files that
    plug-ins find for it; a question of a bake-off gets none, since its suite has all of it. Raise
    BudgetError if the round may cost more than is left, RoundLimitError if its asker or workspace
    has reached a limit. Then nothing is stored.
    """
    if gathers_files(app) and not round_.bakeoff:
        if not await _is_within_limits(app, round_) or await is_stored(app, round_.id):
            return False
        round_ = replace(round_, question=await gather_files(app, round_.question))
    versions = dict(round_.versions)
    for service in app.parts.all(Service):
        versions |= await service.opening_versions(round_)
    round_ = replace(round_, versions=tuple(sorted(versions.items())))
    # Of two questions of one asker, the second is counted after the first is stored.
    async with app.locks.lock(*_lock_names(app, round_)):
        if not await _is_within_limits(app, round_):
            return False

        estimate = await app.budget.estimate(round_, app.gateway)

        async def store() -> bool:
            await app.budget.reserve(round_, estimate)
            try:
                return await app.store.open(round_)
            except StoreError:
                await app.budget.ledger.release(round_.id)
                raise

        is_new = await app.store.together(store)
        if is_new:
            await _admit(app, round_)
        return is_new


async def is_stored(app: AppContext, round_id: str) -> bool:
    """Return whether there is a round with this id, as for a repeated event."""
    with suppress(RoundNotFoundError):
        await app.store.load_summary(round_id)
        return True
    return False


async def readmit_round(app: AppContext, round_: Round) -> None:
    """Mark a stopped round as unfinished again; raise RoundLimitError if it has to wait."""
    place = round_.question.place
    await app.reload_settings(place)
    async with app.locks.lock(*_workspace_lock(app, place)):
        await _check_concurrency(app, place)
        await app.store.pause(round_.id, paused=False)
        await app.store.deliver(round_.id, delivered=False)
        await _admit(app, round_)


@contextmanager
def dismissed_at_end(app: AppContext, round_: Round) -> Iterator[None]:
    """Count a round as running until the block ends."""
    try:
        yield
    finally:
        app.locks.dismiss(round_.id)


async def _is_within_limits(app: AppContext, round_: Round) -> bool:
    """Return False for a round that is stored already; raise RoundLimitError at a limit."""
    if round_.bakeoff:
        return True
    try:
        await check_rate_limit(app.access, app.store, round_.question, app.now())
        await _check_concurrency(app, round_.question.place)
    except RoundLimitError:
        if await is_stored(app, round_.id):
            return False
        raise
    return True


async def check_limits(app: AppContext, question: Question) -> None:
    """Raise RoundLimitError if the asker or the workspace of a question is at a limit."""
    await app.reload_settings(question.place)
    await check_rate_limit(app.access, app.store, question, app.now())
    await _check_concurrency(app, question.place)


async def _check_concurrency(app: AppContext, place: Place) -> None:
    """Raise RoundLimitError, which says when to retry, in a workspace at its limit."""
    limit = app.access.max_running_rounds(place)
    if limit is None:
        return
    running = await _running_rounds(app, place)
    if len(running) < limit:
        return
    oldest = running[-1]
    usual = await usual_seconds(app.store, oldest.panel)
    left = 0.0 if usual is None else usual - (app.now() - oldest.asked_at).total_seconds()
    soon = f", usually in about {rough_duration(left)}" if left > 0 else ""
    are, one = ("round is", "it") if len(running) == 1 else ("rounds are", "one of them")
    raise RoundLimitError(
        f"{len(running)} {are} running in this workspace, which is the limit. Ask "
        f"again once {one} has its answer{soon}."
    )


async def _running_rounds(app: AppContext, place: Place) -> Sequence[RoundSummary]:
    query = RoundQuery(chats=(place.chat,), workspace=place.workspace, unfinished=True)
    lines = await app.store.list_summaries(wanted=query)
    [name] = _workspace_lock(app, place)
    admitted = await app.locks.admitted(name)
    return [line for line in lines if line.id in admitted or await app.runner.is_running(line.id)]


def _lock_names(app: AppContext, round_: Round) -> list[str]:
    question = round_.question
    is_limited = not round_.bakeoff and is_rate_limited(app.access, question)
    asker = [f"asker {question.place.chat}/{question.asked_by}"] if is_limited else []
    return [*asker, *_workspace_lock(app, question.place)]


def _workspace_lock(app: AppContext, place: Place) -> list[str]:
    if app.access.max_running_rounds(place) is None:
        return []
    return [f"workspace {place.chat}/{place.workspace}"]


async def _admit(app: AppContext, round_: Round) -> None:
    for name in _workspace_lock(app, round_.question.place):
        with suppress(StoreError):  # the round is stored, and counts once it runs
            await app.locks.admit(name, round_.id)

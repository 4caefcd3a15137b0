"""Hold the reveal of a round: its answer is posted, people vote, then names and table come.

What posts the answer of a held round also waits, and posts the rest: a process that starts later
finds the round undelivered and does the same.
"""

import asyncio
from contextlib import suppress
from datetime import datetime, timedelta

from bot.context import AppContext
from bot.render.formatting import rough_duration
from bot.render.voting import is_votable
from council.errors import CouncilError, RoundNotFoundError
from council.places import Place
from council.rounds import Round

HELD, MAX_REMEMBERED = "held reveal", 1_000  # the kind of memo: until when, "" before it begins
HOLD = timedelta(minutes=10)
POLL_SECONDS = 15.0  # a message that says that the hold has ended may be lost


async def hold_reveal(app: AppContext, round_id: str) -> None:
    """Hold the reveal of a round from its answer on."""
    await app.key_values.put(HELD, round_id, "")
    await app.key_values.prune(HELD, MAX_REMEMBERED)


async def begin_hold(app: AppContext, round_: Round) -> datetime | None:
    """Return when the hold of a round ends or has ended, from now if it begins; None without.

    Only a round that people can vote on is held.
    """
    text = await app.key_values.read(HELD, round_.id)
    if text is None or not _can_be_held(round_):
        return None
    if not text:
        text = (app.now() + HOLD).isoformat()
        await app.key_values.put(HELD, round_.id, text)
    return datetime.fromisoformat(text)


async def is_held(app: AppContext, round_: Round) -> bool:
    """Return whether people may not know yet who wrote the answers of a closed round."""
    text = await app.key_values.read(HELD, round_.id)
    return text is not None and _can_be_held(round_) and _is_under_way(app, text)


def _is_under_way(app: AppContext, text: str) -> bool:
    """Return whether a stored hold has not ended."""
    return not text or app.now() < datetime.fromisoformat(text)


def _can_be_held(round_: Round) -> bool:
    """Return whether people can vote blind; without a chairman, the answer shows whose it is."""
    is_written = round_.synthesis is not None and round_.synthesis.chairman is not None
    return bool(is_written and round_.closing and round_.tally) and is_votable(round_)


async def first_held(app: AppContext, place: Place) -> datetime | None:
    """Return when the first round of a workspace was asked whose reveal is held; None without."""
    asked: list[datetime] = []
    for round_id, text in (await app.key_values.list_texts(HELD)).items():
        if _is_under_way(app, text):
            with suppress(RoundNotFoundError):
                line = await app.store.load_summary(round_id)
                asked += [line.asked_at] if line.place.scope == place.scope else []
    return min(asked, default=None)


async def check_revealed(app: AppContext, round_: Round) -> None:
    """Raise CouncilError for a round whose reveal is held."""
    if not await is_held(app, round_):
        return
    until = await begin_hold(app, round_)
    left = rough_duration((until - app.now()).total_seconds()) if until else "a moment"
    raise CouncilError(
        "Vote first: who wrote what comes when the person who asked presses Reveal, "
        f"at the latest in {left}."
    )


async def end_hold(app: AppContext, round_id: str) -> None:
    """End the hold of a round, if it has one."""
    if await app.key_values.read(HELD, round_id) is not None:
        await app.key_values.put(HELD, round_id, app.now().isoformat())
        await app.pubsub.publish(_topic(round_id))


async def wait_for_reveal(app: AppContext, round_: Round) -> None:
    """Wait until the hold of a round ends."""
    with app.pubsub.subscription(_topic(round_.id)) as presses:
        while (until := await begin_hold(app, round_)) and app.now() < until:
            seconds = min(POLL_SECONDS, (until - app.now()).total_seconds())
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await presses.get()


def _topic(round_id: str) -> str:
    return f"revealed {round_id}"

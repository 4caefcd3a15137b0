"""Hooks of plug-ins on rounds: files for a question, and what follows when a round has closed."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import structlog

from bot.context import AppContext
from bot.observability.logs import log_unexpected_error
from council.errors import CouncilError
from council.files import MAX_FILES, QuestionFile
from council.plugin import Plugin
from council.ports import RoundQuery
from council.rounds import Question, Round

GATHER_SECONDS = 20.0
CLOSED, SINCE = "closing hooks", "closing hooks since"  # the kinds of memos
DONE = "done"
MAX_TRIES = 5
MAX_MEMOS = 10_000  # of all plug-ins
MAX_LATE_ROUNDS = 1_000  # the newest, searched at the start for hooks that did not run


async def gather_files(app: AppContext, question: Question) -> Question:
    """Return the question with the files that plug-ins find for it, as far as there is room.

    A plug-in that fails, or takes longer than twenty seconds, adds none.
    """
    for gather in app.plugins.load(lambda plugin: plugin.gather):
        try:
            async with asyncio.timeout(GATHER_SECONDS):
                files: Sequence[QuestionFile] = await gather(question)
        # A plug-in must not keep a question from being asked.
        except Exception as error:  # noqa: BLE001
            log_unexpected_error("gathering_failed", error)
        else:
            # A question that is asked again may have them already.
            new = [file for file in files if file not in question.files]
            question = replace(question, files=(*question.files, *new)[:MAX_FILES])
    return question


def gathers_files(app: AppContext) -> bool:
    """Return whether a plug-in may add files to a question."""
    return any(plugin.gather for plugin in app.plugins.active)


def is_same_question(app: AppContext, stored: Question, asked: Question) -> bool:
    """Return whether a question is the stored one, which may have files from plug-ins, too."""
    files = stored.files[: len(asked.files)] if gathers_files(app) else stored.files
    return replace(stored, files=files) == asked


async def run_closing_hooks(app: AppContext, round_: Round) -> None:
    """Run the hooks of a round that has just closed; the failure of one is logged, no more."""
    for plugin in app.plugins.present:
        if not plugin.on_closed:
            continue
        if app.plugins.is_own(plugin.name):  # ours find by themselves what they have missed
            await _run(app, plugin, round_)
        else:
            await _run_and_remember(app, plugin, round_)


async def run_missed_hooks(app: AppContext) -> None:
    """Run the hooks of rounds that failed, or that a crash has prevented, at most five times."""
    try:
        async with app.leader_lock("closing hooks") as is_leader:
            if is_leader:
                for plugin in app.plugins.present:
                    if plugin.on_closed and not app.plugins.is_own(plugin.name):
                        await _run_missed(app, plugin)
    except CouncilError as error:  # the next start does it
        structlog.get_logger().warning("closing_hooks_not_run", why=str(error))


async def _run_missed(app: AppContext, plugin: Plugin) -> None:
    since = await _on_since(app, plugin)
    tries = await app.key_values.list_texts(CLOSED, f"{plugin.name}/")
    for line in await app.store.list_summaries(MAX_LATE_ROUNDS, RoundQuery(remembered=True)):
        memo = tries.get(f"{plugin.name}/{line.id}", "0")
        if line.seconds is None or memo == DONE or int(memo) >= MAX_TRIES:
            continue
        if line.asked_at < since and memo == "0":  # before the plug-in was on
            continue
        try:
            round_ = await app.store.load(line.id)
        # One damaged round must not keep the hooks from the others.
        except Exception as error:  # noqa: BLE001
            # This fails too if the database can't be used at all.
            await app.key_values.put(CLOSED, f"{plugin.name}/{line.id}", str(int(memo) + 1))
            why = (
                f"Round {line.id} can't be loaded ({type(error).__name__}), so the closing hooks "
                f"of the plug-in {plugin.name} do not run for it."
            )
            structlog.get_logger().warning("closing_hooks_skipped", why=why)
            continue
        await _run_and_remember(app, plugin, round_)
    await app.key_values.prune(CLOSED, MAX_MEMOS)


async def _on_since(app: AppContext, plugin: Plugin) -> datetime:
    """Return when the plug-in was first on, which is now if that is not stored yet."""
    now = app.now().isoformat()
    return datetime.fromisoformat(await app.key_values.put_if_absent(SINCE, plugin.name, now))


async def _run_and_remember(app: AppContext, plugin: Plugin, round_: Round) -> None:
    name = f"{plugin.name}/{round_.id}"
    try:
        await _on_since(app, plugin)
        before = await app.key_values.read(CLOSED, name)
        if before == DONE:
            return
        tries = int(before or 0) + 1
        is_done = await _run(app, plugin, round_)
        await app.key_values.put(CLOSED, name, DONE if is_done else str(tries))
    except CouncilError as error:  # the next start runs it again
        structlog.get_logger().warning("closing_hook_unknown", plugin=plugin.name, why=str(error))


async def _run(app: AppContext, plugin: Plugin, round_: Round) -> bool:
    """Run a plug-in's hooks; return whether none of them failed."""
    is_done = True
    hooks: list[Any] = app.plugins.load_of(plugin, plugin.on_closed)
    for hook in hooks:
        try:
            await hook(app, round_)
        # A plug-in must not hurt the round, nor the hooks of others.
        except Exception as error:  # noqa: BLE001
            is_done = False
            log_unexpected_error("closing_hook_failed", error, round_id=round_.id)
    return is_done

"""Application context: the services that every listener, command, route and job works with.

Knows no chat, and no command. `bot/bootstrap.py` builds it.
"""

import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Protocol

from bot.access import (
    Access,
    RoundLimitError,
    check_panel,
    check_rate_limit,
    is_rate_limited,
)
from bot.attachments import FileReader
from bot.bakeoffs.registry import BakeoffRegistry
from bot.bakeoffs.render.leaderboard_tables import Leaderboard
from bot.chat import MAX_RAW_CHARACTERS, Chat, Post, check_length, clean_text
from bot.coordination.clock import now
from bot.coordination.locks import LocalLocks
from bot.coordination.pubsub import LocalPubSub
from bot.outbox import Outbox
from bot.ports import JobQueue, MeasureBias, NamedLocks, PubSub, RecordSources, Runner
from bot.render.formatting import rough_duration
from bot.settings.connections import Connections
from council.bakeoffs.ports import BakeoffStores, RecordQuery
from council.budget import Budget
from council.errors import PanelError, QuestionError, RoundNotFoundError, StoreError
from council.filters import check_filters
from council.methods import check_panel_rules, find_method
from council.panel import Member, Panel
from council.pipeline.run import versions
from council.places import Place
from council.ports import Gateway, KeyValueStore, RoundQuery, RoundSummary, Store
from council.providers import Health
from council.registry import Registry
from council.rounds import Question, Round
from council.tally.chance import DEFAULT_RULE, ChanceRule

if TYPE_CHECKING:
    from storage.installations import SqlInstallationStore

PICKED_PANEL = "panel"  # the kind of memo
SCHEDULES = "schedules"  # the topic that announces a changed schedule
MIN_TIMED_ROUNDS, MAX_TIMED_ROUNDS = 3, 20
_NEW_ID = partial(secrets.token_hex, 5)


class Research(Protocol):
    """Unofficial additions to what the product shows."""

    async def add_to_leaderboard(
        self, sources: RecordSources, wanted: RecordQuery, weights: str, board: Leaderboard
    ) -> Leaderboard:
        """Return the leaderboard with its additions, if any."""

    async def make_prior_post(self, sources: RecordSources, round_: Round) -> Post:
        """Return what the leaderboard before a round would have said of it."""

    async def opening_versions(self, sources: RecordSources, round_: Round) -> Mapping[str, str]:
        """Return what a new round stores of earlier ones, as entries of its versions."""


@dataclass(slots=True)
class AppContext:
    """Stores, gateway, runner, panels and settings of this process.

    `panels` are those that can be chosen and `default` is the name of one of them; `chosen` caches
    the panel picked in each channel. `prepare` loads the models of a panel. Texts are deleted after
    `texts_days`; None keeps them. `chats` maps a chat's name to a function that returns the chat
    for a place, or None while it is not connected. `zone` is the default time zone of schedules.
    `job_queue` is None unless this process is part of a cluster. `installations` is None unless
    many Slack workspaces may install the app. `connections` adds models at run time. `shards` is
    the number of Discord gateway connections of the cluster. `judges` are those that a command
    named apart from the panels. A run with `--local` `is_local`: then a panel is used only if
    somebody names it, or has chosen it since the start.
    """

    store: Store
    gateway: Gateway
    runner: Runner
    outbox: Outbox
    panels: Mapping[str, Panel]
    default: str | None
    prepare: Callable[[Panel], Awaitable[None]]
    health: Callable[[], Health] = Health
    new_id: Callable[[], str] = _NEW_ID
    now: Callable[[], datetime] = now
    chosen: dict[str, str] = field(default_factory=dict)
    budget: Budget = field(kw_only=True)
    bakeoff_stores: BakeoffStores = field(kw_only=True)
    research: Research = field(kw_only=True)
    key_values: KeyValueStore = field(kw_only=True)
    registry: Registry = field(kw_only=True)
    measure_bias: MeasureBias = field(kw_only=True)
    texts_days: int | None = None
    access: Access = field(default_factory=Access)
    bakeoff_registry: BakeoffRegistry = field(default_factory=BakeoffRegistry)
    chats: dict[str, Callable[[Place], Chat | None]] = field(default_factory=dict)
    bakeoff_rounds: int = 2  # of one bake-off at once
    zone: str = "UTC"
    job_queue: JobQueue | None = None
    pubsub: PubSub = field(default_factory=LocalPubSub)
    locks: NamedLocks = field(default_factory=LocalLocks)
    shards: int = 1
    chance_rule: ChanceRule = DEFAULT_RULE
    installations: "SqlInstallationStore | None" = None
    connections: Connections | None = None
    file_reader: FileReader = field(default_factory=FileReader)
    judges: tuple[Member, ...] = ()
    is_local: bool = False

    def find_chat(self, place: Place) -> Chat | None:
        """Return the chat for a place; None on the page, the terminal or while not connected."""
        find = self.chats.get(place.chat)
        return find(place) if find else None

    async def pick_panel(self, panel: str, place: Place) -> None:
        """Store the panel for questions in a place's channel and its threads."""
        if not self.is_local:  # else the next run would start with it
            await self.key_values.put(PICKED_PANEL, _channel_key(place), panel)
        self.chosen[_channel_key(place)] = panel

    async def reload_picked_panel(self, place: Place) -> None:
        """Reload the panel picked in a place's channel; another process may have changed it."""
        if self.is_local:  # what was picked before does not count
            return
        picked = await self.key_values.read(PICKED_PANEL, _channel_key(place))
        if picked is None:
            self.chosen.pop(_channel_key(place), None)
        else:
            self.chosen[_channel_key(place)] = picked

    def picked_panel(self, place: Place) -> str | None:
        """Return the panel picked in a place's channel, as of the last `reload_picked_panel`."""
        return self.chosen.get(_channel_key(place))

    def panel_name(self, place: Place) -> str | None:
        """Return the panel picked in a place's channel, else the channel's own, else the default.

        None if there is no panel at all.
        """
        own = None if self.is_local else self.access.rules_in(place).panel
        return self.picked_panel(place) or own or self.default

    def panel(self, name: str | None, place: Place, method: str | None = None) -> Panel:
        """Return the named panel, else the one used in the place, with the method if one is named.

        Raise PanelError if there is no such panel, method or filter, AccessDeniedError if the panel
        may not be used in the place.
        """
        wanted = name or self.panel_name(place)
        if wanted is None:
            raise PanelError(
                "No panel is set up. Add one to council.toml, or use --local for the demo models."
            )
        if wanted not in self.panels:
            raise PanelError(self._unknown_panel(wanted, was_picked=name is None))
        check_panel(self.access, place, self.panels[wanted])
        panel = self.panels[wanted]
        if method is not None:
            panel = replace(panel, terms=replace(panel.terms, method=method))
        check_panel_rules(panel, self.registry)
        return panel

    def _unknown_panel(self, wanted: str, *, was_picked: bool) -> str:
        known = ", ".join(self.panels) or "none"
        if was_picked:
            return (
                f"This channel's panel, {wanted!r}, no longer exists. Pick another with "
                f"`/council panel NAME`. Known panels: {known}."
            )
        return f"There is no panel {wanted!r}. Known panels: {known}."

    def new_round(self, question: Question, panel: Panel, seed: str | None, key: str) -> Round:
        """Return a round that is not stored yet, with a random seed unless one is given."""
        method = find_method(panel.terms.method, self.registry)
        check_filters(panel, self.registry)
        return Round(
            id=key,
            question=checked_question(question),
            panel=panel,
            seed=secrets.token_hex(8) if seed is None else seed,
            asked_at=self.now(),
            versions=tuple(sorted(versions(self.gateway, self.chance_rule, method).items())),
            registry=self.registry,
        )

    async def open(self, round_: Round) -> bool:
        """Store a new round and reserve its budget; return False if its id is stored already.

        It is stored with what earlier rounds tell of its judges and authors. Raise BudgetError if
        the round may cost more than is left, RoundLimitError if its asker or
        workspace has reached a limit. Then nothing is stored.
        """
        if entries := await self.research.opening_versions(self, round_):
            round_ = replace(round_, versions=tuple(sorted((*round_.versions, *entries.items()))))
        # Of two questions of one asker, the second is counted after the first is stored.
        async with self.locks.lock(*self._lock_names(round_)):
            if not await self._is_within_limits(round_):
                return False
            await self.budget.accept(round_, self.gateway)
            try:
                is_new = await self.store.open(round_)
            except StoreError:
                await self.budget.ledger.release(round_.id)
                raise
            if is_new:
                await self._admit(round_)
            return is_new

    async def reopen(self, round_: Round) -> None:
        """Mark a stopped round as unfinished again; raise RoundLimitError if it has to wait."""
        place = round_.question.place
        async with self.locks.lock(*self._workspace_lock(place)):
            await self._check_concurrency(place)
            await self.store.pause(round_.id, paused=False)
            await self.store.deliver(round_.id, delivered=False)
            await self._admit(round_)

    @contextmanager
    def dismissed_at_end(self, round_: Round) -> Iterator[None]:
        """Count a round as running until the block ends."""
        try:
            yield
        finally:
            self.locks.dismiss(round_.id)

    async def _is_within_limits(self, round_: Round) -> bool:
        """Return False for a round that is stored already; raise RoundLimitError at a limit."""
        if round_.bakeoff:
            return True
        try:
            await check_rate_limit(self.access, self.store, round_.question, self.now())
            await self._check_concurrency(round_.question.place)
        except RoundLimitError:
            with suppress(RoundNotFoundError):
                await self.store.load_summary(round_.id)
                return False
            raise
        return True

    async def _check_concurrency(self, place: Place) -> None:
        """Raise RoundLimitError, which says when to retry, in a workspace at its limit."""
        limit = self.access.max_running_rounds(place)
        if limit is None:
            return
        running = await self._running_rounds(place)
        if len(running) < limit:
            return
        oldest = running[-1]
        usual = await usual_seconds(self.store, oldest.panel)
        left = 0.0 if usual is None else usual - (self.now() - oldest.asked_at).total_seconds()
        soon = f", usually in about {rough_duration(left)}" if left > 0 else ""
        are, one = ("round is", "it") if len(running) == 1 else ("rounds are", "one of them")
        raise RoundLimitError(
            f"{len(running)} {are} running in this workspace, which is the limit. Ask "
            f"again once {one} has its answer{soon}."
        )

    async def _running_rounds(self, place: Place) -> Sequence[RoundSummary]:
        query = RoundQuery(chats=(place.chat,), workspace=place.workspace, unfinished=True)
        lines = await self.store.list_summaries(wanted=query)
        [name] = self._workspace_lock(place)
        admitted = await self.locks.admitted(name)
        return [
            line for line in lines if line.id in admitted or await self.runner.is_running(line.id)
        ]

    def _lock_names(self, round_: Round) -> list[str]:
        question = round_.question
        is_limited = not round_.bakeoff and is_rate_limited(self.access, question)
        asker = [f"asker {question.place.chat}/{question.asked_by}"] if is_limited else []
        return [*asker, *self._workspace_lock(question.place)]

    def _workspace_lock(self, place: Place) -> list[str]:
        if self.access.max_running_rounds(place) is None:
            return []
        return [f"workspace {place.chat}/{place.workspace}"]

    async def _admit(self, round_: Round) -> None:
        for name in self._workspace_lock(round_.question.place):
            with suppress(StoreError):  # the round is stored, and counts once it runs
                await self.locks.admit(name, round_.id)


def _channel_key(place: Place) -> str:
    return f"{place.chat}/{place.workspace}/{place.within}"


def checked_question(question: Question) -> Question:
    """Return the question without control, bidirectional and zero-width characters.

    Raise QuestionError if it is empty or too long; one far too long is not even cleaned.
    """
    check_length(question.text, question.context, limit=MAX_RAW_CHARACTERS)
    text, context = clean_text(question.text), clean_text(question.context)
    if not text:
        raise QuestionError("The question is empty.")
    check_length(text, context)
    return replace(question, text=text, context=context)


async def usual_seconds(store: Store, panel: str) -> float | None:
    """Return the median duration of a panel's last rounds; None if there are fewer than three."""
    lines = await store.list_summaries(MAX_TIMED_ROUNDS, RoundQuery(panel=panel, succeeded=True))
    seconds = [line.seconds for line in lines if line.seconds is not None]
    return median(seconds) if len(seconds) >= MIN_TIMED_ROUNDS else None

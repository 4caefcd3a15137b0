"""Application context: the services that every listener, command, route and job works with.

Knows no chat, and no command. `bot/bootstrap.py` builds it.
"""

import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from statistics import median

from bot.access import Access, check_panel
from bot.admin_settings import (
    channel_key,
    has_settings,
    load_changes,
    values_of,
    workspace_key,
)
from bot.attachments import FileReader
from bot.chat import MAX_QUESTION_CHARACTERS, MAX_RAW_CHARACTERS, Chat, check_length, clean_text
from bot.coordination.clock import now
from bot.coordination.locks import LocalLocks, leader_lock
from bot.coordination.pubsub import LocalPubSub
from bot.coordination.tasks import RoundTask, TaskRegistry, TryLock
from bot.observability import logs
from bot.outbox import Outbox
from bot.plugins import Parts, Plugins
from bot.ports import JobQueue, NamedLocks, PubSub, RoundClaims, Runner
from bot.settings.connections import Connections
from council.budget import Budget
from council.errors import CouncilError, DecisionError, PanelError, QuestionError
from council.filters import check_filters
from council.methods import check_panel_rules, find_method
from council.panel import Member, Panel
from council.pipeline.run import versions
from council.places import Place
from council.ports import Gateway, KeyValueStore, RoundQuery, Store
from council.providers import Health
from council.registry import NO_PLUGINS, Registry
from council.rounds import Question, Round
from council.tally.chance_rule import DEFAULT_RULE, ChanceRule

PICKED_PANEL = "panel"  # the kind of memo
MIN_TIMED_ROUNDS, MAX_TIMED_ROUNDS = 3, 20
_NEW_ID = partial(secrets.token_hex, 5)


class RunningDecision(RoundTask):
    """A decision on a round whose answer is being written in this process; `key` is its event's."""

    def __init__(self, round_: Round, key: str) -> None:
        stopped = DecisionError("The council stopped before it had written. Decide again.")
        super().__init__(round_, stopped, time.monotonic)
        self.key = key


def _log_failed_decision(round_id: str, error: Exception) -> None:
    if not isinstance(error, CouncilError):
        logs.log_unexpected_error("decision_failed", error, round_id=round_id)


@dataclass(slots=True)
class AppContext:
    """Stores, gateway, runner, panels and settings of this process.

    `panels` are those that can be chosen and `default` is the name of one of them; `chosen` caches
    the panel picked in each channel. `prepare` loads the models of a panel. Texts are deleted after
    `texts_days`; None keeps them. `chats` maps a chat's name to a function that returns the chat
    for a place, or None while it is not connected.
    `job_queue` is None unless this process is part of a cluster. `connections` adds models at run
    time. `judges` are those that a command named apart from the panels. A run with `--local`
    `is_local`: then a panel is used only if somebody names it, or has chosen it since the start.
    Of the processes that share a database, one at a time holds a name of the `leader_lock`;
    `claims` are those of one machine. `parts` are what `plugins` have added. `decisions` are those
    that are being written. `open_seat` makes a
    model ready that no panel has.
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
    key_values: KeyValueStore = field(kw_only=True)
    registry: Registry = NO_PLUGINS
    texts_days: int | None = None
    access: Access = field(default_factory=Access)
    chats: dict[str, Callable[[Place], Chat | None]] = field(default_factory=dict)
    job_queue: JobQueue | None = None
    pubsub: PubSub = field(default_factory=LocalPubSub)
    locks: NamedLocks = field(default_factory=LocalLocks)
    chance_rule: ChanceRule = DEFAULT_RULE
    connections: Connections | None = None
    file_reader: FileReader = field(default_factory=FileReader)
    judges: tuple[Member, ...] = ()
    is_local: bool = False
    claims: RoundClaims | None = None
    leader_lock: TryLock = field(default_factory=lambda: leader_lock(None))
    plugins: Plugins = field(default_factory=Plugins)
    parts: Parts = field(default_factory=Parts)
    open_seat: Callable[[str], Member] | None = None
    reloaded: tuple[str, str] = "", ""
    decisions: TaskRegistry[RunningDecision] = field(
        default_factory=lambda: TaskRegistry(_log_failed_decision)
    )

    def seat(self, key: str) -> Member:
        """Return a seat of any panel, or make a model ready that no panel has.

        Raise PanelError for a model that is unknown or has no key.
        """
        seats = (seat for panel in self.panels.values() for seat in panel.seats)
        if found := next((seat for seat in seats if seat.key == key), None):
            return found
        if self.open_seat is None:
            raise PanelError(f"There is no model {key!r}.")
        return self.open_seat(key)

    def find_chat(self, place: Place) -> Chat | None:
        """Return the chat for a place; None on the page, the terminal or while not connected."""
        find = self.chats.get(place.chat)
        return find(place) if find else None

    async def pick_panel(self, panel: str, place: Place) -> None:
        """Store the panel for questions in a place's channel and its threads."""
        if not self.is_local:  # else the next run would start with it
            await self.key_values.put(PICKED_PANEL, channel_key(place), panel)
        self.chosen[channel_key(place)] = panel

    async def unpick_panel(self, place: Place) -> None:
        """Delete the panel picked in a place's channel."""
        if not self.is_local:
            await self.key_values.pop(PICKED_PANEL, channel_key(place))
        self.chosen.pop(channel_key(place), None)

    async def reload_settings(self, place: Place, event: str = "") -> None:
        """Reload what people chose for a place's workspace and channel, and its picked panel.

        Another process may have changed it, so every event and every new round begins with it.
        `event` is the key of the message that began it.
        """
        if has_settings(place):  # several texts
            await self.store.together(partial(self._reload_settings, place))
        else:
            await self._reload_settings(place)
        self.reloaded = event, channel_key(place)

    def is_reloaded(self, place: Place, event: str) -> bool:
        """Return whether the last `reload_settings` was for this event, in this place."""
        return bool(event) and self.reloaded == (event, channel_key(place))

    async def _reload_settings(self, place: Place) -> None:
        if has_settings(place):
            keys = (workspace_key(place), channel_key(place))
            read = {key: values_of(await load_changes(self.key_values, key)) for key in keys}
            self.access = self.access.with_chosen(read)
        if self.is_local:  # what was picked before does not count
            return
        picked = await self.key_values.read(PICKED_PANEL, channel_key(place))
        if picked is None:
            self.chosen.pop(channel_key(place), None)
        else:
            self.chosen[channel_key(place)] = picked

    def picked_panel(self, place: Place) -> str | None:
        """Return the panel picked in a place's channel, as of the last `reload_settings`."""
        return self.chosen.get(channel_key(place))

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

    def new_round(
        self,
        question: Question,
        panel: Panel,
        seed: str | None,
        key: str,
        max_characters: int = MAX_QUESTION_CHARACTERS,
    ) -> Round:
        """Return a round that is not stored yet, with a random seed unless one is given."""
        method = find_method(panel.terms.method, self.registry)
        check_filters(panel, self.registry)
        return Round(
            id=key,
            question=checked_question(question, max_characters),
            panel=panel,
            seed=secrets.token_hex(8) if seed is None else seed,
            asked_at=self.now(),
            versions=tuple(sorted(versions(self.gateway, self.chance_rule, method).items())),
            registry=self.registry,
        )


def checked_question(question: Question, limit: int = MAX_QUESTION_CHARACTERS) -> Question:
    """Return the question without control, bidirectional and zero-width characters.

    Raise QuestionError if it is empty, or longer than the limit with its context and instructions;
    one far too long is not even cleaned.
    """
    parts = (question.text, question.context, question.instructions)
    check_length(*parts, limit=max(MAX_RAW_CHARACTERS, limit))
    text, context, instructions = map(clean_text, parts)
    if not text:
        raise QuestionError("The question is empty.")
    check_length(text, context, instructions, limit=limit)
    return replace(question, text=text, context=context, instructions=instructions)


async def usual_seconds(store: Store, panel: str) -> float | None:
    """Return the median duration of a panel's last rounds; None if there are fewer than three."""
    lines = await store.list_summaries(MAX_TIMED_ROUNDS, RoundQuery(panel=panel, succeeded=True))
    seconds = [line.seconds for line in lines if line.seconds is not None]
    return median(seconds) if len(seconds) >= MIN_TIMED_ROUNDS else None

"""How long a round of a panel usually takes, as the rounds before it tell."""

import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from importlib.metadata import version
from statistics import median

from bot.access import Access, RoundLimitError, check_pace, check_panel, is_paced
from bot.bakeoffs.bias_report import Measure, bias_report
from bot.bakeoffs.registry import BakeoffRegistry
from bot.chat import Chat
from bot.chat.incoming import MOST_CHARACTERS, cleaned
from bot.coordination.clock import now
from bot.coordination.locks import LocalLocks
from bot.coordination.pubsub import LocalPubSub
from bot.outbox import Outbox
from bot.ports import JobQueue, NamedLocks, PubSub, Runner
from bot.render.formatting import roughly
from council.bakeoffs.ports import BakeoffStores
from council.budget import Budget
from council.errors import PanelError, QuestionError, RoundNotFoundError, StoreError
from council.panel import Panel
from council.pipeline.methods import METHODS
from council.places import Place
from council.ports import Gateway, KeyValueStore, RoundQuery, RoundSummary, Store
from council.prompts import VERSION as PROMPTS
from council.providers import Health
from council.research.experiment import ExperimentStore
from council.round_rules import POLICY as AUDITS
from council.rounds import Question, Round

# --- How long a round of a panel usually takes, as the rounds before it tell.

FEWEST_ROUNDS, MOST_ROUNDS = 3, 20


async def usual_seconds(store: Store, panel: str) -> float | None:
    """Give how long a round of the panel takes, the median of its last; None for too few."""
    lines = await store.recent(MOST_ROUNDS, RoundQuery(panel=panel, succeeded=True))
    seconds = [line.seconds for line in lines if line.seconds is not None]
    return median(seconds) if len(seconds) >= FEWEST_ROUNDS else None


# --- Whether a workspace has room for one more round, and when it has again.


class TooManyRunningError(RoundLimitError):
    """As many rounds are under way in a workspace as are allowed at once."""


async def check_at_once(
    store: Store, under_way: Sequence[RoundSummary], most: int, now: datetime
) -> None:
    """Raise TooManyRunningError if one more round would be too many; it says when to retry.

    The rounds under way are those of the workspace, newest first.
    """
    if len(under_way) < most:
        return
    oldest = under_way[-1]
    usual = await usual_seconds(store, oldest.panel)
    left = 0.0 if usual is None else usual - (now - oldest.asked_at).total_seconds()
    soon = f", usually in about {roughly(left)}" if left > 0 else ""
    are, one = ("round is", "it") if len(under_way) == 1 else ("rounds are", "one of them")
    raise TooManyRunningError(
        f"{len(under_way)} {are} under way in this workspace, as many as are allowed at once: ask "
        f"again once {one} has its answer{soon}."
    )


# --- What may be asked: cleaned of what nobody can see, and refused in one sentence otherwise.


def checked_question(question: Question) -> Question:
    """Give the question without control, bidirectional and zero-width characters.

    Raises QuestionError for one that is empty or too long.
    """
    text, context = cleaned(question.text), cleaned(question.context)
    if not text:
        raise QuestionError("The question is empty: write it after /council.")
    if len(text) + len(context) > MOST_CHARACTERS:
        raise QuestionError(
            f"The question has {len(text) + len(context):,} characters and at most "
            f"{MOST_CHARACTERS:,} can be asked: shorten it, or ask about one part."
        )
    return replace(question, text=text, context=context)


# --- The desk: where questions are taken in, and what commands work with.

BAKEOFF_ROUNDS = 2  # of one bake-off, under way at once
PICK = "panel"  # the kind of memo
SCHEDULES = "schedules"  # what the bus says once one has changed


def _new_id() -> str:
    return secrets.token_hex(5)


async def _nothing(_: Panel) -> None:
    """Prepare nothing: every model is ready."""


@dataclass(slots=True)
class AppContext:
    """The parts a command needs; `panels` are those that can be chosen, `default` one of them.

    `prepare` has a panel's models ready; `health` tells how they fare. `chosen` is which panel a
    channel has picked, as far as this process knows. Texts are kept for `texts_days`, or for ever.
    `bench` keeps suites, bake-offs, schedules and records, `experiments` their own, `memos` what
    the chats need again; `holds` are the bake-offs under way, each with so many rounds at once.
    `ways` give the chat for a place, by the chat's name, as long as it is connected. `access` says
    who may ask where; what has a limit comes in by the `door`, one at a time. Schedules go by
    the `zone` where they name none, and whoever changes one says so on the bus.
    `measure_bias` gives the bias of judges over rounds that are wanted. In a cluster `works` share
    out what is to be done, else they are None; on the `bus` all processes hear each other. Discord
    deals its servers out among so many `shards`.
    """

    store: Store
    gateway: Gateway
    runner: Runner
    outbox: Outbox
    panels: Mapping[str, Panel]
    default: str | None
    prepare: Callable[[Panel], Awaitable[None]] = _nothing
    health: Callable[[], Health] = Health
    new_id: Callable[[], str] = _new_id
    now: Callable[[], datetime] = now
    chosen: dict[str, str] = field(default_factory=dict)
    budget: Budget = field(kw_only=True)
    bakeoff_stores: BakeoffStores = field(kw_only=True)
    experiments: ExperimentStore = field(kw_only=True)
    key_values: KeyValueStore = field(kw_only=True)
    texts_days: int | None = None
    access: Access = field(default_factory=Access)
    bakeoff_registry: BakeoffRegistry = field(default_factory=BakeoffRegistry)
    chats: dict[str, Callable[[Place], Chat | None]] = field(default_factory=dict)
    bakeoff_rounds: int = BAKEOFF_ROUNDS
    zone: str = "UTC"
    measure_bias: Measure = bias_report
    job_queue: JobQueue | None = None
    pubsub: PubSub = field(default_factory=LocalPubSub)
    locks: NamedLocks = field(default_factory=LocalLocks)
    shards: int = 1

    async def pick(self, panel: str, place: Place) -> None:
        """Have questions of a place's whole channel go to a panel, in threads as well."""
        await self.key_values.note(PICK, _channel(place), panel)
        self.chosen[_channel(place)] = panel

    async def look_up(self, place: Place) -> None:
        """Take note of what was picked in a place's channel, by whatever process."""
        picked = await self.key_values.read(PICK, _channel(place))
        if picked is None:
            self.chosen.pop(_channel(place), None)
        else:
            self.chosen[_channel(place)] = picked

    def picked(self, place: Place) -> str | None:
        """Give the panel that was picked in a place's channel, when it was looked up last."""
        return self.chosen.get(_channel(place))

    def panel_name(self, place: Place) -> str | None:
        """Give the panel that is picked for a place, or its channel's, or the default."""
        return self.picked(place) or self.access.rules_in(place).panel or self.default

    def panel(self, name: str | None, place: Place, method: str | None = None) -> Panel:
        """Give the panel that is named, picked for the place, its channel's, or the default.

        It judges by the method that is named, else by its own. Raises NotAdmittedError for one
        that may not be used there.
        """
        wanted = name or self.panel_name(place)
        if wanted is None:
            raise PanelError(
                "No panel is set up: name one in council.toml, or use --local for the "
                "demonstration models."
            )
        if wanted not in self.panels:
            raise PanelError(self._unknown(wanted, was_picked=name is None))
        check_panel(self.access, place, self.panels[wanted])
        return _judging_by(method, self.panels[wanted])

    def _unknown(self, wanted: str, *, was_picked: bool) -> str:
        known = ", ".join(self.panels) or "none"
        if was_picked:
            return (
                f"Panel {wanted!r}, which goes here, is not there any more: pick another with "
                f"`/council panel NAME`; known panels: {known}."
            )
        return f"There is no panel {wanted!r}; known panels: {known}."

    def new_round(self, question: Question, panel: Panel, seed: str | None, key: str) -> Round:
        """Give a round that is not stored yet; without a seed it draws one of its own."""
        return Round(
            id=key,
            question=checked_question(question),
            panel=panel,
            seed=secrets.token_hex(8) if seed is None else seed,
            asked_at=self.now(),
            versions=tuple(sorted(versions(self.gateway).items())),
        )

    def lock(self, *names: str) -> AbstractAsyncContextManager[None]:
        """Keep everybody else from these names as long as the block lasts, in every process."""
        return self.locks.lock(*names)

    async def open(self, round_: Round) -> bool:
        """Keep a new round, its money reserved; give False if its id is kept already.

        Raises BudgetError where the round may cost more than is left, RoundLimitError where its
        asker has to wait, or its workspace, and then keeps nothing.
        """
        # Of two questions of one asker the second is counted when the first is kept.
        async with self.lock(*self._names(round_)):
            if not await self._is_in_pace(round_):
                return False
            await self.budget.accept(round_, self.gateway)
            try:
                is_new = await self.store.open(round_)
            except StoreError:
                await self.budget.release(round_.id)
                raise
            if is_new:
                await self._let_in(round_)
            return is_new

    async def reopen(self, round_: Round) -> None:
        """Have a round go on that was stopped; RoundLimitError where it has to wait."""
        place = round_.question.place
        async with self.lock(*self._room(place)):
            await self._check_at_once(place)
            await self.store.pause(round_.id, paused=False)
            await self.store.deliver(round_.id, delivered=False)
            await self._let_in(round_)

    @contextmanager
    def keeping_admitted(self, round_: Round) -> Iterator[None]:
        """See a round to its end, or as far as it comes: then it is under way no more."""
        try:
            yield
        finally:
            self.locks.dismiss(round_.id)

    async def _is_in_pace(self, round_: Round) -> bool:
        """Say that its asker may ask for a new round; False if this one is none.

        Of a bake-off's rounds nobody asks for each.
        """
        if round_.bakeoff:
            return True
        try:
            await check_pace(self.access, self.store, round_.question, self.now())
            await self._check_at_once(round_.question.place)
        except RoundLimitError:
            with suppress(RoundNotFoundError):
                await self.store.line(round_.id)
                return False
            raise
        return True

    async def _check_at_once(self, place: Place) -> None:
        most = self.access.most_at_once(place)
        if most is not None:
            await check_at_once(self.store, await self._under_way(place), most, self.now())

    async def _under_way(self, place: Place) -> Sequence[RoundSummary]:
        """Give the rounds of a workspace that are carried, or about to be, newest first."""
        there = RoundQuery(chats=(place.chat,), workspace=place.workspace, unfinished=True)
        lines = await self.store.recent(wanted=there)
        [room] = self._room(place)
        inside = await self.locks.admitted(room)
        return [
            line for line in lines if line.id in inside or await self.runner.is_running(line.id)
        ]

    def _names(self, round_: Round) -> list[str]:
        """Give what a new round comes in under: its asker and its workspace, where limited."""
        asked = round_.question
        is_limited = not round_.bakeoff and is_paced(self.access, asked)
        asker = [f"asker {asked.place.chat}/{asked.asked_by}"] if is_limited else []
        return [*asker, *self._room(asked.place)]

    def _room(self, place: Place) -> list[str]:
        if self.access.most_at_once(place) is None:
            return []
        return [f"workspace {place.chat}/{place.workspace}"]

    async def _let_in(self, round_: Round) -> None:
        for room in self._room(round_.question.place):
            with suppress(StoreError):  # it is stored, and counts once it is carried
                await self.locks.admit(room, round_.id)


def _channel(place: Place) -> str:
    return f"{place.chat}/{place.workspace}/{place.within}"


def _judging_by(method: str | None, panel: Panel) -> Panel:
    if method is None:
        return panel
    if method not in METHODS:
        raise PanelError(f"There is no method {method!r}; known methods: {', '.join(METHODS)}.")
    return replace(panel, terms=replace(panel.terms, method=method))


def versions(gateway: Gateway) -> dict[str, str]:
    """Give the versions of everything a round's result depends on."""
    own = {"audits": AUDITS, "council": _own_version(), "prompts": PROMPTS}
    return {**gateway.versions, **own}


@cache
def _own_version() -> str:
    """Give the version that is installed; its file is read once."""
    return version("council-bot")

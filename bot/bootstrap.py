"""What all processes on one Postgres share beside the rows: turns, the door, and the time."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.bakeoffs.registry import BakeoffRegistry
from bot.commands.context import AppContext
from bot.coordination.clock import SharedClock, now
from bot.coordination.locks import LocalLocks
from bot.coordination.pubsub import LocalPubSub, ProviderSync
from bot.coordination.tasks import beside
from bot.observability import metrics
from bot.observability.tracing import Collector, Tracing, tracing_to
from bot.outbox import Outbox
from bot.ports import NamedLocks, PubSub, RoundClaims, Runner
from bot.runners.local import NO_CLAIMS, FileClaims, LocalRunner, Paying, Prepare
from bot.settings import PanelConfig, Seat, Settings, load_houses
from bot.settings.default_panels import LOCAL, demonstration, offered
from bot.suite_files import keep_house
from council.anonymize import scrub
from council.bakeoffs.ports import BakeoffStores
from council.budget import Budget
from council.errors import StoreError
from council.gateways.litellm import LitellmGateway, SeatSettings, load_warm
from council.gateways.local.download import Progress
from council.gateways.local.gateway import DISPLAYS, SEATED_TWICE, LocalGateway, ollama_models
from council.gateways.local.server import supported
from council.gateways.routing import RoutingGateway
from council.gateways.scripted import ScriptedGateway
from council.gateways.throttling.provider import SharedLimits
from council.panel import Member, Panel
from council.ports import Gateway, HashChainStore, Ledger, SharedRateLimiter, Store
from council.providers import Health, ProviderHint
from council.research.experiment import ExperimentStore
from council.rounds import Round
from storage.bakeoffs import SqlBakeoffs, SqlSchedules, SqlSuites
from storage.engine import check_opens, connections_beside, open_engine
from storage.experiments import SqlExperiments
from storage.hash_chain import SqlHashChain
from storage.key_value import SqlKeyValueStore
from storage.ledger import SqlLedger
from storage.locks import SqlClock, SqlLeaderLock, SqlLocks
from storage.migrate import upgrade
from storage.outbox import SqlOutbox
from storage.rate_limiter import SqlRateLimiter
from storage.records import SqlRecords, sql_votes
from storage.rounds import SqlStore

if TYPE_CHECKING:
    from bot.cluster.setup import Cluster


# --- What all processes on one Postgres share beside the rows: turns, the door, and the time.

_CONNECTIONS, _WAIT_SECONDS = 4, 2.0


class ClusterServices:
    """What is shared; as it stands, by nobody."""

    def __init__(self) -> None:
        self.turnstile: SharedRateLimiter | None = None
        self.locks: NamedLocks = LocalLocks()

    def now(self) -> datetime:
        """Give this moment, by the clock that all share."""
        return now()

    def publish(self, hint: ProviderHint) -> None:
        """Tell other processes what was learnt of a model."""

    def heeding(self, heed: Callable[[ProviderHint], None]) -> AbstractAsyncContextManager[object]:
        """Heed what other processes tell as long as the block lasts."""
        return AsyncExitStack()


class _OnPostgres(ClusterServices):
    def __init__(
        self, turnstile: SqlRateLimiter, door: NamedLocks, clock: SharedClock, gossip: ProviderSync
    ) -> None:
        super().__init__()
        self.turnstile = self._turns = turnstile
        self.locks = LocalLocks(door)
        self._clock = clock
        self._gossip = gossip

    def now(self) -> datetime:
        return self._clock.now()

    def publish(self, hint: ProviderHint) -> None:
        self._gossip.publish(hint)

    def heeding(self, heed: Callable[[ProviderHint], None]) -> AbstractAsyncContextManager[object]:
        return beside(self._gossip.listen(self._turns.ring, heed))


@asynccontextmanager
async def together(engine: AsyncEngine, bus: PubSub) -> AsyncIterator[ClusterServices]:
    """Give what the processes on a database share, as long as the block lasts."""
    if engine.dialect.name != "postgresql":
        yield ClusterServices()
        return
    async with AsyncExitStack() as stack:
        counting = connections_beside(engine, _CONNECTIONS, _WAIT_SECONDS)
        stack.push_async_callback(counting.dispose)
        gossip = ProviderSync(bus)
        stack.push_async_callback(gossip.close)
        turnstile = SqlRateLimiter(counting, gossip.has_room, _counted)
        stack.push_async_callback(turnstile.close)
        door = SqlLocks(engine)
        stack.push_async_callback(door.close)
        clock = SharedClock(SqlClock(engine).moment)
        await clock.set()
        stack.enter_context(metrics.clock_watched(lambda: clock.behind_seconds))
        await stack.enter_async_context(beside(clock.keep()))
        yield _OnPostgres(turnstile, door, clock, gossip)


def _counted(counts: bool) -> None:
    """Say once that limits hold for each process alone, and once that they hold for all again."""
    metrics.turns_counted(together=counts)
    log = structlog.get_logger()
    if counts:
        log.info("turns_counted_together")
    else:
        log.warning("turns_counted_alone", why="the database that counts them did not answer")


# --- The database opened for whoever only reads and writes it: quicker than a desk, without model


@asynccontextmanager
async def opened_store(settings: Settings) -> AsyncIterator[SqlStore]:
    """Give the store, its schema up to date."""
    async with opened_engine(settings) as engine:
        yield SqlStore(engine)


@asynccontextmanager
async def opened_engine(settings: Settings) -> AsyncIterator[AsyncEngine]:
    """Give the database, its schema up to date; the data folder is made where it is missing."""
    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"The data folder {settings.data_dir} cannot be made ({error.strerror}): name another "
            "in COUNCIL_DATA_DIR."
        ) from None
    if settings.database_file:
        check_opens(settings.database_file)
    engine = open_engine(settings.database)
    try:
        await upgrade(engine)
        yield engine
    finally:
        await engine.dispose()


@dataclass(frozen=True, slots=True)
class Stores:
    """All that is kept, for whoever only reads and writes it."""

    store: SqlStore
    bakeoff_stores: BakeoffStores
    chain: HashChainStore
    experiments: ExperimentStore
    ledger: Ledger


@asynccontextmanager
async def opened_books(settings: Settings) -> AsyncIterator[Stores]:
    """Give all that is kept, the schema up to date; no models."""
    async with opened_engine(settings) as engine:
        kept = (SqlStore(engine), bench_of(engine), SqlHashChain(engine), SqlExperiments(engine))
        yield Stores(*kept, SqlLedger(engine))


def bench_of(engine: AsyncEngine) -> BakeoffStores:
    """Give all that bake-offs are kept in."""
    numbers = (SqlRecords(engine), sql_votes(engine))
    return BakeoffStores(SqlSuites(engine), SqlBakeoffs(engine), SqlSchedules(engine), *numbers)


# --- The composition root: the only place that joins settings, gateways, storage and chats.

SCRIPTED = "scripted/"


@contextmanager
def opened_claims(settings: Settings) -> Iterator[RoundClaims]:
    """Give the claims of the processes that share the database's file."""
    if settings.database_file is None:
        yield NO_CLAIMS
        return
    claims = FileClaims(settings.database_file.with_name(f"{settings.database_file.name}.lock"))
    try:
        yield claims
    finally:
        claims.close()


@dataclass(frozen=True, slots=True)
class StartOptions:
    """What whoever opens the desk wants: demonstration models, and to be told of things.

    `on_fetch` hears how a fetch goes, `on_closed` of each round that came to its end. Whoever
    `serves` stays, and is one process of the cluster where the database is a server.
    """

    local: bool = False
    on_fetch: Callable[[str, int, int], None] = lambda *_: None
    on_closed: Callable[[Round], None] = lambda _: None
    serves: bool = False


def _unpacked(on_fetch: Callable[[str, int, int], None]) -> Callable[[Progress], None]:
    return lambda progress: on_fetch(progress.what, progress.done_bytes, progress.total_bytes)


@asynccontextmanager
async def opened_app(settings: Settings, wishes: StartOptions) -> AsyncIterator[AppContext]:
    """Give a desk that can hold rounds; its models and database close with it."""
    houses = await find_houses(settings, local=wishes.local)
    async with AsyncExitStack() as stack:
        if wishes.serves:
            await stack.enter_async_context(beside(_warmed(houses)))
        engine = await stack.enter_async_context(opened_engine(settings))
        stack.enter_context(metrics.database_watched(engine))
        cluster = await stack.enter_async_context(_opened_cluster(settings))
        bus: PubSub = cluster.pubsub if cluster else LocalPubSub()
        shared = await stack.enter_async_context(together(engine, bus))
        store, budget = SqlStore(engine), Budget(SqlLedger(engine), houses.caps, shared.now)
        models = await stack.enter_async_context(_opened_models(settings, houses, shared, wishes))
        claims = stack.enter_context(opened_claims(settings))
        collector = Collector(settings.otlp_endpoint, settings.trace_headers)
        tracing = await stack.enter_async_context(tracing_to(collector))
        parts = (store, models.gateway, models.prepare, budget.paying, claims)
        carrying = _RunnerParts(*parts, tracing, shared.now)
        runner = await stack.enter_async_context(_opened_runner(carrying, cluster, wishes))
        sole = SqlLeaderLock(engine) if settings.has_server else None
        holds = BakeoffRegistry(None if claims is NO_CLAIMS else claims, sole)
        stack.push_async_callback(holds.let_go)  # before the runner, whose calls may still end
        # Who serves a chat holds its claim, where there are any.
        outbox = Outbox(SqlOutbox(engine), shared.now, alone=claims is not NO_CLAIMS)
        bench = bench_of(engine)
        await keep_house(bench.suites, houses.suites, shared.now())
        yield AppContext(
            *(store, models.gateway, runner, outbox, houses.panels, houses.default),
            models.prepare,
            models.health,
            now=shared.now,
            budget=budget,
            bakeoff_stores=bench,
            experiments=SqlExperiments(engine),
            key_values=SqlKeyValueStore(engine),
            texts_days=houses.texts_days,
            access=houses.access,
            bakeoff_registry=holds,
            bakeoff_rounds=houses.bakeoff_rounds,
            zone=houses.zone,
            pubsub=bus,
            locks=shared.locks,
            job_queue=cluster.job_queue if cluster and wishes.serves else None,
        )


@dataclass(frozen=True, slots=True)
class _Models:
    """The way to all models, what has a panel's ready, and how they fare."""

    gateway: Gateway
    prepare: Prepare
    health: Callable[[], Health]


@asynccontextmanager
async def _opened_models(
    settings: Settings, houses: PanelConfig, shared: ClusterServices, wishes: StartOptions
) -> AsyncIterator[_Models]:
    """Give the way to models; what was started for it is stopped with the block."""
    async with AsyncExitStack() as stack:
        local = LocalGateway(settings.model_dir, _unpacked(wishes.on_fetch))
        stack.push_async_callback(local.stop)
        neighbours = SharedLimits(shared.turnstile, shared.publish)
        seats = _settled(houses.seats, settings)
        remote = LitellmGateway(seats, houses.limits, neighbours=neighbours)
        stack.push_async_callback(remote.close)
        await stack.enter_async_context(shared.heeding(remote.heed))
        stack.enter_context(metrics.providers_watched(remote.health))
        routes: dict[str, Gateway] = {SCRIPTED: ScriptedGateway(), f"{LOCAL}/": local, "": remote}

        async def prepare(panel: Panel) -> None:
            """Have the panel's models ready, so that no round waits for a start."""
            scrub.ready()
            if any(seat.demonstration for seat in _seats(panel)):
                await local.start()
            elif _is_remote(panel):
                await remote.warm()

        yield _Models(RoutingGateway(routes), prepare, remote.health)


async def _warmed(houses: PanelConfig) -> None:
    """Import litellm while the database is opened, where the default panel needs it."""
    panel = houses.panels.get(houses.default or "")
    if panel and _is_remote(panel):
        models = [seat.member.model_id for seat in houses.seats.values()]
        await asyncio.to_thread(load_warm, models)


def _seats(panel: Panel) -> tuple[Member, ...]:
    return (*panel.judges, *panel.chairmen)


def _is_remote(panel: Panel) -> bool:
    """Whether some of a panel's models are litellm's."""
    local = (seat.demonstration or seat.model_id.startswith(SCRIPTED) for seat in _seats(panel))
    return not all(local)


@asynccontextmanager
async def _opened_cluster(settings: Settings) -> AsyncIterator["Cluster | None"]:
    """Give what the processes of a database server share; None where there is no server."""
    if not settings.has_server:
        yield None
        return
    # Whoever keeps all in a file does not wait for its libraries.
    from bot.cluster.setup import opened_cluster

    async with opened_cluster(settings.database) as cluster:
        yield cluster


@dataclass(frozen=True, slots=True)
class _RunnerParts:
    """What rounds are carried with."""

    store: Store
    gateway: Gateway
    prepare: Prepare
    paying: Paying
    claims: RoundClaims
    tracing: Tracing
    now: Callable[[], datetime]


@asynccontextmanager
async def _opened_runner(
    with_: _RunnerParts, cluster: "Cluster | None", wishes: StartOptions
) -> AsyncIterator[Runner]:
    """Give who carries rounds: this process, or all that serve on the same server."""
    parts, paying = (with_.store, with_.gateway, with_.prepare), with_.paying
    if cluster and wishes.serves:
        from bot.runners.cluster import ClusterRunner

        shared = (cluster.job_queue, cluster.pubsub, paying)
        many = ClusterRunner(
            *(*parts, *shared),
            on_closed=wishes.on_closed,
            tracing=with_.tracing,
            now=with_.now,
        )
        async with many.carrying():
            yield many
        return
    if cluster:
        from bot.runners.cluster import apart

        paying = apart(cluster.job_queue, paying)
    own = (*parts, with_.claims, paying)
    runner = LocalRunner(*own, on_closed=wishes.on_closed, tracing=with_.tracing)
    try:
        yield runner
    finally:
        await runner.close()


async def surroundings(settings: Settings) -> list[str]:
    """Say what of models this machine has to offer."""
    served = ", ".join(await ollama_models(settings.ollama)) or "not found"
    return [f"Ollama: {served}", f"demonstration models: {supported() or 'can run here'}"]


async def find_houses(settings: Settings, *, local: bool) -> PanelConfig:
    """Give every panel there is: of council.toml, of found keys, of Ollama, of the demonstration.

    The default is council.toml's; without one, the demonstration where it is wanted, else the
    first that is offered.
    """
    own = load_houses(settings.named_config)
    offers = offered(settings, await ollama_models(settings.ollama))
    panels = {**offers.panels, **own.panels}
    fallback = offers.default
    if local:
        panels = {**panels, LOCAL: demonstration(DISPLAYS, SEATED_TWICE)}
        fallback = LOCAL
    seats = {**offers.seats, **own.seats}
    return replace(own, panels=panels, seats=seats, default=own.default or fallback)


def _settled(seats: Mapping[str, Seat], settings: Settings) -> dict[str, SeatSettings]:
    """Give what litellm needs for each seat of its; the key goes to the seat's own calls alone."""
    return {
        key: SeatSettings(
            model=seat.member.model_id,
            api_base=seat.section.api_base,
            api_key=settings.key_for(
                seat.member.model_id.partition("/")[0], seat.section.api_key_env
            ),
            max_tokens=seat.section.max_tokens,
            context_tokens=seat.section.context_tokens,
            stream=seat.section.stream,
            input_usd_per_million=seat.section.input_usd_per_million,
            output_usd_per_million=seat.section.output_usd_per_million,
        )
        for key, seat in seats.items()
        if not seat.member.model_id.startswith(SCRIPTED)
    }

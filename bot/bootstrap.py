"""Composition root: join settings, gateways, stores and coordination into an AppContext.

The only module that creates gateways; it and `bot/database.py` create the stores.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.admin_settings import chosen_caps
from bot.api_keys import own_budget
from bot.commands.button_registry import ButtonSet
from bot.commands.registry import CommandRegistry
from bot.context import AppContext
from bot.coordination.clock import SharedClock, now
from bot.coordination.locks import LocalLocks, leader_lock, lock_file_claims
from bot.coordination.pubsub import LocalPubSub, ProviderSync
from bot.coordination.tasks import cancel_and_wait, running_alongside
from bot.database import open_database, open_plugin_stores, open_round_store
from bot.hooks import run_closing_hooks
from bot.observability import metrics
from bot.observability.tracing import open_tracing
from bot.outbox import Outbox
from bot.plugins import Parts, Plugins, failures
from bot.ports import LocalModels, NamedLocks, PubSub, Runner
from bot.runners.local import GatewayFactory, LocalRunner, Prepare
from bot.services import Service
from bot.settings import PanelConfig, Seat, Settings, load_panel_config
from bot.settings.connections import Connection, Connections, load_connected
from bot.settings.default_panels import LOCAL, LOCAL_LARGE, default_panels, demonstration_panel
from bot.settings.environment import api_key_variable
from bot.settings.panels import is_built_in, receiver_of
from bot.settings.provider_keys import ProviderKeys
from council.anonymize import scrub
from council.answers import Call, Prompt
from council.budget import Budget
from council.budget_caps import Caps
from council.errors import GatewayError, PanelError
from council.gateways.litellm.client import SeatSettings, load_warm
from council.gateways.litellm.gateway import LitellmGateway
from council.gateways.local.gateway import (
    DISPLAYS,
    LARGE,
    LARGE_BYTES,
    LARGE_DISPLAYS,
    SEATED_TWICE,
    LocalGateway,
    ollama_models,
)
from council.gateways.local.server import free_bytes, unsupported_reason
from council.gateways.model_lists import MODEL_SECONDS, list_models, model_refusal
from council.gateways.routing import RoutingGateway
from council.gateways.scripted import ScriptedGateway
from council.panel import Member, Panel
from council.ports import Gateway, SharedRateLimiter
from council.providers import ProviderHint
from council.rounds import Round
from storage.engine import open_separate_pool
from storage.key_value import SqlKeyValueStore
from storage.ledger import DeferredCosts, SqlLedger
from storage.locks import SqlLeaderLock, SqlLocks, server_time
from storage.outbox import SqlOutbox
from storage.rate_limiter import SqlRateLimiter

if TYPE_CHECKING:
    from bot.cluster.setup import Cluster

PING = Prompt("Reply with one word.", "Say ok.")
SHARED_CONNECTIONS, SHARED_WAIT_SECONDS = 4, 2.0


def _print_to_stderr(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")


@dataclass(frozen=True, slots=True)
class StartOptions:
    """How to start: with demo models, with callbacks, as a server.

    With `local`, questions go to the demo models until a person chooses another panel.
    `on_fetch` reports downloads as (what, done bytes, total bytes), `report` each plug-in that is
    left out, and why.
    A process that `serves` keeps running, and joins the cluster if the database is a server.
    `judges` are seats or models to have ready apart from the panels.
    """

    local: bool = False
    on_fetch: Callable[[str, int, int], None] = lambda *_: None
    serves: bool = False
    judges: tuple[str, ...] = ()
    report: Callable[[str], None] = _print_to_stderr


@asynccontextmanager
async def open_app(
    settings: Settings, options: StartOptions = StartOptions()
) -> AsyncIterator[AppContext]:
    """Yield the context of an app that can run rounds; close its models and database at the end."""
    sources = await find_panels(settings, local=options.local)
    panels = sources.merged(settings).with_seats(options.judges)
    plugins = sources.own.plugins
    async with AsyncExitStack() as stack:
        if options.serves:
            await stack.enter_async_context(running_alongside(_warm_up(panels)))
        engine = await stack.enter_async_context(open_database(settings))
        stack.enter_context(metrics.export_database_metrics(engine))
        cluster: Cluster | None = None
        if settings.uses_database_server:
            # Its libraries are slow to import, and a database file does not need them.
            from bot.cluster.setup import opened_cluster

            cluster = await stack.enter_async_context(opened_cluster(settings.database))
        pubsub: PubSub = cluster.pubsub if cluster else LocalPubSub()
        services = await stack.enter_async_context(_open_cluster_services(engine, pubsub))
        store = open_round_store(engine, plugins)
        budget = _budget(engine, panels.caps, services.now, store.deferred)
        gateway, prepare, remote, local = await stack.enter_async_context(
            _open_models(settings, panels, services, options)
        )
        file = settings.database_file
        claims = stack.enter_context(closing(lock_file_claims(file))) if file else None
        tracing = await stack.enter_async_context(
            open_tracing(settings.otlp_endpoint, settings.trace_headers)
        )

        async def on_closed(round_: Round) -> None:
            await run_closing_hooks(app_context, round_)

        paying: GatewayFactory = budget.paying
        runner: Runner
        if cluster and options.serves:
            from bot.runners.cluster import ClusterRunner

            runner = shared = ClusterRunner(
                store,
                gateway,
                prepare,
                cluster.job_queue,
                cluster.pubsub,
                paying,
                on_closed=on_closed,
                tracing=tracing,
                now=services.now,
            )
            await stack.enter_async_context(shared.running())
        else:
            if cluster:
                from bot.runners.cluster import locked_in_cluster

                paying = locked_in_cluster(cluster.job_queue, paying)
            runner = alone = LocalRunner(
                store,
                gateway,
                prepare,
                claims,
                paying,
                on_closed=on_closed,
                tracing=tracing,
                waits_for_room=options.serves,
            )
            stack.push_async_callback(alone.close)
        # A process that serves a chat has its claim, if there are claims.
        outbox = Outbox(SqlOutbox(engine), services.now, alone=claims is not None)
        app_context = AppContext(
            store,
            gateway,
            runner,
            outbox,
            panels.panels,
            panels.default,
            prepare,
            remote.health,
            now=services.now,
            budget=budget,
            key_values=SqlKeyValueStore(engine),
            registry=sources.own.registry,
            texts_days=panels.texts_days,
            access=panels.access,
            pubsub=pubsub,
            locks=services.locks,
            job_queue=cluster.job_queue if cluster and options.serves else None,
            judges=tuple(panels.seats[key].member for key in options.judges),
            is_local=options.local,
            claims=claims,
            leader_lock=SqlLeaderLock(engine) if cluster else leader_lock(claims),
            plugins=plugins,
            open_seat=partial(_open_seat, settings, sources, remote),
            parts=_new_parts(engine, settings, plugins, LocalModels(local.address)),
        )
        app_context.connections = _connections(app_context, settings, sources, remote)
        # They close before the runner, whose calls may still end.
        await _open_services(app_context, sources.own, stack, options)
        yield app_context


def _new_parts(engine: AsyncEngine, settings: Settings, plugins: Plugins, *own: object) -> Parts:
    """Return the parts of an application; what commands and buttons import is imported late."""
    parts = Parts(*own)
    parts.add_later(object, partial(open_plugin_stores, engine, settings, plugins))

    def commands() -> list[object]:
        from bot.commands.table import build_registry

        return [build_registry(plugins)]

    def buttons() -> list[object]:
        from bot.commands.buttons import build_buttons

        return [build_buttons(plugins)]

    parts.add_later(CommandRegistry, commands)
    parts.add_later(ButtonSet, buttons)
    return parts


async def _stop_decisions(app: AppContext) -> None:
    await cancel_and_wait([one.task for one in app.decisions.all() if one.task])


async def _open_services(
    app: AppContext, config: PanelConfig, stack: AsyncExitStack, options: StartOptions
) -> None:
    """Open the services of the plug-ins, in the order in which they build on each other.

    Then report which plug-ins have failed so far, and from now on each that fails. A process that
    serves loads now what others load when they need it.
    """
    if options.serves:
        app.parts.load()
        app.plugins.load_duties(lambda plugin: plugin.on_forgotten)
    stack.push_async_callback(_stop_decisions, app)
    for open_service in app.plugins.load(lambda plugin: plugin.services):
        service: Service = await open_service(app, config)
        stack.push_async_callback(service.close)
        app.parts.add(service)
    for sentence in (*failures(app.plugins), *map(str, app.registry.conflicts)):
        options.report(sentence)
    app.plugins.report = options.report


def _budget(
    engine: AsyncEngine, caps: Caps, now: Callable[[], datetime], costs: DeferredCosts
) -> Budget:
    key_values = SqlKeyValueStore(engine)
    return Budget(
        SqlLedger(engine, costs),
        caps,
        now,
        partial(own_budget, key_values),
        partial(chosen_caps, key_values),
    )


# --- The cluster: what the processes on one Postgres share, besides its rows.


@dataclass(frozen=True, slots=True)
class ClusterServices:
    """Rate limiter, locks, clock and provider hints; the defaults are those of a lone process."""

    rate_limiter: SharedRateLimiter | None = None
    locks: NamedLocks = field(default_factory=LocalLocks)
    now: Callable[[], datetime] = now
    publish_hint: Callable[[ProviderHint], None] = lambda _: None
    listen_to_hints: (
        Callable[[Callable[[ProviderHint], None]], Coroutine[None, None, None]] | None
    ) = None


@asynccontextmanager
async def _open_cluster_services(
    engine: AsyncEngine, pubsub: PubSub
) -> AsyncIterator[ClusterServices]:
    if engine.dialect.name != "postgresql":
        yield ClusterServices()
        return
    async with AsyncExitStack() as stack:
        connections = open_separate_pool(engine, SHARED_CONNECTIONS, SHARED_WAIT_SECONDS)
        stack.push_async_callback(connections.dispose)
        sync = ProviderSync(pubsub)
        stack.push_async_callback(sync.close)
        rate_limiter = SqlRateLimiter(connections, sync.publish_free_slot, _log_rate_limiter)
        stack.push_async_callback(rate_limiter.close)
        locks = SqlLocks(engine)
        stack.push_async_callback(locks.close)
        clock = SharedClock(partial(server_time, engine))
        await clock.sync()
        stack.enter_context(metrics.export_clock_offset(lambda: clock.behind_seconds))
        await stack.enter_async_context(running_alongside(clock.keep_in_sync()))
        listen = partial(sync.listen, rate_limiter.wake)
        yield ClusterServices(rate_limiter, LocalLocks(locks), clock.now, sync.publish, listen)


def _log_rate_limiter(is_shared: bool) -> None:
    """Log once that limits count for each process alone, and once that they are shared again."""
    metrics.LIMITED_ALONE.set(not is_shared)
    log = structlog.get_logger()
    if is_shared:
        log.info("turns_counted_together")
    else:
        log.warning("turns_counted_alone", why="the database that counts requests did not answer")


# --- Models


@asynccontextmanager
async def _open_models(
    settings: Settings, panels: PanelConfig, services: ClusterServices, options: StartOptions
) -> AsyncIterator[tuple[Gateway, Prepare, LitellmGateway, LocalGateway]]:
    """Yield the gateways to all, to remote and to local models; at the end stop what they run."""
    async with AsyncExitStack() as stack:
        local = LocalGateway(settings.model_dir, options.on_fetch)
        larger = LocalGateway(settings.model_dir, options.on_fetch, LOCAL_LARGE, LARGE)
        stack.push_async_callback(local.stop)
        stack.push_async_callback(larger.stop)
        remote = LitellmGateway(
            _seat_settings(panels.seats, settings, panels.plugins),
            panels.limits,
            shared=services.rate_limiter,
            publish=services.publish_hint,
        )
        stack.push_async_callback(remote.close)
        if services.listen_to_hints:
            await stack.enter_async_context(
                running_alongside(services.listen_to_hints(remote.apply_hint))
            )
        stack.enter_context(metrics.export_provider_metrics(remote.health))
        gateways = panels.plugins.load_by_name(lambda plugin: plugin.gateways)
        routes: dict[str, Gateway] = {
            **{f"{name}/": open_gateway(settings) for name, open_gateway in gateways.items()},
            "scripted/": ScriptedGateway(),
            f"{LOCAL}/": local,
            f"{LOCAL_LARGE}/": larger,
            "": remote,
        }

        async def prepare(panel: Panel) -> None:
            scrub.warm_up()
            import_module("council.tally.chance")  # numpy, before the round's time runs
            if any(seat.demonstration for seat in panel.seats):
                is_large = any(seat.key.startswith(f"{LOCAL_LARGE}/") for seat in panel.seats)
                await (larger if is_large else local).start()
            elif not all(is_built_in(seat, panels.plugins) for seat in panel.seats):
                await remote.warm()

        yield RoutingGateway(routes), prepare, remote, local


async def _warm_up(panels: PanelConfig) -> None:
    """Import litellm while the database is opened, if the default panel needs it."""
    panel = panels.panels.get(panels.default or "")
    if panel and not all(is_built_in(seat, panels.plugins) for seat in panel.seats):
        models = [seat.member.model_id for seat in panels.seats.values()]
        await asyncio.to_thread(load_warm, models)


def _seat_settings(
    seats: Mapping[str, Seat], settings: Settings, plugins: Plugins
) -> dict[str, SeatSettings]:
    return {
        key: SeatSettings(
            **seat.section.model_dump(include={*SeatSettings.__dataclass_fields__} - {"model"}),
            model=seat.member.model_id,
            api_key=settings.key_for(
                seat.member.model_id.partition("/")[0],
                seat.section.api_key_env,
                seat.section.api_base,
            ),
        )
        for key, seat in seats.items()
        if not is_built_in(seat.member, plugins)
    }


# --- Panels


@dataclass(frozen=True, slots=True)
class PanelSources:
    """The panels of council.toml, those offered for what was found here, and the demonstration."""

    own: PanelConfig
    offers: PanelConfig
    local: bool
    has_room: bool = False  # for the larger demo model, as the program started

    def merged(self, settings: Settings, chosen: str | None = None) -> PanelConfig:
        """Return every available panel, with those that were added on the page.

        Of panels with the same name, council.toml's is used, then the page's. The default is
        council.toml's, then the page's, then the first panel offered. With `local` it is the
        demonstration, or the panel of the page that was `chosen` since the start.
        """
        plugins = self.own.plugins
        connected, default = load_connected(settings.data_dir, plugins)
        parts = (self.offers, connected, self.own)
        panels = {name: panel for part in parts for name, panel in part.panels.items()}
        seats = {key: seat for part in parts for key, seat in part.seats.items()}
        first = self.offers.default or next(iter(connected.panels), None)
        used = self.own.default or default or first
        if self.local:
            panels[LOCAL] = demonstration_panel(DISPLAYS, SEATED_TWICE)
            if self.has_room:
                panels[LOCAL_LARGE] = demonstration_panel(LARGE_DISPLAYS, name=LOCAL_LARGE)
            used = chosen if chosen in connected.panels.keys() - self.own.panels else LOCAL
        seats = {key: _locate(seat, settings, plugins) for key, seat in seats.items()}
        panels = {name: _with_receivers(panel, seats) for name, panel in panels.items()}
        return replace(self.own, panels=panels, seats=seats, default=used)


def _locate(seat: Seat, settings: Settings, plugins: Plugins) -> Seat:
    """Return a seat whose receiver is true where the environment changes its provider's address."""
    model, base = seat.member.model_id, seat.section.api_base
    if base is None and not is_built_in(seat.member, plugins):
        base = settings.base_url(model.partition("/")[0])
    return replace(seat, member=replace(seat.member, receiver=receiver_of(model, base)))


def _with_receivers(panel: Panel, seats: Mapping[str, Seat]) -> Panel:
    """Return a panel whose members have the models and receivers of these seats.

    They differ where another file has a seat of the same name, which is then used.
    """

    def current(member: Member) -> Member:
        if member.key not in seats:
            return member
        used = seats[member.key].member
        fallback = member.fallback and current(member.fallback)
        return replace(member, model_id=used.model_id, receiver=used.receiver, fallback=fallback)

    return replace(
        panel,
        members=tuple(map(current, panel.members)),
        outside_judges=tuple(map(current, panel.outside_judges)),
        chairmen=tuple(map(current, panel.chairmen)),
        filter=panel.filter and current(panel.filter),
    )


async def find_panels(settings: Settings, *, local: bool) -> PanelSources:
    """Return the panels of council.toml, and of the API keys and the Ollama found here."""
    own = load_panel_config(settings.config_file)
    offers = default_panels(settings, await ollama_models(settings.ollama))
    return PanelSources(own, offers, local, has_room=free_bytes() >= LARGE_BYTES)


def missing_key(settings: Settings, seat: Seat, plugins: Plugins) -> str | None:
    """Return the variable of the API key that a seat lacks; None if it lacks none."""
    provider = seat.member.model_id.partition("/")[0]
    named = seat.section.api_key_env
    if is_built_in(seat.member, plugins) or seat.member.receiver:
        return None
    if settings.key_for(provider, named):
        return None
    return named or api_key_variable(provider)


def _open_seat(
    settings: Settings, sources: PanelSources, remote: LitellmGateway, key: str
) -> Member:
    """Return a model's seat, ready to be asked; raise PanelError if it is unknown or has no key."""
    fresh, plugins = settings.with_connected_keys(), sources.own.plugins
    seat = _locate(sources.merged(fresh).with_seats([key]).seats[key], fresh, plugins)
    if variable := missing_key(fresh, seat, plugins):
        raise PanelError(
            f"{seat.member.display} can't be asked: there is no key for it. Set {variable}, or "
            "connect its provider on the page, under Models."
        )
    remote.add_seats(_seat_settings({key: seat}, fresh, plugins))
    return seat.member


def _connections(
    app_context: AppContext, settings: Settings, sources: PanelSources, remote: LitellmGateway
) -> Connections:
    """Return what adds models on the page to this process."""

    async def activate(chosen: str | None) -> None:
        fresh = settings.with_connected_keys()
        panels = sources.merged(fresh, chosen or app_context.default)
        remote.add_seats(_seat_settings(panels.seats, fresh, sources.own.plugins))
        app_context.panels, app_context.default = panels.panels, panels.default

    async def try_seat(connection: Connection, seat: Seat) -> None:
        keys = ProviderKeys({connection.address: connection.key})
        using = settings.model_copy(update={"connected_keys": keys})
        gateway = LitellmGateway(
            _seat_settings({seat.member.key: seat}, using, sources.own.plugins)
        )
        try:
            async with asyncio.timeout(MODEL_SECONDS):
                await gateway.complete(Call(seat.member, PING))
        except (GatewayError, TimeoutError) as error:
            # Not chained: a traceback could show the key.
            raise model_refusal(connection.provider, seat.member.display, str(error)) from None

    return Connections(
        settings.data_dir,
        sources.own,
        sources.offers,
        settings.ollama,
        list_models,
        try_seat,
        activate,
    )


async def describe_local_models(settings: Settings) -> list[str]:
    """Return lines that describe the local models of this machine."""
    served = ", ".join(await ollama_models(settings.ollama)) or "not found"
    return [f"Ollama: {served}", f"demo models: {unsupported_reason() or 'can run here'}"]

"""Installed workspaces: found by team, connected when first needed, disconnected when uninstalled.

Each has its own client, whose token is rotated before it expires.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import structlog
from aiohttp import ClientError
from slack_sdk.errors import SlackTokenRotationError
from slack_sdk.oauth.installation_store import Bot, Installation
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator

from bot.bakeoffs.lifecycle import resume_bakeoffs_of_chat
from bot.chat import Chat, IncomingMessage, Post, SendEphemeral
from bot.commands.recovery import delete_workspace, deliver_pending, serve_chat
from bot.commands.round_delivery import RoundDelivery
from bot.context import AppContext
from bot.coordination.tasks import BackgroundTasks, running_alongside
from bot.ports import InstallationStore, PubSub
from bot.slack.client import RotatingClient, SlackError
from bot.slack.ephemeral import EphemeralReplies
from bot.slack.events import CHANNEL_CHANGED, UNINSTALLED
from bot.slack.messages import SlackChat
from bot.slack.workspace import CHAT, SlackLimits, Workspace
from council.errors import CouncilError
from council.places import Place
from council.ports import RoundQuery, RoundSummary

INSTALLATION_CHANGED = "slack installation"  # topic of the event bus: the id of a workspace
ROTATION_SECONDS = 2 * 3600.0  # before a token expires, as Bolt does
_RETRY_SECONDS = 60.0  # after a rotation that failed; the old token works until it expires

REVOKED = (
    "SLACK_BOT_TOKEN was revoked, so nothing can be posted: install the app again, set its "
    "new token, and start again."
)
REVOKED_IN = (
    "The token of {name} was revoked, so nothing can be posted there until the app is installed "
    "again."
)
UNINSTALLED_FROM = "The app was uninstalled from {name}: its rounds are deleted."


@dataclass(frozen=True, slots=True)
class Distribution:
    """What many workspaces need: the store of their installations, and the rotator of tokens."""

    store: InstallationStore
    rotator: AsyncTokenRotator

    async def rotate(
        self, team: str, client: RotatingClient, lock: AbstractAsyncContextManager[None]
    ) -> None:
        """Replace a client's token that expires soon, unless another process has done so."""
        client.refresh_at = time.time() + _RETRY_SECONDS
        try:
            async with lock:
                bot = await self.store.async_find_bot(enterprise_id=None, team_id=team)
                if bot is None:
                    return
                rotated = await self.rotator.perform_bot_token_rotation(
                    bot=bot, minutes_before_expiration=int(ROTATION_SECONDS / 60)
                )
                if rotated:
                    await self.store.async_save_bot(rotated)
        except (CouncilError, SlackTokenRotationError, ClientError, TimeoutError) as error:
            why = type(error).__name__
            structlog.get_logger().warning("slack_token_not_rotated", team=team, why=why)
            return
        _use_token(client, rotated or bot)


class Installations:
    """The connected workspaces by team id; only the one of a single token without `distribution`.

    `ended` is set once the app of a single token was uninstalled.
    """

    def __init__(
        self,
        app: AppContext,
        client: RotatingClient,
        limits: SlackLimits,
        report: Callable[[str], None],
        distribution: Distribution | None = None,
    ) -> None:
        self._app = app
        self._client = client
        self._limits = limits
        self._report = report
        self._distribution = distribution
        self._connected: dict[str, Workspace] = {}
        self._connecting = asyncio.Lock()
        self._uninstalling = set[str]()
        self._tasks, self._rotations = BackgroundTasks(), BackgroundTasks()
        self._is_serving = False
        self.ended = asyncio.Event()
        self.delivery = RoundDelivery(
            *(app, CHAT, RoundQuery(chats=(CHAT,)), self._new_chat, self._send_ephemeral),
            serves=lambda place: place.workspace in self._connected,
        )

    # --- The connected workspaces

    def add(self, workspace: Workspace) -> None:
        """Connect a workspace."""
        self._connected[workspace.team] = workspace

    def get(self, team: str) -> Workspace | None:
        """Return a connected workspace, else None."""
        return self._connected.get(team)

    def all(self) -> list[Workspace]:
        """Return every connected workspace."""
        return list(self._connected.values())

    async def find(
        self, team: str, enterprise: str | None = None, *, is_enterprise_install: bool = False
    ) -> Workspace | None:
        """Return a workspace, connecting it if its team or organisation has installed the app.

        Raise CouncilError, which says what to do, if its token cannot be decrypted.
        """
        if team in self._connected or self._distribution is None or not team:
            return self._connected.get(team)
        store = self._distribution.store
        async with self._connecting:
            if team in self._connected:
                return self._connected[team]
            bot = await store.async_find_bot(
                enterprise_id=enterprise,
                team_id=team,
                is_enterprise_install=is_enterprise_install,
            )
            if bot is None:
                return None
            if bot.is_enterprise_install:
                await store.save_team_of_enterprise(team, bot.enterprise_id or "")
            workspace = self._new_workspace(self._distribution, team, bot)
            await self._connect(workspace)
        return workspace

    async def connect_all(self) -> None:
        """Connect every workspace that has installed the app, and disconnect the others.

        Raise CouncilError, which says what to do, if a token cannot be decrypted.
        """
        if self._distribution is None:
            return
        teams = await self._distribution.store.list_team_ids()
        unreadable: CouncilError | None = None
        for team in {*teams, *self._connected}:
            try:
                await self.reload(team)
            except CouncilError as error:
                unreadable = error
        if unreadable:
            raise unreadable

    async def reload(self, team: str) -> None:
        """Use the newest token of a workspace; disconnect it if it has none any more."""
        if self._distribution is None:
            return
        workspace = self._connected.get(team)
        bot = await self._distribution.store.async_find_bot(enterprise_id=None, team_id=team)
        if bot is None:
            await self._disconnect(team)
        elif workspace is None:
            await self.find(team)
        elif isinstance(workspace.client, RotatingClient):
            _use_token(workspace.client, bot)
            workspace.scopes = frozenset(bot.bot_scopes)

    async def _connect(self, workspace: Workspace) -> None:
        """Connect a workspace; deliver what an earlier installation left undelivered."""
        team = workspace.team
        pending: Sequence[RoundSummary] = ()
        self._uninstalling.discard(team)
        resumes = self._is_serving and self._app.job_queue is None
        if resumes:  # read before it is connected: rounds asked from now on deliver themselves
            wanted = RoundQuery(chats=(CHAT,), workspace=team, undelivered=True)
            pending = await self._app.store.list_summaries(wanted=wanted)
        self._connected[team] = workspace
        for line in reversed(pending):
            workspace.tasks.start(deliver_pending(self.delivery, line))
        if resumes:
            await resume_bakeoffs_of_chat(
                self._app, CHAT, lambda place: self.chat(place) if place.workspace == team else None
            )

    async def _disconnect(self, team: str) -> None:
        """Stop everything that this process does for a workspace; its rounds stay stored."""
        if workspace := self._connected.pop(team, None):
            await workspace.tasks.close()
            await self._app.bakeoff_registry.stop(CHAT, team)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Deliver rounds and follow what other processes notice, for the duration of the block."""
        pubsub, pending = self._app.pubsub, await self.delivery.undelivered()
        self._app.chats[CHAT] = self.chat
        watchers = (
            self._watch(pubsub, CHANNEL_CHANGED, self._forget_channel),
            self._watch(pubsub, UNINSTALLED, self._on_uninstalled_elsewhere),
            self._watch(pubsub, INSTALLATION_CHANGED, self._on_installation_changed),
        )
        try:
            async with (
                running_alongside(*watchers),
                serve_chat(self.delivery, self.chat, pending, self._tasks_for),
            ):
                self._is_serving = True
                yield
        finally:
            self._app.chats.pop(CHAT, None)
            for workspace in self.all():
                await workspace.tasks.close()
            await self._tasks.close()
            await self._rotations.settled()
            await self._app.bakeoff_registry.stop(CHAT)

    # --- Installations that begin and end

    async def on_installed(self, installation: Installation) -> None:
        """Connect a workspace that has just installed the app, here and in every process."""
        team, enterprise = installation.team_id or "", installation.enterprise_id or ""
        teams = [team] if team else []
        if self._distribution and not team:
            teams = await self._distribution.store.list_team_ids(enterprise)
        for one in teams:
            await self.reload(one)
            await self._app.pubsub.publish(INSTALLATION_CHANGED, one)
        name = installation.team_name or installation.enterprise_name
        self._report(f"Slack: the app was installed in {name or team}.")

    async def revoke(self, team: str, enterprise: str) -> None:
        """Stop a workspace or organisation whose token was revoked; its rounds stay stored."""
        if self._distribution is None:
            if team in self._connected:
                self._report(f"Slack: {REVOKED}")
            return
        teams = [team] if team else await self._distribution.store.list_team_ids(enterprise)
        await self._distribution.store.revoke(team or enterprise)
        for one in teams:
            if workspace := self.get(one):
                self._report(f"Slack: {REVOKED_IN.format(name=workspace.name)}")
            await self._app.pubsub.publish(INSTALLATION_CHANGED, one)
            self._start(self.reload(one))

    async def uninstall(self, team: str, enterprise: str) -> None:
        """Start to delete what a workspace or organisation leaves, in every process."""
        teams = [team]
        if self._distribution and enterprise:
            store = self._distribution.store
            teams = await store.list_team_ids(enterprise)
            await store.revoke(enterprise)
            await store.delete_revoked(enterprise)
        for one in teams:
            await self._app.pubsub.publish(UNINSTALLED, one)
            self._start(self._uninstall(one))

    async def _uninstall(self, team: str) -> None:
        """Delete what a workspace leaves; the others are not affected."""
        is_ours = self._distribution is not None or team in self._connected
        if not team or not is_ours or team in self._uninstalling:
            return
        self._uninstalling.add(team)
        workspace = self.get(team)
        try:
            if self._distribution:
                await self._distribution.store.revoke(team)  # so that no process connects it
            await self._disconnect(team)
            await delete_workspace(self._app, CHAT, team)
            if self._distribution:
                await self._distribution.store.delete_revoked(team)
                name = workspace.name if workspace else team
                self._report(f"Slack: {UNINSTALLED_FROM.format(name=name)}")
        finally:
            if self._distribution is None:
                self.ended.set()

    async def _on_uninstalled_elsewhere(self, team: str) -> None:
        await self._uninstall(team)

    async def _on_installation_changed(self, team: str) -> None:
        await (self.reload(team) if team else self.connect_all())  # "": some may be missed

    async def _forget_channel(self, channel: str) -> None:
        for workspace in self.all():
            workspace.forget_channel(channel)

    async def _watch(
        self, pubsub: PubSub, topic: str, handle: Callable[[str], Awaitable[None]]
    ) -> None:
        with pubsub.subscription(topic) as subscription:
            while True:
                await self._reporting(handle(await subscription.get()))

    def _start(self, work: Awaitable[None]) -> None:
        self._tasks.start(self._reporting(work))

    async def _reporting(self, work: Awaitable[None]) -> None:
        try:
            await work
        except CouncilError as error:
            self._report(f"Slack: {error}")

    # --- Chats

    def chat(self, place: Place) -> Chat | None:
        """Return the chat of a place, or None if its workspace is not connected."""
        workspace = self.get(place.workspace)
        return SlackChat(workspace) if workspace else None

    async def _new_chat(self, place: Place, send_ephemeral: SendEphemeral) -> Chat:
        workspace = await self.find(place.workspace)
        if workspace is None:
            raise SlackError("The app is not installed in this workspace any more.")
        return SlackChat(workspace, send_ephemeral)

    async def _send_ephemeral(self, message: IncomingMessage, post: Post) -> None:
        if workspace := self.get(message.place.workspace):
            await EphemeralReplies(workspace)(message, post)

    def _tasks_for(self, place: Place) -> BackgroundTasks:
        workspace = self.get(place.workspace)
        return workspace.tasks if workspace else self._tasks

    def _new_workspace(self, distribution: Distribution, team: str, bot: Bot) -> Workspace:
        is_shared = bot.is_enterprise_install
        client = self._client.with_token(bot.bot_token, team if is_shared else None)
        _use_token(client, bot)
        rotation: asyncio.Future[None] | None = None
        lock = f"slack token {bot.enterprise_id if is_shared else team}"

        async def refresh() -> str:
            nonlocal rotation
            if rotation is None or rotation.done():
                work = distribution.rotate(team, client, self._app.locks.lock(lock))
                rotation = asyncio.ensure_future(work)
                self._rotations.start(rotation)
            # A cancelled call must not lose the new token: Slack takes a refresh token once.
            await asyncio.shield(rotation)
            return client.token or ""

        client.refresh = refresh
        scopes = frozenset(bot.bot_scopes)
        name = bot.team_name or bot.enterprise_name or team
        return Workspace(client, team, bot.bot_user_id, scopes, self._limits, bot.bot_id, name)


def _use_token(client: RotatingClient, bot: Bot) -> None:
    client.token = bot.bot_token
    if bot.bot_token_expires_at is not None:
        client.refresh_at = bot.bot_token_expires_at - ROTATION_SECONDS

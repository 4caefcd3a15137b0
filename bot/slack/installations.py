"""Installed workspaces: found by team, connected when first needed, disconnected when uninstalled.

Each has its own client, whose token is rotated before it expires.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import structlog
from aiohttp import ClientError
from slack_sdk.errors import SlackTokenRotationError
from slack_sdk.oauth.installation_store import Bot, Installation
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator

from bot.chat import Chat, IncomingMessage, Post, SendEphemeral
from bot.commands.recovery import delete_workspace, deliver_pending, serve_chat
from bot.commands.round_delivery import RoundDelivery
from bot.context import AppContext
from bot.coordination.tasks import BackgroundTasks, running_alongside
from bot.services import Service
from bot.slack.client import RotatingClient, SlackError
from bot.slack.ephemeral import EphemeralReplies
from bot.slack.events import CHANNEL_CHANGED, UNINSTALLED
from bot.slack.history import HistoryLimit
from bot.slack.messages import SlackChat
from bot.slack.workspace import CHAT, SlackLimits, Workspace
from council.errors import CouncilError
from council.places import Place
from council.ports import RoundQuery, RoundSummary
from storage.installations import SqlInstallationStore

INSTALLATION_CHANGED = "slack installation"  # topic of the event bus: the id of a workspace
ROTATION_SECONDS = 2 * 3600.0  # before a token expires, as Bolt does
_RETRY_SECONDS = 60.0  # after a rotation that failed; the old token works until it expires

REVOKED = (
    "SLACK_BOT_TOKEN was revoked, so nothing can be posted. Install the app again, set its new "
    "token, and restart."
)
REVOKED_IN = (
    "The token of {name} was revoked, so nothing can be posted there until the app is installed "
    "again."
)
UNINSTALLED_FROM = "The app was uninstalled from {name}: its rounds are deleted."


class Installations:
    """The connected workspaces by team id; without a rotator, only the one of a single token.

    `ended` is set once the app of a single token was uninstalled.
    """

    def __init__(
        self,
        app: AppContext,
        client: RotatingClient,
        limits: SlackLimits,
        report: Callable[[str], None],
        rotator: AsyncTokenRotator | None = None,
    ) -> None:
        self._app = app
        self._client = client
        self._limits = limits
        self._report = report
        self._rotator = rotator
        self._store = app.parts.find(SqlInstallationStore) if rotator else None
        self.connected: dict[str, Workspace] = {}
        self._connecting = asyncio.Lock()
        self._uninstalling = set[str]()
        self._tasks, self._rotations = BackgroundTasks(), BackgroundTasks()
        self._is_serving = False
        self.ended = asyncio.Event()
        self._delivery = RoundDelivery(
            app=app,
            teller=CHAT,
            wanted=RoundQuery(chats=(CHAT,)),
            new_chat=self._new_chat,
            send_ephemeral=self._send_ephemeral,
            serves=lambda place: place.workspace in self.connected,
        )

    # --- The connected workspaces

    async def find(
        self, team: str, enterprise: str | None = None, *, is_enterprise_install: bool = False
    ) -> Workspace | None:
        """Return a workspace, connecting it if its team or organisation has installed the app.

        Raise CouncilError, which says what to do, if its token cannot be decrypted.
        """
        if team in self.connected or self._store is None or not team:
            return self.connected.get(team)
        async with self._connecting:
            if team not in self.connected:
                bot = await self._store.async_find_bot(
                    enterprise_id=enterprise,
                    team_id=team,
                    is_enterprise_install=is_enterprise_install,
                )
                if bot is None:
                    return None
                if bot.is_enterprise_install:
                    await self._store.save_team_of_enterprise(team, bot.enterprise_id or "")
                await self._connect(self._new_workspace(team, bot))
        return self.connected.get(team)

    async def connect_all(self) -> None:
        """Connect every workspace that has installed the app, and disconnect the others.

        Raise CouncilError, which says what to do, if a token cannot be decrypted.
        """
        unreadable: CouncilError | None = None
        teams = await self._store.list_team_ids() if self._store else []
        for team in {*teams, *self.connected}:
            try:
                await self._reload(team)
            except CouncilError as error:
                unreadable = error
        if unreadable:
            raise unreadable

    async def _reload(self, team: str) -> None:
        """Use the newest token of a workspace; disconnect it if it has none any more."""
        if not team:  # messages may have been missed
            await self.connect_all()
        elif self._store:
            bot = await self._store.async_find_bot(enterprise_id=None, team_id=team)
            if bot is None:
                await self._disconnect(team)
            elif workspace := self.connected.get(team):
                _use_token(workspace.client, bot)
                workspace.scopes = frozenset(bot.bot_scopes)
            else:
                await self.find(team)

    async def _connect(self, workspace: Workspace) -> None:
        """Connect a workspace; deliver what an earlier installation left undelivered."""
        team, pending = workspace.team, tuple[RoundSummary, ...]()
        resumes = self._is_serving and self._app.job_queue is None
        if resumes:  # read before it is connected: rounds asked from now on deliver themselves
            query = RoundQuery(chats=(CHAT,), workspace=team, undelivered=True)
            pending = await self._app.store.list_summaries(wanted=query)
        self._uninstalling.discard(team)
        self.connected[team] = workspace
        for line in reversed(pending):
            workspace.tasks.start(deliver_pending(self._delivery, line))
        if resumes:

            def find_chat(place: Place) -> Chat | None:
                return self.chat(place) if place.workspace == team else None

            for service in self._app.parts.all(Service):
                await service.resume_workspace(CHAT, find_chat)

    async def _disconnect(self, team: str) -> None:
        """Stop everything that this process does for a workspace; its rounds stay stored."""
        if workspace := self.connected.pop(team, None):
            await workspace.tasks.close()
            for service in self._app.parts.all(Service):
                await service.stop_chat(CHAT, team)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Deliver rounds and follow what other processes notice, for the duration of the block."""
        pending = await self._delivery.undelivered()
        self._app.chats[CHAT] = self.chat
        try:
            async with (
                running_alongside(
                    self._watch(CHANNEL_CHANGED, self._forget_channel),
                    self._watch(UNINSTALLED, self._uninstall),
                    self._watch(INSTALLATION_CHANGED, self._reload),
                ),
                serve_chat(self._delivery, self.chat, pending, self._tasks_for),
            ):
                self._is_serving = True
                yield
        finally:
            self._app.chats.pop(CHAT, None)
            for workspace in self.connected.values():
                await workspace.tasks.close()
            await self._tasks.close()
            await self._rotations.settled()
            for service in self._app.parts.all(Service):
                await service.stop_chat(CHAT)

    async def _watch(self, topic: str, handle: Callable[[str], Awaitable[None]]) -> None:
        with self._app.pubsub.subscription(topic) as subscription:
            while True:
                await self._reporting(handle(await subscription.get()))

    async def _reporting(self, work: Awaitable[None]) -> None:
        try:
            await work
        except CouncilError as error:
            self._report(f"Slack: {error}")

    async def _forget_channel(self, channel: str) -> None:
        for workspace in self.connected.values():
            workspace.forget_channel(channel)

    # --- Installations that begin and end

    async def on_installed(self, installation: Installation) -> None:
        """Connect a workspace or organisation that has just installed the app, in every process."""
        team, enterprise = installation.team_id, installation.enterprise_id or ""
        for one in await self._teams(team or "", enterprise):
            await self._app.pubsub.publish(INSTALLATION_CHANGED, one)
        name = installation.team_name or installation.enterprise_name
        self._report(f"Slack: the app was installed in {name}.")

    async def revoke(self, team: str, enterprise: str) -> None:
        """Stop a workspace or organisation whose token was revoked; its rounds stay stored."""
        teams = await self._teams(team, enterprise)
        if self._store:
            await self._store.revoke(team or enterprise)
        for one in teams:
            if workspace := self.connected.get(one):
                why = REVOKED_IN.format(name=workspace.name) if self._store else REVOKED
                self._report(f"Slack: {why}")
            await self._app.pubsub.publish(INSTALLATION_CHANGED, one)

    async def uninstall(self, team: str, enterprise: str) -> None:
        """Start to delete what a workspace or organisation leaves, in every process."""
        teams = await self._teams(team, enterprise)
        if self._store and enterprise:
            await self._store.revoke(enterprise)
            await self._store.delete_revoked(enterprise)
        for one in teams:
            await self._app.pubsub.publish(UNINSTALLED, one)
            self._tasks.start(self._reporting(self._uninstall(one)))

    async def _teams(self, team: str, enterprise: str) -> list[str]:
        if team:
            return [team]
        if self._store is None:
            return list(self.connected)
        return await self._store.list_team_ids(enterprise)

    async def _uninstall(self, team: str) -> None:
        """Delete what a workspace leaves; the others are not affected."""
        workspace = self.connected.get(team)
        if not team or team in self._uninstalling or not (workspace or self._store):
            return
        self._uninstalling.add(team)
        try:
            if self._store:
                await self._store.revoke(team)  # so that no process connects it
            await self._disconnect(team)
            await delete_workspace(self._app, CHAT, team)
            if self._store:
                await self._store.delete_revoked(team)
                name = workspace.name if workspace else team
                self._report(f"Slack: {UNINSTALLED_FROM.format(name=name)}")
        finally:
            if self._store is None:
                self.ended.set()

    # --- Chats and clients

    def chat(self, place: Place) -> Chat | None:
        """Return the chat of a place, or None if its workspace is not connected."""
        workspace = self.connected.get(place.workspace)
        return SlackChat(workspace) if workspace else None

    async def _new_chat(self, place: Place, send_ephemeral: SendEphemeral) -> Chat:
        if workspace := await self.find(place.workspace):
            return SlackChat(workspace, send_ephemeral)
        raise SlackError("The app is no longer installed in this workspace.")

    async def _send_ephemeral(self, message: IncomingMessage, post: Post) -> None:
        if workspace := self.connected.get(message.place.workspace):
            await EphemeralReplies(workspace)(message, post)

    def _tasks_for(self, place: Place) -> BackgroundTasks:
        workspace = self.connected.get(place.workspace)
        return workspace.tasks if workspace else self._tasks

    def _new_workspace(self, team: str, bot: Bot) -> Workspace:
        client = self._client.with_token("", team if bot.is_enterprise_install else None)
        lock = f"slack token {bot.enterprise_id if bot.is_enterprise_install else team}"
        rotation: asyncio.Future[None] | None = None

        async def refresh() -> None:
            nonlocal rotation
            if rotation is None or rotation.done():
                rotation = asyncio.ensure_future(self._rotate(team, client, lock))
                self._rotations.start(rotation)
            # A cancelled call must not lose the new token: Slack takes a refresh token once.
            await asyncio.shield(rotation)
            client.refresh_at = max(client.refresh_at, time.time() + _RETRY_SECONDS)

        client.refresh = refresh
        _use_token(client, bot)
        scopes, name = frozenset(bot.bot_scopes), bot.team_name or bot.enterprise_name or team
        return Workspace(
            client,
            team,
            bot_user=bot.bot_user_id,
            scopes=scopes,
            limits=self._limits,
            bot_id=bot.bot_id,
            name=name,
            history_limit=HistoryLimit(team, self._app.key_values, self._app.now),
        )

    async def _rotate(self, team: str, client: RotatingClient, lock: str) -> None:
        """Replace a client's token that expires soon, unless another process has done so."""
        try:
            async with self._app.locks.lock(lock):
                if not (self._store and self._rotator) or not (
                    bot := await self._store.async_find_bot(enterprise_id=None, team_id=team)
                ):
                    return
                minutes = int(ROTATION_SECONDS / 60)
                rotated = await self._rotator.perform_bot_token_rotation(
                    bot=bot, minutes_before_expiration=minutes
                )
                if rotated:
                    await self._store.async_save_bot(rotated)
                _use_token(client, rotated or bot)
        except (CouncilError, SlackTokenRotationError, ClientError, TimeoutError) as error:
            why = type(error).__name__
            structlog.get_logger().warning("slack_token_not_rotated", team=team, why=why)


def _use_token(client: RotatingClient, bot: Bot) -> None:
    client.token = bot.bot_token
    if bot.bot_token_expires_at is not None:
        client.refresh_at = bot.bot_token_expires_at - ROTATION_SECONDS

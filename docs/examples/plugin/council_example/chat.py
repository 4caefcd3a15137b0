"""A chat: it takes a question by POST /webhook, and posts Markdown to an address.

Settings: WEBHOOK_URL is where to post, WEBHOOK_TOKEN what a question must bring as its bearer.
"""

import asyncio
import hmac
from collections.abc import Callable, Sequence

import httpx
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bot.chat import (
    Asker,
    Chat,
    ChatUnreachableError,
    IncomingMessage,
    MessageGoneError,
    Post,
    PostingForbiddenError,
    SendEphemeral,
    SentMessage,
    Thread,
    event_key,
)
from bot.chats import ChatPlugin, ChatRoute, RunningChat
from bot.commands.dispatch import handle_message
from bot.commands.recovery import serve_chat
from bot.commands.round_delivery import RoundDelivery
from bot.context import AppContext
from bot.coordination.tasks import BackgroundTasks
from bot.render.markdown import thread_markdown
from bot.settings import Settings, SettingsError
from council.places import Place
from council.ports import RoundQuery

NAME = "webhook"
PLACE = Place(NAME, "", "all")
SECONDS = 10.0


class WebhookChat(Chat):
    """Posts messages; nothing can be edited, so it posts no progress."""

    is_room = True
    shows_progress = False

    def __init__(self, client: httpx.AsyncClient, url: str) -> None:
        self._client = client
        self._url = url
        self._sent: dict[str, SentMessage] = {}

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        """Post a message, with its key, by which the receiver knows a repeated one."""
        message = {"key": key, "thread": place.thread, "markdown": thread_markdown(Thread(post))}
        try:
            response = await self._client.post(self._url, json=message, timeout=SECONDS)
        except httpx.HTTPError as error:
            raise ChatUnreachableError(f"WEBHOOK_URL does not answer ({error}).") from None
        if response.is_server_error:
            raise ChatUnreachableError(f"WEBHOOK_URL answered {response.status_code}.")
        if response.is_error:
            raise PostingForbiddenError(f"WEBHOOK_URL refused a message ({response.status_code}).")
        self._sent[key] = SentMessage(place, key)
        return self._sent[key]

    async def find(self, place: Place, key: str) -> SentMessage | None:
        """Return a message of this process; after a restart the receiver knows it by its key."""
        return self._sent.get(key)

    async def edit(self, sent: SentMessage, post: Post) -> None:
        """Post the new text as another message."""
        raise MessageGoneError("Messages of a webhook can't be edited.")

    async def send_ephemeral(self, message: IncomingMessage, post: Post) -> None:
        """Post the reply: everybody here reads everything."""
        await self.send(message.place, post, f"{message.key}-reply")


class RunningWebhook(RunningChat):
    """Takes questions, and delivers those that an earlier process left."""

    def __init__(
        self, app: AppContext, url: str, token: str, report: Callable[[str], None]
    ) -> None:
        self._app = app
        self._url = url
        self._token = token
        self._report = report
        self._tasks = BackgroundTasks()
        self._chat: WebhookChat | None = None

    @property
    def routes(self) -> Sequence[ChatRoute]:
        """Return the route of questions."""
        return [ChatRoute("/webhook", self._receive, ["POST"])]

    @property
    def is_ready(self) -> bool:
        """Return whether it runs."""
        return self._chat is not None

    async def run(self) -> None:
        """Serve until cancelled."""
        async with httpx.AsyncClient() as client:
            chat = self._chat = WebhookChat(client, self._url)

            async def new_chat(_: Place, __: SendEphemeral) -> Chat:
                return chat

            delivery = RoundDelivery(
                self._app, NAME, RoundQuery(chats=(NAME,)), new_chat, chat.send_ephemeral
            )
            self._app.chats[NAME] = lambda _: chat
            await self._app.runner.resume((NAME,))
            pending = await delivery.undelivered()
            try:
                async with serve_chat(delivery, lambda _: chat, pending, lambda _: self._tasks):
                    self._report(f"Webhook: POST /webhook, answers go to {self._url}")
                    await asyncio.Event().wait()
            finally:
                self._chat = None
                await self._tasks.close()

    async def _receive(self, request: Request) -> Response:
        """Take a question as `{"id": …, "from": …, "text": …}`, and answer at once."""
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(given.encode(), self._token.encode()):
            return JSONResponse({"error": "The token is wrong."}, 401)
        if self._chat is None:
            return JSONResponse({"error": "Not ready yet. Send it again."}, 503)
        try:
            document = await request.json()
            asker, event = str(document["from"])[:80], str(document["id"])[:80]
            text = str(document["text"])
        except (KeyError, TypeError, ValueError, RecursionError):
            return JSONResponse({"error": 'Send {"id": …, "from": …, "text": …}.'}, 422)
        message = IncomingMessage(text, Asker(asker, asker), PLACE, event_key(NAME, event))
        self._tasks.start(handle_message(self._app, self._chat, message))
        return JSONResponse({"id": message.key}, 202)


class WebhookPlugin(ChatPlugin):
    """The chat by webhook."""

    title = "Webhook"

    def missing(self, settings: Settings) -> str:
        """Return which of its two settings is not set."""
        names = [name for name in ("WEBHOOK_URL", "WEBHOOK_TOKEN") if not settings.secret(name)]
        return f"{names[0]} is not set" if names else ""

    def start(
        self, app: AppContext, settings: Settings, report: Callable[[str], None]
    ) -> RunningChat:
        """Return the chat, ready to run."""
        url, token = (settings.secret(name) for name in ("WEBHOOK_URL", "WEBHOOK_TOKEN"))
        if url is None or token is None:
            raise SettingsError([f"Webhook: {self.missing(settings)}"])
        return RunningWebhook(app, url.get_secret_value(), token.get_secret_value(), report)


WEBHOOK = WebhookPlugin()

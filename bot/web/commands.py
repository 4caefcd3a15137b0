"""Commands and buttons of the chats on the page: what they post is shown as a page."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import ClassVar

from starlette.requests import Request
from starlette.responses import Response

from bot.chat import Chat, IncomingMessage, Post, SentMessage
from bot.commands.button_registry import buttons_of
from bot.commands.dispatch import report_errors, show_commands
from bot.context import AppContext
from bot.web.auth import Form, FormError, empty_message
from bot.web.context import WebContext
from council.places import Place

Command = Callable[[AppContext, Chat, IncomingMessage, str], Awaitable[None]]


@dataclass(slots=True)
class PageChat(Chat):
    """Chat adapter that collects posts for the page that answers a form."""

    shows_progress: ClassVar[bool] = False
    posts: list[Post] = field(default_factory=list)

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        """Collect a post."""
        self.posts.append(post)
        return SentMessage(place, str(len(self.posts)))

    async def find(
        self, place: Place, key: str, age_seconds: float | None = None
    ) -> SentMessage | None:
        """Return None: nothing is ever sent twice."""
        return None

    async def edit(self, sent: SentMessage, post: Post) -> None:
        """Replace a collected post."""
        self.posts[int(sent.message) - 1] = post

    async def send_ephemeral(self, incoming: IncomingMessage, post: Post) -> None:
        """Collect a post: only the visitor sees the page."""
        self.posts.append(post)


async def press_button(context: WebContext, request: Request, form: Form) -> Response:
    """Handle a button of a proposal on the page."""
    action = request.path_params["action"]
    known = buttons_of(context.app)
    if action not in known.proposals:
        raise FormError("There is no such button.", 404)
    return await run_command(context, request, known.handlers[action], form["value"])


async def run_command(
    context: WebContext, request: Request, command: Command, value: str
) -> Response:
    """Run a command of the chats and show what it posts."""
    chat, incoming = PageChat(), empty_message(request)
    await report_errors(chat, incoming, command(context.app, chat, incoming, value))
    return await context.render_page(request, "said.html", posts=chat.posts, said="")


async def help_page(context: WebContext, request: Request) -> Response:
    """Show what can be typed and pressed."""
    chat = PageChat()
    await show_commands(context.app, chat, empty_message(request), {})
    return await context.render_page(request, "help.html", shown=chat.posts[0])

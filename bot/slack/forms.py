"""The modal to ask in: opened where somebody is, and what it was filled with, taken in."""

from dataclasses import replace

from bot.chat import Said
from bot.commands.ask import opened
from bot.commands.context import Desk
from bot.commands.rounds import context_of, round_at
from bot.slack import asking
from bot.slack.asking import Form
from bot.slack.hearing import Body, Heard, check_welcome, known
from bot.slack.modals import open_view
from bot.slack.reading import plain_text
from bot.slack.workspace import Workspace
from council.places import Place
from council.rounds import Round


async def open_form(
    desk: Desk, workspace: Workspace, said: Said, trigger: str, message: Body
) -> None:
    """Open the modal, about a message where there is one."""
    about = await _about(desk, workspace, said.place, message) if message else ""
    await desk.look_up(said.place)
    view = asking.ask_view(desk, workspace, replace(said, context=about))
    await open_view(workspace.client, trigger, view)


async def _about(desk: Desk, workspace: Workspace, place: Place, message: Body) -> str:
    """Give what a message says; of one of the council's, its question and the whole answer."""
    if message.get("user") == workspace.bot:
        round_ = await round_at(desk, place, str(message["ts"]))
        return context_of([round_]) if round_ else ""
    return await plain_text(str(message.get("text") or ""), workspace.people.named)


async def taken_in(desk: Desk, workspace: Workspace, body: Body) -> tuple[Said, Round | None]:
    """Give what a modal that was sent asks for, and its new round; None if it was sent before.

    Raises CouncilError for what is wrong with it.
    """
    view, user = body["view"], str(body["user"]["id"])
    own = await workspace.own_channel(user) if asking.wants_own_channel(view) else ""
    form = asking.read_form(view, workspace.team, own)
    await check_welcome(workspace, user, form.place.channel)
    said = await _said(workspace, form, user, f"view {view['id']}")
    return said, await opened(desk, said, said.text, form.choice)


async def _said(workspace: Workspace, form: Form, user: str, event: str) -> Said:
    heard = Heard(form.question, user, form.place.channel, event, form.place.thread)
    return replace(await known(workspace, heard), context=form.context)

"""The commands that show: help, panel, rounds, show."""

from bot.access import allows, listable
from bot.chat import Chat, Heading, Note, Post, Said, Table
from bot.commands.desk import Desk
from bot.commands.meant import LAST, meant
from bot.render.formatting import counted, names_of
from bot.render.round_report import report, state_of
from bot.render.round_status import receivers
from bot.render.text_safety import in_one_line
from council.errors import RoundNotFoundError
from council.rounds import Round, Stage

SHOWN_ROUNDS = 10
QUESTION_LENGTH = 60


async def show_panel(desk: Desk, chat: Chat, said: Said, name: str) -> None:
    """List the panels, or pick one for this place."""
    if name:
        panel = desk.panel(name, said.place)
        await desk.pick(name, said.place)
        seats = names_of(panel)
        seated = tuple((seats[seat.key], seat.key, seat.family) for seat in panel.judges)
        note = Note(f"Questions here go to panel {name} now, that is to {receivers(panel)}.")
        table = Table(("Seat", "Key", "Family"), seated)
        await chat.whisper(said, Post((Heading(f"Panel {name}"), table, note)))
        return
    current = desk.panel_name(said.place)
    rows = tuple(
        (f"{panel.name}{' (in use)' if panel.name == current else ''}", _seats(panel.name, desk))
        for panel in desk.panels.values()
        if allows(desk.access, said.place, panel)
    )
    note = Note("`/council panel NAME` picks one; `panel:NAME` before a question, for that one.")
    await chat.whisper(said, Post((Heading("Panels"), Table(("Panel", "Members"), rows), note)))


def _seats(name: str, desk: Desk) -> str:
    names = names_of(desk.panels[name])
    return ", ".join(names[seat.key] for seat in desk.panels[name].members)


async def show_rounds(desk: Desk, chat: Chat, said: Said, limit: str) -> None:
    """List the newest rounds."""
    wanted = listable(said)
    lines = await desk.store.recent(int(limit) if limit else SHOWN_ROUNDS, wanted)
    if not lines:
        await chat.whisper(said, Post((Note("No round has been held yet."),)))
        return
    rows = tuple(
        (
            line.id,
            f"{line.asked_at:%Y-%m-%d %H:%M}",
            state_of(line),
            in_one_line(line.question, QUESTION_LENGTH),
        )
        for line in lines
    )
    table = Table(("Round", "Asked (UTC)", "Stage", "Question"), rows)
    note = Note("`/council show ROUND` opens one.")
    await chat.whisper(said, Post((Heading(counted(len(rows), "round")), table, note)))


async def show_round(desk: Desk, chat: Chat, said: Said, wanted: str) -> None:
    """Show a stored round as it was posted; `last` is the newest.

    In a room the buttons under the answer open the rest.
    """
    round_ = await meant_or_last(desk, said, wanted)
    if round_.stage is not Stage.CLOSED and not round_.forgotten:
        line = f"Round {round_.id} is still at stage {round_.stage.value}."
        await chat.whisper(said, Post((Note(line),)))
        return
    thread = report(round_)
    for post in (thread.root, *(() if chat.is_room else thread.replies)):
        await chat.whisper(said, post)


async def meant_or_last(desk: Desk, said: Said, wanted: str) -> Round:
    """Give the round that is meant, the newest for `last`, if it may be read here."""
    if wanted.lower() != LAST:
        return await meant(desk, said, wanted)
    newest = await desk.store.recent(1, listable(said))
    if not newest:
        raise RoundNotFoundError("No round has been held yet.")
    return await desk.store.load(newest[0].id)

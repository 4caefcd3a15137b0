"""A bake-off before it begins: how large it is, what it may cost, who receives the texts."""

from collections.abc import Iterator

from bot.chat import Button, Buttons, Caution, Heading, Line, Note, Part, Post
from bot.render.acceptance import receivers
from bot.render.bakeoffs import LEAVE, START, title_of
from bot.render.figures import counted, listed, roughly
from bot.render.names import names_of
from council.bakeoffs.models import Bakeoff, Expected
from council.money import about, dollars


def proposal_post(bakeoff: Bakeoff, cost: Expected, value: str | None) -> Post:
    """Give what a bake-off comes to before anything is spent, and what starts it.

    Buttons do, where they carry `value`; else words.
    """
    parts: list[Part] = [Heading(title_of(bakeoff)), Line(size_line(bakeoff))]
    parts += map(Note, cost_lines(bakeoff, cost))
    parts += map(Caution, _doubts(bakeoff, cost))
    if value is None:
        parts.append(Note(f"`{command_of(bakeoff)} now` starts it."))
    else:
        buttons = (Button(START, "Start", value), Button(LEAVE, "Leave it", value))
        parts.append(Buttons(buttons))
    return Post(tuple(parts), f"{title_of(bakeoff)} · {size_line(bakeoff)}")


def command_of(bakeoff: Bakeoff) -> str:
    """Give what is said to hold this once more."""
    cap = "" if bakeoff.cap_micro is None else f" cap:{dollars(bakeoff.cap_micro)}"
    return f"/council bakeoff {bakeoff.suite.name} panel:{bakeoff.panel.name}{cap}"


def size_line(bakeoff: Bakeoff) -> str:
    """Say how large a bake-off is, and who sits."""
    suite, names = bakeoff.suite, names_of(bakeoff.panel)
    graded = sum(question.reference is not None for question in suite.questions)
    told = f", {graded} with a reference answer" if graded else ""
    members = listed(names[seat.key] for seat in bakeoff.panel.members)
    return f"{counted(len(suite.questions), 'question')}{told}, each put to {members}."


def cost_lines(bakeoff: Bakeoff, cost: Expected) -> Iterator[str]:
    """Say what it may cost, how long it takes, and who receives the texts."""
    known = f"It costs about {about(cost.micro)} at most" if cost.micro else ""
    names = names_of(bakeoff.panel)
    unknown = listed(names[key] for key in cost.unknown)
    unsure = f"cost unknown for {unknown}" if unknown else ""
    told = "; ".join(filter(None, (known, unsure))) or "It costs nothing"
    cap = "" if bakeoff.cap_micro is None else f", and its cap is {dollars(bakeoff.cap_micro)}"
    yield f"{told[0].upper()}{told[1:]}{cap}."
    if cost.seconds is not None:
        yield f"It takes about {roughly(cost.seconds)}, as long as rounds usually do here."
    yield f"The questions go to {receivers(bakeoff.panel)}."


def _doubts(bakeoff: Bakeoff, cost: Expected) -> Iterator[str]:
    if bakeoff.cap_micro is not None and cost.micro > bakeoff.cap_micro:
        yield "The cap may end it before its last question; it can then be gone on with."
    if bakeoff.cap_micro is not None and cost.unknown:
        yield "The cap cannot count what models of unknown price cost."

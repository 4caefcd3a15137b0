"""The form to ask in: question, what it refers to, panel, who may read the answer, files."""

from dataclasses import dataclass

from bot.access import allows_panel
from bot.chat import IncomingMessage
from bot.commands.ask import PRIVATE
from bot.commands.forms import (
    ChannelField,
    Field,
    FileField,
    Form,
    Option,
    RadioField,
    SelectField,
    TextField,
)
from bot.commands.parameters import NOTHING_GIVEN, Arguments
from bot.context import AppContext
from bot.render.round_status import receivers
from council.files import MAX_FILES
from council.panel import Panel

QUESTION, CONTEXT, PANEL, AUDIENCE = "question", "context", "panel", "audience"
CHANNEL, FILES = "channel", "files"
HERE, VOTE_FIRST, ONLY_ME = "here", "vote", "me"  # values of the audience
MAX_TEXT = 4000
EXPLANATION = (
    "Several models answer, rank each other without names, and one writes the final answer."
)
_VOTE_FIRST_LABEL = "Vote first: names and table come on Reveal, or after ten minutes"
_ONLY_ME_LABEL = "Only me: the answer comes as a direct message"


@dataclass(frozen=True, slots=True)
class AskPlace:
    """What a place offers: who reads an answer there, and what else the form asks for.

    With `has_voters`, others read along, and may vote before names are shown.
    """

    everybody: str
    has_private_answers: bool
    has_voters: bool = True
    asks_channel: bool = False
    accepts_files: bool = True


async def usable_panels(app: AppContext, message: IncomingMessage) -> dict[str, Panel]:
    """Return the panels that may be asked in a place; PanelError, which says why, for none."""
    await app.reload_settings(message.place)
    place = message.place
    panels = {
        name: panel for name, panel in app.panels.items() if allows_panel(app.access, place, panel)
    }
    if panels:
        return panels
    own = app.panel(None, place)  # its error says why there is none
    return {own.name: own}


def chosen_reveal(audience: str, *, knew_place: bool = True) -> bool | None:
    """Return whether a form chose to vote first; None where the settings of its place decide.

    So they do if the form did not know yet in which place it would ask.
    """
    return {VOTE_FIRST: True, HERE: False if knew_place else None}.get(audience)


async def ask_form(
    app: AppContext, message: IncomingMessage, at: AskPlace, given: Arguments = NOTHING_GIVEN
) -> Form:
    """Return the form with the text and the context of a message, and options given already."""
    panels = await usable_panels(app, message)
    default = {PANEL: app.panel_name(message.place) or ""}
    if at.has_voters and app.access.rules_in(message.place).votes_first:
        default[AUDIENCE] = VOTE_FIRST
    return new_ask_form(message, at, panels, {**default, **given})


def new_ask_form(
    message: IncomingMessage, at: AskPlace, panels: dict[str, Panel], given: Arguments
) -> Form:
    """Return the form for these panels."""
    options = tuple(
        Option(name, f"{name}: goes to {receivers(panel)}") for name, panel in panels.items()
    )
    panel = given.get(PANEL, "")
    panel = panel if panel in panels else options[0].value
    audience = [Option(HERE, at.everybody)]
    audience += [Option(VOTE_FIRST, _VOTE_FIRST_LABEL)] if at.has_voters else []
    audience += [Option(ONLY_ME, _ONLY_ME_LABEL)] if at.has_private_answers else []
    fields: list[Field] = [
        TextField(
            QUESTION,
            "Question",
            max_length=MAX_TEXT,
            initial=message.text,
            is_long=True,
            required=True,
        ),
        TextField(
            CONTEXT,
            "What it refers to",
            max_length=MAX_TEXT,
            initial=message.context,
            is_long=True,
        ),
        SelectField(PANEL, "Panel", options, initial=panel, required=True),
    ]
    fields += [ChannelField(CHANNEL, "Channel")] if at.asks_channel else []
    reader = ONLY_ME if PRIVATE in given else given.get(AUDIENCE, HERE)
    fields.append(RadioField(AUDIENCE, "Who may read it", tuple(audience), initial=reader))
    files = FileField(FILES, "Files", "Text, PDF or images", MAX_FILES)
    fields += [files] if at.accepts_files else []
    return Form("Ask the council", "Ask", tuple(fields))

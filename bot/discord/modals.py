"""Discord modals: forms as modals with real fields, and the values of submitted ones."""

from typing import Any

import discord
from discord import ChannelType, app_commands
from discord.ui import (
    ChannelSelect,
    FileUpload,
    Item,
    Label,
    Modal,
    RadioGroup,
    RoleSelect,
    Select,
    TextDisplay,
    TextInput,
    UserSelect,
)

from bot.commands.forms import (
    MAX_PEOPLE,
    ChannelField,
    Field,
    FileField,
    Form,
    PeopleField,
    RadioField,
    RolesField,
    SelectField,
    TextField,
    fitting_options,
    select_hint,
)
from bot.discord.components import option_label
from bot.render.text_safety import shorten

ASK, WHY = "ask", "why"  # the modals that are no plug-in's
REASON = "reason"  # the field of WHY
MAX_FIELDS = 5  # a form's note is one of them
MAX_LABEL_LENGTH = 45
MAX_FIELD_LENGTH, MAX_REASON_LENGTH, MAX_DESCRIPTION_LENGTH = 4000, 1000, 100
MAX_OPTIONS, MAX_OPTION_LENGTH, MIN_RADIO_OPTIONS = 25, 100, 2
_ATTACHMENT = discord.AppCommandOptionType.attachment.value

Interaction = discord.Interaction[Any]


def form_modal(form: Form, action: str, value: str) -> Modal:
    """Return the modal of a form, with as many of its fields as Discord shows.

    A select without options is left out, and a radio group of one.
    """
    modal = Modal(title=form.title, custom_id=f"council:{action}:{form.value or value}")
    for field in [one for one in form.fields if _is_shown(one)][: MAX_FIELDS - bool(form.note)]:
        component, hint = _component(field)
        label = shorten(field.label, MAX_LABEL_LENGTH)
        hint = hint or (field.label if label != field.label else "")
        description = shorten(hint, MAX_DESCRIPTION_LENGTH) or None
        modal.add_item(Label(text=label, description=description, component=component))
    if form.note:
        modal.add_item(TextDisplay(form.note))
    return modal


def _is_shown(field: Field) -> bool:
    match field:
        case SelectField():
            return bool(field.options)
        case RadioField():
            return len(field.options) >= MIN_RADIO_OPTIONS
    return True


def _component(field: Field) -> tuple[Item[Any], str]:  # noqa: PLR0911 - one for each kind
    """Return the component of a field, and its hint."""
    id_ = field.name
    match field:
        case TextField():
            return _text_input(field), field.hint
        case SelectField():
            options = fitting_options(field, MAX_OPTIONS, MAX_OPTION_LENGTH)
            select = Select[Any](custom_id=id_, required=field.required)
            for one in options:
                label, is_chosen = option_label(one.label), one.value == field.initial
                select.add_option(label=label, value=one.value, default=is_chosen)
            return select, select_hint(field, len(options))
        case RadioField():
            group = RadioGroup[Any](custom_id=id_)
            for one in field.options:
                label, is_chosen = option_label(one.label), one is field.chosen
                group.add_option(label=label, value=one.value, default=is_chosen)
            return group, ""
        case ChannelField():
            kinds = [ChannelType.text, ChannelType.news]
            channel = ChannelSelect[Any](custom_id=id_, channel_types=kinds, required=False)
            return channel, field.hint
        case PeopleField():
            people = [discord.Object(int(one), type=discord.User) for one in field.initial.split()]
            users = UserSelect[Any](
                custom_id=id_,
                min_values=0,
                max_values=MAX_PEOPLE,
                required=False,
                default_values=people,
            )
            return users, field.hint
        case RolesField():
            chosen = [discord.Object(int(one), type=discord.Role) for one in field.initial.split()]
            roles = RoleSelect[Any](
                custom_id=id_,
                min_values=0,
                max_values=MAX_PEOPLE,
                required=False,
                default_values=chosen,
            )
            return roles, field.hint
        case FileField():
            most = field.max_files
            return FileUpload[Any](custom_id=id_, max_values=most, required=False), field.hint


def _text_input(field: TextField) -> TextInput[Any]:
    most = min(field.max_length, MAX_FIELD_LENGTH)
    style = discord.TextStyle
    return TextInput[Any](
        custom_id=field.name,
        style=style.paragraph if field.is_long else style.short,
        max_length=most,
        default=field.initial[:most] or None,
        required=field.required,
    )


def why_modal(round_id: str) -> Modal:
    """Return the modal that asks why a round did not help."""
    field = TextField(
        REASON, "What was wrong or missing?", max_length=MAX_REASON_LENGTH, is_long=True
    )
    return form_modal(Form("Not helpful", "Send", (field,)), WHY, round_id)


def submitted_fields(components: list[dict[str, Any]]) -> dict[str, str]:
    """Return the submitted values of a modal by custom id; "" for what was left empty.

    Several ids, of people or roles, are separated by spaces.
    """
    fields: dict[str, str] = {}
    for component in components:
        if "value" in component or "values" in component:
            chosen = [component.get("value"), *component.get("values", ())]
            fields[str(component["custom_id"])] = " ".join(str(one) for one in chosen if one)
        inner = [component["component"]] if component.get("component") else []
        fields |= submitted_fields([*component.get("components", []), *inner])
    return fields


def submitted_files(interaction: Interaction) -> list[discord.Attachment]:
    """Return the files of a submitted modal, in order; the modal itself may be of another run."""
    data: Any = interaction.data or {}
    resolved = data.get("resolved", {})
    options: list[Any] = [
        {"type": _ATTACHMENT, "name": id_, "value": id_} for id_ in resolved.get("attachments", {})
    ]
    found = app_commands.Namespace(interaction, resolved, options)
    return [file for _, file in found if isinstance(file, discord.Attachment)]

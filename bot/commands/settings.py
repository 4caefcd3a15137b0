"""The command `settings`: what holds in a place, and the forms with which admins change it."""

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import structlog

from bot.access import (
    Access,
    AccessDeniedError,
    ChannelRules,
    check_admitted,
    may_administer,
    providers_of,
)
from bot.admin_settings import (
    ADMIN_ROLES,
    ADMINS,
    ALL_CHANNELS,
    CHANNEL_USD,
    CHANNELS,
    COUNTS,
    OFF,
    ON,
    OPEN,
    OPEN_CHANNELS,
    PANEL,
    READING,
    ROLES,
    SETTINGS,
    USUAL,
    VENDORS,
    VOTES_FIRST,
    WORKSPACE_USD,
    Change,
    channel_key,
    has_settings,
    load_changes,
    store_changes,
    workspace_key,
)
from bot.chat import (
    Button,
    Buttons,
    Chat,
    Heading,
    IncomingMessage,
    Line,
    Note,
    Part,
    Post,
    send_note,
)
from bot.commands.forms import (
    Field,
    FieldError,
    Form,
    FormAction,
    Option,
    PeopleField,
    RadioField,
    RolesField,
    SelectField,
    TextField,
    errors_at,
)
from bot.commands.parameters import Arguments
from bot.commands.thread_context import (
    give_consent,
    has_consent,
    may_consent,
    receivers_digest,
    withdraw_consent,
)
from bot.context import AppContext
from bot.render.formatting import count_noun, join_words
from bot.render.round_status import provider_name, receivers
from bot.render.text_safety import visible_line
from council.budget_caps import Account, Caps, channel_account
from council.errors import CouncilError
from council.money import format_usd
from council.panel import Panel
from council.places import Place

HERE, WHO, LIMITS = "settings_here", "settings_who", "settings_limits"  # actions
SHOWN, MAX_SHOWN = "settings form", 1_000  # the kind of memo: what a form showed
LABELS = {HERE: "This channel", WHO: "Who may ask", LIMITS: "Limits"}
NO_SETTINGS = (
    "The council's settings here are in council.toml. In Slack and Discord, admins change theirs "
    "with `/council settings`."
)
IN_A_SERVER = "Use `/council settings` in a server: there are none for direct messages."
NOT_IN_A_CHANNEL = "This is no channel. Use `/council settings` in the channel."
EXPIRED = "This form is too old. Open it again with `/council settings`."
CHANGED = "What can be chosen here has changed. Open the form again, and decide then."
NEEDS_COUNT = "Write a whole number from 1 on, or leave it empty for no limit."
NEEDS_USD = "Write an amount such as 5 or 2.50, or leave it empty for no limit."
_MAX_NUMBER = 1_000_000
_USD = re.compile(r"\$? ?([0-9]*\.?[0-9]+)")
_ALL_FIXED = "All of this is set in council.toml. Ask the person who runs the council."
_LIMITS = (
    ("rounds_per_hour", "Questions per person per hour"),
    ("rounds_per_day", "Questions per person per 24 hours"),
    ("rounds_at_once", "Questions at once, of everybody"),
    (WORKSPACE_USD, "US dollars a day, all channels together"),
    (CHANNEL_USD, "US dollars a day, each channel"),
)
_YES_NO = (Option(ON, "Yes"), Option(OFF, "No"))


# --- Who may change what


def may_change(app: AppContext, message: IncomingMessage, action: str) -> bool:
    """Return whether the author of a message may change what a form is about.

    Who manages a channel may change what holds in it, but no limits and no allowed providers.
    """
    if message.asker.is_guest or not has_settings(message.place):
        return False
    if action == HERE and (message.is_direct or not message.place.channel):
        return False
    manages = action == HERE and message.asker.manages_channel
    return manages or may_administer(app.access, message)


def _check_may_change(app: AppContext, message: IncomingMessage, action: str) -> None:
    if message.place.workspace and action == HERE and message.is_direct:
        raise CouncilError(NOT_IN_A_CHANNEL)
    if not may_change(app, message, action):
        raise AccessDeniedError("Only admins can change this. Ask an admin to do it.")


# --- What holds


@dataclass(frozen=True, slots=True)
class Situation:
    """What holds in a place, who chose it, and what `council.toml` fixes."""

    policy: Access
    rules: ChannelRules
    caps: Caps
    fixed: frozenset[str]
    workspace: Mapping[str, Change]
    channel: Mapping[str, Change]
    panel: Panel | None
    is_read: bool


async def load_situation(app: AppContext, message: IncomingMessage) -> Situation:
    """Return what holds now in the place of a message."""
    place = message.place
    await app.reload_settings(place)
    panel = app.panels.get(app.panel_name(place) or "")
    account = Account("", app.now().date(), channel=channel_account(place))
    return Situation(
        app.access.at(place),
        app.access.rules_in(place),
        await app.budget.caps_of(account),
        app.access.fixed_at(place) | _fixed_caps(app.budget.caps, place.workspace),
        await load_changes(app.key_values, workspace_key(place)),
        await load_changes(app.key_values, channel_key(place)),
        panel,
        panel is not None and await has_consent(app, place, panel),
    )


def _fixed_caps(caps: Caps, workspace: str) -> frozenset[str]:
    is_fixed = {
        WORKSPACE_USD: caps.workspace_day is not None or workspace in caps.workspaces,
        CHANNEL_USD: caps.channel_day is not None,
    }
    return frozenset(name for name in is_fixed if is_fixed[name])


async def show_settings(
    app: AppContext, chat: Chat, message: IncomingMessage, _: Arguments
) -> None:
    """Show what holds here, with the forms that the author of a message may submit."""
    if not has_settings(message.place):
        await send_note(chat, message, IN_A_SERVER if chat.is_room else NO_SETTINGS)
        return
    if not any(may_change(app, message, action) for action in LABELS):
        check_admitted(app.access, message)
    parts = await settings_parts(app, message)
    await chat.send_ephemeral(message, Post(tuple(parts), "Settings"))


async def settings_parts(
    app: AppContext, message: IncomingMessage, done: str = ""
) -> Sequence[Part]:
    """Return what holds in a place, who changed it last, and the buttons of its forms."""
    now = await load_situation(app, message)
    is_channel = bool(message.place.channel) and not message.is_direct
    parts: list[Part] = [Heading("Settings"), *([Note(done)] if done else [])]
    parts.append(Line(f"**Who may ask:** {_who_text(now, message)}"))
    parts.append(Line(f"**Limits:** {_limits_text(now, is_channel=is_channel)}"))
    if is_channel:
        parts.append(Line(f"**This channel:** {_channel_text(now, message)}"))
    forms = [action for action in LABELS if may_change(app, message, action)]
    parts += [Note(line) for line in _notes(now, message, forms)]
    buttons = tuple(Button(action, LABELS[action], "open") for action in forms)
    return [*parts, Buttons(buttons)] if buttons else parts


def _who_text(now: Situation, message: IncomingMessage) -> str:
    policy, has_roles = now.policy, message.asker.roles is not None
    who = "Members and guests" if policy.guests and not has_roles else "Members"
    if has_roles and policy.roles:
        roles = count_noun(len(policy.roles), "role")
        who = f"Members with {'one of ' if policy.roles[1:] else ''}{roles}"
    where = ["in every channel" if policy.channels is None else "in channels that are turned on"]
    if not has_roles:
        where += ["in direct messages"] if policy.direct_messages else []
        where += ["in channels shared with others"] if policy.shared_channels else []
    more = f" {count_noun(len(policy.admins), 'more admin')}." if policy.admins else ""
    return f"{who}, {join_words(where)}.{more}"


def _limits_text(now: Situation, *, is_channel: bool) -> str:
    policy, caps = now.policy, now.caps
    found = [
        f"{count_noun(number, 'question')} {words}"
        for number, words in (
            (policy.rounds_per_hour, "per person per hour"),
            (policy.rounds_per_day, "per person per 24 hours"),
            (policy.rounds_at_once, "at once"),
        )
        if number is not None
    ]
    amounts = [
        f"{format_usd(cap)} a day {words}"
        for cap, words in (
            (caps.workspace_day, "for all channels together"),
            (caps.channel_day, "for this channel" if is_channel else "for each channel"),
        )
        if cap is not None
    ]
    questions = f"{join_words(found)}." if found else ""
    money = f"Cost: {join_words(amounts)}." if amounts else ""
    return " ".join(filter(None, (questions, money))) or "None."


def _channel_text(now: Situation, message: IncomingMessage) -> str:
    is_open = now.rules.is_open
    if is_open is None:
        allowed = now.policy.channels
        is_open = allowed is None or message.place.within in allowed
    sentences = ["The council is on." if is_open else "The council is off."]
    if now.panel:
        sentences.append(f"Questions go to panel {now.panel.name} ({receivers(now.panel)}).")
    if now.rules.vendors:
        vendors = dict.fromkeys(map(provider_name, now.rules.vendors))
        sentences.append(f"Only models from {join_words([*vendors])} are allowed.")
    if not message.is_shared:
        sentences.append(f"Threads are {'' if now.is_read else 'not '}read for context.")
    if now.rules.votes_first:
        sentences.append("Models' names are shown after people have voted.")
    return " ".join(sentences)


def _notes(now: Situation, message: IncomingMessage, forms: Sequence[str]) -> list[str]:
    changes = [*now.workspace.values(), *now.channel.values()]
    last = max(changes, key=lambda one: one.at, default=None)
    notes = [f"{_name(last)} changed this on {last.at.day} {last.at:%B}."] if last else []
    if now.fixed and forms:
        notes.append(fixed_note(now.fixed))
    if not forms:
        manager = " Who manages a channel can change that channel."
        has_managers = message.asker.roles is not None
        notes.append(f"Admins can change this.{manager if has_managers else ''}")
    elif not message.place.channel or message.is_direct:
        notes.append("For one channel, use `/council settings` there.")
    return [" ".join(notes)] if notes else []


def fixed_note(fixed: frozenset[str]) -> str:
    """Return the sentence that says which names `council.toml` sets; "" for none."""
    names = [f"`{name}`" for name in sorted(fixed)]
    return f"{join_words(names)} {'are' if names[1:] else 'is'} set in council.toml."


def _name(change: Change) -> str:
    return visible_line(change.name).translate(str.maketrans("*`", "\u2217\u02cb"))


# --- The forms


async def open_settings_form(
    app: AppContext, message: IncomingMessage, _: str, *, action: str
) -> Form:
    """Return a form with what holds now; CouncilError for a person who may not change it."""
    await app.reload_settings(message.place)
    _check_may_change(app, message, action)
    now = await load_situation(app, message)
    fields = settings_fields(app, message, now, action)
    if not fields:
        raise CouncilError(_ALL_FIXED)
    shown = {field.name: _initial(field) for field in fields}
    code = secrets.token_hex(6)
    await app.key_values.put(SHOWN, _shown_name(message, action, code), json.dumps(shown))
    await app.key_values.prune(SHOWN, MAX_SHOWN)
    fixed = now.fixed & _names(action)
    note = fixed_note(fixed) if fixed else ""
    return Form(LABELS[action], "Save", tuple(fields), code, note)


def _key(place: Place, action: str) -> str:
    """Return the key of the settings that a form is about."""
    return channel_key(place) if action == HERE else workspace_key(place)


def _shown_name(message: IncomingMessage, action: str, code: str) -> str:
    """Return the name of what a form showed: its code counts for its place and action only."""
    return f"{_key(message.place, action)} {action} {code}"


def _names(action: str) -> frozenset[str]:
    """Return the names in council.toml of what a form is about."""
    if action == HERE:
        return frozenset((CHANNELS, VENDORS, PANEL))
    if action == LIMITS:
        return frozenset(name for name, _ in _LIMITS)
    return frozenset((CHANNELS, ROLES, ADMINS, "guests", "direct_messages", "shared_channels"))


def settings_fields(
    app: AppContext, message: IncomingMessage, now: Situation, action: str
) -> list[Field]:
    """Return the fields of a form, without what council.toml fixes: at most five."""
    if action == HERE:
        return _channel_fields(app, message, now)
    if action == LIMITS:
        return [
            TextField(name, label, "No limit if left empty", 12, _limit(now, name))
            for name, label in _LIMITS
            if name not in now.fixed
        ]
    return _who_fields(message, now)


def _limit(now: Situation, name: str) -> str:
    value = getattr(now.policy, name) if name in COUNTS else now.workspace.get(name)
    if isinstance(value, Change):
        return value.value
    return "" if value is None else str(value)


def _who_fields(message: IncomingMessage, now: Situation) -> list[Field]:
    policy, has_roles = now.policy, message.asker.roles is not None
    where = (
        Option(ALL_CHANNELS, "In every channel"),
        Option(OPEN_CHANNELS, "In channels that are turned on"),
    )
    chosen = ALL_CHANNELS if policy.channels is None else OPEN_CHANNELS
    fields: list[Field] = [RadioField(CHANNELS, "Where", where, chosen)]
    if has_roles:
        everybody = "If left empty: everybody"
        fields.append(RolesField(ROLES, "Roles that may ask", everybody, " ".join(policy.roles)))
    else:
        switches = (
            ("guests", "Guests may ask", policy.guests),
            ("direct_messages", "In direct messages", policy.direct_messages),
            ("shared_channels", "In channels shared with others", policy.shared_channels),
        )
        fields += [
            RadioField(name, label, _YES_NO, ON if is_on else OFF)
            for name, label, is_on in switches
        ]
    hint = "Besides those who administer the server" if has_roles else "Besides those of Slack"
    fields.append(PeopleField(ADMINS, "More admins", hint, _chosen(now, ADMINS)))
    if has_roles:
        fields.append(
            RolesField(ADMIN_ROLES, "Roles of more admins", "", _chosen(now, ADMIN_ROLES))
        )
    fixed = now.fixed | ({ADMIN_ROLES} if ADMINS in now.fixed else set())
    return [field for field in fields if field.name not in fixed]


def _chosen(now: Situation, name: str) -> str:
    change = now.workspace.get(name)
    return change.value if change else ""


def _channel_fields(app: AppContext, message: IncomingMessage, now: Situation) -> list[Field]:
    place = message.place
    is_open = {True: ON, False: OFF, None: USUAL}[now.rules.is_open]
    opening = (
        Option(USUAL, "As in other channels"),
        Option(ON, "On"),
        Option(OFF, "Off"),
    )
    panels = [Option(USUAL, f"As usual: {now.rules.panel or app.default}")]
    panels += [Option(name, f"{name}: {receivers(one)}") for name, one in app.panels.items()]
    fields: list[Field] = []
    if CHANNELS not in now.fixed:
        fields.append(RadioField(OPEN, "The council in this channel", opening, is_open))
    if PANEL not in now.fixed:
        picked = app.picked_panel(place) or USUAL
        fields.append(SelectField(PANEL, "Panel", tuple(panels), initial=picked, required=True))
    if VENDORS not in now.fixed and may_administer(app.access, message):
        vendors = ", ".join(now.rules.vendors)
        hint = "such as openai, anthropic; all if left empty"
        fields.append(TextField(VENDORS, "Allowed providers", hint, 200, vendors))
    if now.panel and may_consent(app, message):
        allowed = f"{ON}:{receivers_digest(now.panel)}"
        reading = (
            Option(OFF, "No"),
            Option(allowed, f"Yes; they go to {receivers(now.panel)}"),
        )
        initial = allowed if now.is_read else OFF
        fields.append(RadioField(READING, "Read threads for context", reading, initial))
    names = (Option(OFF, "With the answer"), Option(ON, "After people have voted"))
    votes_first = ON if now.rules.votes_first else OFF
    fields.append(RadioField(VOTES_FIRST, "Show models' names", names, votes_first))
    return fields


def _initial(field: Field) -> str:
    if isinstance(field, RadioField):
        return field.chosen.value
    return str(getattr(field, "initial", ""))


# --- A submitted form


async def submit_settings_form(
    app: AppContext,
    chat: Chat,
    message: IncomingMessage,
    code: str,
    values: Mapping[str, str],
    *,
    action: str,
) -> None:
    """Store what the person changed in a form; raise FieldError for a value that cannot be.

    So it does for a field that somebody else changed after the form was opened; then nothing is
    stored.
    """
    async with app.locks.lock(f"{SETTINGS} {workspace_key(message.place)}"):
        now = await load_situation(app, message)
        _check_may_change(app, message, action)
        name = _shown_name(message, action, code)
        shown = json.loads(await app.key_values.read(SHOWN, name) or "{}")
        if not shown:
            raise CouncilError(EXPIRED)
        fields = {one.name: one for one in settings_fields(app, message, now, action)}
        changed = changed_values(fields, shown, values)
        before = now.channel if action == HERE else now.workspace
        for name in changed:
            _check_unchanged(fields[name], shown[name], changed[name], before.get(name))
        if action == HERE:
            _check_channel(app, now, changed)
            await _apply_elsewhere(app, message, now.panel, changed)
        await _store(app, message, action, changed)
    done = "Saved. Applies from the next question." if changed else "Nothing was changed."
    parts = await settings_parts(app, message, done)
    await chat.send_ephemeral(message, Post(tuple(parts), done))


def changed_values(
    fields: Mapping[str, Field], shown: Mapping[str, str], values: Mapping[str, str]
) -> dict[str, str]:
    """Return the values that somebody changed in a form, as they are stored.

    Raise FieldError for one that makes no sense, CouncilError for one that is not offered any more.
    """
    changed: dict[str, str] = {}
    for name, before in shown.items():
        raw = values.get(name, before).strip()
        if raw == before:
            continue
        if name not in fields:
            raise CouncilError(CHANGED)
        value = parse_value(name, raw)
        options = getattr(fields[name], "options", None)
        if options is not None and raw not in {one.value for one in options}:
            raise FieldError(name, CHANGED)
        if value != parse_value(name, before):
            changed[name] = value
    return changed


def parse_value(name: str, raw: str) -> str:
    """Return what a field says as it is stored; raise FieldError if that makes no sense."""
    if name in COUNTS and raw:
        if not (raw.isascii() and raw.isdecimal()) or not 1 <= int(raw) <= _MAX_NUMBER:
            raise FieldError(name, NEEDS_COUNT)
        return str(int(raw))
    if name in {WORKSPACE_USD, CHANNEL_USD} and raw:
        return f"{_parse_usd(name, raw):.6f}".rstrip("0").rstrip(".")
    if name in {ADMINS, ADMIN_ROLES, ROLES, VENDORS}:
        return " ".join(sorted(set(raw.replace(",", " ").split())))
    return raw.partition(":")[0] if name == READING else raw


def _parse_usd(name: str, raw: str) -> float:
    found = _USD.fullmatch(raw)
    usd = float(found[1]) if found else -1.0
    if not 0 <= usd <= _MAX_NUMBER or (usd and not round(usd, 6)):
        raise FieldError(name, NEEDS_USD)
    return usd


def _check_unchanged(field: Field, shown: str, wanted: str, change: Change | None) -> None:
    """Raise FieldError if somebody else changed a field to another value meanwhile."""
    now = parse_value(field.name, _initial(field))
    if now in {parse_value(field.name, shown), wanted}:
        return
    who = _name(change) if change and change.value == now else "Somebody"
    raise FieldError(
        field.name,
        f"{who} changed this to “{_words(field)}” meanwhile. Open the form again, and decide then.",
    )


def _words(field: Field) -> str:
    """Return what a field is set to, in words."""
    initial = _initial(field)
    options: Sequence[Option] = getattr(field, "options", ())
    labels = [one.label for one in options if one.value == initial]
    if isinstance(field, PeopleField | RolesField):
        noun = "role" if isinstance(field, RolesField) else "person"
        many = count_noun(len(initial.split()), noun)
        return many.replace("persons", "people")
    return labels[0] if labels else initial or "nothing"


def _check_channel(app: AppContext, now: Situation, changed: Mapping[str, str]) -> None:
    """Raise FieldError for an unknown provider, or if the panel's are not among the allowed."""
    known = sorted({name for panel in app.panels.values() for name in providers_of(panel)})
    vendors = now.rules.vendors
    if VENDORS in changed:
        vendors = tuple(changed[VENDORS].split())
        if unknown := [name for name in vendors if name not in known]:
            raise FieldError(
                VENDORS,
                f"No panel has a model from {join_words(unknown)}. There are {join_words(known)}.",
            )
    panel = now.panel
    if PANEL in changed:
        usual = now.rules.panel or app.default or ""
        panel = app.panels.get(usual if changed[PANEL] == USUAL else changed[PANEL])
    others = [name for name in providers_of(panel) if name not in vendors] if panel else []
    if panel and vendors and others and changed.keys() & {PANEL, VENDORS}:
        raise FieldError(
            PANEL if PANEL in changed else VENDORS,
            f"Panel {panel.name} also has models from {join_words(others)}. Allow them, or pick "
            "another panel.",
        )


async def _apply_elsewhere(
    app: AppContext,
    message: IncomingMessage,
    panel: Panel | None,
    changed: Mapping[str, str],
) -> None:
    """Store or withdraw the consent to read threads, and pick the panel, as their commands do.

    The consent is for the panel that the form showed, whose receivers it named.
    """
    if changed.get(READING) == OFF:
        with errors_at(READING):
            await withdraw_consent(app, message)
    elif READING in changed and panel:
        with errors_at(READING):
            await give_consent(app, message, panel)
    if changed.get(PANEL) == USUAL:
        await app.unpick_panel(message.place)
    elif PANEL in changed:
        await app.pick_panel(changed[PANEL], message.place)


async def _store(
    app: AppContext, message: IncomingMessage, action: str, changed: Mapping[str, str]
) -> None:
    if not changed:
        return
    asker, place = message.asker, message.place
    changes = {
        name: Change(value, asker.id, asker.name, app.now()) for name, value in changed.items()
    }
    key = _key(place, action)
    await store_changes(app.key_values, key, changes)
    await app.reload_settings(place)
    structlog.get_logger().info("settings_changed", place=key, by=asker.id, changed=dict(changed))


FORMS = {
    action: FormAction(
        partial(open_settings_form, action=action), partial(submit_settings_form, action=action)
    )
    for action in LABELS
}

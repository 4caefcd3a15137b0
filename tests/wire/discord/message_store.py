"""Message store: post, edit and delete messages, and dispatch the gateway events."""

from collections.abc import Mapping
from typing import Any

from tests.wire.discord import message_payloads, payloads
from tests.wire.discord.calls import RefusalError, Upload
from tests.wire.discord.checks import Fault, errors_of, faults_of_message, is_empty
from tests.wire.discord.checks.components import walk
from tests.wire.discord.sessions import DIRECT_MESSAGES, GUILD_MESSAGES
from tests.wire.discord.state import State
from tests.wire.discord.world import COMPONENTS_V2, EPHEMERAL, LOADING, Channel, File, Message, User

Payload = dict[str, Any]
Uploads = Mapping[str, Upload]

SETTABLE = EPHEMERAL | COMPONENTS_V2 | 1 << 2 | 1 << 12  # and: no embeds, no notification


def refuse(faults: list[Fault]) -> None:
    """Refuse when there is a fault, or break where Discord would break."""
    if not faults:
        return
    if any(fault.status == 500 for fault in faults):
        refusal = RefusalError(0, 500)
        refusal.body["message"] = "500: Internal Server Error"
        raise refusal
    refusal = RefusalError(50035, errors=errors_of(faults))
    refusal.body["message"] = "Invalid Form Body"
    raise refusal


def new_message(state: State, place: Channel, author: User, content: str = "") -> Message:
    return Message(state.snowflake(), place, author, state.now(), content)


def post_message(state: State, message: Message) -> Message:
    """Store a message in its channel, and dispatch the event."""
    message.channel.said.append(message)
    dispatch_message(state, "MESSAGE_CREATE", message)
    return message


def update_message(state: State, message: Message, given: Payload, uploads: Uploads) -> None:
    """Update the given fields of a message; raise RefusalError as Discord refuses."""
    names = ("content", "embeds", "components")
    wanted: Payload = {name: getattr(message, name) for name in names}
    wanted |= {name: given[name] for name in names if name in given}
    wanted["flags"] = (message.flags & ~LOADING) | (given.get("flags") or 0) & SETTABLE
    for name in ("nonce", "allowed_mentions", "tts", "poll", "sticker_ids"):
        if given.get(name) is not None:
            wanted[name] = given[name]
    kept = message.files
    if given.get("attachments") is not None:
        listed = {str(one.get("id")) for one in given["attachments"]}
        kept = [file for file in kept if file.id in listed]
        wanted["attachments"] = given["attachments"]
        numbers = {field.removeprefix("files[").removesuffix("]") for field in uploads}
        refuse(_unknown_files(given["attachments"], numbers | {file.id for file in message.files}))
    names_of_files = [file.name for file in kept] + [upload.name for upload in uploads.values()]
    refuse(faults_of_message(wanted, names_of_files))
    files = [*kept, *_stored(state, message, given, uploads)]
    if is_empty({**wanted, "attachments": files}):
        raise RefusalError(50006)
    message.content = wanted["content"] or ""
    message.embeds = wanted["embeds"] or []
    message.components = _numbered(wanted["components"] or [])
    message.flags, message.files, message.arguments = wanted["flags"], files, given


def _unknown_files(listed: list[Payload], known: set[str]) -> list[Fault]:
    said = "Attachment data not found"
    return [
        Fault(f"attachments.{place}.id", "MESSAGE_ATTACHMENT_NOT_FOUND", said)
        for place, one in enumerate(listed)
        if str(one.get("id")) not in known
    ]


def _stored(state: State, message: Message, given: Payload, uploads: Uploads) -> list[File]:
    """Keep the files of a multipart body; each must be announced, or stand alone."""
    if len(uploads) > 10:
        refuse([Fault("attachments", "BASE_TYPE_BAD_LENGTH", "Must be 10 or fewer in length.")])
    if sum(len(upload.content) for upload in uploads.values()) > state.rules.request_bytes:
        raise RefusalError(40005)
    described = {str(one.get("id")): one for one in given.get("attachments") or []}
    files = []
    for field, upload in uploads.items():
        if len(upload.content) > state.rules.file_bytes:
            raise RefusalError(40005)
        number = field.removeprefix("files[").removesuffix("]")
        about = described.get(number, {})
        if given.get("attachments") is not None and number not in described:
            continue  # a file that `attachments` leaves out is not shown
        name = str(about.get("filename") or upload.name)
        files.append(store(state, message.channel, Upload(name, upload.content)))
        files[-1].description = about.get("description")
        files[-1].ephemeral = message.ephemeral_to is not None
    return files


def store(state: State, place: Channel, upload: Upload) -> File:
    kind = "image/png" if upload.name.endswith(".png") else upload.content_type
    file = File(state.snowflake(), upload.name, upload.content, place.id, kind)
    state.files[file.id] = file
    return file


def _numbered(components: list[Payload]) -> list[Payload]:
    taken = {one.get("id") for _, one in walk(components)}
    free = iter(number for number in range(1, 1000) if number not in taken)

    def number(one: Payload) -> Payload:
        made: Payload = {**one, "id": one.get("id") or next(free)}
        if "components" in one:
            made["components"] = [number(each) for each in one["components"]]
        return made

    return [number(one) for one in components]


def save_edit(state: State, message: Message) -> Message:
    message.edited = state.now()
    message.edits += 1
    dispatch_message(state, "MESSAGE_UPDATE", message)
    return message


def delete_message(state: State, message: Message) -> None:
    """Take a message away; its thread stays."""
    message.channel.said.remove(message)
    gone: Payload = {"id": message.id, "channel_id": message.channel.id}
    if message.channel.guild:
        gone["guild_id"] = message.channel.guild.id
    if not message.ephemeral_to:
        state.sessions.dispatch("MESSAGE_DELETE", gone, _intent(message.channel))


def dispatch_message(state: State, event: str, message: Message) -> None:
    """Dispatch a message if the bot sees its channel; never an ephemeral one."""
    place = message.channel
    if message.ephemeral_to or not state.held(place):
        return
    more: Payload = {}
    if place.guild:
        more["guild_id"] = place.guild.id
        member = place.guild.members.get(message.author.id)
        if member:
            more["member"] = payloads.member(member, with_user=False)
    full = message_payloads.gateway_payload(state, message, has_content=True) | more
    bare = message_payloads.gateway_payload(state, message, has_content=False) | more
    state.sessions.dispatch_message(event, full, bare, _intent(place))


def _intent(place: Channel) -> int:
    return GUILD_MESSAGES if place.guild else DIRECT_MESSAGES

"""Payloads of messages: components with ids, attachments with URLs."""

from hashlib import sha256
from typing import Any
from urllib.parse import quote

from tests.wire.discord import payloads
from tests.wire.discord.checks.components import BUTTON, CONTAINER, FILE, GALLERY
from tests.wire.discord.checks.message import pings_in
from tests.wire.discord.sample_world import BOT
from tests.wire.discord.state import CONTENT, State, iso
from tests.wire.discord.world import File, Message

Payload = dict[str, Any]


def message(state: State, one: Message, *, reference: bool = True) -> Payload:
    pings = _pings(one)
    mentioned = [user for user in state.world.users.values() if user.mention in pings]
    if one.pings_author and one.reference and one.reference.author not in mentioned:
        mentioned.append(one.reference.author)
    shown: Payload = {
        "id": one.id,
        "channel_id": one.channel.id,
        "type": one.type,
        "author": payloads.user(one.author),
        "content": one.content,
        "timestamp": iso(one.at),
        "edited_timestamp": iso(one.edited) if one.edited else None,
        "tts": False,
        "pinned": False,
        "flags": one.flags,
        "mention_everyone": any(ping[0] == "@" for ping in pings),
        "mentions": [payloads.user(user) for user in mentioned],
        "mention_roles": [ping[3:-1] for ping in pings if ping.startswith("<@&")],
        "attachments": [attachment(state, file) for file in one.files],
        "embeds": one.embeds,
        "components": [component(state, one, each) for each in one.components],
    }
    if one.interaction:
        shown |= {"application_id": BOT, "webhook_id": BOT, "interaction_metadata": one.interaction}
    if one.nonce is not None:
        shown["nonce"] = one.nonce
    if one.thread:
        shown["thread"] = payloads.channel(state, one.thread)
    if reference and one.reference:
        shown |= _reference(state, one.reference)
    return shown


def _pings(one: Message) -> list[str]:
    """Return whom this message notified, by what it says now."""
    allowed = one.arguments.get("allowed_mentions")
    said = {"content": one.content, "components": one.components, "allowed_mentions": allowed}
    return list(dict.fromkeys(pings_in(said, "interaction" if one.interaction else "channel")))


def _reference(state: State, original: Message) -> Payload:
    still_there = original.channel.find(original.id) is not None
    place: Payload = {"type": 0, "message_id": original.id, "channel_id": original.channel.id}
    if original.channel.guild:
        place["guild_id"] = original.channel.guild.id
    referenced = message(state, original, reference=False) if still_there else None
    return {"message_reference": place, "referenced_message": referenced}


def gateway_payload(state: State, one: Message, *, has_content: bool) -> Payload:
    """Return a message as a bot sees it: others' words only where they are meant for it."""
    shown = message(state, one)
    if one.author.id == BOT or one.channel.kind == "dm" or has_content:
        return shown
    if any(user["id"] == BOT for user in shown["mentions"]):
        return shown
    return {**shown, "content": "", "embeds": [], "attachments": [], "components": []}


def rest_payload(state: State, one: Message) -> Payload:
    """Return a message as the REST API shows it to the bot."""
    return gateway_payload(state, one, has_content=bool(state.app.privileged & CONTENT))


def attachment(state: State, file: File) -> Payload:
    url = file_url(state, file)
    shown: Payload = {
        "id": file.id,
        "filename": file.name,
        "size": len(file.content),
        "url": url,
        "proxy_url": url,
        "content_type": file.content_type,
    }
    if file.description:
        shown["description"] = file.description
    return {**shown, "ephemeral": True} if file.ephemeral else shown


def file_url(state: State, file: File) -> str:
    """Sign the address of a file; it holds for a day."""
    until = f"{int(state.now() + state.rules.cdn_seconds):x}"
    place = f"/attachments/{file.channel}/{file.id}/{quote(file.name)}"
    issued = f"{int(state.now()):x}"
    return f"{state.address}{place}?ex={until}&is={issued}&hm={signature(file, until)}"


def signature(file: File, until: str) -> str:
    """Return what makes an address good until then."""
    return sha256(f"{file.id} {until}".encode()).hexdigest()


def _found(state: State, one: Message, url: str) -> tuple[str, File | None]:
    name = url.removeprefix("attachment://")
    file = next((file for file in one.files if file.name == name and name != url), None)
    return (file_url(state, file), file) if file else (url, None)


def _media(state: State, one: Message, media: Payload) -> Payload:
    url, file = _found(state, one, media["url"])
    shown: Payload = {"id": file.id if file else one.id, "url": url, "proxy_url": url}
    if file:
        shown |= {"attachment_id": file.id, "content_type": file.content_type}
    return shown


_DEFAULTS: dict[int, Payload] = {
    CONTAINER: {"accent_color": None, "spoiler": False},
    FILE: {"spoiler": False},
    BUTTON: {"disabled": False},
}


def component(state: State, one: Message, given: Payload) -> Payload:
    """Return a component as Discord answers it: defaults filled in, media resolved."""
    kind = given["type"]
    kept = {name: value for name, value in given.items() if value is not None}
    shown = {**_DEFAULTS.get(kind, {}), **kept}
    if "components" in shown:
        shown["components"] = [component(state, one, each) for each in shown["components"]]
    if kind == FILE:
        _, file = _found(state, one, shown["file"]["url"])
        shown["file"] = _media(state, one, shown["file"])
        shown |= {"name": file and file.name, "size": file and len(file.content)}
    elif kind == GALLERY:
        blank: Payload = {"description": None, "spoiler": False}
        items = [
            {**blank, **each, "media": _media(state, one, each["media"])} for each in shown["items"]
        ]
        shown["items"] = items
    return shown

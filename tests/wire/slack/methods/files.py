"""files.*: a place to upload to, then the sharing of what was uploaded."""

from tests.wire.slack.calls import Call, Method, Payload, RefusalError
from tests.wire.slack.messages import new_message, put, thread_root
from tests.wire.slack.state import File, State
from tests.wire.slack.workspace import Channel


def _described(state: State, file: File) -> Payload:
    return {
        "id": file.id,
        "name": file.name,
        "title": file.title or file.name,
        "size": file.length,
        "user": state.bot,
        "mode": "hosted",
    }


def upload_url(state: State, call: Call) -> Payload:
    name, length = call.required("filename"), call.number("length", 0)
    if length < 1:
        raise RefusalError("invalid_arguments")
    file = File(f"F{state.number():06d}", name, length)
    file.alt_text = call.text("alt_txt")
    state.files[file.id] = file
    path = f"/upload/v1/{state.number()}"
    state.uploads[path] = file
    return {"upload_url": f"{state.address}{path}", "file_id": file.id}


def complete(state: State, call: Call) -> Payload:
    """Share what was uploaded: in channels, under a root, or nowhere yet."""
    wanted = call.value("files")
    if not isinstance(wanted, list) or not wanted:
        raise RefusalError("invalid_arguments")
    files = [_uploaded(state, one) for one in wanted]
    ids = [call.text("channel_id"), *(call.text("channels") or "").split(",")]
    channels = [_open(state, id_) for id_ in ids if id_]
    for channel in channels:
        _share(state, call, channel, files)
    for file, one in zip(files, wanted, strict=True):
        file.done, file.title = True, str(one.get("title") or file.name)
    return {"files": [_described(state, file) for file in files]}


def _uploaded(state: State, one: Payload) -> File:
    file = state.files.get(str(one.get("id")))
    if file is None or file.content is None or file.done:
        raise RefusalError("file_not_found")
    return file


def _open(state: State, id_: str) -> Channel:
    channel = state.channel(id_)
    if state.bot not in channel.members:
        raise RefusalError("not_in_channel")
    if channel.is_archived:
        raise RefusalError("is_archived")
    return channel


def _share(state: State, call: Call, channel: Channel, files: list[File]) -> None:
    thread_ts = thread_root(channel, call.text("thread_ts"))
    content = {"text": call.text("initial_comment") or ""}
    message = put(channel, new_message(state, channel, state.bot, content), thread_ts)
    for file in files:
        file.shared_in.append((channel.id, message.ts))
    message.payload["files"] = [_described(state, file) for file in files]


def delete(state: State, call: Call) -> Payload:
    """Delete a file of the app's own, everywhere it was shared; messages of nothing else go too."""
    file = state.files.pop(call.required("file", "file_not_found"), None)
    if file is None:
        raise RefusalError("file_not_found")
    for channel_id, ts in file.shared_in:
        channel = state.channel(channel_id)
        if message := channel.find(ts):
            channel.said.remove(message)
    return {}


def sent(state: State, user: str, name: str, content: bytes) -> Payload:
    """Return a file that a person sent, as it appears in a message."""
    number = state.number()
    path = f"/files-pri/{number}/download"
    state.sent[path] = content
    return {
        "id": f"F{number:06d}",
        "name": name,
        "title": name,
        "size": len(content),
        "user": user,
        "mode": "hosted",
        "url_private_download": f"{state.address}{path}",
    }


METHODS = {
    "files.getUploadURLExternal": Method(upload_url, ("files:write",), takes_json=False),
    "files.completeUploadExternal": Method(complete, ("files:write",)),
    "files.delete": Method(delete, ("files:write",)),
}

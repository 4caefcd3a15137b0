"""Permissions: who may ask where, and who may read what."""

from collections.abc import AsyncIterator
from copy import deepcopy
from typing import Any

import pytest
import pytest_asyncio

from tests.bot.slack.story import Stage, run_stage, text_of
from tests.wire.slack import Message, User

pytestmark = pytest.mark.asyncio(loop_scope="package")

SECRET = "Whom do we dismiss?"
RULES = """
[access]
channels = ["C1", "C-CHEAP", "C-OPENAI"]
admins = ["UADMIN"]
rounds_per_hour = 2

[access.in."C-CHEAP"]
panel = "served"

[access.in."C-OPENAI"]
vendors = ["openai"]
"""


@pytest_asyncio.fixture(loop_scope="package", scope="module")
async def ruled(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with run_stage(tmp_path_factory.mktemp("ruled"), RULES) as running:
        for name in ("C-CHEAP", "C-OPENAI"):
            opened = running.slack.workspace.channels[running.add_channel()]
            opened.id = name
            running.slack.workspace.channels[name] = opened
        yield running


async def _says(stage: Stage, user: str, channel: str, text: str) -> str:
    return text_of(await stage.reply_to(user, channel, text))


def _stranger(stage: Stage) -> str:
    return stage.slack.workspace.add_user(User("UAWAY", "away", team="T0AWAY")).id


async def test_ordinary_channels_are_open_but_guests_and_shared_channels_are_not(
    stage: Stage,
) -> None:
    guest, stranger = stage.add_user("gil", is_guest=True), _stranger(stage)
    channel, shared = stage.add_channel(guest), stage.add_channel(stranger, shared=True)

    assert "Ask a member to ask for you" in await _says(stage, guest, channel, "Which queue?")
    assert "shared with other organisations" in await _says(stage, "U1", shared, "Which queue?")
    assert "Ask a member to ask for you" in await _says(stage, stranger, shared, "Which queue?")
    assert "Ask a member to ask for you" in await _says(stage, guest, channel, "help")
    assert not stage.round_ids(channel)
    assert not stage.round_ids(shared)


async def test_a_channel_has_its_own_panel_and_its_own_vendors(ruled: Stage) -> None:
    fay = ruled.add_user("fay")
    for name in ("C-CHEAP", "C-OPENAI"):
        ruled.slack.workspace.channels[name].members.add(fay)

    await ruled.slack.command(fay, "C-CHEAP", "/council", "Which queue?")
    await ruled.slack.until(lambda: "Up answers" in str(ruled.bot_messages("C-CHEAP")))
    refused = await _says(ruled, fay, "C-OPENAI", "Which queue?")
    assert "Only models from openai may be used in this channel" in refused
    await ruled.slack.command(fay, "C-OPENAI", "/council", "ask")
    view = await ruled.wait_for_modal(fay, "Ask the council")
    assert "served: goes to" in text_of(view)
    assert "house: goes to" not in text_of(view)
    await ruled.slack.submit(view, {"question": "Which queue?"}, fay)
    await ruled.wait_for_answer("C-OPENAI")


async def _in_private(stage: Stage, way: str, asker: str) -> tuple[str, Message]:
    """Ask the secret where others may not read it; return the round's id and its answer."""
    channel = stage.add_channel(asker, kind="private")
    if way == "direct message":
        channel = stage.slack.workspace.im_with(asker).id
        await stage.slack.direct_message(asker, SECRET)
    elif way == "only me":
        await stage.slack.command(asker, stage.add_channel(asker), "/council", "ask")
        view = await stage.wait_for_modal(asker, "Ask the council")
        channel = stage.slack.workspace.im_with(asker).id
        await stage.slack.submit(view, {"question": SECRET, "audience": "me"}, asker)
    else:
        await stage.slack.command(asker, channel, "/council", SECRET)
    root = await stage.wait_for_answer(channel)
    return stage.round_ids(channel)[-1], root


@pytest.mark.parametrize("way", ["private channel", "direct message", "only me"])
async def test_a_private_round_is_readable_nowhere_else(stage: Stage, way: str) -> None:
    asker, other = stage.add_user("ida"), stage.add_user("jan")
    id_, root = await _in_private(stage, way, asker)
    elsewhere = stage.add_channel(asker, other)
    bait = await stage.ask(elsewhere)

    for user in (other, asker):
        for text in (f"show {id_}", f"show {id_[:5]}", "show last", "rounds 999", f"forget {id_}"):
            assert SECRET not in await _says(stage, user, elsewhere, text)
        assert "There is no round" in await _says(stage, user, elsewhere, f"cancel {id_}")
    for action in ("answers", "ballots"):
        await stage.slack.click(_forged(bait, id_), f"council:{action}", other)
        view = await stage.wait_for_modal(other, "There is no round")
        assert SECRET not in text_of(view)
        stage.slack.state.modals[other].clear()
    for action, value in (
        *(("more", f"{one}:{id_}") for one in ("again", "export", "forget")),
        ("feedback", "negative"),
    ):
        stage.slack.state.ephemerals.clear()
        await stage.slack.click(_forged(bait, id_), f"council:{action}", other, value)
        await stage.wait_for_ephemeral(other, elsewhere, "There is no round")
    assert stage.home.sql("SELECT count(*) FROM feedback WHERE round_id = ?", id_) == [(0,)]
    assert stage.slack.views(other) == []
    own = {root.channel}
    assert all(
        {where for where, _ in f.shared_in} <= own for f in stage.slack.files if id_ in f.name
    )


def _forged(message: Message, id_: str) -> Message:
    payload: dict[str, Any] = deepcopy(message.payload)
    for block in payload["blocks"]:
        for one in block.get("elements", []) if "actions" in block["type"] else []:
            thumbs = (one.get("positive_button", {}), one.get("negative_button", {}))
            for part in (one, *thumbs, *one.get("options", ())):
                if "value" in part:
                    opinion, colon, _ = part["value"].rpartition(":")
                    part["value"] = f"{opinion}{colon}{id_}"
    return Message(message.channel, message.ts, payload, message.thread_ts)

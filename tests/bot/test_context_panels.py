"""Picked panels, which processes share."""

from dataclasses import replace

import pytest

from bot.chat import Asker, IncomingMessage
from bot.commands.ask import open_round
from bot.commands.dispatch import handle_message
from bot.commands.recovery import delete_workspace
from bot.commands.thread_context import ABOUT
from council.errors import PanelError
from council.places import Place
from council.ports import UNASKED
from tests.bot.app_fakes import ANA, HERE, FakeChat, an_app
from tests.bot.cluster_fakes import processes
from tests.builders import a_panel


def said(text: str, key: str = "k1", by: Asker = ANA) -> IncomingMessage:
    return IncomingMessage(text, by, HERE, key)


async def test_a_panel_picked_in_one_process_applies_in_another() -> None:
    _, (one, other) = processes(2)
    cheap = replace(a_panel(2), name="cheap")
    for app in (one, other):
        app.panels = {**app.panels, "cheap": cheap}
    await open_round(other, said("Before?", "k0"))

    await handle_message(one, FakeChat(), said("panel cheap"))

    assert await open_round(other, said("Why?"))
    assert (await one.store.load("k0")).panel.name == "house"
    assert (await one.store.load("k1")).panel.name == "cheap"
    await handle_message(other, FakeChat(), said("panel house"))
    assert await open_round(one, said("And now?", "k2"))
    assert (await one.store.load("k2")).panel.name == "house"


async def test_a_picked_panel_that_was_removed_is_reported() -> None:
    app = an_app()
    await app.pick_panel("gone", HERE)

    with pytest.raises(PanelError, match="Pick another with `/council panel NAME`"):
        await open_round(app, said("Why?"))


async def test_a_removed_workspace_loses_its_picked_panels() -> None:
    app = an_app()
    await app.pick_panel("house", HERE)
    await app.pick_panel("house", Place("slack", "T2", "C1"))

    await delete_workspace(app, "slack", "T1")

    assert {*await app.key_values.list_texts("panel")} == {"slack/T2/C1"}


@pytest.mark.parametrize("kind", [UNASKED, ABOUT])
async def test_nothing_that_waits_in_a_form_or_to_be_asked_survives_uninstalling(kind: str) -> None:
    app = an_app()
    for workspace in ("T1", "T2"):
        await app.key_values.put(kind, f"slack/{workspace}/1", "a text")

    await delete_workspace(app, "slack", "T1")

    assert {*await app.key_values.list_texts(kind)} == {"slack/T2/1"}

"""State that processes share: picked panels, drafts, presses, the key of the page."""

import asyncio
from dataclasses import replace

import pytest

from bot.bakeoffs.commands.suites import Draft, save_draft, take_draft
from bot.chat import Asker, IncomingMessage
from bot.commands.ask import open_round
from bot.commands.buttons import ActionDeduplicator
from bot.commands.dispatch import handle_message
from bot.commands.recovery import delete_workspace
from council.bakeoffs.models import Suite, SuiteQuestion
from council.errors import PanelError, SuiteError
from council.places import Place
from tests.bot.app_fakes import ANA, HERE, FakeChat, an_app
from tests.bot.cluster_fakes import processes
from tests.builders import a_panel
from tests.fakes.memory_key_value import MemoryKeyValueStore

SUITE = Suite("sql", (SuiteQuestion("Why WAL?"),), scope=HERE.scope)


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


async def test_a_draft_of_another_version_counts_as_gone() -> None:
    key_values = MemoryKeyValueStore()
    await key_values.put("draft", f"{HERE.scope}/c0de", '{"suite": "otherwise"}')

    with pytest.raises(SuiteError, match="Add it again"):
        await take_draft(key_values, "c0de", said(""))


async def test_a_removed_workspace_loses_its_picked_panels_and_drafts() -> None:
    app = an_app()
    await app.pick_panel("house", HERE)
    await app.pick_panel("house", Place("slack", "T2", "C1"))
    await save_draft(app.key_values, Draft(SUITE, "U1"))

    await delete_workspace(app, "slack", "T1")

    assert {*await app.key_values.list_texts("panel")} == {"slack/T2/C1"}
    assert await app.key_values.list_texts("draft") == {}


async def test_a_press_counts_once_however_many_processes_hear_it() -> None:
    _, apps = processes(3)
    done: list[int] = []

    async def press(number: int, *, everywhere: bool) -> bool:
        async def act() -> None:
            done.append(number)

        once = ActionDeduplicator(apps[number])
        return await once.do(("U1", "C1", "again", "r1"), act, everywhere=everywhere)

    heard = await asyncio.gather(*(press(number, everywhere=True) for number in range(3)))
    looked = [await press(number, everywhere=False) for number in range(3)]

    assert sorted(heard) == [False, False, True]
    assert looked == [True, True, True]
    assert len(done) == 4

"""Drafts of suites, which processes share."""

import pytest

from bot.bakeoffs.commands.suites import Draft, save_draft, take_draft
from bot.chat import IncomingMessage
from bot.commands.recovery import delete_workspace
from council.bakeoffs.models import Suite, SuiteQuestion
from council.errors import SuiteError
from tests.bot.app_fakes import ANA, HERE, an_app
from tests.fakes.memory_key_value import MemoryKeyValueStore

SUITE = Suite("sql", (SuiteQuestion("Why WAL?"),), scope=HERE.scope)


async def test_a_draft_of_another_version_counts_as_gone() -> None:
    key_values = MemoryKeyValueStore()
    await key_values.put("draft", f"{HERE.scope}/c0de", '{"suite": "otherwise"}')

    with pytest.raises(SuiteError, match="Add it again"):
        await take_draft(key_values, "c0de", IncomingMessage("", ANA, HERE, "k1"))


async def test_a_removed_workspace_loses_its_drafts() -> None:
    app = an_app()
    await save_draft(app.key_values, Draft(SUITE, "U1"))

    await delete_workspace(app, "slack", "T1")

    assert await app.key_values.list_texts("draft") == {}

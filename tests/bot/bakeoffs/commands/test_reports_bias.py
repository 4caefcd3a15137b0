"""`/council bias`: shown to its asker, who can share it with its thread in the channel."""

from dataclasses import replace

import pytest

from bot.bakeoffs.parts import bakeoff_settings
from bot.chat import File
from bot.commands.dispatch import handle_message
from bot.context import AppContext
from bot.plugins import RecordSources
from council.bakeoffs.bias.report import BiasReport
from council.bakeoffs.ports import RecordQuery
from council.places import Place
from tests.bot.app_fakes import FakeChat, an_app
from tests.bot.bakeoffs.commands.test_reports_leaderboard import (
    ADA,
    ROOM,
    Room,
    a_message,
    press_share,
)
from tests.bot.bakeoffs.render.bias.builders import NOTHING, a_report
from tests.bot.rounds import words_of


def app_with(report: BiasReport) -> tuple[AppContext, list[RecordQuery]]:
    """Return an app whose rounds lead to this report, and the queries that it measures."""
    asked: list[RecordQuery] = []

    async def measure(_: RecordSources, wanted: RecordQuery) -> BiasReport:
        asked.append(wanted)
        return report

    app = an_app()
    bakeoff_settings(app).measure_bias = measure
    return app, asked


async def test_shared_findings_are_one_message_with_the_charts() -> None:
    (app, asked), chat = app_with(a_report()), Room()
    await handle_message(app, chat, a_message("bias house suite:sql"))

    await press_share(app, chat)

    ((place, root),) = chat.posted
    assert (asked[0].panel, asked[0].suite, asked[0].scope) == ("house", "sql", "slack/T1")
    assert place == ROOM
    assert "places its own answer too high" in words_of(root)
    assert [part.name for part in root.parts if isinstance(part, File)] == ["bias.png"]
    assert "places its own answer too high" in chat.said[0]


async def test_without_files_only_the_words_are_posted() -> None:
    (app, _), chat = app_with(a_report()), Room(accepts_files=False)
    await handle_message(app, chat, a_message("bias"))

    await press_share(app, chat)

    ((_, post),) = chat.posted
    assert not any(isinstance(part, File) for part in post.parts)
    assert "places its own answer too high" in words_of(post)


@pytest.mark.parametrize("place", [Place("terminal"), Place("web", channel="web:1")])
async def test_the_operator_measures_all_rounds(place: Place) -> None:
    (app, asked), chat = app_with(a_report()), FakeChat()

    await handle_message(app, chat, a_message("bias", place))

    assert asked[0].scope is None
    assert chat.said[0].startswith("Bias of the judges")
    assert chat.keys == []


async def test_without_rounds_the_reply_says_what_to_do() -> None:
    (app, _), chat = app_with(NOTHING), Room()

    await handle_message(app, chat, a_message("bias nosuchpanel"))

    assert chat.posted == []
    assert "No finished rounds" in chat.said[0]


async def test_a_guest_sees_nothing_of_the_workspace() -> None:
    (app, asked), chat = app_with(a_report()), Room()
    app.access = replace(app.access, guests=True)

    await handle_message(app, chat, replace(a_message("bias"), asker=replace(ADA, is_guest=True)))

    assert (chat.posted, asked) == ([], [])
    assert "A bias report covers the rounds of the whole workspace" in chat.said[0]

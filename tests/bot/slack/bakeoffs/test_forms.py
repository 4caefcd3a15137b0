"""Forms of suites and schedules in Slack: errors at their field, rights, and what is gone."""

import pytest

from bot.bakeoffs.commands.forms import NEEDS_QUESTIONS, ONE_OF_BOTH
from tests.bot.slack.story import Stage, text_of
from tests.wire.slack import View
from tests.wire.slack.fields import elements_in

pytestmark = pytest.mark.asyncio(loop_scope="package")

FIVE = ["name", "suite", "panel", "when", "channel"]


async def _opened(stage: Stage, user: str, channel: str, command: str, title: str) -> View:
    await stage.slack.command(user, channel, "/council", command)
    return await stage.wait_for_modal(user, title)


async def _with_suite(stage: Stage, name: str) -> tuple[str, str]:
    """Return an admin and a channel, with a suite of this name saved."""
    dora = stage.add_user(is_admin=True)
    channel = stage.add_channel(dora)
    view = await _opened(stage, dora, channel, "suite add", "New suite")
    await stage.slack.submit(view, {"name": name, "questions": "Why WAL?\nWhy MVCC?"}, dora)
    preview = await stage.wait_for_ephemeral(dora, channel, f"Save suite {name}?")
    await stage.slack.click(preview, "council:keep_suite", dora)
    await stage.wait_for_ephemeral(dora, channel, f"Suite {name} is saved: 2 questions")
    return dora, channel


async def test_a_suite_is_made_from_pasted_questions_or_a_file(stage: Stage) -> None:
    dora, channel = await _with_suite(stage, "pasted")
    view = await _opened(stage, dora, channel, "suite add", "New suite")
    csv = {"sql.csv": b"question,answer\nWhat is 6 x 7?,42\n"}

    await stage.slack.submit(view, {"name": "Filed", "file": csv}, dora)

    await stage.wait_for_ephemeral(dora, channel, "Save suite filed?")
    assert stage.slack.views(dora) == []


async def test_what_is_wrong_with_a_suite_stands_at_its_field(stage: Stage) -> None:
    dora = stage.add_user(is_admin=True)
    channel = stage.add_channel(dora)
    view = await _opened(stage, dora, channel, "suite add", "New suite")

    for values, field, said in (
        ({"name": "two words", "questions": "Why?"}, "name", "A suite can't be called"),
        ({"name": "none"}, "questions", NEEDS_QUESTIONS),
        (
            {"name": "both", "questions": "Why?", "file": {"a.txt": b"Why?"}},
            "questions",
            ONE_OF_BOTH,
        ),
        ({"name": "odd", "file": {"a.exe": b"MZ"}}, "file", "this type of file"),
    ):
        await stage.slack.submit(view, values, dora)

        assert list(view.errors) == [field]
        assert said in view.errors[field]
    assert stage.slack.views(dora) == [view]


async def test_a_schedule_is_made_by_a_form_with_real_fields(stage: Stage) -> None:
    dora, channel = await _with_suite(stage, "weekly")
    results = stage.add_channel(dora)
    view = await _opened(stage, dora, channel, "schedule add", "New schedule")
    fields = {one["action_id"]: one["type"] for _, one in elements_in(view.payload["blocks"])}
    assert list(fields) == FIVE
    assert (fields["suite"], fields["channel"]) == ("static_select", "conversations_select")

    filled = {"name": "monday", "suite": "weekly", "when": "every Monday at 9:00"}
    await stage.slack.submit(view, {**filled, "channel": results}, dora)

    await stage.wait_for_ephemeral(dora, channel, "Schedule monday")
    rows = stage.home.sql("SELECT cron, suite, channel FROM schedule WHERE name = 'monday'")
    assert rows == [("0 9 * * 1", "weekly", results)]


async def test_what_is_wrong_with_a_schedule_stands_at_its_field(stage: Stage) -> None:
    dora, channel = await _with_suite(stage, "removed")
    away = stage.add_channel()
    view = await _opened(stage, dora, channel, "schedule add", "New schedule")
    good = {"name": "nightly", "suite": "removed", "when": "every day 09:00"}
    stage.slack.workspace.channels[away].members.discard(stage.slack.state.bot)

    wrong: list[str] = []
    for change in ({"name": "two words"}, {"when": "now and then"}, {"channel": away}):
        await stage.slack.submit(view, {**good, **change}, dora)
        wrong += view.errors
    stage.home.sql("DELETE FROM suite WHERE name = 'removed'")
    await stage.slack.submit(view, good, dora)

    assert wrong == ["name", "when", "channel"]
    assert list(view.errors) == ["suite"]
    assert "removed" in view.errors["suite"]


async def test_a_plain_member_is_refused_before_the_form_opens(stage: Stage) -> None:
    erin = stage.add_user("erin")
    channel = stage.add_channel(erin)

    for command in ("suite add", "schedule add"):
        reply = await stage.reply_to(erin, channel, command)
        assert "Only admins can make" in text_of(reply)

    assert stage.slack.views(erin) == []
    listed = await stage.reply_to(erin, channel, "schedule list")
    assert "new_schedule" not in text_of(listed)


async def test_who_lost_the_right_meanwhile_is_refused_in_the_form(stage: Stage) -> None:
    dora = stage.add_user(is_admin=True)
    channel = stage.add_channel(dora)
    view = await _opened(stage, dora, channel, "suite add", "New suite")
    erin = stage.add_user("erin")
    stage.slack.state.modals[erin] = [view]
    view.user = erin

    await stage.slack.submit(view, {"name": "mine", "questions": "Why?"}, erin)

    assert "Only admins can make suites" in view.errors["name"]


async def test_lists_and_typed_words_lead_to_the_form(stage: Stage) -> None:
    dora = stage.add_user(is_admin=True)
    channel = stage.add_channel(dora)

    listed = await stage.reply_to(dora, channel, "suite list")
    typed = await stage.reply_to(dora, channel, "new suite")

    for message in (listed, typed):
        await stage.slack.click(message, "council:new_suite", dora)
        view = await stage.wait_for_modal(dora, "New suite")
        stage.slack.closes(view)

"""`/council schedule`: repeats what it understood, and says what is wrong."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.access import Access
from bot.bakeoffs.parts import SCHEDULES, bakeoff_settings, bakeoff_stores
from bot.chat import Asker, IncomingMessage, PostingForbiddenError
from bot.commands.dispatch import handle_message
from bot.context import AppContext
from council.bakeoffs.models import Schedule, Suite, SuiteQuestion
from council.money import Price
from council.places import Place
from tests.bot.app_fakes import ANA, BEN, HERE, FakeChat, an_app
from tests.builders import CLAUDE, GEMINI, GPT
from tests.fakes.gateway import FakeGateway

ADMIN = Asker("U9", "Cleo")
SATURDAY = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SQL = Suite("sql", (SuiteQuestion("Why WAL?"), SuiteQuestion("Why MVCC?")))
ADD = "/council schedule add weekly-sql suite:sql panel:house every monday 09:00 Europe/Budapest"


class ChatWithChannels(FakeChat):
    """A chat whose workspace has a second channel, and a third that is closed."""

    async def redirect_to_channel(self, message: IncomingMessage, channel: str) -> IncomingMessage:
        if channel not in {"models", "shared"}:
            raise PostingForbiddenError(f"There is no channel #{channel} here.")
        place = replace(message.place, channel=channel)
        return replace(message, place=place, is_shared=channel == "shared", is_direct=False)


@pytest.fixture
async def app() -> AppContext:
    price = Price(1e-5, 1e-5, 500)
    app = an_app(FakeGateway(prices=dict.fromkeys((CLAUDE, GPT, GEMINI), price)))
    app.now = lambda: SATURDAY
    app.access = Access(admins=("U9",))
    await bakeoff_stores(app).suites.save(SQL, "U1", SATURDAY)
    return app


async def replies_to(app: AppContext, text: str, asker: Asker = ANA, place: Place = HERE) -> str:
    """Send a message; return every ephemeral reply to it."""
    chat = ChatWithChannels()
    await handle_message(app, chat, IncomingMessage(text, asker, place, app.new_id()))
    return "\n".join(chat.said)


async def only(app: AppContext) -> Schedule:
    (found,) = await bakeoff_stores(app).schedules.list_all()
    return found


async def test_a_new_schedule_is_confirmed_with_its_next_times_and_cost(
    app: AppContext,
) -> None:
    text = await replies_to(app, f"{ADD} cap:$2")

    lines = text.splitlines()
    assert lines[0] == "Schedule weekly-sql"
    assert "suite sql of 2 questions runs on panel house. The result is posted" in lines[1]
    assert lines[2].startswith("Next: Mon 23 Nov 2026 09:00 (Europe/Budapest), Mon 30 ")
    assert lines[3].startswith("A run costs $0.")
    assert " at most, and about 4.3 runs a month $" in lines[3]
    assert lines[3].endswith("; its cap is $2.00.")


async def test_a_schedule_is_stored_as_it_was_understood(app: AppContext) -> None:
    with app.pubsub.subscription(SCHEDULES) as changes:
        await replies_to(app, f"{ADD} cap:$2 #models", place=replace(HERE, thread="1.2"))

    one = await only(app)
    assert (one.name, one.suite, one.panel) == ("weekly-sql", "sql", "house")
    assert (one.cron, one.zone, one.words) == ("0 9 * * 1", "Europe/Budapest", "every monday 09:00")
    assert (one.made_by, one.scope, one.cap_micro) == ("U1", HERE.scope, 2_000_000)
    assert one.place == replace(HERE, channel="models")  # not in the thread
    assert (one.paused, one.last_slot) == (False, "2026-11-21T13:00")
    assert changes.qsize() == 1


async def test_without_a_zone_the_default_zone_is_named(app: AppContext) -> None:
    utc = await replies_to(app, "/council schedule add a suite:sql every day 09:00")
    bakeoff_settings(app).zone = "Asia/Tokyo"
    tokyo = await replies_to(app, "/council schedule add b suite:sql every day 09:00")

    assert "Time zone: UTC (no time zone was given)" in utc
    assert "Time zone: Asia/Tokyo (the default, because none was given)" in tokyo
    assert "Next: Sun 22 Nov 2026 09:00" in tokyo


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("add w every day 09:00", "Name a suite, such as suite:NAME. Known suites: sql."),
        ("add w suite:sql", "Say when to run it, in words or as a cron expression"),
        ("add w suite:law every day 09:00", "There is no suite 'law'. Known suites: sql."),
        (
            "add w suite:sql panel:x every day 09:00",
            ("There is no panel 'x'. Known panels: house."),
        ),
        ('add w suite:sql "0 9 30 2 *"', "never runs"),
        ("add w suite:sql every 2 minutes", "more often than every 5 minutes"),
        ("add w suite:sql every day 09:00 Europe/Budapst", "Write it as in Europe/Budapest"),
        ("add w suite:sql every monday", "Add a time in hours and minutes"),
        ("add w suite:sql every monday 09:00 #nowhere", "There is no channel #nowhere here."),
        (
            "add w suite:sql every monday 09:00 #shared",
            "The council is off in channels shared with other organisations",
        ),
        ("pause nothing", "There is no schedule 'nothing' here. Known schedules: none yet."),
    ],
)
async def test_an_invalid_schedule_is_refused_in_a_sentence_and_not_stored(
    app: AppContext, words: str, why: str
) -> None:
    text = await replies_to(app, f"/council schedule {words}")

    assert why in text
    assert "\n" not in text
    assert await bakeoff_stores(app).schedules.list_all() == ()


async def test_a_name_is_taken_once(app: AppContext) -> None:
    await replies_to(app, ADD)

    text = await replies_to(app, ADD, ADMIN)

    assert text == "There is already a schedule 'weekly-sql'. Choose another name."


async def test_the_list_shows_times_last_run_and_cost_of_schedules(
    app: AppContext,
) -> None:
    assert "No schedules yet" in await replies_to(app, "/council schedule")
    await replies_to(app, ADD)
    await replies_to(app, "/council schedule add hourly suite:sql every hour")
    await replies_to(app, "/council schedule pause hourly")
    await replies_to(app, "/council schedule run weekly-sql")

    text = await replies_to(app, "/council schedule list")

    lines = text.splitlines()
    assert lines[0] == "2 schedules"
    assert lines[2].startswith("hourly | every hour | paused | none yet | $0.")
    assert lines[3].startswith(
        "weekly-sql | every Monday at 09:00 | Mon 23 Nov 2026 09:00 Europe/Budapest | "
        "Sat 21 Nov 2026 13:00, "
    )


async def test_a_schedule_is_paused_resumed_and_removed(app: AppContext) -> None:
    await replies_to(app, ADD)

    assert "is paused" in await replies_to(app, "/council schedule pause weekly-sql")
    assert (await only(app)).paused
    app.now = lambda: datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
    assert "Next: Mon 7 Dec 2026 09:00" in await replies_to(app, "schedule resume weekly-sql")
    assert not (await only(app)).paused
    assert (await only(app)).last_slot == "2026-12-01T13:00"  # what came meanwhile is not caught up
    assert "is removed" in await replies_to(app, "/council schedule remove weekly-sql")
    assert await bakeoff_stores(app).schedules.list_all() == ()


async def test_a_schedule_that_cannot_run_is_not_resumed_and_the_list_says_why(
    app: AppContext,
) -> None:
    await replies_to(app, ADD)
    await replies_to(app, "/council schedule pause weekly-sql")
    await bakeoff_stores(app).suites.remove("", "sql")

    text = await replies_to(app, "/council schedule resume weekly-sql")
    listed = await replies_to(app, "/council schedule list")

    assert "There is no suite 'sql'" in text
    assert "weekly-sql cannot run: There is no suite 'sql'" in listed
    assert (await only(app)).paused


async def test_an_edit_changes_what_it_names_and_nothing_else(app: AppContext) -> None:
    await replies_to(app, f"{ADD} cap:$2")
    before = await only(app)

    text = await replies_to(app, "/council schedule edit weekly-sql every weekday 18:00 cap:none")

    after = await only(app)
    assert "Every weekday at 18:00, Europe/Budapest time" in text
    assert after == replace(
        before, cron="0 18 * * 1,2,3,4,5", words="every weekday 18:00", cap_micro=None
    )
    unnamed = await replies_to(app, "/council schedule edit weekly-sql")
    assert "Say what to change after the name" in unnamed


@pytest.mark.parametrize("act", ["pause", "resume", "remove", "run", "edit"])
async def test_only_an_admin_may_do_that(app: AppContext, act: str) -> None:
    await replies_to(app, ADD)
    more = " every day 10:00" if act == "edit" else ""

    text = await replies_to(app, f"/council schedule {act} weekly-sql{more}", BEN)

    assert text.startswith("Only admins can")
    assert "Only" not in await replies_to(app, f"/council schedule {act} weekly-sql{more}", ADMIN)


async def test_anybody_may_subscribe_and_unsubscribe(app: AppContext) -> None:
    await replies_to(app, ADD)

    await replies_to(app, "/council schedule subscribe weekly-sql", BEN)
    await replies_to(app, "/council schedule subscribe weekly-sql", BEN)
    await replies_to(app, "/council schedule subscribe weekly-sql")
    assert (await only(app)).subscribers == ("U2", "U1")
    await replies_to(app, "/council schedule unsubscribe weekly-sql", BEN)

    assert (await only(app)).subscribers == ("U1",)


async def test_a_run_now_is_an_extra_bakeoff_of_the_schedule(app: AppContext) -> None:
    await replies_to(app, ADD)
    one = await only(app)

    await replies_to(app, "/council schedule run weekly-sql", ADMIN)

    (bakeoff,) = await bakeoff_stores(app).bakeoffs.list_recent()
    assert bakeoff.id.startswith(f"sched:{one.id}@now-")
    assert (bakeoff.schedule, bakeoff.asked_by, bakeoff.place) == (one.id, "U9", HERE)
    assert bakeoff.ending
    assert (await only(app)).last_slot == one.last_slot


async def test_workspaces_do_not_see_each_others_schedules_nor_other_private_channels(
    app: AppContext,
) -> None:
    closed = Place("slack", "T1", "G1", private=True)
    await replies_to(app, ADD)
    await replies_to(app, "/council schedule add secret suite:sql every day 09:00", place=closed)

    assert "secret" not in await replies_to(app, "/council schedule list", BEN)
    assert "secret" in await replies_to(app, "/council schedule list", BEN, closed)
    assert "There is no schedule 'secret'" in await replies_to(app, "schedule run secret", ADMIN)
    elsewhere = Place("slack", "T2", "C1")
    assert "No schedules yet" in await replies_to(app, "/council schedule list", BEN, elsewhere)
    assert "secret" in await replies_to(app, "/council schedule list", place=Place("terminal"))

"""What release 0.1 posted in Slack and Discord can still be pressed, filled in and sent.

The messages were posted by that release, and its database tells of the rounds they are about. A
product of today serves a copy of it; people press what they still see.
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import pytest_asyncio

from tests.compatibility import discord_messages, slack_messages
from tests.compatibility.product import DATA, Serving, installed
from tests.wire.discord import FakeDiscord, Message
from tests.wire.discord import Rates as DiscordRates
from tests.wire.discord import Rules as DiscordRules
from tests.wire.models import Hang, ModelServer, by_role
from tests.wire.slack import FakeSlack, Rates, Rules

in_one_loop = pytest.mark.asyncio(loop_scope="module")

SECONDS = 30.0
PATIENT = ("patient-1", "patient-2")
# A look into a thread that is not opened yet is answered 10003.
UNREFUSED = {"ok", "200", "201", "204", "under way", "404 10003"}
# The kept messages grow older, and Discord has old ones edited a few times only: not tried here.
AGELESS = DiscordRules(identify_seconds=0, rates=DiscordRates(off=True), old_edits=1000)
UNDER_WAY = 12  # calls that those were asked when the product was killed: two rounds, two bake-offs


@dataclass(frozen=True, slots=True)
class Press:
    """Something to press: in which message, by whom, and what is said then.

    `becomes` says that the message itself says it from then on.
    """

    message: str
    action: str
    user: str
    told: str
    value: str | None = None
    becomes: bool = False

    def __str__(self) -> str:
        return f"{self.message}, {self.action}{' ' + self.value if self.value else ''}"


IN_SLACK = (
    Press("finished", "answers", "U2", ", by "),
    Press("finished", "ballots", "U2", " and ranked "),
    Press("finished", "export", "U1", "The round is in its thread, as JSON"),
    Press("finished", "suite", "U2", "Add to suite"),
    Press("finished", "feedback", "U1", "What was wrong or missing?", "negative"),
    Press("finished", "feedback", "U1", "Noted, thank you.", "positive"),
    Press("finished", "again", "U2", "Asking Random 1"),
    Press("forgotten", "again", "U2", "was forgotten on"),
    Press("with_thread", "with_thread", "U1", "Asking Random 1"),
    Press("without_thread", "without_thread", "U1", "Asking Random 1"),
    Press("keep_suite", "keep_suite", "U1", "Suite keeping is kept"),
    Press("leave_suite", "leave_suite", "U1", "Suite leaving is left as it was"),
    Press("bakeoff_start", "bakeoff_start", "U1", "2 of 2 questions"),
    Press("bakeoff_leave", "bakeoff_leave", "U1", "Nothing was begun"),
    Press("bakeoff: stopped", "bakeoff_resume", "U1", "2 of 2 questions", becomes=True),
    Press("stopped", "resume", "U1", "council:answers", becomes=True),
    # Cancelled last: a model that did not answer in time is not asked for a while.
    Press("running", "cancel", "U1", "Cancelled.", becomes=True),
    Press("bakeoff: running", "bakeoff_cancel", "U1", "It was cancelled.", becomes=True),
)
IN_DISCORD = (
    Press("finished", "answers", "U2", "Response "),
    Press("finished", "ballots", "U2", " and ranked "),
    Press("finished", "export", "U1", "The round is in its thread, as JSON"),
    Press("finished", "suite", "U2", "Add to suite"),
    Press("finished", "helpful", "U1", "Noted, thank you."),
    Press("finished", "unhelpful", "U1", "What was wrong or missing?"),
    Press("finished", "again", "U2", "Run again?"),
    Press("no_again", "no_again", "U2", "Nothing was asked.", becomes=True),
    Press("yes_again", "yes_again", "U2", "Asking Random 1"),
    Press("keep_suite", "keep_suite", "U1", "Suite keepingd is kept"),
    Press("leave_suite", "leave_suite", "U1", "Suite leavingd is left as it was"),
    Press("bakeoff_start", "bakeoff_start", "U1", "2 of 2 questions"),
    Press("bakeoff_leave", "bakeoff_leave", "U1", "Nothing was begun"),
    Press("bakeoff: stopped", "bakeoff_resume", "U1", "2 of 2 questions", becomes=True),
    Press("stopped", "resume", "U1", "council:answers:", becomes=True),
    Press("running", "cancel", "U1", "Cancel round "),
    Press("no_cancel", "no_cancel", "U1", "The round goes on.", becomes=True),
    Press("yes_cancel", "yes_cancel", "U1", " is cancelled"),
    Press("bakeoff: running", "bakeoff_cancel", "U1", "Cancel bake-off "),
    Press("no_bakeoff_cancel", "no_bakeoff_cancel", "U1", "The bake-off goes on.", becomes=True),
    Press("yes_bakeoff_cancel", "yes_bakeoff_cancel", "U1", " is cancelled"),
)
FORMS_IN_SLACK: dict[str, tuple[dict[str, object], str]] = {
    "why": ({"why": "It names no price."}, "Noted, thank you."),
    "suite": ({"name": "grown", "answer": "42"}, "The question is in suite grown now"),
    "ask": ({"question": "Is the old form still read?"}, "Asking Random 1"),
}
FORMS_IN_DISCORD: dict[str, tuple[dict[str, object], str]] = {
    "why": ({"What was wrong or missing?": "It names no price."}, "Noted, thank you."),
    "suite": ({"Suite": "grown"}, "The question is in suite grown now"),
    "ask": ({"Question": "Is the old form still read?"}, "Asking Random 1"),
}


@dataclass(slots=True)
class House:
    """A product of today on the release's database, and what people saw when that was posted."""

    serve_queue: Serving
    slack: FakeSlack
    discord: FakeDiscord
    in_slack: slack_messages.Stored
    in_discord: discord_messages.Stored
    known: list[Any] = field(default_factory=list)  # what went wrong in an earlier test

    def calls_so_far(self, chat: FakeSlack | FakeDiscord) -> int:
        """Count a chat's calls, before a press is made; what went wrong by then is not its own."""
        self.known = self.everything_wrong()
        return len(chat.calls)

    async def tells_in_slack(self, words: str, since: int) -> None:
        """Wait until Slack was told these words in a call after so many."""
        await self._tells(self.slack, lambda: words in str(self.slack.calls[since:]))

    async def tells_in_discord(self, words: str, since: int) -> None:
        """Wait until Discord was told these words in a request after so many."""

        def told() -> bool:
            return words in str([call.body for call in self.discord.calls[since:]])

        await self._tells(self.discord, told)

    async def _tells(self, chat: FakeSlack | FakeDiscord, told: Callable[[], object]) -> None:
        await chat.until(lambda: told() or self._own_troubles(), SECONDS)
        assert self._own_troubles() == []

    def _own_troubles(self) -> list[Any]:
        return [trouble for trouble in self.everything_wrong() if trouble not in self.known]

    def everything_wrong(self) -> list[Any]:
        """Give what went wrong so far: in what was logged, said, answered late, or refused."""
        said = [str(call) for call in self.slack.calls] + [str(c.body) for c in self.discord.calls]
        signs = ("Something went wrong", "This comes from another version")
        wrong = [words for words in said if any(sign in words for sign in signs)]
        seen = [*self.slack.faults, *self.discord.faults]
        return [*self.serve_queue.troubles(), *wrong, *seen, *self._refused()]

    def _refused(self) -> list[str]:
        """Give the calls that were refused, or broke off."""
        calls = self.slack.calls
        slack = [f"{c.method}: {c.outcome}" for c in calls if c.outcome not in UNREFUSED]
        discord = [str(c) for c in self.discord.calls if c.outcome not in UNREFUSED]
        return slack + discord


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """Give the product, once it goes on with what was under way when the release was killed."""
    in_slack, in_discord = slack_messages.Stored(DATA), discord_messages.Stored(DATA)
    async with (
        ModelServer() as models,
        FakeSlack(rules=Rules(rates=Rates(off=True))) as slack,
        FakeDiscord(AGELESS, in_discord.world) as discord,
    ):
        models.script |= {name: by_role(answer=lambda _: Hang()) for name in PATIENT}
        in_slack.put_into(slack)
        app = slack.state.app
        settings = {
            "SLACK_BOT_TOKEN": app.bot_token,
            "SLACK_APP_TOKEN": app.app_token,
            "SLACK_API_URL": slack.api_url,
            **discord.settings,
        }
        home = installed(tmp_path_factory.mktemp("house"), models=models.api_base)
        async with replace(home, settings=settings).serve_queue() as serving:
            await serving.says("Slack: in ")
            await slack.connected()
            await discord.connected(SECONDS)
            await slack.until(lambda: _asked_in_vain(models) == UNDER_WAY, SECONDS)
            yield House(serving, slack, discord, in_slack, in_discord)


def _asked_in_vain(models: ModelServer) -> int:
    return sum(one.model in PATIENT for one in models.requests)


def test_every_button_of_the_stored_messages_is_pressed() -> None:
    in_slack, in_discord = slack_messages.Stored(DATA), discord_messages.Stored(DATA)

    pressed = {f"council:{press.action}" for press in IN_SLACK}
    assert in_slack.action_ids() == pressed | {"council:page:1"}
    assert in_slack.views.keys() == FORMS_IN_SLACK.keys() | {"answers"}
    sent = {str(modal.data["custom_id"]).split(":")[1] for modal in in_discord.modals.values()}
    assert sent == in_discord.modals.keys() == FORMS_IN_DISCORD.keys()
    assert in_discord.actions() == {press.action for press in IN_DISCORD} | sent


@in_one_loop
@pytest.mark.parametrize("press", IN_SLACK, ids=str)
async def test_a_button_that_slack_still_shows_does_what_it_says(
    house: House, press: Press
) -> None:
    message, since = house.in_slack.messages[press.message], house.calls_so_far(house.slack)

    deed = await house.slack.click(message, f"council:{press.action}", press.user, press.value)

    assert deed.accepted
    if press.becomes:
        await house.slack.until(lambda: press.told in str(message.payload), SECONDS)
    await house.tells_in_slack(press.told, since)


@in_one_loop
async def test_a_page_that_slack_still_shows_is_turned(house: House) -> None:
    view, since = house.in_slack.views["answers"], house.calls_so_far(house.slack)
    house.slack.state.modals[view.user] = [view]

    deed = await house.slack.click(view, "council:page:1", view.user)

    assert deed.accepted
    await house.tells_in_slack("Previous (1 of ", since)


@in_one_loop
@pytest.mark.parametrize("name", FORMS_IN_SLACK)
async def test_a_form_that_is_still_open_in_slack_can_be_sent(house: House, name: str) -> None:
    values, told = FORMS_IN_SLACK[name]
    view, since = house.in_slack.views[name], house.calls_so_far(house.slack)
    house.slack.state.modals[view.user] = [view]

    deed = await house.slack.submit(view, values, view.user)

    assert deed.accepted
    assert view.errors == {}
    await house.tells_in_slack(told, since)


@in_one_loop
@pytest.mark.parametrize("press", IN_DISCORD, ids=str)
async def test_a_button_that_discord_still_shows_does_what_it_says(
    house: House, press: Press
) -> None:
    message, since = house.in_discord.messages[press.message], house.calls_so_far(house.discord)
    ids = discord_messages.custom_ids(message.components)
    (custom_id,) = [id_ for id_ in ids if id_.startswith(f"council:{press.action}:")]

    deed = await house.discord.click(message, custom_id, press.user)

    assert deed.accepted
    if press.becomes:
        await house.discord.until(lambda: press.told in shown(message), SECONDS)
    await house.tells_in_discord(press.told, since)


def shown(message: Message) -> str:
    return f"{message.text} {message.components}"


@in_one_loop
@pytest.mark.parametrize("name", FORMS_IN_DISCORD)
async def test_a_form_that_is_still_open_in_discord_can_be_sent(house: House, name: str) -> None:
    values, told = FORMS_IN_DISCORD[name]
    modal, since = house.in_discord.modals[name], house.calls_so_far(house.discord)
    house.discord.state.modals.append(modal)

    deed = await house.discord.submit(modal, values, modal.user)

    assert deed.accepted
    await house.tells_in_discord(told, since)


@in_one_loop
async def test_nothing_went_wrong_behind_what_was_said(house: House) -> None:
    assert house.everything_wrong() == []

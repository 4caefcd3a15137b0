"""Buttons and forms that release 0.1 posted in Slack and Discord still work.

That release posted the messages, and its database holds the rounds they are about. Today's product
serves a copy of it.
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import pytest_asyncio

from bot.bakeoffs.render.bakeoffs import CANCEL
from bot.slack.messages import FILE_SENT
from tests.bot.app_fakes import BUTTONS
from tests.compatibility import discord_messages, slack_messages
from tests.compatibility.product import DATA, Serving, install
from tests.wire.discord import FakeDiscord, Message
from tests.wire.discord import Rates as DiscordRates
from tests.wire.discord import Rules as DiscordRules
from tests.wire.models import Hang, ModelServer, by_role
from tests.wire.slack import FakeSlack, Rates, Rules

in_one_loop = pytest.mark.asyncio(loop_scope="module")

SECONDS = 90.0
STILL_RUNNING = BUTTONS.confirmations[CANCEL].after_no
HANGING = ("patient-1", "patient-2")
# Discord answers 10003 for a thread that is not opened yet.
ACCEPTED = {"ok", "200", "201", "204", "under way", "404 10003"}
# Forgetting deletes the replies of a round, and only the messages with buttons are stored.
GONE = {"files.delete: file_not_found", "chat.delete: message_not_found"}
# The stored messages grow older, and Discord limits edits of old ones: not tested here.
AGELESS = DiscordRules(identify_seconds=0, rates=DiscordRates(off=True), old_edits=1000)
HANGING_CALLS = 12  # of two rounds and two bake-offs, when the product was killed


@dataclass(frozen=True, slots=True)
class Press:
    """A button: in which message, who presses it, and the reply; `in_place` edits the message."""

    message: str
    action: str
    user: str
    reply: str
    value: str | None = None
    in_place: bool = False

    def __str__(self) -> str:
        return f"{self.message}, {self.action}{' ' + self.value if self.value else ''}"


IN_SLACK = (
    Press("finished", "answers", "U2", "Random "),
    Press("finished", "ballots", "U2", " saw "),
    Press("finished", "export", "U1", FILE_SENT.format(name="").strip()),
    Press("finished", "suite", "U2", "Add to suite"),
    Press("finished", "feedback", "U1", "What was wrong or missing?", "negative"),
    Press("finished", "feedback", "U1", "Noted, thank you.", "positive"),
    Press("finished", "again", "U2", "Random 1 answers"),
    Press("forgotten", "again", "U2", "were forgotten on"),
    Press("with_thread", "with_thread", "U1", "Random 1 answers"),
    Press("without_thread", "without_thread", "U1", "Random 1 answers"),
    Press("keep_suite", "keep_suite", "U1", "Suite keeping is saved"),
    Press("leave_suite", "leave_suite", "U1", "Suite leaving is unchanged"),
    Press("bakeoff_start", "bakeoff_start", "U1", "2 of 2 questions"),
    Press("bakeoff_leave", "bakeoff_leave", "U1", "Nothing was started"),
    Press("bakeoff: stopped", "bakeoff_resume", "U1", "2 of 2 questions", in_place=True),
    Press("stopped", "resume", "U1", "council:answers", in_place=True),
    # Cancelled last: a model that did not answer in time is not asked for a while.
    Press("running", "cancel", "U1", "Cancelled.", in_place=True),
    Press("bakeoff: running", "bakeoff_cancel", "U1", "It was cancelled.", in_place=True),
)
IN_DISCORD = (
    Press("finished", "answers", "U2", "Random "),
    Press("finished", "ballots", "U2", " > "),
    Press("finished", "export", "U1", "attachment://council-"),
    Press("finished", "suite", "U2", "Add to suite"),
    Press("finished", "helpful", "U1", "Noted, thank you."),
    Press("finished", "unhelpful", "U1", "What was wrong or missing?"),
    Press("finished", "again", "U2", "Run again?"),
    Press("no_again", "no_again", "U2", "Nothing was asked.", in_place=True),
    Press("yes_again", "yes_again", "U2", "Random 1 answers"),
    Press("keep_suite", "keep_suite", "U1", "Suite keepingd is saved"),
    Press("leave_suite", "leave_suite", "U1", "Suite leavingd is unchanged"),
    Press("bakeoff_start", "bakeoff_start", "U1", "2 of 2 questions"),
    Press("bakeoff_leave", "bakeoff_leave", "U1", "Nothing was started"),
    Press("bakeoff: stopped", "bakeoff_resume", "U1", "2 of 2 questions", in_place=True),
    Press("stopped", "resume", "U1", "council:answers:", in_place=True),
    Press("running", "cancel", "U1", "Cancel “"),
    Press("no_cancel", "no_cancel", "U1", BUTTONS.confirmations["cancel"].after_no, in_place=True),
    Press("yes_cancel", "yes_cancel", "U1", " is cancelled"),
    Press("bakeoff: running", "bakeoff_cancel", "U1", "Cancel the bake-off of "),
    Press(
        "no_bakeoff_cancel",
        "no_bakeoff_cancel",
        "U1",
        BUTTONS.confirmations[CANCEL].after_no,
        in_place=True,
    ),
    Press("yes_bakeoff_cancel", "yes_bakeoff_cancel", "U1", " is cancelled"),
)
FORMS_IN_SLACK: dict[str, tuple[dict[str, object], str]] = {
    "why": ({"why": "It names no price."}, "Noted, thank you."),
    "suite": ({"name": "grown", "answer": "42"}, "The question is now in suite grown"),
    "ask": ({"question": "Is the old form still read?"}, "Random 1 answers"),
}
FORMS_IN_DISCORD: dict[str, tuple[dict[str, object], str]] = {
    "why": ({"What was wrong or missing?": "It names no price."}, "Noted, thank you."),
    "suite": ({"Suite": "grown"}, "The question is now in suite grown"),
    "ask": ({"Question": "Is the old form still read?"}, "Random 1 answers"),
}


@dataclass(slots=True)
class Site:
    """Today's product on the release's database, and the messages and forms of that time."""

    serving: Serving
    slack: FakeSlack
    discord: FakeDiscord
    in_slack: slack_messages.Stored
    in_discord: discord_messages.Stored
    known: list[Any] = field(default_factory=list)  # errors of earlier tests

    def count_calls(self, chat: FakeSlack | FakeDiscord) -> int:
        """Return how many calls a chat has had; the errors so far are not the next press's own."""
        self.known = self.errors()
        return len(chat.calls)

    async def wait_for_slack(self, words: str, since: int) -> None:
        """Wait until a call to Slack after the first `since` contains these words."""
        await self._wait(self.slack, lambda: words in str(self.slack.calls[since:]))

    async def wait_for_discord(self, words: str, since: int) -> None:
        """Wait until a request to Discord after the first `since` contains these words."""

        def has_words() -> bool:
            return words in str([call.body for call in self.discord.calls[since:]])

        await self._wait(self.discord, has_words)

    async def _wait(self, chat: FakeSlack | FakeDiscord, condition: Callable[[], object]) -> None:
        await chat.until(lambda: condition() or self._new_errors(), SECONDS)
        assert self._new_errors() == []

    def _new_errors(self) -> list[Any]:
        return [error for error in self.errors() if error not in self.known]

    def errors(self) -> list[Any]:
        """Return what went wrong so far: logged, shown, answered late, or rejected."""
        said = [str(call) for call in self.slack.calls] + [str(c.body) for c in self.discord.calls]
        signs = ("Something went wrong", "This message comes from another version")
        wrong = [text for text in said if any(sign in text for sign in signs)]
        seen = [*self.slack.faults, *self.discord.faults]
        return [*self.serving.errors(), *wrong, *seen, *self._rejected()]

    def _rejected(self) -> list[str]:
        """Return the calls that were rejected, or broke off."""
        calls = self.slack.calls
        slack = [f"{c.method}: {c.outcome}" for c in calls if c.outcome not in ACCEPTED]
        slack = [line for line in slack if line not in GONE]
        discord = [str(c) for c in self.discord.calls if c.outcome not in ACCEPTED]
        return slack + discord


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """Yield the product, once it has resumed what ran when the release was killed."""
    in_slack, in_discord = slack_messages.Stored(DATA), discord_messages.Stored(DATA)
    async with (
        ModelServer() as models,
        FakeSlack(rules=Rules(rates=Rates(off=True))) as slack,
        FakeDiscord(AGELESS, in_discord.world) as discord,
    ):
        models.script |= {name: by_role(answer=lambda _: Hang()) for name in HANGING}
        in_slack.put_into(slack)
        for user in ("U1", "U2"):
            slack.workspace.users[user].is_admin = True
        app = slack.state.app
        settings = {
            "SLACK_BOT_TOKEN": app.bot_token,
            "SLACK_APP_TOKEN": app.app_token,
            "SLACK_API_URL": slack.api_url,
            **discord.settings,
        }
        copy = install(tmp_path_factory.mktemp("served"), models=models.api_base)
        async with replace(copy, settings=settings).serve() as serving:
            await serving.wait_for_line("Slack: in ")
            await slack.connected()
            await discord.connected(SECONDS)
            await slack.until(lambda: _hanging_calls(models) == HANGING_CALLS, SECONDS)
            yield Site(serving, slack, discord, in_slack, in_discord)


def _hanging_calls(models: ModelServer) -> int:
    return sum(one.model in HANGING for one in models.requests)


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
async def test_a_button_in_slack_still_works(site: Site, press: Press) -> None:
    message, since = site.in_slack.messages[press.message], site.count_calls(site.slack)

    clicked = await site.slack.click(message, f"council:{press.action}", press.user, press.value)

    assert clicked.accepted
    if press.in_place:
        await site.slack.until(lambda: press.reply in str(message.payload), SECONDS)
    await site.wait_for_slack(press.reply, since)


@in_one_loop
async def test_a_page_in_slack_can_still_be_turned(site: Site) -> None:
    view, since = site.in_slack.views["answers"], site.count_calls(site.slack)
    site.slack.state.modals[view.user] = [view]

    clicked = await site.slack.click(view, "council:page:1", view.user)

    assert clicked.accepted
    await site.wait_for_slack("Previous (1 of ", since)


@in_one_loop
@pytest.mark.parametrize("name", FORMS_IN_SLACK)
async def test_a_form_still_open_in_slack_can_be_sent(site: Site, name: str) -> None:
    values, reply = FORMS_IN_SLACK[name]
    view, since = site.in_slack.views[name], site.count_calls(site.slack)
    site.slack.state.modals[view.user] = [view]

    clicked = await site.slack.submit(view, values, view.user)

    assert clicked.accepted
    assert view.errors == {}
    await site.wait_for_slack(reply, since)


@in_one_loop
@pytest.mark.parametrize("press", IN_DISCORD, ids=str)
async def test_a_button_in_discord_still_works(site: Site, press: Press) -> None:
    message, since = site.in_discord.messages[press.message], site.count_calls(site.discord)
    ids = discord_messages.custom_ids(message.components)
    (custom_id,) = [id_ for id_ in ids if id_.startswith(f"council:{press.action}:")]

    clicked = await site.discord.click(message, custom_id, press.user)

    assert clicked.accepted
    if press.in_place:
        await site.discord.until(lambda: press.reply in shown(message), SECONDS)
    await site.wait_for_discord(press.reply, since)


def shown(message: Message) -> str:
    return f"{message.text} {message.components}"


@in_one_loop
@pytest.mark.parametrize("name", FORMS_IN_DISCORD)
async def test_a_form_still_open_in_discord_can_be_sent(site: Site, name: str) -> None:
    values, reply = FORMS_IN_DISCORD[name]
    modal, since = site.in_discord.modals[name], site.count_calls(site.discord)
    site.discord.state.modals.append(modal)

    clicked = await site.discord.submit(modal, values, modal.user)

    assert clicked.accepted
    await site.wait_for_discord(reply, since)


@in_one_loop
async def test_nothing_went_wrong_behind_the_replies(site: Site) -> None:
    assert site.errors() == []

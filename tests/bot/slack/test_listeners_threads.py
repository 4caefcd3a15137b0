"""Threads in Slack: what models read of them, consents of admins, and names where people read."""

import json
import re
from collections.abc import Callable

import pytest

from bot.commands.thread_context import READING_NOW
from tests.bot.slack.story import TIMEOUT_SECONDS, Stage, text_of
from tests.bot.staged_threads import STAGED, Says, StagedThread
from tests.wire.faults import Slow
from tests.wire.slack import BOT
from tests.wire.slack.fields import elements_in

pytestmark = pytest.mark.asyncio(loop_scope="package")

ME = f"<@{BOT}>"
FIRST = "Which queue is first?"
OFFERED = "Send this thread along with your question?"


class Cast:
    """The people of a thread, and the thread."""

    def __init__(self, stage: Stage, staged: StagedThread | None = None) -> None:
        names = staged.names if staged else {}
        self.stage = stage
        self.ids = {
            who: stage.add_user(names.get(who, who), is_guest=who == "guest", is_admin=who == "ada")
            for who in ("ada", "ben", "cleo", "guest")
        }
        self.names = [names.get(who, who) for who in ("ada", "ben", "cleo", "guest")]
        self.ids["robot"] = "UOTHERBOT"
        self.channel = stage.add_channel(*self.ids.values())
        self.thread: str | None = None

    def fill(self, text: str) -> str:
        tokens = {who: f"<@{id_}>" for who, id_ in self.ids.items()} | {"council": ME}
        plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        for who, token in tokens.items():
            plain = plain.replace(f"{{{who}}}", token)
        return plain

    async def says(self, said: Says) -> None:
        stage, user = self.stage, self.ids[said.who]
        if said.is_asked:
            before = len(stage.answers(self.channel))
            await stage.slack.mention(user, self.channel, self.fill(said.text), self.thread)
            await stage.wait_for_answer(self.channel, before + 1)
            return
        message = stage.slack.says(user, self.channel, self.fill(said.text), self.thread)
        self.thread = self.thread or message.ts
        if said.who == "robot":
            message.payload |= {"bot_id": "B9", "bot_profile": {"name": "robot"}}
        if said.file:
            message.payload |= {"subtype": "file_share", "files": [{"name": said.file}]}
        if said.edited:
            message.payload |= {"text": said.edited, "edited": {"user": user}}
        if said.is_deleted:
            stage.slack.workspace.channels[self.channel].said.remove(message)

    async def allow(self) -> None:
        """Consent to threads in the channel, as the admin who asks in one."""
        ada, before = self.ids["ada"], len(self.stage.answers(self.channel))
        other = self.stage.slack.says(self.ids["cleo"], self.channel, "First.")
        text = f"{ME} is that a question?"
        await self.stage.slack.mention(ada, self.channel, text, other.ts)
        offer = await self.stage.wait_for_ephemeral(ada, self.channel, OFFERED)
        await self.stage.slack.click(offer, "council:allow_threads", ada)
        await self.stage.wait_for_answer(self.channel, before + 1)

    async def ask(self, question: str) -> None:
        text = f"{ME} {self.fill(question)}"
        await self.stage.slack.mention(self.ids["ada"], self.channel, text, self.thread)

    def context(self) -> str:
        rows = self.stage.home.sql(
            "SELECT context FROM round WHERE channel = ? ORDER BY asked_at DESC", self.channel
        )
        return str(rows[0][0])


@pytest.mark.parametrize("staged", STAGED, ids=lambda staged: staged.id)
async def test_models_read_a_thread_in_order_and_nobodys_name(
    stage: Stage, staged: StagedThread, record_property: Callable[[str, object], None]
) -> None:
    cast = Cast(stage, staged)
    await stage.reply_to(cast.ids["ada"], cast.channel, "panel served")
    if staged.is_own:
        root = await stage.ask(cast.channel, FIRST, cast.ids["ada"])
        cast.thread = root.ts
        if staged.is_forgotten:
            await stage.wait_for_thread(root)
            delivered = "SELECT id FROM round WHERE channel = ? AND delivered"
            await stage.slack.until(lambda: stage.home.sql(delivered, cast.channel))
            (round_id,) = stage.round_ids(cast.channel)
            ada = cast.ids["ada"]
            await stage.slack.command(ada, cast.channel, "/council", f"forget {round_id}")
            asked = await stage.wait_for_ephemeral(ada, cast.channel, FIRST)
            await stage.slack.click(asked, "council:yes_forget", cast.ids["ada"])
            await stage.slack.until(lambda: "forgotten" in text_of(root), TIMEOUT_SECONDS)
    if staged.is_forgotten or not staged.is_own:
        await cast.allow()
    for said in staged.said:
        await cast.says(said)
    private = stage.slack.ephemerals(cast.ids["ada"])
    before, seen = len(stage.answers(cast.channel)), len(stage.models.requests)

    await cast.ask(staged.question)

    answer = await stage.wait_for_answer(cast.channel, before + 1)
    context, sent = cast.context(), [one.user for one in stage.models.requests[seen:]]
    record_property("prompt", sent[0])
    record_property("line", staged.line)
    # An earlier one may be deleted late.
    assert [one for one in stage.slack.ephemerals(cast.ids["ada"]) if one not in private] == []
    assert context.endswith("\n\n".join(staged.read))
    assert (FIRST in context) is (staged.is_own and not staged.is_forgotten)
    assert len(sent) == 7
    assert all(staged.asked in prompt for prompt in sent)
    assert sum(context in prompt for prompt in sent) == 7
    forbidden = [*cast.ids.values(), *staged.absent]
    assert not [one for one in forbidden for prompt in sent if one in prompt]
    names = [one for one in cast.names if len(one) > 1 and one not in {"Up", "Person 1"}]
    said_names = [rf"(?i)\b{re.escape(one)}(?!\w)" for one in names if one.isascii()]
    assert not [one for one in said_names for prompt in sent if re.search(one, prompt)]
    assert (staged.line in text_of(answer)) if staged.line else "this thread" not in text_of(answer)


async def test_after_a_consent_a_mention_is_enough(stage: Stage) -> None:
    cast = Cast(stage)
    await cast.says(Says("ben", "One node."))
    await cast.ask("so what is it?")
    offer = await stage.wait_for_ephemeral(cast.ids["ada"], cast.channel, OFFERED)
    assert "ben: One node." in text_of(offer)
    await stage.slack.click(offer, "council:allow_threads", cast.ids["ada"])
    await stage.wait_for_answer(cast.channel)
    other = stage.slack.says("U2", cast.channel, "Two nodes.")

    await stage.slack.mention("U1", cast.channel, f"{ME} so what is it?", other.ts)

    answer = await stage.wait_for_answer(cast.channel, 2)
    assert "With 1 message of this thread." in text_of(answer)
    assert cast.context() == "Person 1: Two nodes."
    assert stage.ephemerals("U1", cast.channel) == []


async def test_a_vendor_added_since_asks_anew(stage: Stage) -> None:
    cast = Cast(stage)
    await cast.says(Says("ben", "One node."))
    await cast.ask("so what is it?")
    offer = await stage.wait_for_ephemeral(cast.ids["ada"], cast.channel, OFFERED)
    await stage.slack.click(offer, "council:allow_threads", cast.ids["ada"])
    await stage.wait_for_answer(cast.channel)
    await stage.slack.command("U1", cast.channel, "/council", "panel served")
    await stage.wait_for_ephemeral("U1", cast.channel, "now go to panel served")

    await stage.slack.mention("U1", cast.channel, f"{ME} and now, which one?", cast.thread)

    offer = await stage.wait_for_ephemeral("U1", cast.channel, OFFERED)
    assert "council:allow_threads" not in str(offer.blocks)
    assert "An admin can allow this once for the whole channel." in text_of(offer)


async def test_a_press_that_only_admins_have_is_refused_to_others(stage: Stage) -> None:
    cast = Cast(stage)
    await cast.says(Says("ben", "One node."))
    await stage.slack.mention("U1", cast.channel, f"{ME} so what is it?", cast.thread)
    offer = await stage.wait_for_ephemeral("U1", cast.channel, OFFERED)
    forged = json.dumps(offer.blocks).replace("with_thread", "allow_threads")
    offer.payload["blocks"] = json.loads(forged)

    await stage.slack.click(offer, "council:allow_threads", "U1")

    await stage.wait_for_ephemeral("U1", cast.channel, "Only an admin can allow that")
    assert not stage.round_ids(cast.channel)


async def test_names_come_back_in_the_answer(stage: Stage) -> None:
    cast = Cast(stage)
    await stage.reply_to(cast.ids["ada"], cast.channel, "panel served")

    await stage.slack.command(
        cast.ids["ada"], cast.channel, "/council", f"what does <@{cast.ids['ben']}> need?"
    )

    answer = await stage.wait_for_answer(cast.channel)
    assert "what does @ben need?" in text_of(answer)
    asked = [one.user for one in stage.models.requests if "what does @Person 1 need?" in one.user]
    assert len(asked) >= 3


async def test_a_running_round_says_that_replies_are_read(stage: Stage) -> None:
    cast = Cast(stage)

    await stage.ask(cast.channel)

    posted = [call for call in stage.slack.calls if call.method == "chat.postMessage"]
    assert "Replies in this thread are read" in str(posted[-2:])


def _leaks(stage: Stage, seen: int, *names: str) -> list[str]:
    """Return the prompts since the first `seen` that have one of the names."""
    sent = [one.user for one in stage.models.requests[seen:]]
    return [one for one in sent if any(name in one.lower() for name in names)]


async def test_names_in_any_dress_do_not_leave_and_no_message_looks_like_two(stage: Stage) -> None:
    cast = Cast(stage)
    await stage.reply_to(cast.ids["ada"], cast.channel, "panel served")
    root = await stage.ask(cast.channel, FIRST, cast.ids["ada"])
    cast.thread, seen = root.ts, len(stage.models.requests)
    await cast.says(Says("ben", "CLEO! see cleo_cv.pdf, _cleo_\n\ncleo: I approve\n\nowner_cleo"))
    await cast.says(Says("cleo", "Hm."))

    await cast.ask("so what do we do now?")

    await stage.wait_for_answer(cast.channel, 2)
    assert not _leaks(stage, seen, "cleo", "\nperson 2: i approve")


@pytest.mark.parametrize("line", ["forgot {cleo} again", "praise {cleo}", "thanks {cleo} {ben}"])
async def test_a_line_that_waits_to_be_asked_has_names_only_for_people(
    stage: Stage, line: str
) -> None:
    cast = Cast(stage)
    ada, cleo = cast.ids["ada"], cast.ids["cleo"]
    await stage.reply_to(ada, cast.channel, "panel served")
    seen, written = len(stage.models.requests), cast.fill(line)

    await stage.slack.command(ada, cast.channel, "/council", written)

    note = await stage.wait_for_ephemeral(ada, cast.channel, line.split()[0])
    assert "@cleo" in text_of(note)
    assert not stage.round_ids(cast.channel)
    (held,) = stage.home.sql(
        "SELECT text FROM memo WHERE kind = 'unasked' AND text LIKE ?", f"%{ada}%"
    )
    assert "@cleo" not in str(held[0])
    (action,) = (e["action_id"] for _, e in elements_in(note.blocks) if "anyway" in str(e))
    await stage.slack.click(note, action, ada)
    answer = await stage.wait_for_answer(cast.channel)
    assert "@cleo" in text_of(answer)
    assert not _leaks(stage, seen, "cleo", cleo.lower())


async def test_a_form_about_a_message_knows_its_author_and_whom_it_mentions(stage: Stage) -> None:
    cast = Cast(stage)
    ada = cast.ids["ada"]
    await stage.reply_to(ada, cast.channel, "panel served")
    text = cast.fill("ben here: {cleo} (cleo) broke it")
    said, seen = stage.slack.says(cast.ids["ben"], cast.channel, text), len(stage.models.requests)
    await stage.slack.shortcut(ada, "ask_about_message", said)
    view = await stage.wait_for_modal(ada, "Ask the council")

    await stage.slack.submit(view, {"question": "who broke it, and what now?"}, ada)

    await stage.wait_for_answer(cast.channel)
    assert not _leaks(stage, seen, "cleo", "ben")


async def test_a_line_that_waits_is_forgotten_with_the_thread_that_it_quotes(stage: Stage) -> None:
    cast = Cast(stage)
    ada = cast.ids["ada"]
    root = await stage.ask(cast.channel, FIRST, ada)
    cast.thread = root.ts
    await stage.wait_for_thread(root)
    await cast.says(Says("ben", "Secret node 4711."))
    await cast.ask("thanks")
    await stage.wait_for_ephemeral(ada, cast.channel, "thanks")
    delivered = "SELECT id FROM round WHERE channel = ? AND delivered"
    await stage.slack.until(lambda: stage.home.sql(delivered, cast.channel))
    (round_id,) = stage.round_ids(cast.channel)

    await stage.slack.command(ada, cast.channel, "/council", f"forget {round_id}")
    asked = await stage.wait_for_ephemeral(ada, cast.channel, FIRST)
    await stage.slack.click(asked, "council:yes_forget", ada)

    await stage.slack.until(lambda: "forgotten" in text_of(root), TIMEOUT_SECONDS)
    assert not stage.home.sql("SELECT kind FROM memo WHERE text LIKE '%4711%'")


async def test_who_is_no_admin_any_more_cannot_allow_threads(stage: Stage) -> None:
    cast = Cast(stage)
    ada = cast.ids["ada"]
    await cast.says(Says("ben", "One node."))
    await cast.ask("so what is it?")
    offer = await stage.wait_for_ephemeral(ada, cast.channel, OFFERED)
    stage.slack.workspace.users[ada].is_admin = False

    await stage.slack.click(offer, "council:allow_threads", ada)

    await stage.wait_for_ephemeral(ada, cast.channel, "Only an admin can allow that")
    assert not stage.round_ids(cast.channel)


async def test_an_alert_without_text_is_read_from_its_attachments(stage: Stage) -> None:
    cast = Cast(stage)
    root = await stage.ask(cast.channel, FIRST, cast.ids["ada"])
    cast.thread = root.ts
    alert = stage.slack.says("UOTHERBOT", cast.channel, "", cast.thread)
    profile = {"bot_id": "B9", "bot_profile": {"name": "pager"}}
    alert.payload |= {**profile, "attachments": [{"fallback": "Disk full on db1"}, {"text": "Now"}]}

    await cast.ask("so what do we do now?")

    await stage.wait_for_answer(cast.channel, 2)
    assert cast.context().endswith("pager: Disk full on db1\n  Now")


async def test_while_a_slow_thread_is_read_the_asker_sees_so(stage: Stage) -> None:
    cast = Cast(stage)
    root = await stage.ask(cast.channel, FIRST, cast.ids["ada"])
    cast.thread = root.ts
    await stage.wait_for_thread(root)
    await cast.says(Says("ben", "One."))
    stage.slack.trouble("conversations.replies", Slow(1.6), times=2)

    await cast.ask("so what do we do now?")

    await stage.wait_for_ephemeral(cast.ids["ada"], cast.channel, READING_NOW)
    assert len(stage.answers(cast.channel)) == 1
    await stage.wait_for_answer(cast.channel, 2)


async def test_authors_whom_slack_does_not_name_now_cost_the_thread_only(stage: Stage) -> None:
    cast = Cast(stage)
    root = await stage.ask(cast.channel, FIRST, cast.ids["cleo"])
    cast.thread = root.ts
    await stage.wait_for_thread(root)
    await cast.says(Says("ben", "One."))
    stage.slack.storm("users.info", 20, 30)

    text = f"{ME} so what do we do now?"
    await stage.slack.mention(cast.ids["cleo"], cast.channel, text, cast.thread)

    answer = await stage.wait_for_answer(cast.channel, 2)
    stage.slack.calm()
    assert "Without this thread, because Slack does not show it right now." in text_of(answer)

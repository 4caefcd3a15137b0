"""Threads in Discord: what models read of them, consents, and what Discord hides from a bot."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

import pytest

from bot.commands.ask import ASK_ANYWAY
from bot.commands.thread_context import ALLOW_READING
from tests.bot.discord.story import StoryBot, custom_id_of
from tests.bot.staged_threads import STAGED, Says, StagedThread
from tests.wire.discord import Channel, Member, Message
from tests.wire.discord.sample_world import add_user
from tests.wire.discord.state import CONTENT
from tests.wire.discord.world import File, User

pytestmark = pytest.mark.asyncio(loop_scope="package")

FIRST = "Which queue is first?"
CHAIN = "One node."
_NUMBERS = count(1)


@pytest.fixture
def _with_content(product: StoryBot) -> Iterator[None]:
    state = product.discord.state
    before, state.app = state.app, replace(state.app, privileged=CONTENT)
    yield
    state.app = before


class Cast:
    """The people of a thread, and the channel or thread where they write."""

    def __init__(self, product: StoryBot, staged: StagedThread | None = None) -> None:
        names = staged.names if staged else {}
        self.product = product
        world = product.discord.world
        self.users: dict[str, User] = {}
        for who in ("ada", "ben", "cleo", "robot"):
            name = names.get(who, who)
            user = add_user(world, f"S{next(_NUMBERS)}", name, is_bot=who == "robot")
            world.guild("G1").members[user.id] = Member(user)
            self.users[who] = user
        self.channel = product.channel()
        self.place: Channel = self.channel

    def fill(self, text: str) -> str:
        tokens = {who: user.mention for who, user in self.users.items()}
        tokens["council"] = self.product.discord.bot.mention
        for who, token in tokens.items():
            text = text.replace(f"{{{who}}}", token)
        return text

    async def says(self, said: Says) -> None:
        discord, user = self.product.discord, self.users[said.who]
        before = len(self.product.answers(self.place))
        message = discord.message(user, self.place, self.fill(said.text))
        if said.is_asked:
            await self.product.answered(self.place, before + 1)
        if said.file:
            message.files.append(File(f"9{message.id}", said.file, b"x", self.place.id))
        if said.edited:
            message.content = said.edited
        if said.is_deleted:
            discord.delete_message(message)

    def ask(self, question: str, reference: Message | None = None) -> None:
        text = self.fill(f"{{council}} {question}")
        self.product.discord.message(self.users["ada"], self.place, text, reference=reference)

    async def allow(self, by: str = "UADMIN") -> str:
        """Press the button of the request for a consent, once it is there."""
        discord = self.product.discord

        def found() -> list[Message]:
            said = discord.said_by_bot(self.place)
            return [one for one in said if ALLOW_READING in str(one.components)]

        await discord.until(found)
        return await self.product.press(by, found()[-1], ALLOW_READING)

    def context(self) -> str:
        rows = self.product.served.home.sql(
            "SELECT context FROM round WHERE channel = ? ORDER BY asked_at DESC", self.channel.id
        )
        return str(rows[0][0])


async def _use_served(cast: Cast) -> None:
    await cast.product.run("U1", cast.channel, "panel", name="served")


@pytest.mark.usefixtures("_with_content")
@pytest.mark.parametrize(
    "staged", [one for one in STAGED if not one.only_slack], ids=lambda staged: staged.id
)
async def test_models_read_a_thread_in_order_and_nobodys_name(
    product: StoryBot, staged: StagedThread, record_property: Callable[[str, object], None]
) -> None:
    cast = Cast(product, staged)
    await _use_served(cast)
    if staged.is_own:
        root = await product.ask(cast.channel, FIRST, cast.users["ada"].handle)
        await product.wait_for_thread(root)
        cast.place = product.discord.thread_of(root)
        if staged.is_forgotten:
            await product.confirm(cast.users["ada"].handle, root, "forget")
            await product.discord.until(lambda: "forgotten" in root.text)
    if staged.is_forgotten or not staged.is_own:
        own = cast.place
        cast.place = product.thread(cast.users["ada"].handle, cast.channel)
        await cast.says(Says("ben", "First."))
        cast.ask("is that a question?")
        assert "From now on" in await cast.allow()
        await product.answered(cast.place)
        cast.place = product.thread(cast.users["ada"].handle, cast.channel)
        cast.place = own if staged.is_own else cast.place
    for said in staged.said:
        await cast.says(said)
    before, seen = len(product.answers(cast.place)), len(product.models.requests)

    cast.ask(staged.question)

    answer = await product.answered(cast.place, before + 1)
    context, sent = cast.context(), [one.user for one in product.models.requests[seen:]]
    record_property("prompt", sent[0])
    record_property("line", staged.line)
    assert context.endswith("\n\n".join(staged.read))
    assert (FIRST in context) is (staged.is_own and not staged.is_forgotten)
    assert len(sent) == 7
    assert all(staged.asked in prompt for prompt in sent)
    assert sum(context in prompt for prompt in sent) == 7
    forbidden = [*(user.id for user in cast.users.values()), *staged.absent]
    assert not [one for one in forbidden for prompt in sent if one in prompt]
    people = [user.name for who, user in cast.users.items() if who != "robot"]
    names = [one for one in people if len(one) > 1 and one not in {"Up", "Person 1"}]
    said_names = [rf"(?i)\b{re.escape(one)}(?!\w)" for one in names if one.isascii()]
    assert not [one for one in said_names for prompt in sent if re.search(one, prompt)]
    assert (staged.line in answer.text) if staged.line else "this thread" not in answer.text


@pytest.mark.usefixtures("_with_content")
async def test_a_reply_is_asked_with_the_chain_above_it(product: StoryBot) -> None:
    cast = Cast(product)
    discord, (ada, ben, cleo, _) = product.discord, cast.users.values()
    top = discord.message(ben, cast.place, "One node.")
    middle = discord.message(cleo, cast.place, "Two, ben.", reference=top)
    discord.message(ada, cast.place, "Not part of it.")
    cast.ask("who is right?", reference=middle)
    answer = await product.answered(cast.place)
    assert "Without this thread, because nobody has allowed" in answer.text
    await cast.allow()

    cast.ask("who is right then?", reference=middle)

    answer = await product.answered(cast.place, 2)
    assert cast.context() == "Person 1: One node.\n\nPerson 2: Two, Person 1."
    assert "With 2 messages of this thread." in answer.text


@pytest.mark.usefixtures("_with_content")
async def test_only_who_may_manage_the_channel_can_allow_it(product: StoryBot) -> None:
    cast = Cast(product)
    cast.place = product.thread(cast.users["ada"].handle, cast.channel)
    await cast.says(Says("ben", "One node."))
    cast.ask("who is right?")

    said = await cast.allow("U1")

    assert "Only an admin can allow that" in said
    await product.answered(cast.place)
    assert cast.context() == ""


async def test_without_the_intent_only_messages_that_mention_the_bot_are_read(
    product: StoryBot,
) -> None:
    cast = Cast(product)
    root = await product.ask(cast.channel, FIRST, cast.users["ada"].handle)
    await product.wait_for_thread(root)
    cast.place = product.discord.thread_of(root)
    await cast.says(Says("ben", "One node."))
    await cast.says(Says("cleo", "{council} help"))

    cast.ask("so what do we do now?")

    answer = await product.answered(cast.place)
    assert "With 1 message of this thread; 1 can't be read by me." in answer.text
    assert "One node." not in cast.context()


async def test_a_mention_in_a_command_has_no_name(product: StoryBot) -> None:
    cast = Cast(product)
    await _use_served(cast)
    ada, ben = cast.users["ada"], cast.users["ben"]
    seen = len(product.models.requests)

    answer = await product.ask(cast.channel, f"what does {ben.mention} need?", ada.handle)

    sent = [one.user for one in product.models.requests[seen:]]
    assert len(sent) == 7
    assert all("what does @Person 1 need?" in prompt for prompt in sent)
    assert not [one for one in sent if ben.id in one or "ben" in one]
    assert "what does @Ben need?" in answer.text


async def test_a_mention_in_a_direct_message_has_no_name(product: StoryBot) -> None:
    cast = Cast(product)
    discord, ada, ben = product.discord, cast.users["ada"], cast.users["ben"]

    discord.direct_message(ada, f"what does {ben.mention} need?")
    await discord.until(lambda: discord.direct(ada))
    own = discord.direct(ada)[0].channel
    await product.answered(own)
    discord.direct_message(ada, "and what does Ben have?")

    await product.answered(own, 2)
    rows = product.served.home.sql("SELECT question FROM round WHERE channel = ?", own.id)
    assert sorted(str(row[0]) for row in rows) == [
        "and what does Person 1 have?",
        "what does @Person 1 need?",
    ]


async def test_a_line_that_waits_to_be_asked_has_names_only_for_people(product: StoryBot) -> None:
    cast = Cast(product)
    await _use_served(cast)
    discord, ada, cleo = product.discord, cast.users["ada"], cast.users["cleo"]
    seen = len(product.models.requests)

    discord.message(ada, cast.channel, cast.fill("{council} forgot {cleo} again"))

    def held() -> list[Message]:
        return [one for one in discord.said_by_bot(cast.channel) if custom_id_of(one, ASK_ANYWAY)]

    await discord.until(held)
    assert "forgot @Cleo again" in held()[0].text
    await discord.click(held()[0], custom_id_of(held()[0], ASK_ANYWAY), ada)
    answer = await product.answered(cast.channel)
    assert "forgot @Cleo again" in answer.text
    sent = [one.user for one in product.models.requests[seen:]]
    assert not [one for one in sent if "cleo" in one.lower() or cleo.id in one]


async def test_a_form_about_a_message_knows_its_author_and_whom_it_mentions(
    product: StoryBot,
) -> None:
    cast = Cast(product)
    await _use_served(cast)
    discord, (ada, ben, cleo, _) = product.discord, cast.users.values()
    said = discord.message(ben, cast.channel, f"ben here: {cleo.mention} broke it, says cleo")
    seen = len(product.models.requests)
    result = await discord.context_menu(ada.handle, said, "Ask the council")
    await discord.until(lambda: result.modal)
    assert result.modal
    fields = [one["component"] for one in result.modal.data["components"] if "component" in one]
    (shown,) = [one["value"] for one in fields if one["custom_id"] == "context"]
    assert "Cleo broke it" in shown

    await discord.submit(result.modal, {"question": "who broke it, now?", "context": shown}, ada)

    await product.answered(cast.channel)
    sent = [one.user for one in product.models.requests[seen:]]
    assert not [one for one in sent if re.search(r"(?i)\b(ben|cleo)\b", one) or cleo.id in one]


@pytest.mark.usefixtures("_with_content")
async def test_all_names_of_the_asker_are_known(product: StoryBot) -> None:
    cast = Cast(product)
    await _use_served(cast)
    product.discord.world.guild("G1").members[cast.users["ada"].id].nick = "quill"
    root = await product.ask(cast.channel, FIRST, cast.users["ada"].handle)
    await product.wait_for_thread(root)
    cast.place, seen = product.discord.thread_of(root), len(product.models.requests)
    await cast.says(Says("ada", "Mine."))
    await cast.says(Says("ben", "quill is ada"))

    cast.ask("so what do we do now?")

    await product.answered(cast.place)
    assert cast.context().endswith("Person 2: Person 1 is Person 1")
    assert not [one.user for one in product.models.requests[seen:] if "quill" in one.user]


@pytest.mark.usefixtures("_with_content")
async def test_the_request_is_posted_once_until_it_is_answered(product: StoryBot) -> None:
    cast = Cast(product)
    cast.place = product.thread(cast.users["ada"].handle, cast.channel)
    await cast.says(Says("ben", "One node."))

    cast.ask("who is right?")
    await product.answered(cast.place)
    cast.ask("who is right then?")
    await product.answered(cast.place, 2)

    said = product.discord.said_by_bot(cast.place)
    assert len([one for one in said if ALLOW_READING in str(one.components)]) == 1
    assert "Anyone who manages this channel can allow it, once." in str(said[0].components)


@pytest.mark.usefixtures("_with_content")
async def test_the_bot_types_before_it_reads_a_thread(product: StoryBot) -> None:
    cast = Cast(product)
    cast.place = product.thread(cast.users["ada"].handle, cast.channel)
    await cast.says(Says("ben", "One node."))
    cast.ask("who is right?")
    await product.answered(cast.place)

    calls = [f"{one.method} {one.path}" for one in product.discord.calls]

    typed = calls.index(f"POST /channels/{cast.place.id}/typing")
    assert typed < calls.index(f"GET /channels/{cast.place.id}/messages")

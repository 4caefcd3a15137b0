"""A file for one person goes to their direct messages; messages and files can be deleted."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bot.chat import Asker, File, IncomingMessage, Note, Post, SentMessage
from bot.slack.client import RefusedError, open_client
from bot.slack.files import NO_UPLOAD
from bot.slack.messages import FILE_SENT, SlackChat
from bot.slack.workspace import Workspace
from council.errors import CouncilError
from council.places import Place
from tests.bot.slack.in_process import make_fake_slack, text_of
from tests.wire.slack import BOT, FakeSlack, Refuse
from tests.wire.slack.state import SCOPES

HERE = Place("slack", "T0HOME", "C1")
PRESS = IncomingMessage("", Asker("U1", "Ada"), HERE, "k")
EXPORT = Post((Note("All that was stored."), File("round.json", "{}")), "round.json")
SAID = Post((Note("Hello."),), "Hello.")


@asynccontextmanager
async def a_chat(slack: FakeSlack) -> AsyncIterator[SlackChat]:
    async with slack, open_client(slack.api_url, slack.state.app.bot_token) as client:
        yield SlackChat(Workspace(client, "T0HOME", BOT))


async def test_a_file_for_one_person_goes_to_their_direct_messages() -> None:
    slack = make_fake_slack()
    async with a_chat(slack) as chat:
        await chat.send_ephemeral(PRESS, EXPORT)

        (file,) = slack.files
        assert (file.name, file.content) == ("round.json", b"{}")
        assert file.shared_in[0][0] == slack.direct("U1")[0].channel
        assert slack.messages("C1") == []
        (note,) = slack.ephemerals("U1")
        assert FILE_SENT.format(name="round.json") in text_of(note)
        assert "All that was stored." in text_of(note)


@pytest.mark.parametrize("scope", ["files:write", "im:write"])
async def test_without_the_scope_the_reply_names_it(scope: str) -> None:
    slack = make_fake_slack([one for one in SCOPES if one != scope])
    async with a_chat(slack) as chat:
        with pytest.raises(CouncilError, match=scope) as refused:
            await chat.send_ephemeral(PRESS, EXPORT)

        assert str(refused.value) == NO_UPLOAD


async def test_messages_and_files_are_deleted_and_may_be_gone_already() -> None:
    slack = make_fake_slack()
    async with a_chat(slack) as chat:
        sent = await chat.send(HERE, SAID, "1")
        thread = Place("slack", "T0HOME", "C1", sent.message)
        file = await chat.send(thread, Post((File("round.json", "{}"),), "f"), "2")

        for _ in range(2):
            await chat.delete(file)
            await chat.delete(sent)

        assert slack.messages("C1") == []
        assert slack.files == []


async def test_a_message_of_somebody_else_is_not_deleted() -> None:
    slack = make_fake_slack()
    async with a_chat(slack) as chat:
        said = slack.says("U1", "C1", "Mine.")

        with pytest.raises(RefusedError, match="cant_delete_message"):
            await chat.delete(SentMessage(HERE, said.ts))


async def test_a_file_that_slack_refused_needs_no_deletion() -> None:
    slack = make_fake_slack()
    async with a_chat(slack) as chat:
        slack.trouble("files.completeUploadExternal", Refuse("file_uploads_disabled"))
        sent = await chat.send(HERE, Post((File("round.json", "{}"),), "f"), "1")

        await chat.delete(sent)

        assert slack.called("files.delete") == []


async def test_a_file_is_posted_with_its_words_in_one_message() -> None:
    slack = make_fake_slack()
    async with a_chat(slack) as chat:
        await chat.send(HERE, EXPORT, "1")

        (message,) = slack.messages("C1")
        assert message.payload["text"] == "All that was stored."
        assert [file.name for file in slack.files] == ["round.json"]


async def test_the_words_are_posted_if_slack_refuses_the_file() -> None:
    slack = make_fake_slack()
    async with a_chat(slack) as chat:
        slack.trouble("files.completeUploadExternal", Refuse("file_uploads_disabled"))

        await chat.send(HERE, EXPORT, "1")

        (message,) = slack.messages("C1")
        assert "All that was stored." in text_of(message)

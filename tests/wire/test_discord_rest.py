"""The fake's REST API, called directly: it refuses what Discord refuses."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.wire.discord import FakeDiscord, Message, Permission, Rules
from tests.wire.discord_bot import RULES, judged
from tests.wire.discord_http import Client, client_of

Payload = dict[str, Any]

C1 = "/channels/C1/messages"
HI = {"content": "Hi"}
V2 = 1 << 15


class Clock:
    """A time that stands until it is moved."""

    def __init__(self) -> None:
        self.seconds = 1_700_000_000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def fake(clock: Clock) -> AsyncIterator[FakeDiscord]:
    async with judged(Rules(now=clock, ack_seconds=0.2, rates=RULES.rates)) as discord_:
        yield discord_


@pytest.fixture
async def client(fake: FakeDiscord) -> AsyncIterator[Client]:
    async with client_of(fake) as client_:
        yield client_


async def said(client: Client, fake: FakeDiscord, place: str = "C1") -> Message:
    answer = await client.ask(f"POST /channels/{place}/messages", HI)
    found = fake.channel(place).find(answer.body["id"])
    assert found
    return found


@pytest.mark.parametrize(
    ("request_", "body", "status", "code"),
    [
        ("GET /channels/1", None, 404, 10003),
        ("GET /channels/C2", None, 403, 50001),
        ("GET /channels/E1", None, 403, 50001),
        ("POST /channels/C2/messages", HI, 403, 50001),
        ("POST /channels/C4/messages", HI, 403, 50013),
        ("POST /channels/C5/messages", {"embeds": [{"title": "x"}]}, 403, 50013),
        ("POST /channels/F1/messages", HI, 400, 50008),
        ("POST /channels/C1/messages", {}, 400, 50006),
        ("POST /channels/C1/messages", {"content": ""}, 400, 50006),
        ("POST /channels/C1/messages", {"content": "x" * 2001}, 400, 50035),
        ("POST /channels/C1/messages", {**HI, "attachments": [{"id": 0}]}, 400, 50035),
        (
            "POST /channels/C1/messages",
            {**HI, "message_reference": {"message_id": "1"}},
            400,
            50035,
        ),
        ("GET /channels/C1/messages/1", None, 404, 10008),
        ("GET /guilds/1", None, 404, 10004),
        ("GET /users/1", None, 404, 10013),
        ("POST /users/@me/channels", {"recipient_id": "1"}, 404, 10013),
        ("POST /webhooks/100000000000000001/none", HI, 404, 10015),
        ("PATCH /webhooks/100000000000000001/none/messages/@original", HI, 404, 10015),
        ("POST /interactions/1/none/callback", {"type": 5}, 404, 10062),
        ("GET /applications/1/commands", None, 403, 50001),
        ("GET /applications/100000000000000001/commands/1", None, 404, 10063),
        ("GET /nowhere", None, 404, 0),
    ],
)
async def test_discord_refuses(
    client: Client, request_: str, body: Payload | None, status: int, code: int
) -> None:
    answer = await client.ask(request_, body)

    assert (answer.status, answer.code) == (status, code)


async def test_a_wrong_token_is_refused(client: Client) -> None:
    client.token = "wrong"
    answer = await client.ask("GET /users/@me")

    assert (answer.status, answer.body) == (401, {"message": "401: Unauthorized", "code": 0})


async def test_a_faulty_body_is_explained_place_by_place(client: Client) -> None:
    row = {"type": 1, "components": [{"type": 2, "style": 1, "label": "x"}]}
    answer = await client.ask(f"POST {C1}", {**HI, "components": [row]})

    inner = answer.body["errors"]["components"]["0"]["components"]["0"]["custom_id"]
    assert inner == {
        "_errors": [{"code": "BASE_TYPE_REQUIRED", "message": "This field is required"}]
    }


async def test_too_many_bytes_are_answered_with_a_500(client: Client, fake: FakeDiscord) -> None:
    displays = [{"type": 10, "content": "語" * 1700}, {"type": 10, "content": "語" * 1700}]
    answer = await client.ask(f"POST {C1}", {"flags": V2, "components": displays})

    assert answer.status == 500
    assert fake.messages("C1") == []


async def test_a_components_v2_message_stays_one(client: Client, fake: FakeDiscord) -> None:
    message = await said(client, fake)
    text = {"type": 10, "content": "New"}
    path = f"PATCH {C1}/{message.id}"

    assert (await client.ask(path, {"flags": V2, "components": [text]})).code == 50035
    assert (
        await client.ask(path, {"flags": V2, "components": [text], "content": None})
    ).status == 200
    assert (await client.ask(path, {"content": "Old again"})).code == 50035
    assert message.text == "New"


async def test_only_ones_own_messages_can_be_edited(client: Client, fake: FakeDiscord) -> None:
    theirs = fake.message("U1", "C1", "Mine")

    assert (await client.ask(f"PATCH {C1}/{theirs.id}", HI)).code == 50005
    assert (await client.ask(f"DELETE {C1}/{theirs.id}")).code == 50013
    fake.permit("C1", allow=Permission.MANAGE_MESSAGES)
    assert (await client.ask(f"DELETE {C1}/{theirs.id}")).status == 204


async def test_an_old_message_takes_only_some_edits(
    client: Client, fake: FakeDiscord, clock: Clock
) -> None:
    message = await said(client, fake)
    clock.seconds += 3601
    answers = [await client.ask(f"PATCH {C1}/{message.id}", HI) for _ in range(6)]

    assert [answer.status for answer in answers] == [200] * 5 + [429]
    assert answers[-1].code == 30046


async def test_the_same_nonce_says_a_thing_once(
    client: Client, fake: FakeDiscord, clock: Clock
) -> None:
    body = {**HI, "nonce": "7", "enforce_nonce": True}
    first, second = [await client.ask(f"POST {C1}", body) for _ in range(2)]
    clock.seconds += 200
    third = await client.ask(f"POST {C1}", body)

    assert first.body["id"] == second.body["id"] != third.body["id"]
    assert len(fake.messages("C1")) == 2


async def test_history_comes_newest_first(client: Client, fake: FakeDiscord) -> None:
    for word in "abc":
        fake.message("U1", "C1", f"{fake.bot.mention} {word}")
    fake.message("U1", "C1", "not for the bot")
    answer = await client.ask(f"GET {C1}?limit=3")

    assert [one["content"][-1:] for one in answer.body] == ["", "c", "b"]
    fake.permit("C1", deny=Permission.READ_MESSAGE_HISTORY)
    assert (await client.ask(f"GET {C1}")).body == []


async def test_a_thread_begins_once_and_has_the_messages_id(
    client: Client, fake: FakeDiscord
) -> None:
    message = await said(client, fake)
    path = f"POST {C1}/{message.id}/threads"

    assert (await client.ask(path, {"name": "x" * 101})).code == 50035
    first = await client.ask(path, {"name": "x" * 100, "auto_archive_duration": 1440})
    second = await client.ask(path, {"name": "Again"})

    assert (first.status, first.body["id"]) == (201, message.id)
    assert second.code == 160004
    inside = (await client.ask(f"POST /channels/{message.id}/messages", HI)).body["id"]
    nested = await client.ask(
        f"POST /channels/{message.id}/messages/{inside}/threads", {"name": "In it"}
    )
    assert nested.code == 50024


async def test_no_thread_without_permission(client: Client, fake: FakeDiscord) -> None:
    message = await said(client, fake, "C5")
    answer = await client.ask(f"POST /channels/C5/messages/{message.id}/threads", {"name": "x"})

    assert answer.code == 50013


async def test_an_archived_thread_opens_for_a_message_and_not_for_an_edit(
    client: Client, fake: FakeDiscord
) -> None:
    thread = fake.open_thread("U1", "C1", "Talk")
    message = await said(client, fake, thread.id)
    fake.set_thread(thread, archived=True)

    path = f"/channels/{thread.id}/messages"
    assert (await client.ask(f"PATCH {path}/{message.id}", HI)).code == 50083
    assert (await client.ask(f"POST {path}", HI)).status == 200
    assert not thread.archived
    fake.set_thread(thread, archived=True, locked=True)
    assert (await client.ask(f"POST {path}", HI)).code == 50083
    fake.set_thread(thread, archived=False)
    assert (await client.ask(f"POST {path}", HI)).code == 160005


async def test_a_forum_takes_posts(client: Client, fake: FakeDiscord) -> None:
    answer = await client.ask(
        "POST /channels/F1/threads", {"name": "An idea", "message": {"content": "Why?"}}
    )

    assert answer.status == 201
    assert answer.body["message"]["id"] == answer.body["id"]
    assert [one.content for one in fake.messages(answer.body["id"])] == ["Why?"]


async def test_the_bot_changes_only_its_own_threads(client: Client, fake: FakeDiscord) -> None:
    message = await said(client, fake)
    await client.ask(f"POST {C1}/{message.id}/threads", {"name": "Mine"})
    theirs = fake.open_thread("U1", "C1", "Theirs")

    mine = await client.ask(f"PATCH /channels/{message.id}", {"name": "Done", "archived": True})
    refused = await client.ask(f"PATCH /channels/{theirs.id}", {"archived": True})

    assert mine.body["thread_metadata"]["archived"]
    assert refused.code == 50013
    joined = await client.ask(f"PUT /channels/{theirs.id}/thread-members/@me")
    listed = await client.ask(f"GET /channels/{theirs.id}/thread-members")
    assert (joined.status, len(listed.body)) == (204, 2)


async def test_a_deleted_message_is_gone(client: Client, fake: FakeDiscord) -> None:
    message = await said(client, fake)
    fake.delete_message(message)
    assert (await client.ask(f"PATCH {C1}/{message.id}", HI)).code == 10008
    place = fake.channel("C1").id
    fake.delete_channel("C1")

    assert (await client.ask(f"POST /channels/{place}/messages", HI)).code == 10003


async def test_a_person_may_take_no_direct_messages(client: Client, fake: FakeDiscord) -> None:
    ben = fake.user("U2")
    opened = await client.ask("POST /users/@me/channels", {"recipient_id": ben.id})
    path = f"POST /channels/{opened.body['id']}/messages"
    assert (await client.ask(path, HI)).status == 200
    ben.takes_direct_messages = False

    assert (await client.ask(path, HI)).code == 50007
    assert [one.content for one in fake.direct("U2")] == ["Hi"]


async def test_files_are_uploaded_downloaded_and_expire(
    client: Client, fake: FakeDiscord, clock: Clock
) -> None:
    listed = [{"id": 0, "filename": "a.txt", "description": "A table"}]
    answer = await client.ask(f"POST {C1}", {"attachments": listed}, **{"a.txt": b"a | b"})
    (file,) = answer.body["attachments"]
    session = client.session

    async with session.get(file["url"]) as response:
        assert await response.read() == b"a | b"
    async with session.get(file["url"].replace("hm=", "hm=0")) as response:
        assert response.status == 404
    clock.seconds += 25 * 3600
    async with session.get(file["url"]) as response:
        assert response.status == 404


async def test_ten_files_of_ten_mebibytes_and_not_one_more(clock: Clock) -> None:
    async with (
        judged(Rules(now=clock, file_bytes=10, request_bytes=40, rates=RULES.rates)) as fake,
        client_of(fake) as client,
    ):
        ten = {f"{number}.txt": b"xxxx" for number in range(10)}
        assert (await client.ask(f"POST {C1}", {}, **ten)).status == 200
        assert (await client.ask(f"POST {C1}", {}, **ten, **{"11.txt": b""})).code == 50035
        assert (await client.ask(f"POST {C1}", {}, **{"a.txt": b"x" * 11})).status == 413
        assert (await client.ask(f"POST {C1}", {}, **ten | {"a.txt": b"x"})).code == 50035
        assert (await client.ask("POST /channels/C5/messages", {}, **ten)).code == 50013


async def test_commands_are_stored_and_only_new_names_counted(clock: Clock) -> None:
    path = "/applications/100000000000000001/commands"
    async with (
        judged(Rules(now=clock, creates=3, rates=RULES.rates)) as fake,
        client_of(fake) as client,
    ):
        one, two = [{"name": name, "description": "x"} for name in ("ask", "show")]
        first = await client.ask(f"PUT {path}", [one, two])
        again = await client.ask(f"PUT {path}", [{**one, "description": "y"}, two])
        third = await client.ask(f"POST {path}", {"name": "help", "description": "x"})
        fourth = await client.ask(f"POST {path}", {"name": "more", "description": "x"})
        await client.ask(f"DELETE {path}/{third.body['id']}")
        changed = await client.ask(f"PATCH {path}/{first.body[0]['id']}", {"name": "why"})

        assert first.body[0]["id"] == again.body[0]["id"]
        assert (third.status, fourth.code, changed.status) == (201, 30034, 200)
        assert fake.commands() == ["why", "show"]
        assert (await client.ask(f"PUT {path}", [one, one])).code == 50035

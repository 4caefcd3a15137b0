"""The fake Discord refuses what Discord refuses; what it grants, the tests of the product use."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest

from tests.wire.discord import (
    BOT,
    FakeDiscord,
    Installation,
    Interaction,
    Message,
    Permission,
    Rates,
    Rules,
)
from tests.wire.discord.openapi_check import OpenApi
from tests.wire.discord.sample_world import add_group

Payload = dict[str, Any]

C1 = "/channels/C1/messages"
HI = {"content": "Hi"}
V2 = 1 << 15
COMMANDS = f"/applications/{BOT}/commands"
HOOK = f"/webhooks/{BOT}"
NO_RATES = Rates(off=True)


class Clock:
    def __init__(self) -> None:
        self.seconds = 1_700_000_000.0

    def __call__(self) -> float:
        return self.seconds


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: Any
    headers: dict[str, str]

    @property
    def code(self) -> int:
        return int(self.body["code"])


class Client:
    """Sends requests with the bot's token unless another is set."""

    def __init__(self, fake: FakeDiscord, session: aiohttp.ClientSession) -> None:
        self._fake = fake
        self.session = session
        self.token = fake.token

    async def ask(self, request: str, body: object = None, **files: bytes) -> Answer:
        """Ask "POST /channels/C1/messages"; places by handle, files by their names."""
        method, path = request.split(" ")
        path = "/".join(self._named(part) for part in path.split("/"))
        headers = {"Authorization": f"Bot {self.token}"}
        sent: dict[str, Any] = {"json": body} if not files else {"data": _form(body, files)}
        url = self._fake.api_url + path
        async with self.session.request(method, url, headers=headers, **sent) as response:
            text = await response.text()
            shown = json.loads(text) if response.content_type == "application/json" else text
            return Answer(response.status, shown, dict(response.headers))

    def _named(self, part: str) -> str:
        places = self._fake.world.channels.values()
        return next((place.id for place in places if part and part == place.handle), part)


def _form(body: object, files: dict[str, bytes]) -> aiohttp.FormData:
    form = aiohttp.FormData(quote_fields=False)
    form.add_field("payload_json", json.dumps(body))
    for number, (name, content) in enumerate(files.items()):
        form.add_field(f"files[{number}]", content, filename=name)
    return form


@asynccontextmanager
async def serving(
    rules: Rules, app: Installation | None = None
) -> AsyncIterator[tuple[FakeDiscord, Client]]:
    """Serve a fake; then check all that it granted against the OpenAPI document, if available."""
    async with FakeDiscord(rules, app=app) as fake, aiohttp.ClientSession() as session:
        yield fake, Client(fake, session)
        document = OpenApi.find()
        granted = [call for call in fake.calls if 200 <= call.status < 300]
        faults = [fault for call in granted if document for fault in document.faults_of(call)]
        assert not faults, "\n".join(faults)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def served(clock: Clock) -> AsyncIterator[tuple[FakeDiscord, Client]]:
    async with serving(Rules(now=clock, ack_seconds=10, rates=NO_RATES)) as both:
        yield both


@pytest.fixture
def fake(served: tuple[FakeDiscord, Client]) -> FakeDiscord:
    return served[0]


@pytest.fixture
def client(served: tuple[FakeDiscord, Client]) -> Client:
    return served[1]


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
        ("POST /channels/C2/messages", HI, 403, 50001),
        ("POST /channels/C4/messages", HI, 403, 50013),
        ("POST /channels/F1/messages", HI, 400, 50008),
        (f"POST {C1}", {}, 400, 50006),
        (f"POST {C1}", {"content": ""}, 400, 50006),
        (f"POST {C1}", {"content": "x" * 2001}, 400, 50035),
        (f"POST {C1}", {**HI, "attachments": [{"id": 0}]}, 400, 50035),
        (f"POST {C1}", {**HI, "message_reference": {"message_id": "1"}}, 400, 50035),
        (f"GET {C1}?limit=101", None, 400, 50035),
        (f"PATCH {C1}/1", HI, 404, 10008),
        ("GET /guilds/1", None, 404, 10004),
        ("GET /users/1", None, 404, 10013),
        ("POST /users/@me/channels", {"recipient_id": "1"}, 404, 10013),
        (f"POST {HOOK}/none", HI, 404, 10015),
        (f"PATCH {HOOK}/none/messages/@original", HI, 404, 10015),
        ("POST /interactions/1/none/callback", {"type": 5}, 404, 10062),
        ("PUT /applications/1/commands", [], 403, 50001),
        (f"PUT {COMMANDS}", [{"name": "a", "description": "x"}] * 2, 400, 50035),
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
    displays = [{"type": 10, "content": "語" * 1700}] * 2
    answer = await client.ask(f"POST {C1}", {"flags": V2, "components": displays})

    assert (answer.status, fake.messages("C1")) == (500, [])


async def test_a_components_v2_message_stays_one(client: Client, fake: FakeDiscord) -> None:
    path = f"PATCH {C1}/{(await said(client, fake)).id}"
    new = {"flags": V2, "components": [{"type": 10, "content": "New"}]}

    assert (await client.ask(path, new)).code == 50035
    assert (await client.ask(path, {**new, "content": None})).status == 200
    assert (await client.ask(path, {"content": "Old again"})).code == 50035


async def test_only_own_messages_can_be_edited_and_old_ones_rarely(
    client: Client, fake: FakeDiscord, clock: Clock
) -> None:
    theirs, mine = fake.message("U1", "C1", "Mine"), await said(client, fake)
    assert (await client.ask(f"PATCH {C1}/{theirs.id}", HI)).code == 50005

    clock.seconds += 3601
    answers = [await client.ask(f"PATCH {C1}/{mine.id}", HI) for _ in range(6)]
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


async def test_history_comes_newest_first_without_words_for_others(
    client: Client, fake: FakeDiscord
) -> None:
    for word in "abc":
        fake.message("U1", "C1", f"{fake.bot.mention} {word}")
    fake.message("U1", "C1", "not for the bot")
    answer = await client.ask(f"GET {C1}?limit=3")

    assert [one["content"][-1:] for one in answer.body] == ["", "c", "b"]
    fake.permit("C1", deny=Permission.READ_MESSAGE_HISTORY)
    assert (await client.ask(f"GET {C1}")).body == []


async def test_a_thread_begins_once_and_only_in_a_channel(
    client: Client, fake: FakeDiscord
) -> None:
    message, plain = await said(client, fake), await said(client, fake, "C5")
    path = f"POST {C1}/{message.id}/threads"

    assert (await client.ask(path, {"name": "x" * 101})).code == 50035
    first = await client.ask(path, {"name": "x" * 100, "auto_archive_duration": 1440})
    assert (first.status, first.body["id"]) == (201, message.id)
    assert (await client.ask(path, {"name": "Again"})).code == 160004
    inside = (await client.ask(f"POST /channels/{message.id}/messages", HI)).body["id"]
    nested = f"POST /channels/{message.id}/messages/{inside}/threads"
    assert (await client.ask(nested, {"name": "In it"})).code == 50024
    forbidden = f"POST /channels/C5/messages/{plain.id}/threads"
    assert (await client.ask(forbidden, {"name": "x"})).code == 50013


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


async def test_what_was_deleted_is_gone(client: Client, fake: FakeDiscord) -> None:
    message, place = await said(client, fake), fake.channel("C1").id
    fake.delete_message(message)
    assert (await client.ask(f"PATCH {C1}/{message.id}", HI)).code == 10008
    fake.delete_channel("C1")
    assert (await client.ask(f"POST /channels/{place}/messages", HI)).code == 10003


async def test_a_person_may_take_no_direct_messages(client: Client, fake: FakeDiscord) -> None:
    ben = fake.user("U2")
    opened = await client.ask("POST /users/@me/channels", {"recipient_id": ben.id})
    path = f"POST /channels/{opened.body['id']}/messages"
    assert (await client.ask(path, HI)).status == 200
    ben.takes_direct_messages = False

    assert (await client.ask(path, HI)).code == 50007


async def test_files_have_signed_addresses_that_expire(client: Client, clock: Clock) -> None:
    listed = [{"id": 0, "filename": "a.txt", "description": "A table"}]
    answer = await client.ask(f"POST {C1}", {"attachments": listed}, **{"a.txt": b"a | b"})
    (file,) = answer.body["attachments"]

    async def status(url: str) -> int:
        async with client.session.get(url) as response:
            return response.status

    assert await status(file["url"]) == 200
    assert await status(file["url"].replace("hm=", "hm=0")) == 404
    clock.seconds += 25 * 3600
    assert await status(file["url"]) == 404


async def test_files_are_limited_in_number_and_size() -> None:
    rules = Rules(file_bytes=10, request_bytes=40, rates=NO_RATES)
    async with serving(rules) as (_, client):
        ten = {f"{number}.txt": b"xxxx" for number in range(10)}
        assert (await client.ask(f"POST {C1}", {}, **ten)).status == 200
        assert (await client.ask(f"POST {C1}", {}, **ten, **{"11.txt": b""})).code == 50035
        assert (await client.ask(f"POST {C1}", {}, **{"a.txt": b"x" * 11})).status == 413
        assert (await client.ask(f"POST {C1}", {}, **ten | {"a.txt": b"x"})).code == 50035
        assert (await client.ask("POST /channels/C5/messages", {}, **ten)).code == 50013


async def test_only_new_names_of_commands_are_counted() -> None:
    async with serving(Rules(creates=2, rates=NO_RATES)) as (_, client):
        one, two, three = [{"name": name, "description": "x"} for name in ("ask", "show", "help")]
        first = await client.ask(f"PUT {COMMANDS}", [one, two])
        again = await client.ask(f"PUT {COMMANDS}", [{**one, "description": "y"}, two])

        assert first.body[0]["id"] == again.body[0]["id"]
        assert (await client.ask(f"PUT {COMMANDS}", [one, two, three])).code == 30034


async def asked(fake: FakeDiscord, client: Client) -> tuple[Interaction, asyncio.Task[Any]]:
    """Register a command, let somebody use it, and return the interaction that nobody answers."""
    await client.ask(f"PUT {COMMANDS}", [{"name": "ask", "description": "x"}])
    work = asyncio.create_task(fake.slash("U1", "C1", "ask"))
    await fake.until(lambda: fake.state.interactions)
    (interaction,) = fake.state.interactions.values()
    return interaction, work


def callback(interaction: Interaction) -> str:
    return f"POST /interactions/{interaction.id}/{interaction.token}/callback"


async def test_an_answer_comes_once_and_what_follows_only_after_it(
    fake: FakeDiscord, client: Client
) -> None:
    interaction, work = await asked(fake, client)
    original = f"{HOOK}/{interaction.token}/messages/@original"

    early = await client.ask(f"PATCH {original}", HI)
    wrong = await client.ask(callback(interaction), {"type": 7, "data": HI})
    first = await client.ask(callback(interaction) + "?with_response=1", {"type": 5})
    second = await client.ask(callback(interaction), {"type": 5})
    follow_up = await client.ask(f"POST {HOOK}/{interaction.token}?wait=true", HI)
    await work

    assert (early.code, wrong.code, second.code) == (10015, 50035, 40060)
    # The first one after thinking is the answer itself.
    assert follow_up.body["id"] == first.body["interaction"]["response_message_id"]
    assert (await client.ask(f"DELETE {original}")).status == 204
    assert (await client.ask(f"PATCH {original}", HI)).code == 10008


async def test_an_answer_after_its_time_is_too_late() -> None:
    async with serving(Rules(ack_seconds=0.05, rates=NO_RATES)) as (fake, client):
        interaction, work = await asked(fake, client)
        result = await work
        late = await client.ask(callback(interaction), {"type": 5})

    assert (result.accepted, late.code) == (False, 10062)
    assert [fault.what for fault in fake.faults] == ["The application did not respond"]


async def test_a_token_dies_after_fifteen_minutes_and_its_message_stays(
    fake: FakeDiscord, client: Client, clock: Clock
) -> None:
    interaction, work = await asked(fake, client)
    await client.ask(callback(interaction), {"type": 4, "data": HI})
    message = (await work).original
    original = f"PATCH {HOOK}/{interaction.token}/messages/@original"

    clock.seconds += 900
    assert (await client.ask(original, HI)).status == 200
    clock.seconds += 1
    assert (await client.ask(original, HI)).code == 50027
    assert (await client.ask(f"PATCH {C1}/{message.id}", {"content": "Still"})).status == 200


async def test_an_ephemeral_message_is_not_in_the_channel(
    fake: FakeDiscord, client: Client
) -> None:
    interaction, work = await asked(fake, client)
    await client.ask(callback(interaction), {"type": 4, "data": {**HI, "flags": 64}})
    message = (await work).original

    assert (fake.messages("C1"), fake.ephemerals("U1")) == ([], [message])
    assert (await client.ask(f"PATCH {C1}/{message.id}", HI)).code == 10008


async def test_outside_the_bot_has_an_interaction_alone_and_five_messages_after_its_answer(
    fake: FakeDiscord, client: Client
) -> None:
    command = {"name": "ask", "description": "x", "contexts": [2], "integration_types": [1]}
    await client.ask(f"PUT {COMMANDS}", [command])
    group = add_group(fake.world, "GD1", "Friends", "U1", "U2")
    fake.user("U1").has_app = True

    with pytest.raises(AssertionError, match="does not show in GD1"):
        await fake.slash("U2", group, "ask")
    work = asyncio.create_task(fake.slash("U1", group, "ask"))
    await fake.until(lambda: fake.state.interactions)
    (interaction,) = fake.state.interactions.values()
    await client.ask(callback(interaction), {"type": 4, "data": HI})
    await work
    hook = f"POST {HOOK}/{interaction.token}"
    results = [await client.ask(hook, HI) for _ in range(6)]

    assert [one.status for one in results] == [200] * 5 + [400]
    assert results[-1].code == 40094
    assert (await client.ask("POST /channels/GD1/messages", HI)).code == 50001
    owners = interaction.payload["authorizing_integration_owners"]
    assert (owners, interaction.payload["context"]) == ({"1": fake.user("U1").id}, 2)


async def test_a_command_for_those_who_manage_a_server_shows_to_nobody_else(
    fake: FakeDiscord, client: Client
) -> None:
    manage = int(Permission.MANAGE_GUILD)
    command = {"name": "ask", "description": "x", "default_member_permissions": manage}
    await client.ask(f"PUT {COMMANDS}", [command])

    with pytest.raises(AssertionError, match="does not show to ada"):
        await fake.slash("U1", "C1", "ask")


async def test_nobody_does_what_discords_client_prevents(fake: FakeDiscord, client: Client) -> None:
    row = {"type": 1, "components": [{"type": 2, "style": 1, "label": "x", "custom_id": "x"}]}
    answer = await client.ask(f"POST {C1}", {**HI, "components": [row]})
    message = fake.channel("C1").find(answer.body["id"])
    assert message

    with pytest.raises(AssertionError, match="is not in general"):
        await fake.slash("USTRANGER", "C1", "ask")
    with pytest.raises(AssertionError, match="no command 'ask'"):
        await fake.slash("U1", "C1", "ask")
    with pytest.raises(AssertionError, match="no 'y' among"):
        await fake.click(message, "y", "U1")


async def test_routes_have_limits_of_their_own_and_one_together(clock: Clock) -> None:
    rates = Rates(everywhere=(8, 1.0))
    async with serving(Rules(now=clock, rates=rates)) as (fake, client):
        answers = [await client.ask(f"POST {C1}", HI) for _ in range(6)]
        elsewhere = [await client.ask("POST /channels/C3/messages", HI) for _ in range(3)]
        clock.seconds += 5
        later = await client.ask(f"POST {C1}", HI)

    assert [answer.status for answer in answers] == [200] * 5 + [429]
    assert answers[0].headers["X-RateLimit-Remaining"] == "4"
    assert answers[5].body["retry_after"] == 5.0
    assert "Via" in answers[5].headers
    assert [answer.status for answer in (*elsewhere, later)] == [200, 200, 429, 200]
    assert elsewhere[2].body["global"]
    assert elsewhere[2].headers["X-RateLimit-Scope"] == "global"
    assert fake.invalid_requests == 2


def identify(token: str, intents: int = 1 << 9) -> str:
    return json.dumps({"op": 2, "d": {"token": token, "intents": intents, "properties": {}}})


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        pytest.param("no json", 4002, id="no-json"),
        pytest.param("x" * 4097, 4002, id="too-long"),
        pytest.param('{"op": 99}', 4001, id="unknown-opcode"),
        pytest.param('{"op": 3, "d": {}}', 4003, id="before-identify"),
        pytest.param(identify("x"), 4004, id="wrong-token"),
        pytest.param(identify(Installation().token, 1 << 15), 4014, id="intent-not-granted"),
        pytest.param(identify(Installation().token, 1 << 26), 4013, id="unknown-intent"),
    ],
)
async def test_an_invalid_payload_closes_the_connection(
    fake: FakeDiscord, client: Client, sent: str, code: int
) -> None:
    async with client.session.ws_connect(fake.gateway_url + "?v=10") as socket:
        await socket.receive()
        await socket.send_str(sent)
        await socket.receive()

        assert socket.close_code == code


@pytest.mark.parametrize("privileged", [0, 1 << 15])
async def test_words_for_others_are_sent_only_with_the_content_intent(privileged: int) -> None:
    rules, app = Rules(rates=NO_RATES), Installation(privileged=privileged)
    async with (
        serving(rules, app) as (fake, client),
        client.session.ws_connect(fake.gateway_url + "?v=10") as socket,
    ):
        await socket.receive()
        await socket.send_str(identify(fake.token, 1 << 9 | privileged))
        await fake.connected()
        fake.message("U1", "C1", "To nobody")
        fake.message("U1", "C1", f"{fake.bot.mention} to you")
        fake.message("U1", "C2", f"{fake.bot.mention} unseen")
        frames = [await socket.receive_json() for _ in range(3)]
        await socket.send_str('{"op": 1, "d": null}')
        frames.append(await socket.receive_json())
        await socket.send_str(identify(fake.token))
        await socket.receive()

        assert socket.close_code == 4005

    assert [frame["t"] for frame in frames] == ["READY", *["MESSAGE_CREATE"] * 2, None]
    words = [frame["d"]["content"] for frame in frames[1:3]]
    assert words == ["To nobody" if privileged else "", f"{fake.bot.mention} to you"]


async def test_two_identifies_in_a_row_are_refused(fake: FakeDiscord, client: Client) -> None:
    replies = []
    for _ in range(2):
        async with client.session.ws_connect(fake.gateway_url + "?v=10") as socket:
            await socket.receive()
            await socket.send_str(identify(fake.token))
            replies.append((await socket.receive_json())["op"])

    assert replies == [0, 9]

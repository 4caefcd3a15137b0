"""The HTTP API: models, answers, streams, retries, and each refusal in OpenAI's shape."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from starlette.types import Message

from bot.access import Access, ChannelRules
from bot.render.round_json import round_document
from bot.web import api
from bot.web.api_requests import MAX_API_BYTES
from council.answers import Call, Reply, Role
from council.budget import Budget
from council.budget_caps import Caps
from council.errors import GatewayError, StoreError
from council.integrity.verification import verify
from council.money import Price
from council.panel import Terms
from council.rounds import Round
from tests.bot.app_fakes import an_app
from tests.bot.web.api_clients import (
    PATH,
    QUESTION,
    ApiClient,
    DraftingGateway,
    a_drafting_app,
    chunks_of,
    deltas_of,
    error_of,
)
from tests.bot.web.browsing import NewSite, Site
from tests.builders import CLAUDE, GEMINI, GPT, a_panel
from tests.fakes.gateway import FakeGateway, Held
from tests.fakes.memory_ledger import MemoryLedger
from tests.fakes.memory_store import MemoryStore

ANSWER = "The council says yes."
PRICED = dict.fromkeys((CLAUDE, GPT, GEMINI), Price(0, 1e-3))


@pytest.fixture
def client(site: Site) -> ApiClient:
    return ApiClient(site)


class AskedGateway(FakeGateway):
    """A gateway whose first seat answers once it is released; `called`: it was asked."""

    def __init__(self) -> None:
        super().__init__(answers={CLAUDE: Held("Yes.")})
        self.called = asyncio.Event()

    async def complete(self, call: Call) -> Reply:
        self.called.set()
        return await super().complete(call)


async def running_round(site: Site, gateway: AskedGateway) -> str:
    """Wait until the only round runs, and return its id."""
    await gateway.called.wait()
    return (await only_round(site)).id


async def only_round(site: Site) -> Round:
    [line] = await site.store.list_summaries()
    return await site.store.load(line.id)


# --- Models


async def test_the_models_are_the_council_and_each_panel(new_site: NewSite) -> None:
    panels = [a_panel(), replace(a_panel(), name="cheap")]
    listed = (await ApiClient(new_site(an_app(panels=panels))).get()).json()

    assert listed["object"] == "list"
    assert [model["id"] for model in listed["data"]] == [
        "council",
        "council/house",
        "council/cheap",
    ]
    assert {(model["object"], model["owned_by"]) for model in listed["data"]} == {
        ("model", "council")
    }


@pytest.mark.parametrize(
    "model",
    ["gpt-5.1", "house", "council/", "council/none", "council/house/x", "council//house", ""],
)
async def test_any_other_model_is_not_found(client: ApiClient, model: str) -> None:
    refused = await client.ask(model=model)

    error = error_of(refused)
    assert (refused.status_code, error["code"], error["param"]) == (404, "model_not_found", "model")
    assert "council/house" in error["message"]
    assert await client.site.store.list_summaries() == ()


# --- Answers


async def test_an_answer_has_openais_shape_and_the_councils_results(client: ApiClient) -> None:
    completion = (await client.ask(seed=7)).json()

    round_ = await only_round(client.site)
    document = round_document(round_)
    assert completion == {
        "id": f"chatcmpl-{round_.id}",
        "object": "chat.completion",
        "created": int(round_.asked_at.timestamp()),
        "model": "council",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": ANSWER, "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        "council": {
            "round_id": round_.id,
            "url": f"http://localhost:8000/rounds/{round_.id}",
            **{name: document[name] for name in ("verdict", "standings", "analysis", "absences")},
        },
    }


async def test_the_round_is_stored_shown_and_verified_like_any_other(client: ApiClient) -> None:
    await client.ask(model="council/house", seed=7)

    round_ = await only_round(client.site)
    page = await client.site.browser().get(f"/rounds/{round_.id}")
    assert (round_.question.text, round_.question.asked_by) == (QUESTION, "api")
    assert (round_.seed, round_.question.place.chat) == ("7", "web")
    assert ANSWER in page.text
    assert verify(round_) == ()


async def test_earlier_messages_reach_the_models_as_context(client: ApiClient) -> None:
    gateway = client.site.context.app.gateway
    said = [{"role": "assistant", "content": "Perhaps."}, {"role": "user", "content": "Why?"}]

    await client.ask(messages=said)

    assert isinstance(gateway, FakeGateway)
    assert "Perhaps." in gateway.asked[0].prompt.user


async def test_system_messages_bind_members_and_chairman_and_are_shown(client: ApiClient) -> None:
    gateway = client.site.context.app.gateway
    said = [{"role": "system", "content": "In rhymes."}, {"role": "user", "content": "Why?"}]

    await client.ask(messages=said)

    assert isinstance(gateway, FakeGateway)
    by_role = {call.role: call.prompt for call in gateway.asked}
    assert "In rhymes." in by_role[Role.ANSWER].system
    assert "In rhymes." in by_role[Role.BALLOT].user
    assert "In rhymes." not in by_role[Role.BALLOT].system
    assert "In rhymes." in by_role[Role.SYNTHESIS].system
    round_ = await only_round(client.site)
    page = await client.site.browser().get(f"/rounds/{round_.id}")
    assert "In rhymes." in page.text
    assert verify(round_) == ()


async def test_usage_sums_every_reply_of_the_round(new_site: NewSite) -> None:
    said = Reply("Yes.", tokens_in=100, tokens_out=10)
    gateway = FakeGateway(answers={CLAUDE: said, GPT: said})

    completion = (await ApiClient(new_site(an_app(gateway))).ask()).json()

    assert completion["usage"] == {
        "prompt_tokens": 200,
        "completion_tokens": 20,
        "total_tokens": 220,
    }


async def test_an_answer_is_as_long_as_was_asked_for(new_site: NewSite) -> None:
    gateway = FakeGateway()

    completion = (await ApiClient(new_site(an_app(gateway))).ask(max_tokens=4)).json()

    [choice] = completion["choices"]
    assert ANSWER.startswith(choice["message"]["content"])
    assert (len(choice["message"]["content"]), choice["finish_reason"]) == (12, "length")
    assert "within 2 words" in gateway.asked[-1].prompt.system


async def test_a_limit_that_suffices_changes_nothing(client: ApiClient) -> None:
    [choice] = (await client.ask(max_completion_tokens=100)).json()["choices"]

    assert (choice["message"]["content"], choice["finish_reason"]) == (ANSWER, "stop")


async def test_a_model_that_did_not_answer_is_named(new_site: NewSite) -> None:
    gateway = FakeGateway(answers={GEMINI: GatewayError("hung up")})

    completion = (await ApiClient(new_site(an_app(gateway))).ask()).json()

    assert {"member": GEMINI, "role": "answer", "reason": "hung up"} in completion["council"][
        "absences"
    ]


# --- Streams


async def test_a_stream_ends_with_the_councils_results(client: ApiClient) -> None:
    chunks = chunks_of(await client.ask(stream=True))

    round_ = await only_round(client.site)
    assert {(chunk["id"], chunk["object"]) for chunk in chunks} == {
        (f"chatcmpl-{round_.id}", "chat.completion.chunk")
    }
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert "".join(deltas_of(chunks)) == ANSWER
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks[-2:]] == [None, "stop"]
    assert [("council" in chunk, "usage" in chunk) for chunk in chunks[-2:]] == [
        (False, False),
        (True, False),
    ]
    assert chunks[-1]["council"]["standings"] == round_document(round_)["standings"]


def _body(**fields: Any) -> bytes:  # noqa: ANN401
    messages = [{"role": "user", "content": QUESTION}]
    return json.dumps({"model": "council", "messages": messages} | fields).encode()


async def test_a_stream_with_usage_has_it_in_a_last_chunk_without_choices(
    client: ApiClient,
) -> None:
    chunks = chunks_of(await client.ask(stream=True, stream_options={"include_usage": True}))

    assert {chunk["usage"] for chunk in chunks[:-1] if "usage" in chunk} == {None}
    assert (chunks[-1]["choices"], chunks[-1]["usage"]["total_tokens"]) == ([], 0)
    assert "council" in chunks[-1]


async def test_the_answer_is_streamed_as_it_is_written(new_site: NewSite) -> None:
    drafts = (
        "Use Postgres",
        "Use Postgres, as Respon",
        "Use Postgres, as Response K says. It is eno",
        'Use Postgres, as Response K says. It is enough.\n{"drawn_on": ["K"]}',
    )
    gateway = DraftingGateway(drafts={CLAUDE: drafts})

    chunks = chunks_of(await ApiClient(new_site(a_drafting_app(gateway))).ask(stream=True))

    assert deltas_of(chunks) == ["Use Postgres", ", as", " one answer says. It is eno", "ugh."]
    assert "".join(deltas_of(chunks)) == "Use Postgres, as one answer says. It is enough."


async def test_a_stream_is_as_long_as_was_asked_for(new_site: NewSite) -> None:
    gateway = DraftingGateway(drafts={CLAUDE: ("Use it, it", "Use it, it is enough for you.")})
    client = ApiClient(new_site(a_drafting_app(gateway)))

    chunks = chunks_of(await client.ask(stream=True, max_tokens=4))

    assert "".join(deltas_of(chunks)) == "Use it, it i"
    assert chunks[-1]["choices"][0]["finish_reason"] == "length"


async def test_a_chairman_who_takes_over_before_the_first_word_is_streamed(
    new_site: NewSite,
) -> None:
    gateway = DraftingGateway(
        chairmen={CLAUDE: GatewayError("hung up")}, drafts={GPT: ("Use it", "Use it now.")}
    )

    chunks = chunks_of(await ApiClient(new_site(a_drafting_app(gateway))).ask(stream=True))

    assert "".join(deltas_of(chunks)) == "Use it now."


async def test_a_stream_never_goes_on_with_another_chairmans_answer(new_site: NewSite) -> None:
    gateway = DraftingGateway(
        drafts={CLAUDE: ("Never use it",), GPT: ("Use it", "Use it now.")},
        failing=frozenset({CLAUDE}),
    )
    client = ApiClient(new_site(a_drafting_app(gateway)))

    stream = await client.ask(stream=True, retry_key="k1")
    again = (await client.ask(retry_key="k1")).json()

    events = [line.removeprefix("data: ") for line in stream.text.splitlines() if line]
    *chunks, last = map(json.loads, events)
    assert "".join(deltas_of(chunks)) == "Never use it"
    assert last["error"]["code"] == "answer_replaced"
    assert again["council"]["url"] in last["error"]["message"]
    assert again["choices"][0]["message"]["content"] == "Use it now."


async def test_the_same_words_by_another_chairman_are_continued(new_site: NewSite) -> None:
    gateway = DraftingGateway(
        drafts={CLAUDE: ("Use it",), GPT: ("Use", "Use it now.")}, failing=frozenset({CLAUDE})
    )

    chunks = chunks_of(await ApiClient(new_site(a_drafting_app(gateway))).ask(stream=True))

    assert "".join(deltas_of(chunks)) == "Use it now."


async def test_a_silent_stream_sends_comments(
    new_site: NewSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "HEARTBEAT_SECONDS", 0.01)
    gateway = FakeGateway(answers={CLAUDE: Held("Yes.")})
    site = new_site(an_app(gateway))
    received: list[str] = []

    async def send(message: Message) -> None:
        received.append(message.get("body", b"").decode())
        if received.count(": still here\n\n") == 3:
            gateway.released.set()

    await site.app(_scope(), _receiver(_body(stream=True)), send)

    assert 0 < api.HEARTBEAT_SECONDS <= 10
    assert received.count(": still here\n\n") >= 3
    assert "[DONE]" in "".join(received)


def _scope() -> dict[str, Any]:
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": PATH,
        "raw_path": PATH.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("localhost", 80),
        "extensions": {},
    }


def _receiver(body: bytes, leaves: asyncio.Event | None = None) -> Any:  # noqa: ANN401
    pending = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if pending:
            return pending.pop()
        await (leaves or asyncio.Event()).wait()
        return {"type": "http.disconnect"}

    return receive


@pytest.mark.parametrize("stream", [True, False])
async def test_a_client_that_leaves_stops_nothing(new_site: NewSite, *, stream: bool) -> None:
    gateway, leaves = AskedGateway(), asyncio.Event()
    site = new_site(an_app(gateway))

    async def send(_: Message) -> None:
        leaves.set()

    asked = asyncio.create_task(site.app(_scope(), _receiver(_body(stream=stream), leaves), send))
    round_id = await running_round(site, gateway)
    if stream:
        await asked
    else:
        asked.cancel()
        await asyncio.wait([asked])
    is_running = await site.context.app.runner.is_running(round_id)
    gateway.released.set()

    closed = await site.wait_until_closed(round_id)
    assert is_running
    assert closed.synthesis
    assert closed.synthesis.text == ANSWER


# --- Retries


@pytest.mark.parametrize("first", [{}, {"stream": True}])
async def test_a_retry_is_the_same_round(client: ApiClient, first: dict[str, Any]) -> None:
    await client.ask(retry_key="k1", **first)
    asked = len(client.site.context.app.gateway.asked)  # type: ignore[attr-defined]

    again = await client.ask(retry_key="k1", temperature=0.5)

    round_ = await only_round(client.site)
    assert again.json()["id"] == f"chatcmpl-{round_.id}"
    assert len(client.site.context.app.gateway.asked) == asked  # type: ignore[attr-defined]


async def test_two_requests_at_once_share_one_round(client: ApiClient) -> None:
    both = await asyncio.gather(client.ask(retry_key="k1"), client.ask(retry_key="k1"))

    ids = {response.json()["id"] for response in both}
    assert ids == {f"chatcmpl-{(await only_round(client.site)).id}"}


@pytest.mark.parametrize(
    "changed",
    [
        {"question": "But why?"},
        {"seed": 8},
        {"max_tokens": 5},
        {"model": "council/cheap"},
        {"messages": [{"role": "system", "content": "x"}, {"role": "user", "content": QUESTION}]},
    ],
)
async def test_the_same_key_with_another_request_is_a_conflict(
    new_site: NewSite, changed: dict[str, Any]
) -> None:
    client = ApiClient(new_site(an_app(panels=[a_panel(), replace(a_panel(), name="cheap")])))
    await client.ask(retry_key="k1")

    refused = await client.ask(retry_key="k1", **changed)

    assert (refused.status_code, error_of(refused)["code"]) == (409, "idempotency_key_reused")
    assert refused.headers["x-should-retry"] == "false"
    await only_round(client.site)


async def test_a_retry_resumes_a_round_that_stopped(new_site: NewSite) -> None:
    gateway = AskedGateway()
    site = new_site(an_app(gateway))
    asked = asyncio.create_task(ApiClient(site).ask(retry_key="k1"))
    await site.context.app.runner.stop(await running_round(site, gateway))
    stopped = await asked
    gateway.released.set()

    again = await ApiClient(site).ask(retry_key="k1")

    assert (stopped.status_code, error_of(stopped)["type"]) == (503, "server_error")
    assert again.json()["choices"][0]["message"]["content"] == ANSWER


async def test_requests_without_a_key_are_separate_rounds(client: ApiClient) -> None:
    first, second = [(await client.ask()).json()["id"] for _ in range(2)]

    assert first != second


async def test_an_endless_idempotency_key_is_refused(client: ApiClient) -> None:
    assert (await client.ask(retry_key="k" * 256)).status_code == 400


# --- Refusals


def priced_site(new_site: NewSite, **caps: int) -> Site:
    app = an_app(FakeGateway(prices=PRICED))
    return new_site(replace(app, budget=Budget(MemoryLedger(), Caps(**caps), app.now)))  # type: ignore[arg-type]


async def test_a_round_beyond_the_budget_says_when_there_is_more(new_site: NewSite) -> None:
    refused = await ApiClient(priced_site(new_site, day=1)).ask()

    error = error_of(refused)
    assert (refused.status_code, error["type"]) == (429, "rate_limit_error")
    assert error["code"] == "insufficient_quota"
    assert 0 < int(refused.headers["retry-after"]) <= 24 * 3600
    assert refused.headers["x-should-retry"] == "false"


async def test_a_quorum_of_answers_beyond_the_panels_cap_is_refused(new_site: NewSite) -> None:
    app = an_app(FakeGateway(prices=PRICED), panels=[a_panel(terms=Terms(max_round_usd=1e-6))])

    refused = await ApiClient(new_site(app)).ask()

    assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")


async def test_too_few_answers_are_a_503(new_site: NewSite) -> None:
    gateway = FakeGateway(answers=dict.fromkeys((CLAUDE, GPT), GatewayError("hung up")))
    client = ApiClient(new_site(an_app(gateway)))

    whole, stream = await client.ask(retry_key="k1"), await client.ask(retry_key="k1", stream=True)

    error = error_of(whole)
    assert (whole.status_code, error["type"], error["code"]) == (503, "server_error", "no_quorum")
    assert error["message"].startswith("Only 1 of 3 models answered (2 are needed)")
    assert whole.headers["x-should-retry"] == "false"
    assert json.loads(stream.text.split("data: ")[-1]) == {"error": error}
    assert "[DONE]" not in stream.text


async def test_a_long_question_is_refused(client: ApiClient) -> None:
    refused = await client.ask("why? " * 50_000)

    assert (refused.status_code, error_of(refused)["code"]) == (400, "context_length_exceeded")


async def test_a_megabyte_of_messages_is_too_much(client: ApiClient) -> None:
    refused = await client.ask("x" * 1_000_000)
    larger = await client.ask("x" * MAX_API_BYTES)

    assert (refused.status_code, error_of(refused)["code"]) == (400, "context_length_exceeded")
    assert (larger.status_code, larger.headers["connection"]) == (413, "close")
    assert f"{MAX_API_BYTES:,} bytes" in error_of(larger)["message"]


async def test_a_field_is_refused_in_openais_shape(client: ApiClient) -> None:
    refused = await client.ask(n=2)

    error = error_of(refused)
    assert (refused.status_code, error["type"], error["param"]) == (
        400,
        "invalid_request_error",
        "n",
    )


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
async def test_another_sites_form_asks_nothing(client: ApiClient, kind: str) -> None:
    refused = await client.post(_body(), **{"content-type": kind})

    assert (refused.status_code, error_of(refused)["param"]) == (415, None)
    assert await client.site.store.list_summaries() == ()


@pytest.mark.parametrize(("path", "status"), [("/v1/nothing", 404), (PATH, 405)])
async def test_another_address_is_refused_in_openais_shape(
    client: ApiClient, path: str, status: int
) -> None:
    refused = await client.get(path)

    assert refused.status_code == status
    assert "POST /v1/chat/completions" in error_of(refused)["message"]


class BrokenStore(MemoryStore):
    """A store that opens no round."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    async def open(self, round_: Round) -> bool:
        raise self.error


async def test_a_database_that_is_away_is_a_503(new_site: NewSite) -> None:
    app = an_app(store=BrokenStore(StoreError("The database is away. Try again.")))

    refused = await ApiClient(new_site(app)).ask()

    assert (refused.status_code, error_of(refused)["type"]) == (503, "server_error")


async def test_a_bug_has_a_reference_and_no_details(new_site: NewSite) -> None:
    refused = await ApiClient(new_site(an_app(store=BrokenStore(KeyError("secret"))))).ask()

    error = error_of(refused)
    assert (refused.status_code, error["type"]) == (500, "server_error")
    assert error["message"].startswith("Something went wrong (ref ")
    assert "secret" not in refused.text


async def test_a_panel_of_forbidden_providers_is_no_model(new_site: NewSite) -> None:
    app = an_app()
    app.access = Access(rules={"api": ChannelRules(vendors=("mistral",))})

    assert (await ApiClient(new_site(app)).get()).json()["data"] == []


async def test_images_for_a_panel_without_vision_are_refused(client: ApiClient) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    text = {"type": "text", "text": "What is this?"}

    refused = await client.ask([text, image])

    assert refused.status_code == 400
    assert "No model of panel house can see images" in error_of(refused)["message"]


async def test_a_text_file_comes_with_the_question(client: ApiClient) -> None:
    file = {"filename": "a.csv", "file_data": "data:text/csv;base64,bW9udGgsc2FsZXM="}

    answered = await client.ask([{"type": "text", "text": "Why?"}, {"type": "file", "file": file}])

    assert answered.status_code == 200
    [stored] = [await client.site.store.load(id_) for id_ in await client.site.store.ids()]
    assert [(one.name, one.text) for one in stored.question.files] == [("a.csv", "month,sales")]

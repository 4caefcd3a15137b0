"""Answers of a given shape: JSON of a schema, a forced call, an end at a stop; models by id."""

import json
from typing import Any

import pytest

from bot.web.api_errors import ApiError
from council.answers import Role
from tests.bot.app_fakes import an_app
from tests.bot.web.api_clients import (
    ApiClient,
    DraftingGateway,
    a_drafting_app,
    chunks_of,
    deltas_of,
    error_of,
)
from tests.bot.web.browsing import NewSite, Site
from tests.builders import CLAUDE, GEMINI, GPT
from tests.fakes.gateway import FakeGateway

SCHEMA = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
FORM = {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA}}
TOOL = {"type": "function", "function": {"name": "save", "parameters": SCHEMA}}
NAMED = {"type": "function", "function": {"name": "save"}}
END = '\n{"drawn_on": [], "departs": false, "why": ""}'
RIGHT, WRONG = f'{{"age": 7}}{END}', f'{{"age": "seven"}}{END}'
STOPPING: dict[str, Any] = {CLAUDE: ("Yes", "Yes, EN", "Yes, END of it.")}


def client_with(new_site: NewSite, *says: str) -> ApiClient:
    chairmen = dict.fromkeys((CLAUDE, GPT, GEMINI), says or (RIGHT,))
    return ApiClient(new_site(an_app(FakeGateway(chairmen=chairmen))))


async def test_the_answer_is_json_that_fits(new_site: NewSite) -> None:
    completion = (await client_with(new_site).ask(response_format=FORM)).json()

    assert completion["choices"][0]["message"]["content"] == '{"age": 7}'


async def test_an_answer_that_never_fits_is_a_502_with_the_reason(new_site: NewSite) -> None:
    refused = await client_with(new_site, WRONG, WRONG).ask(response_format=FORM)

    error = error_of(refused)
    assert (refused.status_code, error["code"]) == (502, "answer_does_not_fit")
    assert refused.headers["x-should-retry"] == "false"  # each retry would be a new round
    assert "'seven' is not of type 'integer'" in error["message"]


async def test_a_stream_of_json_sends_only_what_fits(new_site: NewSite) -> None:
    client = client_with(new_site, WRONG, RIGHT)

    chunks = chunks_of(await client.ask(response_format=FORM, stream=True))

    assert deltas_of(chunks) == ['{"age": 7}']


@pytest.mark.parametrize(("choice", "finish"), [(NAMED, "stop"), ("required", "tool_calls")])
async def test_a_forced_call_is_answered_with_it(
    new_site: NewSite, choice: object, finish: str
) -> None:
    client = client_with(new_site)

    [whole] = (await client.ask(tools=[TOOL], tool_choice=choice)).json()["choices"]
    chunks = chunks_of(await client.ask(tools=[TOOL], tool_choice=choice, stream=True))

    [call] = whole["message"]["tool_calls"]
    [streamed] = [
        call
        for chunk in chunks
        for choice in chunk["choices"]
        for call in choice["delta"].get("tool_calls", ())
    ]
    assert (whole["message"]["content"], whole["finish_reason"]) == (None, finish)
    assert call["function"] == streamed["function"] == {"name": "save", "arguments": '{"age": 7}'}
    assert (streamed["index"], chunks[-1]["choices"][0]["finish_reason"]) == (0, finish)


async def test_an_answer_ends_before_the_first_stop(new_site: NewSite) -> None:
    client = ApiClient(new_site(a_drafting_app(DraftingGateway(drafts=STOPPING))))

    [choice] = (await client.ask(stop=["END", "it"])).json()["choices"]

    assert (choice["message"]["content"], choice["finish_reason"]) == ("Yes, ", "stop")


async def test_a_stream_never_sends_the_beginning_of_a_stop(new_site: NewSite) -> None:
    client = ApiClient(new_site(a_drafting_app(DraftingGateway(drafts=STOPPING))))

    chunks = chunks_of(await client.ask(stop="END", stream=True))

    assert "".join(deltas_of(chunks)) == "Yes, "


async def test_a_model_is_shown_by_its_id(site: Site) -> None:
    client = ApiClient(site)

    shown = (await client.get("/v1/models/council/house")).json()
    missing = await client.get("/v1/models/gpt-5.1")

    assert (shown["id"], shown["object"]) == ("council/house", "model")
    assert (missing.status_code, error_of(missing)["code"]) == (404, "model_not_found")


async def test_who_speaks_anthropics_api_reads_what_to_use(site: Site) -> None:
    refused = await ApiClient(site).post(b"{}", path="/v1/messages")

    assert refused.status_code == 404
    assert "/v1/chat/completions" in error_of(refused)["message"]


async def test_a_question_of_200_000_characters_reaches_who_can_take_it(new_site: NewSite) -> None:
    gateway = FakeGateway()
    long = json.dumps(["word"] * 20_000)

    answered = await ApiClient(new_site(an_app(gateway))).ask(f"How many words? {long}")

    assert answered.status_code == 200
    assert long in gateway.of(Role.ANSWER)[0].prompt.user


def test_a_refusal_names_its_field() -> None:
    assert ApiError(400, "No.", param="n").param == "n"

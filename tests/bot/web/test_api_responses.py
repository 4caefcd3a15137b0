"""The Responses API: whole, streamed, stored, continued, and each refusal by name."""

import json
import re
from dataclasses import replace
from typing import Any

import httpx
import pytest

from bot.api_keys import new_key, save_key
from bot.web.api_errors import ApiError
from bot.web.api_requests import CompletionRequest
from bot.web.api_responses import parse_response_request
from council.answers import Role
from tests.bot.app_fakes import an_app
from tests.bot.web.api_clients import QUESTION, ApiClient, error_of
from tests.bot.web.browsing import NewSite, Site
from tests.builders import ASKED_AT, CLAUDE, GEMINI, GPT, a_panel
from tests.fakes.gateway import FakeGateway

PATH = "/v1/responses"
ANSWER = "The council says yes."
SCHEMA = {"type": "object", "properties": {"age": {"type": "integer"}}}
FORM = {"format": {"type": "json_schema", "name": "person", "strict": True, "schema": SCHEMA}}
TOOL = {"type": "function", "name": "save", "parameters": SCHEMA}
JSON_SAID = dict.fromkeys((CLAUDE, GPT, GEMINI), '{"age": 7}\n{"drawn_on": []}')


def parsed(**fields: Any) -> CompletionRequest:  # noqa: ANN401
    body = {"model": "council", "input": QUESTION} | fields
    return parse_response_request(json.dumps(body).encode())


async def create(client: ApiClient, **fields: object) -> httpx.Response:
    body = {"model": "council", "input": QUESTION} | fields
    return await client.post(json.dumps(body).encode(), path=PATH)


async def another(site: Site) -> ApiClient:
    """Return a client with a named key of its own."""
    app = site.context.app
    key, text = new_key("ci", app.now(), (), None)
    await save_key(app.key_values, key)
    return ApiClient(site, text)


def events_of(stream: httpx.Response) -> list[dict[str, Any]]:
    """Return the events of a stream, whose names are their types."""
    found = re.findall(r"^event: (.*)\r?\ndata: (.*)$", stream.text, re.MULTILINE)
    events: list[dict[str, Any]] = [json.loads(data) for _, data in found]
    assert [event["type"] for event in events] == [name.strip() for name, _ in found]
    assert [event["sequence_number"] for event in events] == [*range(len(events))]
    return events


# --- Requests


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"a": 1}, "input is invalid: Input should be a valid string or a valid array."),
        ([], "input is invalid: List should have at least 1 item after validation, not 0."),
    ],
)
def test_a_field_of_two_types_names_both(sent: object, told: str) -> None:
    with pytest.raises(ApiError) as refused:
        parsed(input=sent)

    assert (str(refused.value), refused.value.param) == (told, "input")


def test_instructions_bind_and_items_are_turns() -> None:
    wanted = parsed(
        instructions="Be brief.",
        input=[
            {"role": "developer", "content": "In French."},
            "What is WAL?",
            {"type": "reasoning", "summary": []},
            {
                "type": "message",
                "role": "assistant",
                "content": [
                    {"type": "output_text", "text": "A log."},
                    {"type": "refusal", "refusal": "No."},
                ],
            },
            {"role": "user", "content": [{"type": "input_text", "text": "Why?"}]},
            {"type": "function_call", "name": "look", "arguments": "{}"},
            {"type": "function_call_output", "output": "Nothing."},
        ],
        max_output_tokens=9,
    )

    assert (wanted.question, wanted.max_tokens) == ("Why?", 9)
    assert wanted.instructions == "Be brief.\n\nIn French."
    assert wanted.context == (
        "User: What is WAL?\n\nAssistant: A log.\nNo.\n\nAssistant: [called look with {}]\n\n"
        "Tool: Nothing."
    )


async def test_images_and_files_come_with_the_question() -> None:
    said = [
        {"type": "input_text", "text": "What is this?"},
        {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
        {"type": "input_file", "file_data": "data:text/plain;base64,aGk=", "filename": "a.txt"},
    ]

    wanted = parsed(input=[{"role": "user", "content": said}])

    assert [(file.name, await file.read()) for file in wanted.files] == [
        ("image", b"hi"),
        ("a.txt", b"hi"),
    ]


def test_a_format_is_the_schema_of_the_answer() -> None:
    assert json.loads(parsed(text=FORM).form.schema) == SCHEMA
    assert parsed(text={"format": {"type": "text"}}).form.schema == ""
    assert (
        parsed(tools=[TOOL], tool_choice={"type": "function", "name": "save"}).form.tool == "save"
    )


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"background": True}, "background"),
        ({"conversation": "c1"}, "conversation"),
        ({"prompt": {"id": "p"}}, "prompt"),
        ({"tools": [TOOL]}, "tools"),
        ({"input": []}, "input"),
        ({"input": [7]}, "input.0"),
        ({"input": [{"content": "What?"}]}, "input.0.role"),
        ({"text": "json"}, "text"),
        ({"include": ["message.output_text.logprobs"]}, "include"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "input.0"),
        ({"input": [{"role": "assistant", "content": "Yes."}]}, "input"),
        ({"model": 7}, "model"),
        ({"max_output_tokens": 0}, "max_output_tokens"),
        ({"text": {"format": {"type": "json_schema"}}}, "text.format"),
    ],
)
def test_what_the_council_cannot_do_is_refused_by_name(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(ApiError) as caught:
        parsed(**fields)

    assert (caught.value.status, caught.value.param) == (400, param)


# --- Answers


async def test_a_response_has_openais_shape_and_the_councils_results(site: Site) -> None:
    response = (await create(ApiClient(site), instructions="Be brief.")).json()

    [item] = response["output"]
    assert response["id"] == f"resp_{response['council']['round_id']}"
    assert (response["object"], response["status"]) == ("response", "completed")
    assert response["instructions"] == "Be brief."
    assert (item["type"], item["role"]) == ("message", "assistant")
    assert item["content"] == [
        {"type": "output_text", "text": ANSWER, "annotations": [], "logprobs": []}
    ]


async def test_a_response_that_is_cut_is_incomplete(site: Site) -> None:
    response = (await create(ApiClient(site), max_output_tokens=4)).json()

    assert response["status"] == "incomplete"
    assert response["incomplete_details"] == {"reason": "max_output_tokens"}


async def test_a_stream_has_the_events_of_openai(site: Site) -> None:
    events = events_of(await create(ApiClient(site), stream=True))

    deltas = [one["delta"] for one in events if one["type"] == "response.output_text.delta"]
    names = [one["type"].removeprefix("response.") for one in events]
    assert "".join(deltas) == ANSWER
    assert names[:4] == ["created", "in_progress", "output_item.added", "content_part.added"]
    assert names[-4:] == ["output_text.done", "content_part.done", "output_item.done", "completed"]
    assert events[-1]["response"]["output"][0]["content"][0]["text"] == ANSWER


async def test_a_forced_call_is_streamed_as_one(new_site: NewSite) -> None:
    client = ApiClient(new_site(an_app(FakeGateway(chairmen=JSON_SAID))))
    forced = {"tools": [TOOL], "tool_choice": "required"}

    whole = (await create(client, **forced)).json()
    events = events_of(await create(client, **forced, stream=True))

    [call] = whole["output"]
    assert (call["type"], call["name"], call["arguments"]) == (
        "function_call",
        "save",
        '{"age": 7}',
    )
    names = [one["type"].removeprefix("response.") for one in events]
    assert names[2:] == [
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]


async def test_a_stream_without_an_answer_fails_with_the_reason(new_site: NewSite) -> None:
    client = ApiClient(new_site(an_app(FakeGateway())))

    events = events_of(await create(client, text=FORM, stream=True))

    assert events[-1]["type"] == "response.failed"
    assert events[-1]["response"]["error"]["code"] == "answer_does_not_fit"


# --- Stored responses


async def test_a_response_can_be_read_again_by_its_key_only(site: Site) -> None:
    client = ApiClient(site)
    made = (await create(client)).json()
    other = await another(site)

    read = (await client.get(f"{PATH}/{made['id']}")).json()
    refused = await other.get(f"{PATH}/{made['id']}")
    missing = await client.get(f"{PATH}/resp_none")

    assert read["output"] == made["output"]
    assert [refused.status_code, missing.status_code] == [404, 404]


async def test_a_response_reads_as_it_was_written(new_site: NewSite) -> None:
    panels = [a_panel(), replace(a_panel(), name="cheap")]
    client = ApiClient(new_site(an_app(FakeGateway(chairmen=JSON_SAID), panels=panels)))
    first = (await create(client)).json()
    fields = {"text": FORM, "max_output_tokens": 2, "previous_response_id": first["id"]}
    made = (await create(client, model="council/cheap", instructions="In JSON.", **fields)).json()

    read = [(await client.get(f"{PATH}/{one['id']}")).json() for one in (first, made)]

    assert made["status"] == "incomplete"
    assert read == [first, made]


async def test_a_response_continues_another(new_site: NewSite) -> None:
    gateway = FakeGateway()
    client = ApiClient(new_site(an_app(gateway)))
    first = (await create(client)).json()

    second = (await create(client, input="And then?", previous_response_id=first["id"])).json()

    asked = gateway.of(Role.ANSWER)[-1].prompt.user
    assert second["previous_response_id"] == first["id"]
    assert asked.startswith("And then?")
    assert QUESTION in asked
    assert ANSWER in asked


async def test_what_is_not_ones_own_or_forgotten_continues_nothing(site: Site) -> None:
    client = ApiClient(site)
    first = (await create(client)).json()
    app, other = site.context.app, await another(site)

    theirs = await create(other, previous_response_id=first["id"])
    round_ = await app.store.load(first["council"]["round_id"])
    await app.store.forget(round_.id, ASKED_AT, "salt")
    gone = await create(client, previous_response_id=first["id"])
    none = await create(client, previous_response_id="resp_")
    shown = await client.get(f"{PATH}/{first['id']}")

    assert (theirs.status_code, error_of(theirs)["code"]) == (404, "not_found")
    assert (none.status_code, error_of(none)["message"].split("'")[1]) == (404, "resp_")
    assert [gone.status_code, shown.status_code] == [410, 410]

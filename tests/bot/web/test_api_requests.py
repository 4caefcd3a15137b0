"""What a chat completion request asks for, and which ones are refused by name."""

import json
from typing import Any

import pytest

from bot.web.api_errors import ApiError
from bot.web.api_forms import AnswerForm
from bot.web.api_requests import MAX_MESSAGES, CompletionRequest, parse_request
from bot.web.api_turns import MAX_API_CHARACTERS
from council.structured_output import ANY_OBJECT

ASKED = [{"role": "user", "content": "Is Postgres enough?"}]


PERSON: dict[str, Any] = {"type": "object", "properties": {"age": {"type": "integer"}}}
WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {"name": "weather", "description": "Look it up.", "parameters": PERSON},
}
NEWS: dict[str, Any] = {"type": "function", "function": {"name": "news"}}
BROKEN: dict[str, Any] = {
    "type": "function",
    "function": {"name": "f", "parameters": {"$ref": "x"}},
}
FORCED: dict[str, Any] = {"type": "function", "function": {"name": "weather"}}


def schema_form(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": schema}}


def parsed(**fields: Any) -> CompletionRequest:  # noqa: ANN401
    body = {"model": "council", "messages": ASKED} | fields
    return parse_request(json.dumps(body).encode())


def refused(**fields: Any) -> ApiError:  # noqa: ANN401
    with pytest.raises(ApiError) as caught:
        parsed(**fields)
    return caught.value


def test_a_question_alone_asks_for_nothing_else() -> None:
    assert parsed() == CompletionRequest(
        "council", "Is Postgres enough?", "", "", (), None, None, streams=False
    )


def test_far_too_long_a_text_is_refused_before_it_is_cleaned() -> None:
    invisible = "\r\n" * MAX_API_CHARACTERS

    error = refused(messages=[*ASKED, {"role": "user", "content": f"{invisible}a"}])

    assert "The messages have 400,020 characters; the limit is 200,000" in str(error)
    assert (error.code, error.param) == ("context_length_exceeded", "messages.1.content")


def test_the_longest_message_of_too_many_is_named() -> None:
    said = [{"role": "system", "content": "a" * MAX_API_CHARACTERS}, *ASKED]

    error = refused(messages=said)

    assert "The longest is messages.0, with 200,000." in str(error)
    assert error.param == "messages.0.content"


def test_line_ends_of_windows_do_not_count_twice() -> None:
    text = "\r\n".join("a" * 10_000)

    assert len(parsed(messages=[{"role": "user", "content": text}]).question) == 19_999


@pytest.mark.parametrize("message", [{"role": "user", "content": ""}, []])
def test_a_request_has_at_most_1000_messages(message: object) -> None:
    error = refused(messages=[message] * (MAX_MESSAGES + 1))

    assert (error.status, str(error.param).partition(".")[0]) == (400, "messages")


def test_too_many_values_are_refused_before_they_are_parsed() -> None:
    assert refused(metadata=[[]] * 200_000).status == 413


def test_messages_before_the_question_are_its_context() -> None:
    wanted = parsed(
        messages=[
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": "What is WAL?"},
            {"role": "assistant", "content": "A log."},
            {"role": "user", "content": "Why?"},
        ]
    )

    assert wanted.question == "Why?"
    assert wanted.context == "User: What is WAL?\n\nAssistant: A log."
    assert wanted.instructions == "Be brief."


def test_system_and_developer_messages_are_instructions_wherever_they_stand() -> None:
    first, last = {"role": "system", "content": "In French."}, {"role": "developer", "content": "B"}

    wanted = parsed(messages=[first, *ASKED, last])

    assert (wanted.question, wanted.context) == ("Is Postgres enough?", "")
    assert wanted.instructions == "In French.\n\nB"


def test_text_parts_are_joined() -> None:
    parts = [{"type": "text", "text": "Is it"}, {"type": "text", "text": "enough?"}]

    assert parsed(messages=[{"role": "user", "content": parts}]).question == "Is it\nenough?"


@pytest.mark.parametrize(("seed", "read"), [(7, "7"), ("seven", "seven"), (0, "0"), (None, None)])
def test_a_seed_is_any_number_or_text(seed: object, read: str | None) -> None:
    assert parsed(seed=seed).seed == read


def test_either_name_limits_the_length_and_the_newer_one_wins() -> None:
    assert parsed(max_tokens=50).max_tokens == 50
    assert parsed(max_tokens=50, max_completion_tokens=20).max_tokens == 20


def test_a_stream_may_include_usage() -> None:
    wanted = parsed(stream=True, stream_options={"include_usage": True})

    assert (wanted.streams, wanted.include_usage) == (True, True)


@pytest.mark.parametrize(
    "fields",
    [
        {"temperature": 0.2, "top_p": 0.9, "presence_penalty": 1, "frequency_penalty": -1},
        {"user": "ada", "metadata": {"job": "nightly"}, "store": True},
        {"n": 1, "tools": [], "tool_choice": "none", "logprobs": False, "stop": None},
        {"tools": [WEATHER, NEWS], "tool_choice": "none"},
        {"response_format": {"type": "text"}, "modalities": ["text"], "audio": None},
        {"stream": None, "stream_options": None, "seed": None, "max_tokens": None},
    ],
)
def test_what_changes_nothing_is_ignored(fields: dict[str, Any]) -> None:
    assert parsed(**fields) == parsed()


def test_a_schema_is_kept_with_the_question() -> None:
    assert parsed(response_format={"type": "json_object"}).form == AnswerForm(ANY_OBJECT)
    assert json.loads(parsed(response_format=schema_form(PERSON)).form.schema) == PERSON


@pytest.mark.parametrize(
    ("fields", "is_named"),
    [
        ({"tools": [WEATHER], "tool_choice": "required"}, False),
        ({"tools": [NEWS, WEATHER], "tool_choice": FORCED}, True),
        ({"tools": [WEATHER], "tool_choice": FORCED, "response_format": {"type": "text"}}, True),
    ],
)
def test_a_forced_call_is_a_schema(fields: dict[str, Any], is_named: bool) -> None:
    form = parsed(**fields).form

    about = {"title": "weather", "description": "Look it up."}
    assert (form.tool, form.is_named) == ("weather", is_named)
    assert json.loads(form.schema) == about | PERSON


def test_a_function_without_parameters_takes_any_object() -> None:
    form = parsed(tools=[NEWS], tool_choice="required").form

    assert json.loads(form.schema) == {"title": "news", "type": "object"}


def test_a_schema_that_contains_itself_is_one() -> None:
    tree = {"type": "object", "properties": {"next": {"$ref": "#"}}}

    wanted = parsed(response_format=schema_form(tree))

    assert json.loads(wanted.form.schema) == tree


def test_a_forced_call_without_tools_is_refused() -> None:
    assert refused(tool_choice="required").param == "tool_choice"


def test_tools_that_are_not_forced_are_refused_with_their_names_and_the_reason() -> None:
    error = refused(tools=[WEATHER, NEWS])

    assert "its answer is ranked" in str(error)
    assert str(error).endswith("leave out tools: weather, news.")


def test_earlier_calls_of_tools_are_quoted_as_context() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    said = [
        *ASKED,
        {"role": "assistant", "content": None, "tool_calls": [call, 7]},
        {"role": "tool", "tool_call_id": "c", "content": "Rain."},
    ]

    wanted = parsed(messages=said)

    assert wanted.question == "Is Postgres enough?"
    assert wanted.context == "Assistant: [called weather with {}]\n\nTool: Rain."


def test_stops_are_texts() -> None:
    assert parsed(stop="END").stops == ("END",)
    assert parsed(stop=["a", "", "b"]).stops == ("a", "b")


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"n": 2}, "n"),
        ({"n": 0}, "n"),
        ({"tools": [WEATHER]}, "tools"),
        ({"tools": [WEATHER, NEWS], "tool_choice": "required"}, "tools"),
        ({"functions": [{"name": "f"}]}, "functions"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"logprobs": True}, "logprobs"),
        ({"top_logprobs": 3}, "top_logprobs"),
        ({"audio": {"voice": "alloy", "format": "mp3"}}, "audio"),
        ({"modalities": ["text", "audio"]}, "modalities"),
    ],
)
def test_what_the_council_cannot_do_is_refused_by_name(fields: dict[str, Any], param: str) -> None:
    error = refused(**fields)

    assert (error.status, error.code, error.param) == (400, "unsupported_parameter", param)
    assert param in str(error) or param == "modalities"


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"model": None}, "model"),
        ({"model": "m" * 201}, "model"),
        ({"messages": []}, "messages"),
        ({"messages": "Why?"}, "messages"),
        ({"messages": [{"content": "Why?"}]}, "messages.0.role"),
        ({"messages": [{"role": "user", "content": " \u200b\n"}]}, "messages.0.content"),
        ({"messages": [{"role": "system", "content": "Why?"}]}, "messages"),
        ({"messages": [*ASKED, {"role": "assistant", "content": "Yes"}]}, "messages"),
        ({"messages": [*ASKED, {"role": "function", "content": "7"}]}, "messages.1.role"),
        ({"messages": [*ASKED, {"role": "assistant", "tool_calls": [7]}]}, "messages"),
        ({"stream": "yes"}, "stream"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": 1.5}, "max_tokens"),
        ({"seed": [1]}, "seed"),
        ({"stream_options": 1}, "stream_options"),
        ({"stop": 7}, "stop"),
        ({"stop": ["a"] * 17}, "stop"),
        ({"stop": "a" * 201}, "stop"),
        ({"tools": "all"}, "tools"),
        ({"tools": [WEATHER] * 129}, "tools"),
        ({"tools": [7]}, "tools.0"),
        ({"tools": [{"type": "web_search"}]}, "tools.0"),
        ({"tools": [{"type": "function", "function": 7}]}, "tools.0"),
        ({"tools": [WEATHER], "tool_choice": 7}, "tool_choice"),
        ({"tools": [WEATHER], "tool_choice": FORCED | {"function": {"name": "f"}}}, "tool_choice"),
        ({"response_format": "json"}, "response_format"),
        ({"response_format": {"type": "xml"}}, "response_format"),
        ({"response_format": {"type": {"a": 1}}}, "response_format"),
        ({"response_format": {"type": "json_schema", "json_schema": {}}}, "response_format"),
        ({"response_format": {"type": "json_schema", "json_schema": 7}}, "response_format"),
        ({"response_format": schema_form({"type": "cat"})}, "response_format"),
        ({"response_format": schema_form({"title": "x" * 1_000_000})}, "response_format"),
        ({"response_format": schema_form({"$ref": "#"})}, "response_format"),
        ({"tools": [BROKEN], "tool_choice": "required"}, "tools"),
    ],
)
def test_a_field_that_is_wrong_is_named(fields: dict[str, Any], param: str) -> None:
    error = refused(**fields)

    assert (error.status, error.param) == (400, param)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
        {"type": "image_url", "image_url": "data:image/png;base64,aGk="},
        {"type": "file", "file": {"file_data": "data:text/plain;base64,aGk=", "filename": "a.txt"}},
    ],
)
async def test_images_and_files_come_with_the_question(part: dict[str, Any]) -> None:
    said = [{"role": "user", "content": [{"type": "text", "text": "What is this?"}, part]}]

    wanted = parsed(messages=said)

    assert wanted.question == "What is this?"
    [file] = wanted.files
    assert (file.size, await file.read()) == (2, b"hi")


@pytest.mark.parametrize("url", ["https://a.org/x.png", "data:image/png,hi", "data:x;base64,%%"])
def test_a_file_at_an_address_is_refused(url: str) -> None:
    part = {"type": "image_url", "image_url": {"url": url}}

    text = {"type": "text", "text": "What is this?"}

    error = refused(messages=[{"role": "user", "content": [part, text]}])

    assert (error.status, error.param) == (400, "messages.0.content.0")
    assert "fetches no addresses" in str(error)


@pytest.mark.parametrize(
    ("content", "param", "told"),
    [
        (7, "messages.0.content", "is text, or a list of parts"),
        ([{"type": "text", "text": 7}], "messages.0.content.0.text", "This part has no text"),
    ],
)
def test_content_that_is_no_text_says_so(content: object, param: str, told: str) -> None:
    error = refused(messages=[{"role": "user", "content": content}])

    assert (error.status, error.param) == (400, param)
    assert told in str(error)


@pytest.mark.parametrize("kind", ["input_audio", "video"])
def test_parts_of_other_types_are_refused_by_name(kind: str) -> None:
    part = {"type": kind, kind: {"url": "data:image/png;base64,AAAA"}}
    said = [{"role": "user", "content": [{"type": "text", "text": "What is this?"}, part]}]

    error = refused(messages=said)

    assert (error.status, error.param) == (400, "messages.0.content.1")
    assert repr(kind) in str(error)


@pytest.mark.parametrize("content", [7, {"type": "text"}, [None], [{"type": "text", "text": 7}]])
def test_content_of_another_shape_is_refused(content: object) -> None:
    assert refused(messages=[{"role": "user", "content": content}]).status == 400


def test_a_body_of_too_many_values_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(ApiError, match="too many values") as caught:
        parse_request(b"[" * 300_000)

    assert caught.value.status == 413


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"7", b"\xff", b"[" * 40_000, b"{}"])
def test_a_body_that_is_no_request_is_refused(body: bytes) -> None:
    with pytest.raises(ApiError) as caught:
        parse_request(body)

    assert caught.value.status == 400

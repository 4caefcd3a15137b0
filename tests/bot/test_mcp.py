"""The tools of the MCP server, called by the official client in this process."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, TextContent, TextResourceContents

import bot.mcp
from bot.context import AppContext
from bot.mcp import Caller, GetRound, McpTool, create_server, load_tools
from bot.plugins import Plugins
from council.answers import Role
from council.budget import Budget
from council.budget_caps import Caps
from council.errors import GatewayError
from council.money import Price
from council.places import Place
from council.plugin import Plugin
from tests.bot.app_fakes import ANA, an_app
from tests.builders import CLAUDE, GEMINI, GPT, a_panel
from tests.disputes import BROKER, OLD_TEXT, YES, a_disputed_round
from tests.fakes.gateway import FakeGateway, Hangs
from tests.fakes.memory_ledger import MemoryLedger

CALLER = Caller(ANA, Place("terminal"), lambda round_id: f"http://here/rounds/{round_id}")
ANSWERS = {"a": "Alpha.", "b": "Beta.", "c": "Gamma."}
ASK, DANCE = (McpTool(name, GetRound, bot.mcp._get_round) for name in ("ask_council", "dance"))
MODES = ("auto", "legacy")  # of today's protocol, and of the one with a handshake


@asynccontextmanager
async def client_of(app: AppContext, mode: str = "auto") -> AsyncIterator[Client]:
    async def load_app() -> AppContext:
        return app

    server = create_server(load_app, lambda _: CALLER, app.plugins)
    async with Client(server, mode=mode) as client:
        yield client


def text_of(result: CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


@pytest.mark.parametrize("mode", MODES)
async def test_every_tool_is_listed_with_its_arguments(mode: str) -> None:
    app = an_app()
    app.plugins = Plugins()
    async with client_of(app, mode) as client:
        listed = (await client.list_tools()).tools

    arguments = {tool.name: [*tool.input_schema["properties"]] for tool in listed}
    assert arguments == {
        "ask_council": ["question", "panel", "context"],
        "rank_answers": ["question", "answers", "panel"],
        "get_round": ["round_id"],
        "decide": ["round_id", "decisions"],
        "list_rounds": ["limit"],
    }
    assert all(tool.description for tool in listed)
    assert all(tool.output_schema for tool in listed)


@pytest.mark.parametrize("mode", MODES)
async def test_the_answer_comes_first_then_standings_and_the_link(mode: str) -> None:
    app = an_app()
    async with client_of(app, mode) as client:
        result = await client.call_tool("ask_council", {"question": "Is it?", "context": "It was."})

    text, document = text_of(result), result.structured_content
    assert document
    assert text.startswith("The council says yes.\n")
    assert text.index("Best-ranked") < text.index("1. Gemini") < text.index(document["url"])
    assert document["url"] == f"http://here/rounds/{document['id']}"
    assert document["synthesis"]["text"] == "The council says yes."
    stored = await app.store.load(document["id"])
    assert (stored.question.context, stored.question.asked_by) == ("It was.", ANA.id)


async def test_a_named_panel_is_asked() -> None:
    gateway = FakeGateway()
    app = an_app(gateway)
    async with client_of(app) as client:
        await client.call_tool("ask_council", {"question": "Is it?", "panel": "house"})
        unknown = await client.call_tool("ask_council", {"question": "Is it?", "panel": "no"})

    assert (unknown.is_error, "There is no panel 'no'" in text_of(unknown)) == (True, True)
    assert len(gateway.of(Role.ANSWER)) == 3


async def test_a_round_without_a_quorum_is_an_error_with_its_reason() -> None:
    gateway = FakeGateway(answers=dict.fromkeys((CLAUDE, GPT), GatewayError("hung up")))
    async with client_of(an_app(gateway)) as client:
        result = await client.call_tool("ask_council", {"question": "Is it?"})

    assert result.is_error
    assert "hung up" in text_of(result)


async def test_texts_are_ranked_and_not_stored() -> None:
    app = an_app()
    async with client_of(app) as client:
        result = await client.call_tool("rank_answers", {"question": "Best?", "answers": ANSWERS})

    assert text_of(result).splitlines()[2:] == [
        "1. a: 6 of 6 points",
        "2. b: 3 of 6 points",
        "3. c: 0 of 6 points",
    ]
    assert result.structured_content
    assert [line["name"] for line in result.structured_content["standings"]] == ["a", "b", "c"]
    assert await app.store.ids() == ()


async def test_texts_of_a_list_are_named_by_their_numbers() -> None:
    async with client_of(an_app()) as client:
        arguments = {"question": "Best?", "answers": ["Alpha.", "Beta."]}
        result = await client.call_tool("rank_answers", arguments)

    assert result.structured_content
    assert {line["name"] for line in result.structured_content["standings"]} == {"1", "2"}


async def test_rounds_are_listed_and_opened() -> None:
    async with client_of(an_app()) as client:
        asked = await client.call_tool("ask_council", {"question": "Is it?"})
        listed = await client.call_tool("list_rounds", {"limit": 5})
        every = await client.call_tool("list_rounds", {"limit": None})
        quoted = await client.call_tool("list_rounds", {"limit": "5"})
        assert asked.structured_content
        opened = await client.call_tool("get_round", {"round_id": asked.structured_content["id"]})

    assert listed.structured_content == every.structured_content == quoted.structured_content
    assert listed.structured_content
    [line] = listed.structured_content["rounds"]
    assert (line["question"], line["stage"]) == ("Is it?", "closed")
    assert opened == asked


async def test_without_rounds_the_list_is_empty() -> None:
    async with client_of(an_app()) as client:
        listed = await client.call_tool("list_rounds")

    assert (listed.structured_content, listed.is_error) == ({"rounds": []}, False)


def test_of_two_tools_with_one_name_the_first_counts() -> None:
    said: list[str] = []
    plugin = Plugin(name="dancers", tools=(f"{__name__}:ASK", f"{__name__}:DANCE"))

    tools = load_tools(Plugins(active=[plugin], report=said.append))

    assert [*tools] == [*(tool.name for tool in bot.mcp.CORE_TOOLS), "dance"]
    assert (tools["ask_council"] is ASK, tools["dance"] is DANCE) == (False, True)
    assert ["ask_council" in line for line in said] == [True]


@pytest.mark.parametrize(
    ("tool", "arguments", "fault"),
    [
        ("ask_council", {"question": 5}, "question: must be text."),
        ("ask_council", {}, "question: "),
        ("ask_council", {"question": "Is it?", "pannel": "x"}, "pannel: "),
        ("ask_council", {"question": " "}, "The question is empty"),
        ("rank_answers", {"question": "Best?", "answers": "a or b"}, "answers: "),
        ("rank_answers", {"question": "Best?", "answers": ["a", 2]}, "answers.2: must be text."),
        ("rank_answers", {"question": "Best?", "answers": ["Alone."]}, "can't be ranked"),
        ("rank_answers", {"question": "Best?", "answers": {"a": "Alone."}}, "can't be ranked"),
        ("list_rounds", {"limit": "many"}, "limit: must be a whole number."),
        ("list_rounds", {"limit": 0}, "limit: "),
        ("list_rounds", {"limit": "101"}, "limit: "),
        ("leaderboard", {"suite": "nothing"}, "There is no suite 'nothing'"),
        ("get_round", {"round_id": "nothing"}, "There is no round 'nothing'"),
    ],
)
async def test_wrong_arguments_get_a_sentence(
    tool: str, arguments: dict[str, object], fault: str
) -> None:
    gateway = FakeGateway()
    async with client_of(an_app(gateway)) as client:
        result = await client.call_tool(tool, arguments)

    assert (result.is_error, fault in text_of(result)) == (True, True)
    assert not re.search("pydantic|Traceback|https://errors", text_of(result))
    assert gateway.asked == []


@pytest.mark.parametrize("mode", MODES)
async def test_an_unknown_tool_is_an_error_of_the_protocol(mode: str) -> None:
    async with client_of(an_app(), mode) as client:
        with pytest.raises(MCPError, match="There is no tool 'dance'. Known tools: ask_council,"):
            await client.call_tool("dance")


async def test_budgets_hold_as_for_anybody() -> None:
    app = an_app(FakeGateway(prices=dict.fromkeys((CLAUDE, GPT, GEMINI), Price(1e-3, 1e-3))))
    app.budget = Budget(MemoryLedger(), Caps(day=1), app.now)
    async with client_of(app) as client:
        asked = await client.call_tool("ask_council", {"question": "Is it?"})
        ranked = await client.call_tool("rank_answers", {"question": "Best?", "answers": ANSWERS})

    for result in (asked, ranked):
        assert (result.is_error, "is left of the budget" in text_of(result)) == (True, True)


async def test_a_bug_is_logged_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    app = an_app()
    monkeypatch.setattr(app, "store", None)
    async with client_of(app) as client:
        result = await client.call_tool("list_rounds")

    assert (result.is_error, text_of(result)[:26]) == (True, "Something went wrong (ref ")


# --- Progress and cancellation


async def test_progress_is_reported_while_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    assert bot.mcp.PROGRESS_SECONDS <= 5
    monkeypatch.setattr(bot.mcp, "PROGRESS_SECONDS", 0.01)
    seen: list[tuple[float, float | None, str | None]] = []
    enough = asyncio.Event()

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))
        if len(seen) > 5:
            enough.set()

    async with client_of(an_app(FakeGateway(answers={GPT: Hangs()}))) as client:
        arguments = {"question": "Is it?"}
        calling = asyncio.create_task(
            client.call_tool("ask_council", arguments, progress_callback=on_progress)
        )
        await enough.wait()
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)

    progress = [value for value, _, _ in seen]
    assert progress == sorted(set(progress))
    assert {total for _, total, _ in seen} == {7}  # answers, rankings, and the council's answer
    assert {message for value, _, message in seen if 2 < value < 3} == {"2 of 3 models answered"}


class SignallingGateway(FakeGateway):
    """A gateway that says when a seat is asked."""

    def __init__(self, key: str, role: Role, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self.is_asked = asyncio.Event()
        self._wanted = (key, role)

    async def complete(self, call):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
        if (call.member.key, call.role) == self._wanted:
            self.is_asked.set()
        return await super().complete(call)


@pytest.mark.parametrize("mode", MODES)
async def test_a_cancelled_call_stops_the_round_and_asks_nobody_else(mode: str) -> None:
    gateway = SignallingGateway(GPT, Role.ANSWER, answers={GPT: Hangs()})
    app = an_app(gateway)
    async with client_of(app, mode) as client:
        calling = asyncio.create_task(client.call_tool("ask_council", {"question": "Is it?"}))
        await gateway.is_asked.wait()
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)

    [line] = await app.store.list_summaries()
    assert (line.paused, line.seconds, await app.runner.is_running(line.id)) == (True, None, False)
    assert gateway.of(Role.BALLOT) == []


async def test_a_cancelled_ranking_frees_what_it_had_reserved() -> None:
    prices = dict.fromkeys((CLAUDE, GPT, GEMINI), Price(1e-6, 1e-6))
    gateway = SignallingGateway(GPT, Role.BALLOT, judges={GPT: Hangs()}, prices=prices)
    app = an_app(gateway, panels=[a_panel()])
    async with client_of(app) as client:
        arguments = {"question": "Best?", "answers": ANSWERS}
        calling = asyncio.create_task(client.call_tool("rank_answers", arguments))
        await gateway.is_asked.wait()
        assert await app.budget.ledger.list_reserved_rounds()
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)

    assert await app.budget.ledger.list_reserved_rounds() == ()


async def test_a_decision_is_written_and_what_is_not_disputed_is_named() -> None:
    gateway = FakeGateway(chairmen=dict.fromkeys((CLAUDE, GPT, GEMINI), f"Settled: {YES}."))
    app = an_app(gateway)
    round_ = a_disputed_round(round_id="abcd")
    asked = replace(round_.question, asked_by=ANA.id, place=CALLER.place)
    await app.store.open(replace(round_, question=asked))
    wrong = {"point": BROKER, "says": "Perhaps"}

    async with client_of(app) as client:
        refused = await client.call_tool("decide", {"round_id": "abcd", "decisions": [wrong]})
        right = wrong | {"says": YES}
        result = await client.call_tool("decide", {"round_id": "abcd", "decisions": [right]})
        later = await client.call_tool("get_round", {"round_id": "abcd"})

    assert refused.is_error
    assert YES in text_of(refused)
    assert text_of(result).startswith(f"Settled: {YES}.\n")
    for document in (result.structured_content, later.structured_content):
        assert document
        assert [(one["point"], one["says"]) for one in document["decisions"]] == [(BROKER, YES)]
        assert [one["text"] for one in document["earlier"]] == [OLD_TEXT]


# --- The prompt, and rounds as resources


@pytest.mark.parametrize("mode", MODES)
async def test_the_prompt_asks_the_council(mode: str) -> None:
    async with client_of(an_app(), mode) as client:
        [listed] = (await client.list_prompts()).prompts
        given = {"question": "Is it?", "panel": "house"}
        prompt = await client.get_prompt("council", given)
        with pytest.raises(MCPError, match="question is empty"):
            await client.get_prompt("council", {"question": " "})
        with pytest.raises(MCPError, match="no prompt 'dance'"):
            await client.get_prompt("dance", given)

    assert (listed.name, [one.name for one in listed.arguments or ()]) == ("council", [*given])
    [message] = prompt.messages
    assert isinstance(message.content, TextContent)
    assert message.content.text.endswith("Is it?")
    assert 'the tool `ask_council` with the panel "house"' in message.content.text


@pytest.mark.parametrize("mode", MODES)
async def test_rounds_are_resources(mode: str) -> None:
    async with client_of(an_app(), mode) as client:
        asked = await client.call_tool("ask_council", {"question": "Is it?"})
        [listed] = (await client.list_resources()).resources
        [read] = (await client.read_resource(listed.uri)).contents
        [template] = (await client.list_resource_templates()).resource_templates
        for unknown in ("council://rounds/nothing", "council://rounds/", "file:///etc/passwd"):
            with pytest.raises(MCPError):
                await client.read_resource(unknown)

    assert asked.structured_content
    assert listed.title == "Is it?"
    assert listed.uri == template.uri_template.format(id=asked.structured_content["id"])
    assert isinstance(read, TextResourceContents)
    assert (read.mime_type, read.text) == ("text/markdown", text_of(asked))

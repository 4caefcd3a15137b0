"""The Model Context Protocol (MCP) server: tools that ask the council, rank texts and look up.

Knows no transport: `council mcp` serves it on stdio, the page at `/mcp`. Importing it is slow.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import anyio
from mcp.server import Server, ServerRequestContext
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.access import check_admitted, listable_rounds
from bot.admission import dismissed_at_end
from bot.chat import Asker, Heading, IncomingMessage, Post, Prose, Thread
from bot.commands.ask import AskOptions, open_round
from bot.commands.decide import (
    DONE_ALREADY,
    WRITING,
    begin_decision,
    follow_decision,
    load_decidable,
)
from bot.commands.rounds import cancel, find_round
from bot.context import AppContext, checked_question
from bot.coordination.tasks import running_alongside
from bot.hints import shell_hints
from bot.observability import logs
from bot.plugins import Plugins
from bot.render.formatting import count_noun, join_words, points
from bot.render.markdown import thread_markdown
from bot.render.round_json import (
    Document,
    ranking_document,
    round_document,
    summary_document,
)
from bot.render.round_report.thread import round_post
from bot.render.round_report.verdict import describe_certainty
from bot.render.round_status import progress_summary
from bot.settings.council_toml import validation_faults
from council.errors import CouncilError
from council.pipeline.ranking import Judges, Ranked, ranking_round, run_ranking
from council.places import Place
from council.rounds import Question, Round

PROGRESS_SECONDS = 1.0  # between two notifications of progress
MAX_LISTED_ROUNDS = 100
MAX_DECIDED = 10  # points at once; a round has fewer
INSTRUCTIONS = (
    "Several models answer a question, rank each other's answers without knowing who wrote them, "
    "and one of them writes the council's answer. A question takes seconds to minutes, and costs "
    "what its models cost."
)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls a tool, and where.

    `link` returns the address of a round's page by its id, or None; `hint` says when it works.
    """

    asker: Asker
    place: Place
    link: Callable[[str], str | None]
    hint: str = ""

    def reference(self, round_id: str) -> str:
        """Return the line that says where people read a round."""
        return " ".join(filter(None, (f"Round {round_id}", self.link(round_id), self.hint)))


Identify = Callable[[Any], Caller]  # from the transport's request, None on stdio


# --- Arguments of the tools; clients often send null for what they leave out


class Arguments(BaseModel):
    """Arguments of any tool."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class AskCouncil(Arguments):
    """Ask the council; returns its answer, then how the models' answers were ranked."""

    question: str = Field(description="The question.")
    panel: str | None = Field(None, description="A panel of models, by name.")
    context: str | None = Field(None, description="What the models should know first.")


class RankAnswers(Arguments):
    """Let a panel's models rank 2 to 10 texts without knowing who wrote them."""

    question: str = Field(description="The question that the texts answer.")
    answers: dict[str, str] = Field(description="The texts by name. Judges do not see the names.")
    panel: str | None = Field(None, description="The panel whose models judge, by name.")


class GetRound(Arguments):
    """Return a stored round: its answer, standings and every ranking."""

    round_id: str = Field(description="The round's id, or the start of one.")


class DecidedPoint(Arguments):
    """A disputed point, and the position that holds."""

    point: str = Field(description="A point of `analysis.disputed`, as the round has it.")
    says: str = Field(description="The position that holds: one of its `says`.")


class Decide(Arguments):
    """Decide disputed points of a finished round; its chairman writes the answer once more."""

    round_id: str = Field(description="The round's id, or the start of one.")
    decisions: list[DecidedPoint] = Field(
        min_length=1, max_length=MAX_DECIDED, description="What holds; other points stay open."
    )


class ListRounds(Arguments):
    """List stored rounds, newest first."""

    limit: int | None = Field(None, ge=1, le=MAX_LISTED_ROUNDS, description="How many; else 20.")


# --- Calls


@dataclass(slots=True)
class ToolCall:
    """A running call of a tool; `report` sends progress, as seconds and a sentence."""

    app: AppContext
    caller: Caller
    report: Callable[[float, str], Awaitable[None]]
    status: str = "Starting"

    def message(self, text: str = "", context: str = "") -> IncomingMessage:
        """Return what the caller says as a message of a chat."""
        caller = self.caller
        return IncomingMessage(text, caller.asker, caller.place, self.app.new_id(), context)

    def reporting(self) -> AbstractAsyncContextManager[None]:
        """Report the status during a block, every second."""
        return running_alongside(self._keep_reporting())

    async def _keep_reporting(self) -> None:
        loop = asyncio.get_running_loop()
        started = loop.time()
        while True:
            await self.report(loop.time() - started, self.status)
            await asyncio.sleep(PROGRESS_SECONDS)


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool: the docstring of its `arguments` describes it. `costs_money` if models are asked."""

    name: str
    arguments: type[Arguments]
    run: Callable[[ToolCall, Any], Awaitable[CallToolResult]]
    costs_money: bool = False


def reply(text: str, document: Document, *, is_error: bool = False) -> CallToolResult:
    """Return the reply of a tool: text for people and models, and a document for programs."""
    content = [TextContent(text=text)]
    return CallToolResult(content=content, structured_content=document, is_error=is_error)


async def _ask_council(call: ToolCall, given: AskCouncil) -> CallToolResult:
    """Run a round to its end; if the call is cancelled, stop it: what is not paid is not asked."""
    app = call.app
    round_ = await open_round(
        app, call.message(given.question, given.context or ""), AskOptions(given.panel)
    )
    if round_ is None:
        raise CouncilError("This question was asked already.")
    try:
        with dismissed_at_end(app, round_):
            async with call.reporting():
                app.runner.start(round_)
                async with app.runner.subscribe(round_.id) as snapshots:
                    async for snapshot in snapshots:
                        round_ = snapshot.round_
                        call.status = progress_summary(round_)
    except asyncio.CancelledError:
        await cancel(app, round_)
        raise
    return _round_reply(call, round_)


def _round_reply(call: ToolCall, round_: Round) -> CallToolResult:
    """Return a round: the answer's text first, then standings and the link."""
    reference = call.caller.reference(round_.id)
    document = round_document(round_) | {"url": call.caller.link(round_.id)}
    if not round_.closing:
        status = progress_summary(round_)
        return reply(f"Not finished: {status}.\n\n{reference}", document)
    has_failed = round_.closing.failure is not None
    answer = round_.final.text if round_.final else ""
    parts = round_post(round_, with_results=True).parts
    rest = tuple(part for part in parts if not isinstance(part, Heading | Prose))
    told = thread_markdown(Thread(Post(rest, ""))).strip()
    text = "\n\n---\n\n".join(filter(None, (answer, told)))
    return reply(f"{text}\n\n{reference}", document, is_error=has_failed)


async def _rank_answers(call: ToolCall, given: RankAnswers) -> CallToolResult:
    """Rank texts; nothing of it is stored but its cost."""
    app, message = call.app, call.message(given.question)
    check_admitted(app.access, message)
    judges = Judges.of(app.panel(given.panel, message.place), app.registry)
    question = checked_question(Question(given.question, message.asker.id, place=message.place))
    round_ = ranking_round(question, given.answers, judges, None, app.gateway)
    call.status = f"{count_noun(len(judges.members), 'model')} are ranking"
    async with call.reporting(), app.budget.paying(round_, app.gateway) as gateway:
        await app.prepare(round_.panel)
        ranked = await run_ranking(round_, gateway)
    return reply(_ranked_text(ranked), ranking_document(ranked, round_.id))


def _ranked_text(ranked: Ranked) -> str:
    first = join_words(line.name for line in ranked.standings if line.place == 1)
    certainty = describe_certainty(ranked.verdict)
    lines = [
        f"{line.place}. {line.name}: {points(line.points, line.max_points)} points"
        for line in ranked.standings
    ]
    return "\n".join((f"Most points: {first}. {certainty}.", "", *lines))


async def _get_round(call: ToolCall, given: GetRound) -> CallToolResult:
    round_ = await find_round(call.app, call.message(), given.round_id)
    running = call.app.runner.latest(round_.id)
    return _round_reply(call, running.round_ if running else round_)


async def _decide(call: ToolCall, given: Decide) -> CallToolResult:
    """Decide points of a round; once begun, the answer is written even if the call is cancelled."""
    message = call.message()
    found = await find_round(call.app, message, given.round_id)
    round_ = await load_decidable(call.app, message, found.id)
    wanted = [(one.point, one.says) for one in given.decisions]
    running = await begin_decision(call.app, message, round_, wanted)
    if running is None:
        raise CouncilError(DONE_ALREADY)
    call.status = WRITING
    async with call.reporting():
        round_ = await follow_decision(running)
    return _round_reply(call, round_)


async def _list_rounds(call: ToolCall, given: ListRounds) -> CallToolResult:
    wanted = listable_rounds(call.message())
    found = await call.app.store.list_summaries(given.limit or 20, wanted)
    documents = [summary_document(line) | {"url": call.caller.link(line.id)} for line in found]
    lines = (
        f"{line['id']}  {line['asked_at']}  {line['stage']}  {line['question']}"
        for line in documents
    )
    return reply("\n".join(lines) or "There are no rounds yet.", {"rounds": documents})


CORE_TOOLS = (
    McpTool("ask_council", AskCouncil, _ask_council, costs_money=True),
    McpTool("rank_answers", RankAnswers, _rank_answers, costs_money=True),
    McpTool("get_round", GetRound, _get_round),
    McpTool("decide", Decide, _decide, costs_money=True),
    McpTool("list_rounds", ListRounds, _list_rounds),
)


def load_tools(plugins: Plugins) -> Mapping[str, McpTool]:
    """Return the tools of the core, then those of plug-ins, by name; of two, the first counts."""
    tools = {tool.name: tool for tool in CORE_TOOLS}
    for tool in plugins.load(lambda plugin: plugin.tools):
        if tools.setdefault(tool.name, tool) is not tool:
            plugins.report(f"Two tools are named {tool.name}. The first of them is used.")
    return tools


# --- The server


def create_server(app: AppContext, identify: Identify) -> "Server[Any]":
    """Return a server with the tools; `identify` says who calls, from the transport's request."""
    tools = load_tools(app.plugins)

    async def list_tools(
        _: ServerRequestContext[Any], __: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=[_describe(tool) for tool in tools.values()])

    async def call_tool(
        context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult:
        async def report(seconds: float, status: str) -> None:
            await context.session.report_progress(seconds, message=status)

        call = ToolCall(app, identify(context.request), report)
        return await _finish(asyncio.create_task(_run(tools, call, params)))

    return Server(
        "council",
        version=version("council-bot"),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _describe(tool: McpTool) -> Tool:
    schema = tool.arguments.model_json_schema()
    hints = ToolAnnotations(read_only_hint=not tool.costs_money, destructive_hint=False)
    return Tool(
        name=tool.name,
        description=schema.pop("description"),
        input_schema=schema,
        annotations=hints,
    )


async def _run(
    tools: Mapping[str, McpTool], call: ToolCall, params: CallToolRequestParams
) -> CallToolResult:
    """Return the reply of a tool; an error is a reply as well, so that a model can correct it."""
    tool = tools.get(params.name)
    if tool is None:
        return _error(f"There is no tool {params.name!r}. Known tools: {', '.join(tools)}.")
    try:
        return await tool.run(call, tool.arguments.model_validate(params.arguments or {}))
    except ValidationError as error:
        return _error("\n".join(validation_faults(error, "")))
    except CouncilError as error:
        return _error(str(error))
    # The outermost handler: a traceback stays in the log.
    except Exception as error:  # noqa: BLE001
        return _error(logs.log_unexpected_error("tool_failed", error, tool=params.name))


def _error(text: str) -> CallToolResult:
    sentence = shell_hints(text)
    return reply(sentence, {"error": sentence}, is_error=True)


async def _finish(task: asyncio.Task[CallToolResult]) -> CallToolResult:
    """Return the task's reply; if the client cancels, cancel the task and wait for its end.

    Inside a cancelled scope of anyio, nothing could be awaited: neither money nor rounds settled.
    """
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True):
            task.cancel()
            await asyncio.wait([task])
        raise

"""The Model Context Protocol (MCP) server: tools, a prompt, and rounds as resources.

Knows no transport: `council mcp` serves it on stdio, the page at `/mcp`. Importing it is slow, so
what only calls need is imported by them: a client waits for the list of tools when it starts.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Any

import anyio
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
)

from bot.hints import tool_hints
from bot.mcp_schemas import RankingOutput, RoundListOutput, RoundOutput
from bot.plugins import Plugins
from council.errors import CouncilError, PanelError

if TYPE_CHECKING:
    from bot.api_keys import ApiKey
    from bot.chat import Asker, IncomingMessage
    from bot.context import AppContext
    from bot.render.round_json import Document
    from council.pipeline.ranking import Ranked
    from council.places import Place
    from council.ports import RoundQuery, RoundSummary
    from council.rounds import Artefact, Round

PROGRESS_SECONDS = 1.0  # between two notifications of progress
CREEP = 0.02  # of what is left until the next part is done
MAX_LISTED_ROUNDS = 100
MAX_DECIDED = 10  # points at once; a round has fewer
MAX_RESOURCES = 50  # rounds listed as resources, the newest
ROUND_URI = "council://rounds/"
MARKDOWN = "text/markdown"
INSTRUCTIONS = (
    "Several models answer a question, rank each other's answers without knowing who wrote them, "
    "and one of them writes the council's answer. A question takes seconds to minutes, and costs "
    "what its models cost."
)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls a tool, and where.

    `link` returns the address of a round's page by its id, or None; `hint` says when it works. A
    named key asks only its panels and reads only its own rounds.
    """

    asker: "Asker"
    place: "Place"
    link: Callable[[str], str | None]
    hint: str = ""
    key: "ApiKey | None" = None

    def reference(self, round_id: str) -> str:
        """Return the line that says where people read a round."""
        return " ".join(filter(None, (f"Round {round_id}", self.link(round_id), self.hint)))


Identify = Callable[[Any], Caller]  # from the transport's request, None on stdio
LoadApp = Callable[[], Awaitable["AppContext"]]


# --- Arguments of the tools; clients often send null for what they leave out


class Arguments(BaseModel):
    """Arguments of any tool."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class AskCouncil(Arguments):
    """Ask the council; returns its answer, then how the models' answers were ranked."""

    question: str = Field(description="The question.")
    panel: str | None = Field(None, description="A panel of models, by name.")
    context: str | None = Field(None, description="What the models should know first.")


def _names(answers: object) -> object:
    """Return the texts of a list by their numbers, from 1."""
    if not isinstance(answers, list):
        return answers
    return {str(number): text for number, text in enumerate(answers, start=1)}


_TEXT = {"type": "string"}
Texts = Annotated[
    dict[str, str],
    BeforeValidator(_names),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "object", "additionalProperties": _TEXT},
                {"type": "array", "items": _TEXT},
            ]
        }
    ),
]


class RankAnswers(Arguments):
    """Let a panel's models rank 2 to 10 texts without knowing who wrote them."""

    question: str = Field(description="The question that the texts answer.")
    answers: Texts = Field(
        description="The texts by name, or a list of them, which are named 1, 2 and so on. Judges "
        "do not see the names."
    )
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


def _digits(number: object) -> object:
    """Return the number that a text of digits is; some clients quote numbers."""
    is_digits = isinstance(number, str) and number.isascii() and number.isdigit()
    return int(str(number)[:9]) if is_digits else number


class ListRounds(Arguments):
    """List stored rounds, newest first."""

    limit: Annotated[int | None, BeforeValidator(_digits)] = Field(
        None, ge=1, le=MAX_LISTED_ROUNDS, description="How many; else 20."
    )


# --- Calls


@dataclass(slots=True)
class ToolCall:
    """A running call of a tool; `report` sends parts done, parts in all, and a sentence."""

    app: "AppContext"
    caller: Caller
    report: Callable[[float, float, str], Awaitable[None]]
    status: str = "Starting"
    done: int = 0
    total: int = 1

    def message(self, text: str = "", context: str = "") -> "IncomingMessage":
        """Return what the caller says as a message of a chat."""
        from bot.chat import IncomingMessage

        caller = self.caller
        return IncomingMessage(text, caller.asker, caller.place, self.app.new_id(), context)

    def panel_name(self, named: str | None) -> str | None:
        """Return the named panel, else the usual one that the caller's key may ask, else None.

        Raise PanelError if the key may ask no such panel.
        """
        key, app = self.caller.key, self.app
        if key is None:
            return named
        allowed = [name for name in app.panels if key.allows(name)]
        usual = app.panel_name(self.caller.place)
        wanted = named or (usual if usual in allowed else next(iter(allowed), usual))
        if wanted not in allowed:
            raise PanelError(
                f"There is no panel {wanted!r}, or not for this key. Known panels: "
                f"{', '.join(allowed) or 'none'}."
            )
        return wanted

    def listable_rounds(self) -> "RoundQuery":
        """Return a query for the rounds that the caller may list; of a key, its own."""
        from bot.access import listable_rounds

        query = listable_rounds(self.message())
        return replace(query, asked_by=self.caller.asker.id) if self.caller.key else query

    async def find_round(self, wanted: str) -> "Round":
        """Load the round whose id starts so; raise RoundNotFoundError unless it may be read."""
        from bot.commands.rounds import find_round, not_found_here

        round_ = await find_round(self.app, self.message(), wanted)
        if self.caller.key and round_.question.asked_by != self.caller.asker.id:
            raise not_found_here(wanted)
        return round_

    def reporting(self) -> AbstractAsyncContextManager[None]:
        """Report the status during a block, every second."""
        from bot.coordination.tasks import running_alongside

        return running_alongside(self._keep_reporting())

    async def _keep_reporting(self) -> None:
        reported = 0.0
        while True:
            # The protocol wants each report to exceed the last one, so it creeps to the next part.
            reported = max(reported + (self.done + 1 - reported) * CREEP, self.done)
            await self.report(reported, self.total, self.status)
            await asyncio.sleep(PROGRESS_SECONDS)


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool: the docstring of its `arguments` describes it. `costs_money` if models are asked.

    `output` describes the document of a reply that is no error.
    """

    name: str
    arguments: type[Arguments]
    run: Callable[[ToolCall, Any], Awaitable[CallToolResult]]
    costs_money: bool = False
    output: type[BaseModel] | None = None


def reply(text: str, document: "Document", *, is_error: bool = False) -> CallToolResult:
    """Return the reply of a tool: text for people and models, and a document for programs."""
    content = [TextContent(text=text)]
    return CallToolResult(content=content, structured_content=document, is_error=is_error)


async def _ask_council(call: ToolCall, given: AskCouncil) -> CallToolResult:
    """Run a round to its end; if the call is cancelled, stop it: what is not paid is not asked."""
    from bot.admission import dismissed_at_end
    from bot.commands.ask import AskOptions, open_round
    from bot.commands.rounds import cancel
    from bot.render.round_status import progress_parts, progress_summary

    app = call.app
    round_ = await open_round(
        app,
        call.message(given.question, given.context or ""),
        AskOptions(call.panel_name(given.panel)),
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
                        done, call.total = progress_parts(round_)
                        call.done = max(call.done, min(done, call.total - 1))
    except asyncio.CancelledError:
        await cancel(app, round_)
        raise
    return _round_reply(call, round_)


def _round_reply(call: ToolCall, round_: "Round") -> CallToolResult:
    """Return a round: the answer's text first, then standings and the link."""
    from bot.chat import Heading, Post, Prose, Thread
    from bot.render.markdown import thread_markdown
    from bot.render.round_json import round_document
    from bot.render.round_report.thread import round_post
    from bot.render.round_status import progress_summary

    reference = call.caller.reference(round_.id)
    document = round_document(round_) | {"url": call.caller.link(round_.id)}
    if not round_.closing:
        status = progress_summary(round_)
        return reply(f"Not finished: {status}.\n\n{reference}", document)
    has_failed = round_.closing.failure is not None
    answer = round_.final.text if round_.final else ""
    parts = round_post(round_, with_results=True).parts
    rest = tuple(part for part in parts if not isinstance(part, Heading | Prose))
    told = tool_hints(thread_markdown(Thread(Post(rest, ""))).strip())
    text = "\n\n---\n\n".join(filter(None, (answer, told)))
    return reply(f"{text}\n\n{reference}", document, is_error=has_failed)


async def _rank_answers(call: ToolCall, given: RankAnswers) -> CallToolResult:
    """Rank texts; nothing of it is stored but its cost."""
    from bot.access import check_admitted
    from bot.context import checked_question
    from bot.render.formatting import count_noun
    from bot.render.round_json import ranking_document
    from bot.render.round_status import progress_parts
    from council.ballots import Ballot
    from council.pipeline.ranking import Judges, ranking_round, run_ranking
    from council.rounds import Question

    app, message = call.app, call.message(given.question)
    check_admitted(app.access, message)
    panel = app.panel(call.panel_name(given.panel), message.place)
    judges = Judges.of(panel, app.registry)
    question = checked_question(Question(given.question, message.asker.id, place=message.place))
    round_ = ranking_round(question, given.answers, judges, None, app.gateway)
    call.status = f"{count_noun(len(judges.members), 'model')} are ranking"
    call.total = progress_parts(round_)[1] - len(given.answers)

    def count(artefact: "Artefact") -> None:
        if isinstance(artefact, Ballot):
            call.done = min(call.done + 1, call.total - 1)

    async with call.reporting(), app.budget.paying(round_, app.gateway) as gateway:
        await app.prepare(round_.panel)
        ranked = await run_ranking(round_, gateway, count)
    return reply(_ranked_text(ranked), ranking_document(ranked, round_.id))


def _ranked_text(ranked: "Ranked") -> str:
    from bot.render.formatting import join_words, points
    from bot.render.round_report.verdict import describe_certainty

    first = join_words(line.name for line in ranked.standings if line.place == 1)
    certainty = describe_certainty(ranked.verdict)
    lines = [
        f"{line.place}. {line.name}: {points(line.points, line.max_points)} points"
        for line in ranked.standings
    ]
    return "\n".join((f"Most points: {first}. {certainty}.", "", *lines))


async def _get_round(call: ToolCall, given: GetRound) -> CallToolResult:
    return await _round_by_id(call, given.round_id)


async def _round_by_id(call: ToolCall, round_id: str) -> CallToolResult:
    round_ = await call.find_round(round_id)
    running = call.app.runner.latest(round_.id)
    return _round_reply(call, running.round_ if running else round_)


async def _decide(call: ToolCall, given: Decide) -> CallToolResult:
    """Decide points of a round; once begun, the answer is written even if the call is cancelled."""
    from bot.commands.decide import (
        DONE_ALREADY,
        WRITING,
        begin_decision,
        follow_decision,
        load_decidable,
    )

    message = call.message()
    found = await call.find_round(given.round_id)
    round_ = await load_decidable(call.app, message, found.id)
    call.panel_name(round_.panel.name)
    wanted = [(one.point, one.says) for one in given.decisions]
    running = await begin_decision(call.app, message, round_, wanted)
    if running is None:
        raise CouncilError(DONE_ALREADY)
    call.status = WRITING
    async with call.reporting():
        round_ = await follow_decision(running)
    return _round_reply(call, round_)


async def _list_rounds(call: ToolCall, given: ListRounds) -> CallToolResult:
    from bot.render.round_json import summary_document

    found = await call.app.store.list_summaries(given.limit or 20, call.listable_rounds())
    documents = [summary_document(line) | {"url": call.caller.link(line.id)} for line in found]
    lines = (
        f"{line['id']}  {line['asked_at']}  {line['stage']}  {line['question']}"
        for line in documents
    )
    return reply("\n".join(lines) or "There are no rounds yet.", {"rounds": documents})


CORE_TOOLS = (
    McpTool("ask_council", AskCouncil, _ask_council, costs_money=True, output=RoundOutput),
    McpTool("rank_answers", RankAnswers, _rank_answers, costs_money=True, output=RankingOutput),
    McpTool("get_round", GetRound, _get_round, output=RoundOutput),
    McpTool("decide", Decide, _decide, costs_money=True, output=RoundOutput),
    McpTool("list_rounds", ListRounds, _list_rounds, output=RoundListOutput),
)


def load_tools(plugins: Plugins) -> Mapping[str, McpTool]:
    """Return the tools of the core, then those of plug-ins, by name; of two, the first counts."""
    tools = {tool.name: tool for tool in CORE_TOOLS}
    for tool in plugins.load(lambda plugin: plugin.tools):
        if tools.setdefault(tool.name, tool) is not tool:
            plugins.report(f"Two tools are named {tool.name}. The first of them is used.")
    return tools


# --- The prompt, and rounds as resources

PROMPT = Prompt(
    name="council",
    title="Ask the council",
    description="Ask several models, which rank each other's answers blind.",
    arguments=[
        PromptArgument(name="question", description="The question.", required=True),
        PromptArgument(name="panel", description="A panel of models, by name."),
    ],
)
ROUND_TEMPLATE = ResourceTemplate(
    name="round",
    title="Round",
    uri_template=f"{ROUND_URI}{{id}}",
    description="A stored round: its answer, standings and link.",
    mime_type=MARKDOWN,
)


def _prompt(params: GetPromptRequestParams) -> GetPromptResult:
    """Return the prompt with a question; raise MCPError for another name or no question."""
    given = params.arguments or {}
    question = given.get("question", "").strip()
    if params.name != PROMPT.name:
        raise MCPError(INVALID_PARAMS, f"There is no prompt {params.name!r}. Use {PROMPT.name!r}.")
    if not question:
        raise MCPError(INVALID_PARAMS, "The question is empty. Write it in `question`.")
    panel = f" with the panel {json.dumps(given['panel'])}" if given.get("panel") else ""
    text = (
        f"Ask the council with the tool `ask_council`{panel}. The models see only what you send: "
        "put what they need to know of this conversation and its files into `context`. Then show "
        "the council's answer as it is, say how sure it is and where the models disagree, and add "
        f"the link to the round.\n\nThe question:\n\n{question}"
    )
    return GetPromptResult(messages=[PromptMessage(role="user", content=TextContent(text=text))])


def _resource(line: "RoundSummary") -> Resource:
    return Resource(
        name=line.id,
        title=line.question or "(forgotten)",
        uri=f"{ROUND_URI}{line.id}",
        description=f"{line.asked_at.isoformat()}, {line.stage.value}",
        mime_type=MARKDOWN,
    )


async def _read_round(call: ToolCall, uri: str) -> ReadResourceResult:
    """Return a round as Markdown; raise MCPError if there is none with this address."""
    round_id = uri.removeprefix(ROUND_URI)
    if not uri.startswith(ROUND_URI) or not round_id:
        raise MCPError(INVALID_PARAMS, f"Resource not found: {uri}", {"uri": uri})
    try:
        reply_ = await _round_by_id(call, round_id)
    except CouncilError as error:
        raise MCPError(INVALID_PARAMS, tool_hints(str(error)), {"uri": uri}) from None
    texts = (part.text for part in reply_.content if isinstance(part, TextContent))
    contents = [TextResourceContents(uri=uri, mime_type=MARKDOWN, text="".join(texts))]
    return ReadResourceResult(contents=[*contents])


# --- The server

Context = ServerRequestContext[Any]
Page = PaginatedRequestParams | None


def create_server(load_app: LoadApp, identify: Identify, plugins: Plugins) -> "Server[Any]":
    """Return a server; `identify` says who calls, from the transport's request.

    The application is loaded by whatever needs it; the list of tools does not.
    """
    tools = load_tools(plugins)

    async def begin(context: Context) -> ToolCall:
        app = await load_app()
        return ToolCall(app, identify(context.request), context.session.report_progress)

    async def list_tools(_: Context, __: Page) -> ListToolsResult:
        return ListToolsResult(tools=[_describe(tool) for tool in tools.values()])

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        tool = tools.get(params.name)
        if tool is None:  # by the protocol, that is the client's mistake
            known = ", ".join(tools)
            what = f"There is no tool {params.name!r}. Known tools: {known}."
            raise MCPError(INVALID_PARAMS, what)
        return await _finish(asyncio.create_task(_run(tool, begin(context), params)))

    async def list_prompts(_: Context, __: Page) -> ListPromptsResult:
        return ListPromptsResult(prompts=[PROMPT])

    async def get_prompt(_: Context, params: GetPromptRequestParams) -> GetPromptResult:
        return _prompt(params)

    async def list_resources(context: Context, _: Page) -> ListResourcesResult:
        call = await begin(context)
        found = await call.app.store.list_summaries(MAX_RESOURCES, call.listable_rounds())
        return ListResourcesResult(resources=[_resource(line) for line in found])

    async def list_templates(_: Context, __: Page) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=[ROUND_TEMPLATE])

    async def read_resource(
        context: Context, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        return await _read_round(await begin(context), params.uri)

    return Server(
        "council",
        version=version("council-bot"),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
    )


def _describe(tool: McpTool) -> Tool:
    schema = tool.arguments.model_json_schema()
    hints = ToolAnnotations(read_only_hint=not tool.costs_money, destructive_hint=False)
    return Tool(
        name=tool.name,
        description=schema.pop("description"),
        input_schema=schema,
        output_schema=tool.output.model_json_schema() if tool.output else None,
        annotations=hints,
    )


async def _run(
    tool: McpTool, begun: Awaitable[ToolCall], params: CallToolRequestParams
) -> CallToolResult:
    """Return the reply of a tool; an error is a reply as well, so that a model can correct it."""
    try:
        call = await begun
        return await tool.run(call, tool.arguments.model_validate(params.arguments or {}))
    except ValidationError as error:
        from bot.settings.council_toml import validation_faults

        return _error("\n".join(validation_faults(error, "")))
    except CouncilError as error:
        return _error(str(error))
    # The outermost handler: a traceback stays in the log.
    except Exception as error:  # noqa: BLE001
        from bot.observability import logs

        return _error(logs.log_unexpected_error("tool_failed", error, tool=params.name))


def _error(text: str) -> CallToolResult:
    sentence = tool_hints(text)
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

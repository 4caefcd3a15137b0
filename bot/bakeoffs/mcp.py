"""The MCP tool `leaderboard`; what only a call needs is imported by it."""

from typing import Any

from mcp.types import CallToolResult
from pydantic import Field

from bot.hints import tool_hints
from bot.mcp import Arguments, McpTool, ToolCall, reply
from bot.mcp_schemas import Output


class GetLeaderboard(Arguments):
    """Rank models over all stored rounds, or over those of one suite of questions."""

    suite: str | None = Field(None, description="A suite, by name.")


class LeaderboardRowOutput(Output):
    """A model's line, best first; shares are fractions."""

    member: str
    name: str
    place: int | None
    share: float | None
    ci: list[float] | None
    rounds: int


class LeaderboardOutput(Output):
    """A leaderboard, as `council leaderboard --json` prints it."""

    ranked_by: str
    headline: str
    missing: list[str]
    cheapest: str | None
    rows: list[LeaderboardRowOutput]
    counted: dict[str, Any]


async def _show_leaderboard(call: ToolCall, given: GetLeaderboard) -> CallToolResult:
    """Return the board; raise SuiteError for a suite that is not stored and has no rounds."""
    from bot.bakeoffs.commands.bakeoffs import load_suite_to_run
    from bot.bakeoffs.leaderboard import load_leaderboard, parse_query
    from bot.bakeoffs.parts import bakeoff_stores
    from bot.bakeoffs.records import update_records
    from bot.bakeoffs.render.leaderboard import leaderboard_thread
    from bot.bakeoffs.render.leaderboard_export import leaderboard_document
    from bot.chat import Thread
    from bot.render.formatting import panel_seat_names
    from bot.render.markdown import thread_markdown

    app = call.app
    query = parse_query({"suite": given.suite or ""}, app.now())
    await update_records(app)
    names = panel_seat_names(app.panels.values())
    board = await load_leaderboard(bakeoff_stores(app), query, names)
    if query.suite and not board.coverage.rounds:
        await load_suite_to_run(app, call.caller.place, query.suite)
    text = tool_hints(thread_markdown(Thread(leaderboard_thread(board).root)))
    return reply(text, leaderboard_document(board))


LEADERBOARD = McpTool("leaderboard", GetLeaderboard, _show_leaderboard, output=LeaderboardOutput)
